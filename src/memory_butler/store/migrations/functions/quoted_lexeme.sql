-- A word as it is written in a tsvector or tsquery: a quote or backslash within the quotes is doubled.
CREATE OR REPLACE FUNCTION quoted_lexeme(word text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT '''' || replace(replace(word, '\', '\\'), '''', '''''') || ''''
$$;
GRANT EXECUTE ON FUNCTION quoted_lexeme TO {runtime};
