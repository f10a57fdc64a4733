-- System events use the reserved tenant '_system', which no token can hold (C-18).
CREATE TABLE memory_events (
    tenant_id text NOT NULL DEFAULT 'default'
        CONSTRAINT memory_events_tenant_named CHECK (tenant_id <> ''),
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    event_type text NOT NULL,
    actor text,
    payload jsonb NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX idx_memory_events_type ON memory_events (event_type, created_at DESC);
CREATE INDEX idx_memory_events_tenant ON memory_events (tenant_id, created_at DESC);
