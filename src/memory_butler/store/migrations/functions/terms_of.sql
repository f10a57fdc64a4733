-- The different words of a question, each as a query of its own. Beyond 64 of them the longest count:
-- longer words are rarer (Zipf), and tsvector sorts by length. In a tsquery a quote or backslash within
-- the quotes is doubled.
CREATE OR REPLACE FUNCTION terms_of(question text) RETURNS tsquery[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT array_agg(
        ('''' || replace(replace(word, '\', '\\'), '''', '''''') || '''')::tsquery
    )
    FROM (
        SELECT word FROM unnest(tsvector_to_array(to_tsvector('english', left(question, 20000))))
            WITH ORDINALITY AS w (word, place)
        ORDER BY place DESC LIMIT 64
    ) longest
$$;
GRANT EXECUTE ON FUNCTION terms_of TO {runtime};
