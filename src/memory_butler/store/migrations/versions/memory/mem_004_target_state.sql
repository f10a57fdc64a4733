-- RAP-01, C-74: the history of a rule's use; the counters on the rule remain authoritative.
CREATE TABLE rule_applications (
    tenant_id text NOT NULL DEFAULT 'default'
        CONSTRAINT rule_applications_tenant_named CHECK (tenant_id <> ''),
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    rule_id uuid NOT NULL,
    outcome text NOT NULL
        CONSTRAINT rule_applications_outcome_known CHECK (outcome IN ('helpful', 'harmful')),
    context jsonb NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT rule_applications_rule_fkey FOREIGN KEY (tenant_id, rule_id)
        REFERENCES rules (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX idx_rule_applications_rule ON rule_applications (tenant_id, rule_id, created_at DESC);

-- EMV-01, C-75: a global registry, one row a model and version; every vector names the one it is of.
CREATE TABLE embedding_versions (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    model_name text NOT NULL,
    version text NOT NULL,
    dimensions integer NOT NULL,
    first_used_at timestamptz NOT NULL DEFAULT now(),
    last_used_at timestamptz NOT NULL DEFAULT now(),
    is_current boolean NOT NULL DEFAULT true,
    CONSTRAINT embedding_versions_unique UNIQUE (model_name, version)
);
ALTER TABLE episodes ADD COLUMN embedding_version_id integer REFERENCES embedding_versions (id);
ALTER TABLE facts ADD COLUMN embedding_version_id integer REFERENCES embedding_versions (id);
ALTER TABLE rules ADD COLUMN embedding_version_id integer REFERENCES embedding_versions (id);

-- The states that an item was in before each change of what decides its visibility or score.
-- The present state is the item's own row; a row here covers [known_from, known_until).
CREATE TABLE memory_versions (
    tenant_id text NOT NULL DEFAULT 'default'
        CONSTRAINT memory_versions_tenant_named CHECK (tenant_id <> ''),
    kind text NOT NULL
        CONSTRAINT memory_versions_kind_known CHECK (kind IN ('episode', 'fact', 'rule', 'entity')),
    id uuid NOT NULL,
    known_from timestamptz NOT NULL,
    known_until timestamptz NOT NULL,
    state jsonb NOT NULL,
    PRIMARY KEY (tenant_id, kind, id, known_from),
    CONSTRAINT memory_versions_period_ordered CHECK (known_until > known_from)
);

-- What memory handed to whom: ids, and a sketch of the text (bottom-k shingle hashes), so that
-- recalled text is later known for an echo. Bounded by retention.
CREATE TABLE served (
    tenant_id text NOT NULL DEFAULT 'default' CONSTRAINT served_tenant_named CHECK (tenant_id <> ''),
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    operation text NOT NULL
        CONSTRAINT served_operation_known CHECK (operation IN ('search', 'recall', 'context')),
    butler text,
    session_id uuid,
    served_at timestamptz NOT NULL DEFAULT now(),
    item_ids uuid[] NOT NULL,
    shingles bigint[] NOT NULL DEFAULT '{}',
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX idx_served_session ON served (tenant_id, session_id) WHERE session_id IS NOT NULL;
CREATE INDEX idx_served_at ON served (tenant_id, served_at);

-- Who may ask. Only a hash of each token is kept. Reached only through the functions of mem_005.
CREATE TABLE tenants (
    id text PRIMARY KEY CONSTRAINT tenants_named CHECK (id ~ '^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$'),
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE tokens (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    tenant_id text NOT NULL REFERENCES tenants (id),
    name text NOT NULL,
    token_hash bytea NOT NULL CONSTRAINT tokens_hash_unique UNIQUE,
    scopes text[] NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz,
    last_used_at timestamptz,
    revoked_at timestamptz
);
