-- EPI-01..17. `consolidation_status` is the truth; `consolidated`, `retry_count` and `last_error`
-- are generated from it and its neighbours, so that two names for one thing cannot disagree (C-06, C-07).
-- The embedding is stored PLAIN and the page kept 30 % free: exact scans then read no TOAST, and a
-- bump of the counters stays on its page as a HOT update.
CREATE TABLE episodes (
    tenant_id text NOT NULL DEFAULT 'default' CONSTRAINT episodes_tenant_named CHECK (tenant_id <> ''),
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    butler text NOT NULL,
    session_id uuid,
    content text NOT NULL,
    embedding vector(384) STORAGE PLAIN,
    importance double precision NOT NULL DEFAULT 5.0,
    reference_count integer NOT NULL DEFAULT 0,
    consolidation_status varchar(20) NOT NULL DEFAULT 'pending'
        CONSTRAINT episodes_status_known
        CHECK (consolidation_status IN ('pending', 'consolidated', 'failed', 'dead_letter')),
    consolidation_attempts integer NOT NULL DEFAULT 0,
    last_consolidation_error text,
    next_consolidation_retry_at timestamptz,
    consolidated boolean NOT NULL GENERATED ALWAYS AS (consolidation_status = 'consolidated') STORED,
    retry_count integer GENERATED ALWAYS AS (consolidation_attempts) STORED,
    last_error text GENERATED ALWAYS AS (last_consolidation_error) STORED,
    occurred_at timestamptz NOT NULL DEFAULT now(),
    speaker text,
    turn integer,
    created_at timestamptz NOT NULL DEFAULT now(),
    last_referenced_at timestamptz DEFAULT now(),
    expires_at timestamptz NOT NULL DEFAULT now() + interval '7 days',
    metadata jsonb NOT NULL DEFAULT '{}',
    PRIMARY KEY (tenant_id, id)
) WITH (fillfactor = 70, toast_tuple_target = 4080);

CREATE INDEX idx_episodes_butler ON episodes (butler, created_at DESC);
CREATE INDEX idx_episodes_expires ON episodes (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX idx_episodes_unconsolidated ON episodes (created_at) WHERE consolidated = false;
CREATE INDEX idx_episodes_pending ON episodes (butler, created_at)
    WHERE consolidation_status = 'pending';
CREATE INDEX idx_episodes_tenant ON episodes (tenant_id, created_at);
CREATE INDEX idx_episodes_session ON episodes (tenant_id, session_id, turn);
