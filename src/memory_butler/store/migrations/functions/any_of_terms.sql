-- plainto_tsquery parses any input safely, but demands every word of a question. The same terms,
-- joined by OR: the parser's output puts ' & ' between quoted terms, and no term contains a space.
-- A tsquery is a tree as deep as it has terms: past 20,000 of them the stack's limit ends the query. So
-- only the first 20,000 characters of a question count, here and in the searches.
CREATE OR REPLACE FUNCTION any_of_terms(question text) RETURNS tsquery
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT replace(plainto_tsquery('english', left(question, 20000))::text, ' & ', ' | ')::tsquery
$$;
GRANT EXECUTE ON FUNCTION any_of_terms TO {runtime};
