-- FACT-01..22. Two time axes: valid_from/valid_until say when the fact was true in the world,
-- created_at/retired_at when this memory knew it. The row of a superseded fact stays as audit trail.
CREATE TABLE facts (
    tenant_id text NOT NULL DEFAULT 'default' CONSTRAINT facts_tenant_named CHECK (tenant_id <> ''),
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    subject text NOT NULL,
    predicate text NOT NULL,
    content text NOT NULL,
    embedding vector(384) STORAGE PLAIN,
    importance double precision NOT NULL DEFAULT 5.0,
    confidence double precision NOT NULL DEFAULT 1.0,
    decay_rate double precision NOT NULL DEFAULT 0.008,
    permanence text NOT NULL DEFAULT 'standard',
    source_butler text,
    source_episode_id uuid,
    supersedes_id uuid,
    validity text NOT NULL DEFAULT 'active'
        CONSTRAINT facts_validity_known
        CHECK (validity IN ('active', 'superseded', 'expired', 'retracted')),
    scope text NOT NULL DEFAULT 'global',
    reference_count integer NOT NULL DEFAULT 0,
    valid_from timestamptz NOT NULL DEFAULT now(),
    valid_until timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    retired_at timestamptz,
    last_referenced_at timestamptz DEFAULT now(),
    last_confirmed_at timestamptz DEFAULT now(),
    tags jsonb NOT NULL DEFAULT '[]',
    metadata jsonb NOT NULL DEFAULT '{}',
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT facts_period_ordered CHECK (valid_until IS NULL OR valid_until > valid_from),
    CONSTRAINT facts_source_episode_fkey FOREIGN KEY (tenant_id, source_episode_id)
        REFERENCES episodes (tenant_id, id) ON DELETE SET NULL (source_episode_id),
    CONSTRAINT facts_supersedes_fkey FOREIGN KEY (tenant_id, supersedes_id)
        REFERENCES facts (tenant_id, id) ON DELETE SET NULL (supersedes_id)
) WITH (fillfactor = 70, toast_tuple_target = 4080);

CREATE INDEX idx_facts_scope_validity ON facts (scope, validity) WHERE validity = 'active';
CREATE INDEX idx_facts_subject ON facts (subject, predicate);
CREATE INDEX idx_facts_tags ON facts USING gin (tags);
CREATE INDEX idx_facts_known ON facts (tenant_id, created_at, retired_at);
-- Deleting an episode must find the facts that name it without reading every fact.
CREATE INDEX idx_facts_source_episode ON facts (tenant_id, source_episode_id)
    WHERE source_episode_id IS NOT NULL;
CREATE INDEX idx_facts_supersedes ON facts (tenant_id, supersedes_id)
    WHERE supersedes_id IS NOT NULL;
