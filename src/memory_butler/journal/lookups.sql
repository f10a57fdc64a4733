-- name: fragment
SELECT ambient, recognition, inventory FROM fragments WHERE key = ?

-- name: neighbours
SELECT f.key, e.relation, f.ambient
FROM fragment_edges AS e JOIN fragments AS f ON f.key = e.target_key
WHERE e.source_key = :key AND f.ambient <> ''

-- name: neighbours_towards
SELECT f.key, e.relation, f.ambient
FROM fragment_edges AS e JOIN fragments AS f ON f.key = e.source_key
WHERE e.target_key = :key AND f.ambient <> ''
