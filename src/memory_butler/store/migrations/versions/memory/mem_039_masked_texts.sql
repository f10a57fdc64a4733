-- What was masked, for an hour: encrypted under a key that is kept nowhere, and that only whoever stored
-- it was told (C-423). `key_id` is a hash of that key. Erasing a memory takes whatever lists it.
CREATE TABLE masked_texts (
    tenant_id text NOT NULL DEFAULT 'default'
        CONSTRAINT masked_texts_tenant_named CHECK (tenant_id <> ''),
    key_id bytea NOT NULL CONSTRAINT masked_texts_key_hashed CHECK (octet_length(key_id) = 32),
    memory_type text NOT NULL CONSTRAINT masked_texts_type_known
        CHECK (memory_type IN ('episode', 'fact', 'rule')),
    memory_id uuid NOT NULL,
    item_ids uuid[] NOT NULL GENERATED ALWAYS AS (ARRAY[memory_id]) STORED,
    sealed bytea NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, key_id, memory_id)
);
CREATE INDEX idx_masked_texts_expires ON masked_texts (tenant_id, expires_at);

ALTER TABLE masked_texts ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY masked_texts_of_tenant ON masked_texts TO {runtime}
    USING (tenant_id = current_setting('butler.tenant_id', true))
    WITH CHECK (tenant_id = current_setting('butler.tenant_id', true));
CREATE POLICY masked_texts_of_owner ON masked_texts TO {owner} USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, DELETE ON masked_texts TO {runtime};
