-- fragment: columns
id, tenant_id, butler, session_id, content, importance, reference_count, consolidated,
consolidation_status, consolidation_attempts, retry_count, last_error, last_consolidation_error,
next_consolidation_retry_at, occurred_at, speaker, turn, created_at, last_referenced_at, expires_at,
metadata

-- name: insert
INSERT INTO episodes (
    tenant_id, id, butler, session_id, content, embedding, search_vector, importance,
    occurred_at, speaker, turn, created_at, last_referenced_at, expires_at, metadata,
    embedding_version_id, consolidation_status
) VALUES (
    $1, $2, $3, $4, $5, $6, to_tsvector('english', $7), $8, $9, $10, $11, $12, $12, $13, $14, $15, $16
)

-- name: insert_many
INSERT INTO episodes (
    tenant_id, id, butler, session_id, content, search_vector, importance,
    occurred_at, speaker, turn, created_at, last_referenced_at, expires_at, metadata,
    consolidation_status
)
SELECT $1, id, butler, session_id, content, to_tsvector('english', search_text), importance,
       occurred_at, speaker, turn, created_at, created_at, expires_at, metadata, status
FROM unnest(
    $2::uuid[], $3::text[], $4::uuid[], $5::text[], $6::text[], $7::double precision[],
    $8::timestamptz[], $9::text[], $10::integer[], $11::timestamptz[], $12::timestamptz[],
    $13::jsonb[], $14::text[]
) AS new (
    id, butler, session_id, content, search_text, importance,
    occurred_at, speaker, turn, created_at, expires_at, metadata, status
)

-- name: get
UPDATE episodes
SET reference_count = reference_count + 1, last_referenced_at = $3
WHERE tenant_id = $1 AND id = $2
RETURNING {columns}

-- name: many
SELECT {columns} FROM episodes WHERE tenant_id = $1 AND id = ANY($2)

-- name: bump
-- In id order, so that two readers of the same rows wait for each other instead of deadlocking.
WITH locked AS (
    SELECT id AS locked_id FROM episodes
    WHERE tenant_id = $1 AND id = ANY($2) AND expires_at > $3
    ORDER BY id FOR NO KEY UPDATE
)
UPDATE episodes
SET reference_count = reference_count + 1, last_referenced_at = $3
FROM locked WHERE tenant_id = $1 AND id = locked_id
RETURNING {columns}

-- name: expiry_for_update
SELECT expires_at FROM episodes WHERE tenant_id = $1 AND id = $2 FOR UPDATE

-- name: set_expiry
UPDATE episodes SET expires_at = $3 WHERE tenant_id = $1 AND id = $2

-- name: exists
SELECT true FROM episodes WHERE tenant_id = $1 AND id = $2

-- name: cleanup_counts
SELECT count(*) FILTER (WHERE expires_at < $2)::integer AS expired,
       count(*) FILTER (WHERE expires_at >= $2)::integer AS unexpired,
       count(*) FILTER (WHERE expires_at >= $2 AND consolidated)::integer AS evictable
FROM episodes WHERE tenant_id = $1

-- name: delete_expired
WITH doomed AS (
    SELECT id AS doomed_id FROM episodes
    WHERE tenant_id = $1 AND expires_at < $2
    ORDER BY expires_at, id LIMIT $3 FOR UPDATE SKIP LOCKED
)
DELETE FROM episodes USING doomed WHERE tenant_id = $1 AND id = doomed_id RETURNING id

-- name: delete_oldest_consolidated
WITH doomed AS (
    SELECT id AS doomed_id FROM episodes
    WHERE tenant_id = $1 AND consolidated
    ORDER BY created_at, id LIMIT $2 FOR UPDATE SKIP LOCKED
)
DELETE FROM episodes USING doomed WHERE tenant_id = $1 AND id = doomed_id RETURNING id

-- name: count
SELECT count(*)::integer FROM episodes WHERE tenant_id = $1
