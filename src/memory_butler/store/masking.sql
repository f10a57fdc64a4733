-- What is stored, page by page in the order of the ids, and as it is after its secrets are masked.

-- name: episodes
SELECT id, content, metadata, speaker, occurred_at FROM episodes
WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT $3

-- name: facts
SELECT id, content, metadata, tags, subject, predicate FROM facts
WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT $3

-- name: rules
SELECT id, content, metadata, tags FROM rules
WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT $3

-- name: entities
SELECT id, jsonb_build_object('name', canonical_name, 'aliases', aliases, 'metadata', metadata) AS said
FROM entities
WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT $3

-- name: former
-- Past states that hold texts of their own.
SELECT kind, id, known_from,
       jsonb_build_object('content', state->'content', 'metadata', state->'metadata') AS said
FROM memory_versions
WHERE tenant_id = $1 AND kind = $2 AND (id, known_from) > ($3, $4)
ORDER BY id, known_from LIMIT $5

-- name: mask_episodes
UPDATE episodes
SET content = $4, metadata = $5, embedding = $6, search_vector = words_of($7),
    embedding_version_id = $8
WHERE tenant_id = $1 AND id = $2 AND content = $3

-- name: mask_facts
UPDATE facts
SET content = $4, metadata = $5, embedding = $6, search_vector = words_of($7),
    embedding_version_id = $8, tags = $9
WHERE tenant_id = $1 AND id = $2 AND content = $3

-- name: mask_rules
UPDATE rules
SET content = $4, metadata = $5, embedding = $6, search_vector = words_of($7),
    embedding_version_id = $8, tags = $9
WHERE tenant_id = $1 AND id = $2 AND content = $3
