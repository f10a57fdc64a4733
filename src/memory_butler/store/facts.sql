-- fragment: columns
id, tenant_id, subject, predicate, content, importance, confidence, decay_rate, permanence,
source_butler, source_episode_id, supersedes_id, entity_id, validity, scope, reference_count,
valid_from, valid_until, created_at, retired_at, last_referenced_at, last_confirmed_at, tags, metadata

-- name: lock_key
-- C-21. One writer a key at a time: 64 writers at once all succeed, where row locks alone fail most.
SELECT pg_advisory_xact_lock($1)

-- name: lock_many
SELECT id FROM facts WHERE tenant_id = $1 AND id = ANY($2) ORDER BY id FOR NO KEY UPDATE

-- name: active_of_subject
SELECT id, created_at FROM facts
WHERE tenant_id = $1 AND scope = $2 AND subject = $3 AND predicate = $4
  AND entity_id IS NULL AND validity = 'active'
FOR UPDATE

-- name: active_of_entity
SELECT id, created_at FROM facts
WHERE tenant_id = $1 AND scope = $2 AND entity_id = $3 AND predicate = $4 AND validity = 'active'
FOR UPDATE

-- name: supersede
-- What a change ended was true until the new fact began. A correction (the new fact begins no later)
-- leaves valid_until open: the old one is then known never to have been true.
UPDATE facts
SET validity = 'superseded', retired_at = $3,
    valid_until = CASE WHEN $4 > valid_from THEN least(valid_until, $4) ELSE valid_until END
WHERE tenant_id = $1 AND id = $2 AND validity = 'active'

-- name: insert
INSERT INTO facts (
    tenant_id, id, subject, predicate, content, embedding, search_vector, importance, confidence,
    decay_rate, permanence, source_butler, source_episode_id, supersedes_id, entity_id, validity,
    scope, valid_from, valid_until, created_at, retired_at, last_referenced_at, last_confirmed_at,
    tags, metadata, embedding_version_id
) VALUES (
    $1, $2, $3, $4, $5, $6, to_tsvector('english', $7), $8, $24, $9, $10, $11, $12, $13, $14, $15,
    $16, $17, $18, $19, $20, $19, $19, $21, $22, $23
)

-- name: get
UPDATE facts
SET reference_count = reference_count + 1, last_referenced_at = $3
WHERE tenant_id = $1 AND id = $2
RETURNING {columns}

-- name: many
SELECT {columns} FROM facts WHERE tenant_id = $1 AND id = ANY($2) AND validity = 'active'

-- name: bump
WITH locked AS (
    SELECT id AS locked_id FROM facts
    WHERE tenant_id = $1 AND id = ANY($2) AND validity = 'active'
    ORDER BY id FOR NO KEY UPDATE
)
UPDATE facts
SET reference_count = reference_count + 1, last_referenced_at = $3
FROM locked WHERE tenant_id = $1 AND id = locked_id
RETURNING {columns}

-- name: confirm
-- C-25, C-29: confirming resets the decay timer and clears the fading mark; validity stays.
UPDATE facts
SET last_confirmed_at = $3,
    metadata = CASE WHEN metadata->>'status' = 'fading' THEN metadata - 'status' ELSE metadata END
WHERE tenant_id = $1 AND id = $2
RETURNING {columns}

-- name: for_update
SELECT {columns} FROM facts WHERE tenant_id = $1 AND id = $2 FOR UPDATE

-- name: retract
UPDATE facts
SET validity = 'retracted', retired_at = coalesce(retired_at, $3),
    metadata = metadata || '{"forgotten": true}'
WHERE tenant_id = $1 AND id = $2

-- name: restore
-- To what it was before: a fact that was superseded when it was forgotten is no current truth again.
UPDATE facts
SET validity = $3, metadata = metadata - 'forgotten',
    retired_at = CASE WHEN $3 = 'active' THEN NULL ELSE retired_at END
WHERE tenant_id = $1 AND id = $2

-- name: exists
SELECT true FROM facts WHERE tenant_id = $1 AND id = $2

-- name: of_entities
-- MRG-02, MRG-03: every fact of two entities, of whatever validity, locked for the merge.
SELECT {columns} FROM facts
WHERE tenant_id = $1 AND entity_id = ANY($2) ORDER BY id FOR UPDATE

-- name: repoint
UPDATE facts SET entity_id = $3 WHERE tenant_id = $1 AND id = ANY($2)

-- name: supersede_many
UPDATE facts SET validity = 'superseded', retired_at = $3
WHERE tenant_id = $1 AND id = ANY($2) AND validity = 'active'

-- name: set_supersedes
UPDATE facts SET supersedes_id = $3 WHERE tenant_id = $1 AND id = $2 AND supersedes_id IS NULL

-- name: texts_of_entities
-- C-71: up to 500 active facts a candidate, so that a busy one does not starve the others.
SELECT e.entity_id, f.predicate, f.content
FROM unnest($2::uuid[]) AS e (entity_id)
CROSS JOIN LATERAL (
    SELECT predicate, content FROM facts
    WHERE tenant_id = $1 AND entity_id = e.entity_id AND validity = 'active'
    ORDER BY created_at DESC, id LIMIT 500
) f
