-- name: current
-- What is current already is not written again: of a cluster all machines would have to be there.
SELECT id FROM embedding_versions WHERE model_name = $1 AND version = $2 AND is_current

-- name: register
-- C-75: the newest model to register is the current one.
WITH retired AS (
    UPDATE embedding_versions SET is_current = false
    WHERE is_current AND NOT (model_name = $1 AND version = $2)
)
INSERT INTO embedding_versions (model_name, version, dimensions, first_used_at, last_used_at)
VALUES ($1, $2, $3, $4, $4)
ON CONFLICT ON CONSTRAINT embedding_versions_unique
    DO UPDATE SET is_current = true, last_used_at = excluded.last_used_at
RETURNING id

-- name: used
UPDATE embedding_versions SET last_used_at = $2 WHERE id = $1 AND last_used_at < $2

-- name: known
SELECT id, model_name, version, dimensions, first_used_at, last_used_at, is_current
FROM embedding_versions ORDER BY first_used_at DESC, id DESC
