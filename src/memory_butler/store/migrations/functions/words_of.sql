-- The words of a memory's text: the one place where a text becomes a tsvector.
CREATE OR REPLACE FUNCTION words_of(said text) RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    IF starts_with(said, E'\x1f') THEN
        RETURN (SELECT coalesce(string_agg(quoted_lexeme(f.form) || ':' || f.place, ' '), '')::tsvector
                FROM forms_of(said) f);
    END IF;
    RETURN to_tsvector('english', said);
END
$$;
GRANT EXECUTE ON FUNCTION words_of TO {runtime};
