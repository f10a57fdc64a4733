-- As terms_of: a marked question's words, each of which is also borne by a part of it. By these a memory is
-- judged, not found: ts_rank divides by the number of alternatives, of which most are no words. The parts are
-- those of the word as it is written, which "två" is and "tva" is not.
CREATE OR REPLACE FUNCTION terms_and_parts(question text) RETURNS tsquery[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT array_agg(coalesce(t.term || (
        SELECT string_agg(quoted_lexeme(part), ' | ')::tsquery
        FROM (
            SELECT w[1] AS form FROM regexp_matches(t.term::text, '''([[:alpha:]]{9,40})''', 'g') w
            ORDER BY length(w[1]) DESC, w[1] DESC LIMIT 1
        ) w
        CROSS JOIN parts_of(w.form, string_to_array(split_part(question, E'\x1f', 2), ',')) part
    ), t.term) ORDER BY t.place)
    FROM unnest(terms_of(question)) WITH ORDINALITY AS t (term, place)
$$;
GRANT EXECUTE ON FUNCTION terms_and_parts TO {runtime};
