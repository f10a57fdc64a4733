-- The words of a question by which a memory is judged, and what in a memory bears each; of a marked question
-- the words as terms_of has them, each of which is also borne by a part of it. These find no memory:
-- ts_rank divides by the number of alternatives, of which most are no words. The parts are those of the word
-- as it is written, which "två" is and "tva" is not. In PL/pgSQL, which keeps the plans of its statements.
CREATE OR REPLACE FUNCTION words_and_terms(question text, OUT words text[], OUT terms tsquery[])
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    IF starts_with(question, E'\x1f') THEN
        SELECT coalesce(array_agg(t.term::text ORDER BY t.place), '{}'), coalesce(array_agg(coalesce(t.term || (
            SELECT string_agg(quoted_lexeme(part), ' | ')::tsquery
            FROM (
                SELECT w[1] AS form FROM regexp_matches(t.term::text, '''([[:alpha:]]{9,40})''', 'g') w
                ORDER BY length(w[1]) DESC, w[1] DESC LIMIT 1
            ) w
            CROSS JOIN parts_of(w.form, string_to_array(split_part(question, E'\x1f', 2), ',')) part
        ), t.term) ORDER BY t.place), '{}')
        INTO words, terms
        FROM unnest(terms_of(question)) WITH ORDINALITY AS t (term, place);
    ELSE
        words := tsvector_to_array(words_of(left(question, 20000)));
        terms := ARRAY(SELECT quoted_lexeme(word)::tsquery FROM unnest(words) AS u (word));
    END IF;
END
$$;
GRANT EXECUTE ON FUNCTION words_and_terms TO {runtime};
