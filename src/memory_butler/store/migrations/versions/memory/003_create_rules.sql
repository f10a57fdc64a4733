-- RULE-01..18. The column default of decay_rate is the documents' 0.008; a stored rule gets 0.01
-- explicitly (C-04).
CREATE TABLE rules (
    tenant_id text NOT NULL DEFAULT 'default' CONSTRAINT rules_tenant_named CHECK (tenant_id <> ''),
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    content text NOT NULL,
    embedding vector(384) STORAGE PLAIN,
    scope text NOT NULL DEFAULT 'global',
    maturity text NOT NULL DEFAULT 'candidate'
        CONSTRAINT rules_maturity_known
        CHECK (maturity IN ('candidate', 'established', 'proven', 'anti_pattern')),
    confidence double precision NOT NULL DEFAULT 0.5,
    decay_rate double precision NOT NULL DEFAULT 0.008,
    permanence text NOT NULL DEFAULT 'standard',
    effectiveness_score double precision NOT NULL DEFAULT 0.0,
    applied_count integer NOT NULL DEFAULT 0,
    success_count integer NOT NULL DEFAULT 0,
    harmful_count integer NOT NULL DEFAULT 0,
    source_episode_id uuid,
    source_butler text,
    reference_count integer NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT now(),
    last_applied_at timestamptz,
    last_evaluated_at timestamptz,
    last_referenced_at timestamptz DEFAULT now(),
    last_confirmed_at timestamptz DEFAULT now(),
    tags jsonb NOT NULL DEFAULT '[]',
    metadata jsonb NOT NULL DEFAULT '{}',
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT rules_source_episode_fkey FOREIGN KEY (tenant_id, source_episode_id)
        REFERENCES episodes (tenant_id, id) ON DELETE SET NULL (source_episode_id)
) WITH (fillfactor = 70, toast_tuple_target = 4080);

CREATE INDEX idx_rules_scope_maturity ON rules (scope, maturity);
CREATE INDEX idx_rules_tenant ON rules (tenant_id, created_at);
CREATE INDEX idx_rules_source_episode ON rules (tenant_id, source_episode_id)
    WHERE source_episode_id IS NOT NULL;
