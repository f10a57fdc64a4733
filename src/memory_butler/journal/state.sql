-- name: get
SELECT value FROM state WHERE key = ?

-- name: put
INSERT INTO state (key, value, updated_at) VALUES (:key, :value, :at)
ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at

-- name: drop
DELETE FROM state WHERE key = ?

-- name: with_prefix
SELECT key, value FROM state WHERE substr(key, 1, length(:prefix)) = :prefix ORDER BY key
