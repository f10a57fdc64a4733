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

-- name: keys
SELECT key FROM fragments

-- name: named
-- What a fragment is another name of, if it says nothing else.
SELECT e.target_key FROM fragment_edges AS e JOIN fragments AS f ON f.key = e.source_key
WHERE e.source_key = :key AND f.key = :key AND e.relation = 'another name of'
  AND f.ambient IS NULL AND f.inventory IS NULL AND e.target_key <> f.key
