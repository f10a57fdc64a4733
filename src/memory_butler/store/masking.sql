-- What is stored, page by page in the order of the ids; as it is after its secrets are masked; and what was
-- masked, encrypted, for as long as it can be restored.

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

-- name: locked_episode
SELECT content, metadata FROM episodes WHERE tenant_id = $1 AND id = $2 FOR UPDATE

-- name: locked_fact
SELECT content, metadata, tags, subject, predicate FROM facts WHERE tenant_id = $1 AND id = $2 FOR UPDATE

-- name: locked_rule
SELECT content, metadata, tags FROM rules WHERE tenant_id = $1 AND id = $2 FOR UPDATE

-- name: write_episodes
UPDATE episodes
SET content = $3, metadata = $4, embedding = $5, search_vector = words_of($6),
    embedding_version_id = $7
WHERE tenant_id = $1 AND id = $2

-- name: write_facts
UPDATE facts
SET content = $3, metadata = $4, embedding = $5, search_vector = words_of($6),
    embedding_version_id = $7, tags = $8
WHERE tenant_id = $1 AND id = $2

-- name: write_rules
UPDATE rules
SET content = $3, metadata = $4, embedding = $5, search_vector = words_of($6),
    embedding_version_id = $7, tags = $8
WHERE tenant_id = $1 AND id = $2

-- name: keep
INSERT INTO masked_texts (tenant_id, key_id, memory_type, memory_id, sealed, expires_at)
VALUES ($1, $2, $3, $4, $5, $6)

-- name: kept
SELECT memory_type, memory_id, sealed FROM masked_texts
WHERE tenant_id = $1 AND key_id = $2 AND expires_at > $3 ORDER BY memory_type, memory_id

-- name: drop
DELETE FROM masked_texts WHERE tenant_id = $1 AND key_id = $2 AND memory_id = $3

-- name: drop_expired
DELETE FROM masked_texts WHERE tenant_id = $1 AND expires_at <= $2
