-- LINK-01..04. The relation is not part of the key: the first relation between two items wins (C-12).
-- No foreign keys: a link outlives the episode it points at, as provenance (C-11).
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
    PRIMARY KEY (tenant_id, source_type, source_id, target_type, target_id)
);

CREATE INDEX idx_memory_links_target ON memory_links (target_type, target_id);
