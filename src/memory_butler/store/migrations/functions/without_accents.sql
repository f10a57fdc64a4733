-- Letters without their accents, and the few that Unicode does not take apart.
CREATE OR REPLACE FUNCTION without_accents(word text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT replace(translate(
        normalize(regexp_replace(normalize(word, NFD), '[\u0300-\u036f]', '', 'g'), NFC),
        'łøđħı', 'lodhi'), 'ß', 'ss')
$$;
GRANT EXECUTE ON FUNCTION without_accents TO {runtime};
