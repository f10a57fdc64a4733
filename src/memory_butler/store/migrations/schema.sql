-- The database as it is now: this file makes the tables of a new one, functions/ its functions, and
-- history_views.sql its views. A database that is there already is brought to the same by the numbered
-- steps in versions/memory/. A test compares the two, so a change here needs a step.
--
-- Each block is run by the revision that it belongs to: the five parts of mem_001 first, then mem_002,
-- mem_003 and the rest. `{owner}` and `{runtime}` stand for the two roles of the database.

-- name: 001_create_episodes
-- A global registry, one row a model and version; every vector names the one it is of (C-75).
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

-- `consolidation_status` is the truth; `consolidated`, `retry_count` and `last_error` are generated
-- from it and its neighbours, so that two names for one thing cannot disagree (C-06, C-07).
-- A claim is a lease with a fencing token: whoever writes the outcome must still hold `claimed_by`.
-- The embedding is stored PLAIN and the page kept 30 % free: exact scans then read no TOAST, and a
-- bump of the counters stays on its page as a HOT update.
-- trust (domain/trust.py): 1 untrusted_web, 2 imported, 3 tool_output, 4 agent_inferred, 5 user_said.
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
    search_vector tsvector,
    embedding_version_id integer REFERENCES embedding_versions (id),
    claimed_by uuid,
    claimed_until timestamptz,
    trust smallint NOT NULL DEFAULT 4 CONSTRAINT episodes_trust_known CHECK (trust BETWEEN 1 AND 5),
    PRIMARY KEY (tenant_id, id)
) WITH (fillfactor = 70, toast_tuple_target = 4080);

CREATE INDEX idx_episodes_butler ON episodes (butler, created_at DESC);
CREATE INDEX idx_episodes_expires ON episodes (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX idx_episodes_unconsolidated ON episodes (created_at) WHERE consolidated = false;
CREATE INDEX idx_episodes_pending ON episodes (butler, created_at)
    WHERE consolidation_status = 'pending';
CREATE INDEX idx_episodes_tenant ON episodes (tenant_id, created_at);
CREATE INDEX idx_episodes_occurred ON episodes (tenant_id, occurred_at DESC);
CREATE INDEX idx_episodes_session ON episodes (tenant_id, session_id, turn);
-- The turns of a session in their order, for the neighbours of a turn.
CREATE INDEX idx_episodes_order
    ON episodes (tenant_id, session_id, coalesce(turn, 0), occurred_at, created_at, id)
    WHERE session_id IS NOT NULL;

-- name: 002_create_facts
-- Two time axes: valid_from/valid_until say when the fact was true in the world, created_at/retired_at
-- when this memory knew it. The row of a superseded fact stays as audit trail.
-- subject_key, predicate_key: "User", "user" and " user " are one subject. In columns of their own:
-- under row-level security an index serves a comparison of columns, not of what a function makes of them.
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
        CHECK (validity IN ('active', 'superseded', 'expired', 'retracted', 'waiting')),
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
    search_vector tsvector,
    entity_id uuid,
    embedding_version_id integer REFERENCES embedding_versions (id),
    trust smallint NOT NULL DEFAULT 4 CONSTRAINT facts_trust_known CHECK (trust BETWEEN 1 AND 5),
    subject_key text GENERATED ALWAYS AS (key_of(subject)) STORED,
    predicate_key text GENERATED ALWAYS AS (key_of(predicate)) STORED,
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT facts_period_ordered CHECK (valid_until IS NULL OR valid_until > valid_from),
    CONSTRAINT facts_source_episode_fkey FOREIGN KEY (tenant_id, source_episode_id)
        REFERENCES episodes (tenant_id, id) ON DELETE SET NULL (source_episode_id),
    CONSTRAINT facts_supersedes_fkey FOREIGN KEY (tenant_id, supersedes_id)
        REFERENCES facts (tenant_id, id) ON DELETE SET NULL (supersedes_id)
) WITH (fillfactor = 70, toast_tuple_target = 4080);

CREATE INDEX idx_facts_scope_validity ON facts (scope, validity) WHERE validity = 'active';
CREATE INDEX idx_facts_subject ON facts (subject, predicate);
CREATE INDEX idx_facts_subject_key ON facts (tenant_id, subject_key);
CREATE INDEX idx_facts_tags ON facts USING gin (tags);
CREATE INDEX idx_facts_known ON facts (tenant_id, created_at, retired_at);
-- Deleting an episode must find the facts that name it without reading every fact.
CREATE INDEX idx_facts_source_episode ON facts (tenant_id, source_episode_id)
    WHERE source_episode_id IS NOT NULL;
