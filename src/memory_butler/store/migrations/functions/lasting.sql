-- Of facts with one decay rate the surer one is the same at any moment: this is the logarithm of
-- confidence * exp(-rate * days), without the moment, which all of them share. What has no logarithm
-- comes last.
CREATE OR REPLACE FUNCTION lasting(
    confidence double precision, decay_rate double precision, last_confirmed_at timestamptz
) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE
        WHEN confidence <= 0 OR decay_rate <> 0 AND last_confirmed_at IS NULL THEN '-infinity'
        WHEN decay_rate = 0 THEN ln(confidence)
        ELSE ln(confidence) + least(decay_rate, 1e290)
            * (date_part('epoch', last_confirmed_at - '2000-01-01Z'::timestamptz) / 86400.0)
    END
$$;
GRANT EXECUTE ON FUNCTION lasting TO {runtime};
