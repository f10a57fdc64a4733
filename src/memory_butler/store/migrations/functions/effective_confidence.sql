-- DEC-01, C-02: the same rule as domain.confidence.effective_confidence; a test runs the same cases
-- through both. The exponent is held above -600 and the rate below 1e290: PostgreSQL makes an error of
-- an underflow and of an overflow, where Python goes on with 0.
CREATE OR REPLACE FUNCTION effective_confidence(
    confidence double precision, decay_rate double precision,
    last_confirmed_at timestamptz, asked_at timestamptz
) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE
        WHEN decay_rate = 0 THEN confidence
        WHEN last_confirmed_at IS NULL THEN 0
        ELSE confidence * exp(greatest(-600, -least(decay_rate, 1e290) * greatest(
            0, date_part('epoch', asked_at - last_confirmed_at) / 86400.0)))
    END
$$;
GRANT EXECUTE ON FUNCTION effective_confidence TO {runtime};
