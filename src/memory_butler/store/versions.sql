-- Each query keeps the state that rows have now, just before they change. A state that never lasted
-- (two changes in one instant) leaves no row. Texts that cannot change are not repeated; the whole of
-- a row, vectors apart, is kept where the row itself is about to go. The tenant is named by the parameter
-- everywhere, and not by another table's column: on a cluster that alone says which machine has the rows.

-- fragment: keep
INSERT INTO memory_versions (tenant_id, kind, id, known_from, known_until, state)

-- fragment: fact_since
FROM facts f, LATERAL (
    SELECT coalesce(max(v.known_until), f.created_at) AS known_from FROM memory_versions v
    WHERE v.tenant_id = $1 AND v.kind = 'fact' AND v.id = f.id
) since
WHERE f.tenant_id = $1 AND f.id = ANY($2) AND since.known_from < $3

-- name: fact
{keep}
SELECT f.tenant_id, 'fact', f.id, since.known_from, $3,
       to_jsonb(f) - ARRAY['tenant_id', 'id', 'subject', 'predicate', 'subject_key', 'predicate_key',
                           'content', 'embedding', 'search_vector', 'reference_count', 'last_referenced_at', 'created_at']
{fact_since}

-- name: whole_fact
{keep}
SELECT f.tenant_id, 'fact', f.id, since.known_from, $3,
       to_jsonb(f) - ARRAY['tenant_id', 'id', 'embedding', 'search_vector']
{fact_since}

-- fragment: rule_since
FROM rules r, LATERAL (
    SELECT coalesce(max(v.known_until), r.created_at) AS known_from FROM memory_versions v
    WHERE v.tenant_id = $1 AND v.kind = 'rule' AND v.id = r.id
) since
WHERE r.tenant_id = $1 AND r.id = ANY($2) AND since.known_from < $3

-- name: rule
{keep}
SELECT r.tenant_id, 'rule', r.id, since.known_from, $3,
       to_jsonb(r) - ARRAY['tenant_id', 'id', 'embedding', 'search_vector', 'reference_count',
                           'last_referenced_at', 'created_at']
{rule_since}

-- name: rule_text
-- With what the text is found by: it holds for every version of the rule before this one as well.
{keep}
SELECT r.tenant_id, 'rule', r.id, since.known_from, $3,
       to_jsonb(r) - ARRAY['tenant_id', 'id', 'reference_count', 'last_referenced_at', 'created_at']
{rule_since}

-- name: whole_rule
{keep}
SELECT r.tenant_id, 'rule', r.id, since.known_from, $3,
       to_jsonb(r) - ARRAY['tenant_id', 'id', 'embedding', 'search_vector']
{rule_since}

-- fragment: episode_since
FROM episodes e, LATERAL (
    SELECT coalesce(max(v.known_until), e.created_at) AS known_from FROM memory_versions v
    WHERE v.tenant_id = $1 AND v.kind = 'episode' AND v.id = e.id
) since
WHERE e.tenant_id = $1 AND e.id = ANY($2) AND since.known_from < $3

-- name: episode
{keep}
SELECT e.tenant_id, 'episode', e.id, since.known_from, $3,
       to_jsonb(e) - ARRAY['tenant_id', 'id', 'content', 'embedding', 'search_vector',
                           'reference_count', 'last_referenced_at', 'created_at']
{episode_since}

-- name: whole_episode
{keep}
SELECT e.tenant_id, 'episode', e.id, since.known_from, $3,
       to_jsonb(e) - ARRAY['tenant_id', 'id', 'embedding', 'search_vector']
{episode_since}

-- name: entity
{keep}
SELECT n.tenant_id, 'entity', n.id, since.known_from, $3, to_jsonb(n) - ARRAY['tenant_id', 'id', 'name_key', 'alias_keys']
FROM entities n, LATERAL (
    SELECT coalesce(max(v.known_until), n.created_at) AS known_from FROM memory_versions v
    WHERE v.tenant_id = $1 AND v.kind = 'entity' AND v.id = n.id
) since
WHERE n.tenant_id = $1 AND n.id = ANY($2) AND since.known_from < $3

-- name: of_item
SELECT known_from, known_until, state FROM memory_versions
WHERE tenant_id = $1 AND kind = $2 AND id = $3 ORDER BY known_from
