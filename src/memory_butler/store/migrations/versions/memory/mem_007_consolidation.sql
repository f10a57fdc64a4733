-- A claim is a lease with a fencing token: whoever writes the outcome must still hold `claimed_by`.
ALTER TABLE episodes ADD COLUMN claimed_by uuid, ADD COLUMN claimed_until timestamptz;

-- One row a group and attempt: what it cost, what it did, why it failed. `shown` holds the short
-- handles that the prompt gave to known ids, so that an answer can be read after a restart.
CREATE TABLE consolidation_runs (
    tenant_id text NOT NULL DEFAULT 'default'
        CONSTRAINT consolidation_runs_tenant_named CHECK (tenant_id <> ''),
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    butler text NOT NULL,
    trigger_source text NOT NULL,
    model text NOT NULL,
    status text NOT NULL
        CONSTRAINT consolidation_runs_status_known
        CHECK (status IN ('running', 'succeeded', 'retrying', 'failed', 'abandoned')),
    episodes integer NOT NULL,
    shown jsonb NOT NULL DEFAULT '{}',
    counts jsonb NOT NULL DEFAULT '{}',
    errors jsonb NOT NULL DEFAULT '[]',
    tokens_in integer NOT NULL DEFAULT 0,
    tokens_out integer NOT NULL DEFAULT 0,
    cost_usd double precision,
    started_at timestamptz NOT NULL,
    finished_at timestamptz,
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX idx_consolidation_runs_started ON consolidation_runs (tenant_id, started_at DESC);
ALTER TABLE consolidation_runs ENABLE ROW LEVEL SECURITY;
ALTER TABLE consolidation_runs FORCE ROW LEVEL SECURITY;
CREATE POLICY consolidation_runs_of_tenant ON consolidation_runs TO {runtime}
    USING (tenant_id = current_setting('butler.tenant_id', true))
    WITH CHECK (tenant_id = current_setting('butler.tenant_id', true));
CREATE POLICY consolidation_runs_of_owner ON consolidation_runs TO {owner}
    USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE ON consolidation_runs TO {runtime};

-- Ticks of the schedule, for all tenants together. The key arbitrates: of several servers one inserts
-- the tick and runs it.
CREATE TABLE job_runs (
    job text NOT NULL,
    scheduled_for timestamptz NOT NULL,
    started_at timestamptz NOT NULL,
    finished_at timestamptz,
    status text NOT NULL
        CONSTRAINT job_runs_status_known CHECK (status IN ('running', 'succeeded', 'failed')),
    detail jsonb NOT NULL DEFAULT '{}',
    PRIMARY KEY (job, scheduled_for)
);
CREATE INDEX idx_job_runs_started ON job_runs (started_at DESC);
GRANT SELECT, INSERT, UPDATE, DELETE ON job_runs TO {runtime};

-- PgQueuer keeps its own tables, outside the rules of this schema (no tenant data is in them).
GRANT USAGE ON SCHEMA {queue} TO {runtime};
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {queue} TO {runtime};
GRANT USAGE ON ALL SEQUENCES IN SCHEMA {queue} TO {runtime};
