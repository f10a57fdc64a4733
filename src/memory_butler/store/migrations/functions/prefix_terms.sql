-- What a person types into a filter: every word must occur, the last may be unfinished. Empty where
-- the text has stop words or signs alone; the callers then compare letter by letter.
CREATE OR REPLACE FUNCTION prefix_terms(typed text) RETURNS tsquery
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT coalesce(nullif(plainto_tsquery('english', left(typed, 1000))::text, '') || ':*', '')::tsquery
$$;
GRANT EXECUTE ON FUNCTION prefix_terms TO {runtime};
