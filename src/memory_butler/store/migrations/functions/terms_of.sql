-- The different words of a question, each as a query of its own. Beyond 64 of them the longest count:
-- longer words are rarer (Zipf), and tsvector sorts by length. A marked question has each word in all
-- its forms, any of which is the word.
CREATE OR REPLACE FUNCTION terms_of(question text) RETURNS tsquery[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    IF starts_with(question, E'\x1f') THEN
        RETURN (
            SELECT array_agg(word::tsquery)
            FROM (
                SELECT word FROM (
                    SELECT DISTINCT string_agg(quoted_lexeme(f.form), ' | ' ORDER BY f.form) AS word
                    FROM forms_of(left(question, 20000)) f GROUP BY f.place
                ) different
                ORDER BY length(word) DESC, word LIMIT 64
            ) longest
        );
    END IF;
    RETURN (
        SELECT array_agg(quoted_lexeme(word)::tsquery)
        FROM (
            SELECT word FROM unnest(tsvector_to_array(to_tsvector('english', left(question, 20000))))
                WITH ORDINALITY AS w (word, place)
            ORDER BY place DESC LIMIT 64
        ) longest
    );
END
$$;
GRANT EXECUTE ON FUNCTION terms_of TO {runtime};
