-- plainto_tsquery parses any input safely, but demands every word of a question. The same terms,
-- joined by OR: the parser's output puts ' & ' between quoted terms, and no term contains a space.
CREATE OR REPLACE FUNCTION any_of_terms(question text) RETURNS tsquery
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN starts_with(question, E'\x1f')
        THEN coalesce(array_to_string(terms_of(question), ' | '), '')::tsquery
        ELSE replace(plainto_tsquery('english', left(question, 20000))::text, ' & ', ' | ')::tsquery END
$$;
GRANT EXECUTE ON FUNCTION any_of_terms TO {runtime};