CREATE INDEX idx_facts_supersedes ON facts (tenant_id, supersedes_id)
    WHERE supersedes_id IS NOT NULL;
-- What waits is looked for when the same is said again, and listed.
CREATE INDEX idx_facts_waiting ON facts (tenant_id, subject_key, predicate_key)
    WHERE validity = 'waiting';
CREATE INDEX idx_facts_resembling ON facts (tenant_id, id)
    WHERE validity = 'active' AND metadata->'resembles' IS NOT NULL;
-- Counting and ordering the facts of a list without reading their rows, whose vectors make them wide.
-- What it includes changes only when a fact is confirmed or retired, never when it is read.
CREATE INDEX idx_facts_listed ON facts (tenant_id, created_at DESC, id)
    INCLUDE (validity, scope, subject, permanence, source_butler, confidence, decay_rate,
             last_confirmed_at);
-- Those that fade, for their badge: a few of many.
CREATE INDEX idx_facts_fading ON facts (tenant_id, created_at DESC, id) INCLUDE (validity)
    WHERE metadata->>'status' = 'fading';
-- Totals of the lists of facts: what most of them are limited by, each value stored once for all its
-- rows, so that the index is a thirtieth of the one that orders them. Nothing of it changes by reading.
CREATE INDEX idx_facts_counted ON facts (tenant_id, validity, scope, source_butler, permanence);
CREATE INDEX idx_facts_importance ON facts (tenant_id, importance DESC, id);
CREATE INDEX idx_facts_confirmed ON facts (tenant_id, last_confirmed_at DESC NULLS LAST, id)
    INCLUDE (validity);
CREATE INDEX idx_facts_lasting
    ON facts (tenant_id, decay_rate, lasting(confidence, decay_rate, last_confirmed_at) DESC, id)
    INCLUDE (validity);
-- A bump changes the count, and must stay on its page (HOT). An index of blocks lets it: all it holds
-- is the least and the most of each page, and it is widened in place.
CREATE INDEX idx_facts_references ON facts USING brin (reference_count)
    WITH (pages_per_range = 1, autosummarize = on);

-- name: 003_create_rules
-- The default of decay_rate is the documents' 0.008; a stored rule gets 0.01 explicitly (C-04).
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
    search_vector tsvector,
    embedding_version_id integer REFERENCES embedding_versions (id),
    trust smallint NOT NULL DEFAULT 4 CONSTRAINT rules_trust_known CHECK (trust BETWEEN 1 AND 5),
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT rules_source_episode_fkey FOREIGN KEY (tenant_id, source_episode_id)
        REFERENCES episodes (tenant_id, id) ON DELETE SET NULL (source_episode_id)
) WITH (fillfactor = 70, toast_tuple_target = 4080);

CREATE INDEX idx_rules_scope_maturity ON rules (scope, maturity);
CREATE INDEX idx_rules_tenant ON rules (tenant_id, created_at);
CREATE INDEX idx_rules_source_episode ON rules (tenant_id, source_episode_id)
    WHERE source_episode_id IS NOT NULL;

-- name: 004_create_memory_links
-- The relation is not part of the key: the first relation between two items wins (C-12).
-- No foreign keys: a link outlives the episode it points at, as provenance (C-11).
-- step, here and below: a step is one transaction; what it wrote carries the same id, so that it can be
-- taken back as one. The transaction names it; rows of the owner's own hand have none.
CREATE TABLE memory_links (
    tenant_id text NOT NULL DEFAULT 'default'
        CONSTRAINT memory_links_tenant_named CHECK (tenant_id <> ''),
    source_type text NOT NULL
        CONSTRAINT memory_links_source_type_known CHECK (source_type IN ('episode', 'fact', 'rule')),
    source_id uuid NOT NULL,
    target_type text NOT NULL
        CONSTRAINT memory_links_target_type_known CHECK (target_type IN ('episode', 'fact', 'rule')),
    target_id uuid NOT NULL,
    relation text NOT NULL
        CONSTRAINT memory_links_relation_known
        CHECK (relation IN ('derived_from', 'supports', 'contradicts', 'supersedes', 'related_to')),
    created_at timestamptz NOT NULL DEFAULT now(),
    step uuid DEFAULT nullif(current_setting('butler.step', true), '')::uuid,
    PRIMARY KEY (tenant_id, source_type, source_id, target_type, target_id)
);

