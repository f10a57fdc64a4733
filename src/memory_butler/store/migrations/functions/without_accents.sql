-- Letters without their accents, and the few that Unicode does not take apart. A word in ASCII stays as it is.
CREATE OR REPLACE FUNCTION without_accents(word text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT CASE WHEN octet_length(word) = length(word) THEN word ELSE replace(translate(
        normalize(regexp_replace(normalize(word, NFD), '[\u0300-\u036f]', '', 'g'), NFC),
        'łøđħı', 'lodhi'), 'ß', 'ss') END
$$;
GRANT EXECUTE ON FUNCTION without_accents TO {runtime};
