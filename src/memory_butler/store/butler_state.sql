-- name: get
SELECT value, updated_at FROM butler_state WHERE tenant_id = $1 AND butler = $2 AND key = $3

-- name: set
INSERT INTO butler_state (tenant_id, butler, key, value, updated_at) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (tenant_id, butler, key)
DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at

-- name: list
SELECT key, value, updated_at FROM butler_state
WHERE tenant_id = $1 AND butler = $2 AND starts_with(key, $3) AND key > $4
ORDER BY key LIMIT $5

-- name: delete
DELETE FROM butler_state WHERE tenant_id = $1 AND butler = $2 AND key = $3 RETURNING true
