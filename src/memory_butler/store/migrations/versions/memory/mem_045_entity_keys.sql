-- name: keys_of
CREATE FUNCTION keys_of(text[]) RETURNS text[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
AS $$ SELECT array_agg(public.key_of(a)) FROM unnest($1) a $$;
GRANT EXECUTE ON FUNCTION keys_of TO {runtime};

-- name: columns
ALTER TABLE entities
    ADD COLUMN name_key text GENERATED ALWAYS AS (key_of(canonical_name)) STORED,
    ADD COLUMN alias_keys text[] GENERATED ALWAYS AS (keys_of(aliases)) STORED;

-- name: index_of_names
CREATE INDEX idx_entities_name_key ON entities (tenant_id, name_key);

-- name: index_of_aliases
CREATE INDEX idx_entities_with_aliases ON entities (tenant_id) WHERE alias_keys IS NOT NULL;
