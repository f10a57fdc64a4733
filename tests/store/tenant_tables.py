"""The tables that hold tenant data, and those that do not. A table missing here fails a test."""

# One row a tenant table, of the tenant in $1.
ROWS = {
    "episodes": "INSERT INTO episodes (tenant_id, butler, content) VALUES ($1, 'b', 'c')",
    "facts": "INSERT INTO facts (tenant_id, subject, predicate, content)"
    " VALUES ($1, 's', 'p', 'c')",
    "rules": "INSERT INTO rules (tenant_id, content) VALUES ($1, 'c')",
    "memory_links": "INSERT INTO memory_links (tenant_id, source_type, source_id, target_type,"
    " target_id, relation) VALUES ($1, 'fact', gen_random_uuid(), 'rule', gen_random_uuid(),"
    " 'supports')",
    "entities": "INSERT INTO entities (tenant_id, canonical_name, entity_type)"
    " VALUES ($1, 'Ann', 'person')",
    "memory_events": "INSERT INTO memory_events (tenant_id, event_type) VALUES ($1, 'x')",
    "rule_applications": "INSERT INTO rule_applications (tenant_id, rule_id, outcome)"
    " SELECT tenant_id, id, 'helpful' FROM rules WHERE tenant_id = $1",
    "memory_versions": "INSERT INTO memory_versions (tenant_id, kind, id, known_from, known_until,"
    " state) VALUES ($1, 'fact', gen_random_uuid(), now(), now() + interval '1 day', '{}')",
    "served": "INSERT INTO served (tenant_id, operation, item_ids) VALUES ($1, 'recall', '{}')",
    "consolidation_runs": "INSERT INTO consolidation_runs (tenant_id, butler, trigger_source,"
    " model, status, episodes, started_at) VALUES ($1, 'b', 't', 'm', 'running', 1, now())",
    "butler_state": "INSERT INTO butler_state (tenant_id, butler, key, value, updated_at)"
    " VALUES ($1, 'b', 'k', '1', now())",
    "erasures": "INSERT INTO erasures (tenant_id, id, target, actor, erased_at, report)"
    " VALUES ($1, gen_random_uuid(), '{}', 'a', now(), '{}')",
    "items": "INSERT INTO items (tenant_id, namespace, key, value) VALUES ($1, '{n}', 'k', '{}')",
    "context_receipts": "INSERT INTO context_receipts (tenant_id, butler, item_ids, receipt,"
    " sha256) VALUES ($1, 'b', '{}', '{}', sha256('t'))",
    "event_seals": "INSERT INTO event_seals (tenant_id, event_id, content, mac)"
    " VALUES ($1, gen_random_uuid(), sha256('c'), sha256('m'))",
    "masked_texts": "INSERT INTO masked_texts (tenant_id, key_id, memory_type, memory_id, sealed,"
    " expires_at) VALUES ($1, sha256('k'), 'fact', gen_random_uuid(), '\\x00', now())",
    "audit_checkpoints": "INSERT INTO audit_checkpoints (tenant_id, statement, signature)"
    " VALUES ($1, '{}', sha256('s'))",
}

TENANT_TABLES = tuple(ROWS)
GLOBAL_TABLES = {"alembic_version", "embedding_versions", "tenants", "tokens", "job_runs"}