CREATE INDEX idx_memory_links_target ON memory_links (target_type, target_id);
CREATE INDEX idx_memory_links_step ON memory_links (tenant_id, step) WHERE step IS NOT NULL;
-- What waits to be settled is little among much: contradictions here, resemblances among the facts.
CREATE INDEX idx_memory_links_contradicts ON memory_links (tenant_id, source_id, target_id)
    WHERE relation = 'contradicts';

-- name: 005_add_search_vectors
CREATE INDEX idx_episodes_search ON episodes USING gin (search_vector);
CREATE INDEX idx_facts_search ON facts USING gin (search_vector);
CREATE INDEX idx_facts_search_active ON facts USING gin (search_vector) WHERE validity = 'active';
CREATE INDEX idx_rules_search ON rules USING gin (search_vector);

-- What an import stored and nobody has embedded yet: found by its words, and by meaning from then on.
-- Each index is as small as what waits.
CREATE INDEX idx_episodes_unembedded ON episodes (tenant_id, id) WHERE embedding IS NULL;
CREATE INDEX idx_facts_unembedded ON facts (tenant_id, id) WHERE embedding IS NULL;
CREATE INDEX idx_rules_unembedded ON rules (tenant_id, id) WHERE embedding IS NULL;

-- IVFFlat with 20 lists is what the documents ask for. Made on an empty table its centroids are
-- poor, so retrieval probes all 20 lists, which makes any plan exact (functions/nearest.sql).
SET LOCAL client_min_messages = error;  -- "ivfflat index created with little data" is meant here
CREATE INDEX idx_episodes_embedding ON episodes
    USING ivfflat (embedding vector_cosine_ops) WITH (lists = 20);
CREATE INDEX idx_facts_embedding ON facts
    USING ivfflat (embedding vector_cosine_ops) WITH (lists = 20);
CREATE INDEX idx_rules_embedding ON rules
    USING ivfflat (embedding vector_cosine_ops) WITH (lists = 20);

-- name: mem_002_entities
CREATE TABLE entities (
    tenant_id text NOT NULL DEFAULT 'default' CONSTRAINT entities_tenant_named CHECK (tenant_id <> ''),
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    canonical_name varchar NOT NULL,
    entity_type varchar NOT NULL
        CONSTRAINT entities_type_known
        CHECK (entity_type IN ('person', 'organization', 'place', 'other')),
    aliases text[] NOT NULL DEFAULT '{}',
    metadata jsonb DEFAULT '{}',
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    name_key text GENERATED ALWAYS AS (key_of(canonical_name)) STORED,
    alias_keys text[] GENERATED ALWAYS AS (keys_of(aliases)) STORED,
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT entities_name_unique UNIQUE (tenant_id, canonical_name, entity_type)
);

CREATE INDEX idx_entities_name ON entities (tenant_id, canonical_name);
CREATE INDEX idx_entities_name_lower ON entities (tenant_id, lower(canonical_name));
CREATE INDEX idx_entities_name_key ON entities (tenant_id, name_key);
CREATE INDEX idx_entities_with_aliases ON entities (tenant_id) WHERE alias_keys IS NOT NULL;
CREATE INDEX idx_entities_aliases ON entities USING gin (aliases);
CREATE INDEX idx_entities_metadata ON entities USING gin (metadata);

ALTER TABLE facts ADD CONSTRAINT facts_entity_fkey FOREIGN KEY (tenant_id, entity_id)
    REFERENCES entities (tenant_id, id) ON DELETE RESTRICT;
CREATE INDEX idx_facts_entity ON facts (tenant_id, entity_id) WHERE entity_id IS NOT NULL;
-- One active fact a key. The two key spaces coexist and never supersede each other (C-21, C-22).
CREATE UNIQUE INDEX uq_facts_entity_active ON facts (tenant_id, entity_id, scope, predicate_key)
    WHERE entity_id IS NOT NULL AND validity = 'active';
CREATE UNIQUE INDEX uq_facts_subject_active ON facts (tenant_id, scope, subject_key, predicate_key)
    WHERE entity_id IS NULL AND validity = 'active';

