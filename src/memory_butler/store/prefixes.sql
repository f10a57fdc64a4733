-- name: fact
SELECT id FROM facts WHERE tenant_id = $1 AND id BETWEEN $2 AND $3 ORDER BY id LIMIT 2

-- name: rule
SELECT id FROM rules WHERE tenant_id = $1 AND id BETWEEN $2 AND $3 ORDER BY id LIMIT 2

-- name: episode
SELECT id FROM episodes WHERE tenant_id = $1 AND id BETWEEN $2 AND $3 ORDER BY id LIMIT 2

-- name: entity
SELECT id FROM entities WHERE tenant_id = $1 AND id BETWEEN $2 AND $3 ORDER BY id LIMIT 2

-- name: context
SELECT id FROM context_receipts WHERE tenant_id = $1 AND id BETWEEN $2 AND $3 ORDER BY id LIMIT 2

-- name: event
SELECT id FROM memory_events WHERE tenant_id = $1 AND id BETWEEN $2 AND $3 ORDER BY id LIMIT 2

-- name: run
SELECT id FROM consolidation_runs WHERE tenant_id = $1 AND id BETWEEN $2 AND $3 ORDER BY id LIMIT 2

-- name: memory
SELECT id FROM facts WHERE tenant_id = $1 AND id BETWEEN $2 AND $3
UNION ALL
SELECT id FROM rules WHERE tenant_id = $1 AND id BETWEEN $2 AND $3
UNION ALL
SELECT id FROM episodes WHERE tenant_id = $1 AND id BETWEEN $2 AND $3
ORDER BY id LIMIT 2

-- name: token
SELECT id FROM token_list($1) WHERE id BETWEEN $2 AND $3 ORDER BY id LIMIT 2
