-- DEC-01, C-02: the same rule as domain.confidence.effective_confidence; a test runs the same cases
-- through both. The exponent is held above -700, where exp() would raise an underflow error.
CREATE FUNCTION effective_confidence(
    confidence double precision, decay_rate double precision,
    last_confirmed_at timestamptz, asked_at timestamptz
) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE
        WHEN decay_rate = 0 THEN confidence
        WHEN last_confirmed_at IS NULL THEN 0
        ELSE confidence * exp(greatest(-700, -decay_rate * greatest(
            0, date_part('epoch', asked_at - last_confirmed_at) / 86400.0)))
    END
$$;

-- plainto_tsquery parses any input safely, but demands every word of a question. The same terms,
-- joined by OR: the parser's output puts ' & ' between quoted terms, and no term contains a space.
CREATE FUNCTION any_of_terms(question text) RETURNS tsquery
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT replace(plainto_tsquery('english', question)::text, ' & ', ' | ')::tsquery
$$;

GRANT EXECUTE ON FUNCTION effective_confidence, any_of_terms TO {runtime};
