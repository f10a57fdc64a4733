-- name: insert
-- LINK-06, C-12: an existing link of the pair stays, whatever its relation.
INSERT INTO memory_links (tenant_id, source_type, source_id, target_type, target_id, relation, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT DO NOTHING
RETURNING true

-- name: of_item
SELECT source_type, source_id, target_type, target_id, relation, created_at
FROM memory_links
WHERE tenant_id = $1
  AND (($4 AND source_type = $2 AND source_id = $3) OR ($5 AND target_type = $2 AND target_id = $3))
ORDER BY created_at, source_type, source_id, target_type, target_id

-- name: of_items
SELECT source_type, source_id, target_type, target_id, relation, created_at
FROM memory_links
WHERE tenant_id = $1
  AND ((source_type = $2 AND source_id = ANY($3)) OR (target_type = $2 AND target_id = ANY($3)))
ORDER BY created_at, source_type, source_id, target_type, target_id
LIMIT $4
