-- What waits to be settled is little among much: contradictions among the links, facts that resemble
-- another among the facts.
CREATE INDEX idx_memory_links_contradicts ON memory_links (tenant_id, source_id, target_id)
    WHERE relation = 'contradicts';
CREATE INDEX idx_facts_resembling ON facts (tenant_id, id)
    WHERE validity = 'active' AND metadata->'resembles' IS NOT NULL;
