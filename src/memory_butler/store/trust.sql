-- fragment: items
SELECT 'episode' AS kind, id, trust FROM episodes WHERE tenant_id = $1 AND id = ANY($2)
UNION ALL
SELECT 'fact', id, trust FROM facts WHERE tenant_id = $1 AND id = ANY($2)
UNION ALL
SELECT 'rule', id, trust FROM rules WHERE tenant_id = $1 AND id = ANY($2)

-- name: of
{items}

-- name: dependents
-- What was derived from an item: what names it as its source, and what it supports.
SELECT source_type AS kind, source_id AS id FROM memory_links
WHERE tenant_id = $1 AND relation = 'derived_from' AND target_type = $2 AND target_id = $3
UNION
SELECT target_type, target_id FROM memory_links
WHERE tenant_id = $1 AND relation = 'supports' AND source_type = $2 AND source_id = $3
ORDER BY kind, id

-- name: lower_episode
UPDATE episodes SET trust = $3 WHERE tenant_id = $1 AND id = $2

-- name: lower_fact
UPDATE facts SET trust = $3 WHERE tenant_id = $1 AND id = $2

-- name: lower_rule
UPDATE rules SET trust = $3 WHERE tenant_id = $1 AND id = $2