-- name: mem_003_memory_events
-- System events use the reserved tenant '_system', which no token can hold (C-18). `memory_id` is
-- generated, because under row-level security no expression over the payload can be an index condition.
CREATE TABLE memory_events (
    tenant_id text NOT NULL DEFAULT 'default'
        CONSTRAINT memory_events_tenant_named CHECK (tenant_id <> ''),
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    event_type text NOT NULL,
    actor text,
    payload jsonb NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL DEFAULT now(),
    memory_id text GENERATED ALWAYS AS (payload->>'memory_id') STORED,
    step uuid DEFAULT nullif(current_setting('butler.step', true), '')::uuid,
    PRIMARY KEY (tenant_id, id)
);

CREATE INDEX idx_memory_events_type ON memory_events (event_type, created_at DESC);
CREATE INDEX idx_memory_events_tenant ON memory_events (tenant_id, created_at DESC);
CREATE INDEX idx_memory_events_memory ON memory_events (tenant_id, memory_id, created_at DESC)
    WHERE memory_id IS NOT NULL;
CREATE INDEX idx_memory_events_step ON memory_events (tenant_id, step) WHERE step IS NOT NULL;
-- What was undone, and by which step: few rows, asked for whenever something is to be undone.
CREATE INDEX idx_memory_events_undone ON memory_events (tenant_id, (payload->>'undone'))
    WHERE event_type = 'change_undone';

