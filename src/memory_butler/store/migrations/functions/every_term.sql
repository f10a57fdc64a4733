-- All words of a question together: of a marked one each in any of its forms.
-- A tsquery is a tree as deep as it has terms: past 20,000 of them the stack's limit ends the query. So
-- only the first 20,000 characters of a question count, here and in the searches.
CREATE OR REPLACE FUNCTION every_term(question text) RETURNS tsquery
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    IF starts_with(question, E'\x1f') THEN
        RETURN (SELECT coalesce(string_agg('(' || term::text || ')', ' & '), '')::tsquery
                FROM unnest(terms_of(question)) AS t (term));
    END IF;
    RETURN plainto_tsquery('english', left(question, 20000));
END
$$;
GRANT EXECUTE ON FUNCTION every_term TO {runtime};
