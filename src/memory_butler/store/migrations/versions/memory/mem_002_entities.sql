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
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT entities_name_unique UNIQUE (tenant_id, canonical_name, entity_type)
);

CREATE INDEX idx_entities_name ON entities (tenant_id, canonical_name);
CREATE INDEX idx_entities_name_lower ON entities (tenant_id, lower(canonical_name));
CREATE INDEX idx_entities_aliases ON entities USING gin (aliases);
CREATE INDEX idx_entities_metadata ON entities USING gin (metadata);

ALTER TABLE facts ADD COLUMN entity_id uuid;
ALTER TABLE facts ADD CONSTRAINT facts_entity_fkey FOREIGN KEY (tenant_id, entity_id)
    REFERENCES entities (tenant_id, id) ON DELETE RESTRICT;

-- One active fact a key. The two key spaces coexist and never supersede each other (C-21, C-22).
CREATE UNIQUE INDEX uq_facts_entity_active ON facts (tenant_id, entity_id, scope, predicate)
    WHERE entity_id IS NOT NULL AND validity = 'active';
CREATE UNIQUE INDEX uq_facts_subject_active ON facts (tenant_id, scope, subject, predicate)
    WHERE entity_id IS NULL AND validity = 'active';
CREATE INDEX idx_facts_entity ON facts (tenant_id, entity_id) WHERE entity_id IS NOT NULL;
