-- Keys and values of one butler: no decay, no search, no embedding. Memory is elsewhere.
CREATE TABLE butler_state (
    tenant_id text NOT NULL DEFAULT 'default'
        CONSTRAINT butler_state_tenant_named CHECK (tenant_id <> ''),
    butler text NOT NULL,
    key text NOT NULL,
    value jsonb NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, butler, key)
);
ALTER TABLE butler_state ENABLE ROW LEVEL SECURITY;
ALTER TABLE butler_state FORCE ROW LEVEL SECURITY;
CREATE POLICY butler_state_of_tenant ON butler_state TO {runtime}
    USING (tenant_id = current_setting('butler.tenant_id', true))
    WITH CHECK (tenant_id = current_setting('butler.tenant_id', true));
CREATE POLICY butler_state_of_owner ON butler_state TO {owner} USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON butler_state TO {runtime};
