-- A program's own records, kept until it deletes them: a namespace and a key to a JSON object. Not
-- memories: nothing fades, nothing is learned from them, and memory_search does not see them.
-- `embedding` is of the text that the caller wants the record found by; NULL: not found by meaning.
CREATE TABLE items (
    tenant_id text NOT NULL DEFAULT 'default' CONSTRAINT items_tenant_named CHECK (tenant_id <> ''),
    namespace text[] NOT NULL CONSTRAINT items_namespaced CHECK (cardinality(namespace) > 0),
    key text NOT NULL,
    value jsonb NOT NULL,
    embedding vector(384) STORAGE PLAIN,
    embedding_version_id integer REFERENCES embedding_versions (id),
    ttl_minutes double precision CONSTRAINT items_ttl_positive CHECK (ttl_minutes > 0),
    expires_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, namespace, key)
) WITH (toast_tuple_target = 4080);
CREATE INDEX idx_items_expires ON items (tenant_id, expires_at) WHERE expires_at IS NOT NULL;
ALTER TABLE items ENABLE ROW LEVEL SECURITY;
ALTER TABLE items FORCE ROW LEVEL SECURITY;
CREATE POLICY items_of_tenant ON items TO {runtime}
    USING (tenant_id = current_setting('butler.tenant_id', true))
    WITH CHECK (tenant_id = current_setting('butler.tenant_id', true));
CREATE POLICY items_of_owner ON items TO {owner} USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON items TO {runtime};
