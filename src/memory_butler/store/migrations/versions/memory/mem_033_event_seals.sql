-- Seals of events, in a chain of each tenant. The server gives those to events that are there already.
-- What keeps events from being changed unnoticed (docs/audit.md): of each event keyed hashes of what it
-- says and of what it is, and its place in the chain once it is sealed. No key is in the database.
CREATE TABLE event_seals (
    tenant_id text NOT NULL DEFAULT 'default'
        CONSTRAINT event_seals_tenant_named CHECK (tenant_id <> ''),
    event_id uuid NOT NULL,
    salt bytea,
    content bytea NOT NULL,
    mac bytea NOT NULL,
    seq bigint,
    sealed_at timestamptz,
    link bytea,
    PRIMARY KEY (tenant_id, event_id)
);
CREATE UNIQUE INDEX uq_event_seals_seq ON event_seals (tenant_id, seq) WHERE seq IS NOT NULL;
CREATE INDEX idx_event_seals_waiting ON event_seals (tenant_id) WHERE seq IS NULL;

-- The latest link of each chain, signed. The text is kept to the letter: the signature is of its bytes.
CREATE TABLE audit_checkpoints (
    tenant_id text NOT NULL DEFAULT 'default'
        CONSTRAINT audit_checkpoints_tenant_named CHECK (tenant_id <> ''),
    statement text NOT NULL,
    signature bytea NOT NULL,
    PRIMARY KEY (tenant_id)
);

DO $$
DECLARE
    held text;
BEGIN
    FOREACH held IN ARRAY ARRAY['event_seals', 'audit_checkpoints'] LOOP
        EXECUTE format($policy$
            ALTER TABLE %1$I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
            CREATE POLICY %2$I ON %1$I TO {runtime}
                USING (tenant_id = current_setting('butler.tenant_id', true))
                WITH CHECK (tenant_id = current_setting('butler.tenant_id', true));
            CREATE POLICY %3$I ON %1$I TO {owner} USING (true) WITH CHECK (true);
        $policy$, held, held || '_of_tenant', held || '_of_owner');
    END LOOP;
END $$;
GRANT SELECT, INSERT ON event_seals TO {runtime};
GRANT UPDATE (seq, sealed_at, link) ON event_seals TO {runtime};
GRANT SELECT, INSERT, UPDATE ON audit_checkpoints TO {runtime};
