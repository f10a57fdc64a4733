-- name: get
SELECT value FROM state WHERE key = ?

-- name: put
INSERT OR REPLACE INTO state (key, value, updated_at) VALUES (:key, :value, :at)

-- name: drop
DELETE FROM state WHERE key = ?

-- name: with_prefix
SELECT key, value FROM state WHERE substr(key, 1, length(:prefix)) = :prefix ORDER BY key
