-- name: insert
INSERT INTO served (tenant_id, operation, butler, session_id, served_at, item_ids, shingles)
VALUES ($1, $2, $3, $4, $5, $6, $7)

-- name: of_session
SELECT operation, butler, served_at, item_ids, shingles FROM served
WHERE tenant_id = $1 AND session_id = $2 ORDER BY served_at, id

-- name: forget_before
DELETE FROM served WHERE tenant_id = $1 AND served_at < $2