-- name: tables_of_tenants
-- The history of a rule's use; the counters on the rule remain authoritative (C-74).
CREATE TABLE rule_applications (
    tenant_id text NOT NULL DEFAULT 'default'
        CONSTRAINT rule_applications_tenant_named CHECK (tenant_id <> ''),
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    rule_id uuid NOT NULL,
    outcome text NOT NULL
        CONSTRAINT rule_applications_outcome_known CHECK (outcome IN ('helpful', 'harmful')),
    context jsonb NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL DEFAULT now(),
    step uuid DEFAULT nullif(current_setting('butler.step', true), '')::uuid,
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT rule_applications_rule_fkey FOREIGN KEY (tenant_id, rule_id)
        REFERENCES rules (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX idx_rule_applications_rule ON rule_applications (tenant_id, rule_id, created_at DESC);
CREATE INDEX idx_rule_applications_step ON rule_applications (tenant_id, step)
    WHERE step IS NOT NULL;

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
    step uuid DEFAULT nullif(current_setting('butler.step', true), '')::uuid,
    PRIMARY KEY (tenant_id, kind, id, known_from),
    CONSTRAINT memory_versions_period_ordered CHECK (known_until > known_from)
);
CREATE INDEX idx_memory_versions_step ON memory_versions (tenant_id, step) WHERE step IS NOT NULL;

-- What memory handed to whom: ids, and a sketch of the text (bottom-k shingle hashes), so that
-- recalled text is later known for an echo. Bounded by retention.
CREATE TABLE served (
    tenant_id text NOT NULL DEFAULT 'default' CONSTRAINT served_tenant_named CHECK (tenant_id <> ''),
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    operation text NOT NULL
        CONSTRAINT served_operation_known
        CHECK (operation IN ('search', 'recall', 'context', 'get', 'receipt')),
    butler text,
    session_id uuid,
    served_at timestamptz NOT NULL DEFAULT now(),
    item_ids uuid[] NOT NULL,
    shingles bigint[] NOT NULL DEFAULT '{}',
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX idx_served_session ON served (tenant_id, session_id) WHERE session_id IS NOT NULL;
CREATE INDEX idx_served_at ON served (tenant_id, served_at);

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
        CHECK (status IN ('running', 'succeeded', 'retrying', 'failed', 'abandoned', 'undone')),
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

-- A program's own records, kept until it deletes them: a namespace and a key to a JSON object. Not
-- memories: nothing fades, nothing is learned from them, and memory_search does not see them.
-- `embedding` is of the text that the caller wants the record found by; NULL: not found by meaning.
CREATE TABLE items (
    tenant_id text NOT NULL DEFAULT 'default' CONSTRAINT items_tenant_named CHECK (tenant_id <> ''),
    namespace text[] NOT NULL CONSTRAINT items_namespaced CHECK (cardinality(namespace) > 0),
    key text NOT NULL,
    value jsonb NOT NULL,
    embedding vector(384) STORAGE PLAIN,
    embedding_version_id integer REFERENCES embedding_versions (id),
    ttl_minutes double precision CONSTRAINT items_ttl_positive CHECK (ttl_minutes > 0),
    expires_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, namespace, key)
) WITH (toast_tuple_target = 4080);
CREATE INDEX idx_items_expires ON items (tenant_id, expires_at) WHERE expires_at IS NOT NULL;

-- What was erased, when and by whom: ids and numbers, no text. A row is written in the transaction
-- that erases, so that an erasure that was cut off afterwards is found and finished.
CREATE TABLE erasures (
    tenant_id text NOT NULL DEFAULT 'default' CONSTRAINT erasures_tenant_named CHECK (tenant_id <> ''),
    id uuid NOT NULL,
    target jsonb NOT NULL,
    actor text NOT NULL,
    erased_at timestamptz NOT NULL,
    report jsonb NOT NULL,
    finished_at timestamptz,
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX idx_erasures_unfinished ON erasures (tenant_id, erased_at) WHERE finished_at IS NULL;

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

-- Two walls between tenants: each query says its tenant, and the policies hold it to that.
-- One policy a role: under one shared policy the owner's functions would lose their indexes too.
-- Bare current_setting, never a sub-select: a sub-select hides the tenant from the planner. Its second
-- argument makes a missing setting NULL, which equals no tenant: no row.
DO $$
DECLARE
    held text;
BEGIN
    FOREACH held IN ARRAY ARRAY[
        'episodes', 'facts', 'rules', 'memory_links', 'entities', 'memory_events',
        'rule_applications', 'memory_versions', 'served', 'context_receipts', 'consolidation_runs',
        'butler_state', 'items', 'erasures', 'event_seals', 'audit_checkpoints', 'masked_texts'
    ] LOOP
        EXECUTE format($policy$
            ALTER TABLE %1$I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
            CREATE POLICY %2$I ON %1$I TO {runtime}
                USING (tenant_id = current_setting('butler.tenant_id', true))
                WITH CHECK (tenant_id = current_setting('butler.tenant_id', true));
            CREATE POLICY %3$I ON %1$I TO {owner} USING (true) WITH CHECK (true);
        $policy$, held, held || '_of_tenant', held || '_of_owner');
    END LOOP;
END $$;

-- name: tables_of_all
-- Who may ask. Only a hash of each token is kept. Reached only through functions of the owner.
-- move_*: where a tenant that moves to another installation stands; `place` names the other one.
CREATE TABLE tenants (
    id text PRIMARY KEY CONSTRAINT tenants_named CHECK (id ~ '^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$'),
    created_at timestamptz NOT NULL DEFAULT now(),
    move_id uuid,
    move_state text CONSTRAINT tenants_move_state_known
        CHECK (move_state IN ('leaving', 'left', 'arriving', 'returning', 'arrived')),
    move_place text
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

-- Ticks of the schedule, for all tenants together. The key arbitrates: of several servers one inserts
-- the tick and runs it.
CREATE TABLE job_runs (
    job text NOT NULL,
    scheduled_for timestamptz NOT NULL,
    started_at timestamptz NOT NULL,
    finished_at timestamptz,
    status text NOT NULL
        CONSTRAINT job_runs_status_known CHECK (status IN ('running', 'succeeded', 'failed', 'skipped')),
    detail jsonb NOT NULL DEFAULT '{}',
    PRIMARY KEY (job, scheduled_for)
);
CREATE INDEX idx_job_runs_started ON job_runs (started_at DESC);

-- What is known of a memory that has one of the words of a question, between reading and ranking it:
-- how many words it has, and the weight of each of the question's, NULL where it is without.
CREATE TYPE worded_memory AS (
    id uuid, matches_all boolean, words integer, weights real[],
    importance double precision, confidence double precision, decay_rate double precision,
    last_confirmed_at timestamptz, last_referenced_at timestamptz, created_at timestamptz,
    maturity text
);

-- name: grants
-- Only what the server does. Nothing deletes a fact, a rule or an entity; nobody changes an event.
-- Functions are granted where they are made.
GRANT USAGE ON SCHEMA public, memory_history TO {runtime};
GRANT SELECT ON alembic_version TO {runtime};
GRANT SELECT, INSERT, UPDATE, DELETE ON episodes, butler_state, items, job_runs TO {runtime};
GRANT SELECT, INSERT, UPDATE ON
    facts, rules, entities, consolidation_runs, erasures, embedding_versions TO {runtime};
GRANT SELECT, INSERT ON memory_links, memory_events, rule_applications, memory_versions TO {runtime};
GRANT SELECT, INSERT, DELETE ON served, context_receipts, masked_texts TO {runtime};
GRANT SELECT, INSERT ON event_seals TO {runtime};
GRANT UPDATE (seq, sealed_at, link) ON event_seals TO {runtime};
GRANT SELECT, INSERT, UPDATE ON audit_checkpoints TO {runtime};
