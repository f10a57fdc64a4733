-- What a context was made of: enough to make it again, byte for byte, from what memory keeps, and to
-- say why each line is in it. No text of a memory is here. Bounded by retention, as `served` is.
CREATE TABLE context_receipts (
    tenant_id text NOT NULL DEFAULT 'default'
        CONSTRAINT context_receipts_tenant_named CHECK (tenant_id <> ''),
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    butler text NOT NULL,
    session_id uuid,
    created_at timestamptz NOT NULL DEFAULT now(),
    item_ids uuid[] NOT NULL,
    receipt jsonb NOT NULL,
    sha256 bytea NOT NULL CONSTRAINT context_receipts_hashed CHECK (octet_length(sha256) = 32),
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX idx_context_receipts_at ON context_receipts (tenant_id, created_at);

ALTER TABLE context_receipts ENABLE ROW LEVEL SECURITY;
ALTER TABLE context_receipts FORCE ROW LEVEL SECURITY;
CREATE POLICY context_receipts_of_tenant ON context_receipts TO {runtime}
    USING (tenant_id = current_setting('butler.tenant_id', true))
    WITH CHECK (tenant_id = current_setting('butler.tenant_id', true));
CREATE POLICY context_receipts_of_owner ON context_receipts TO {owner} USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, DELETE ON context_receipts TO {runtime};
