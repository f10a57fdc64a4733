-- fragment: all_but_content
id, tenant_id, butler, session_id, importance, reference_count, consolidated,
consolidation_status, consolidation_attempts, retry_count, last_error, last_consolidation_error,
next_consolidation_retry_at, occurred_at, speaker, turn, created_at, last_referenced_at, expires_at,
metadata, trust

-- fragment: columns
content, {all_but_content}

-- name: insert
INSERT INTO episodes (
    tenant_id, id, butler, session_id, content, embedding, search_vector, importance,
    occurred_at, speaker, turn, created_at, last_referenced_at, expires_at, metadata,
    embedding_version_id, consolidation_status, trust
) VALUES (
    $1, $2, $3, $4, $5, $6, words_of($7), $8, $9, $10, $11, $12, $12, $13, $14, $15, $16, $17
)

-- name: insert_many
-- Of one status. Lists in VALUES make a row each, as a SELECT from them would; Citus sends only these to
-- one shard, and only where no function or cast is between a list and its column.
INSERT INTO episodes (
    tenant_id, id, butler, session_id, content, search_vector, importance,
    occurred_at, speaker, turn, created_at, last_referenced_at, expires_at, metadata,
    consolidation_status, trust
)
VALUES (
    $1, unnest($2::uuid[]), unnest($3::text[]), unnest($4::uuid[]), unnest($5::text[]),
    unnest(words_of_each($6::text[])), unnest($7::double precision[]), unnest($8::timestamptz[]),
    unnest($9::text[]), unnest($10::integer[]), unnest($11::timestamptz[]), unnest($11::timestamptz[]),
    unnest($12::timestamptz[]), unnest($13::jsonb[]), $14, unnest($15::smallint[])
)

-- name: get
UPDATE episodes
SET reference_count = reference_count + 1, last_referenced_at = $3
WHERE tenant_id = $1 AND id = $2
RETURNING {columns}

-- name: last_occurred
SELECT max(occurred_at) FROM episodes WHERE tenant_id = $1 AND id = ANY($2)

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

-- name: unlink_facts
-- What a foreign key does on one machine; Citus takes none that sets a column to NULL.
UPDATE facts SET source_episode_id = NULL WHERE tenant_id = $1 AND source_episode_id = ANY($2)

-- name: unlink_rules
UPDATE rules SET source_episode_id = NULL WHERE tenant_id = $1 AND source_episode_id = ANY($2)

-- name: count
SELECT count(*)::integer FROM episodes WHERE tenant_id = $1

-- name: with_terms
-- Up to $3; null where there are more.
SELECT episodes_with_terms($1, $2, $3)

-- fragment: wanted
tenant_id = $1
  AND ($2::text IS NULL OR butler = $2)
  AND ($3::uuid IS NULL OR session_id = $3)
  AND ($4::text[] IS NULL OR consolidation_status = ANY($4))
  AND ($5::text IS NULL OR CASE WHEN numnode(prefix_terms($5)) > 0
      THEN search_vector @@ prefix_terms($5)
      ELSE strpos(lower(content), lower($5)) > 0 END)
  AND ($6::boolean IS NULL OR (expires_at <= $7::timestamptz) = $6)
  AND ($8::timestamptz IS NULL OR occurred_at >= $8)
  AND ($9::timestamptz IS NULL OR occurred_at < $9)
  AND ($10::uuid[] IS NULL OR id = ANY($10))
  AND ($11::smallint IS NULL OR trust >= $11)

-- name: count_wanted
SELECT count(*)::integer FROM (SELECT FROM episodes WHERE {wanted} LIMIT $12) counted

-- name: page
SELECT left(content, 2000) AS content, length(content) AS content_length, {all_but_content}
FROM episodes WHERE {wanted}
ORDER BY CASE WHEN $12::text = 'occurred' AND $13::boolean THEN occurred_at END DESC,
         CASE WHEN $12 = 'occurred' AND NOT $13 THEN occurred_at END,
         CASE WHEN $12 = 'created' AND $13 THEN created_at END DESC,
         CASE WHEN $12 = 'created' AND NOT $13 THEN created_at END,
         CASE WHEN $12 = 'importance' THEN CASE WHEN $13 THEN -importance ELSE importance END END,
         id
LIMIT $14 OFFSET $15

-- name: look
SELECT {columns} FROM episodes WHERE tenant_id = $1 AND id = $2

-- name: labels
SELECT id, left(content, 200) AS label, occurred_at AS created_at,
       CASE WHEN expires_at <= $3 THEN 'expired' ELSE consolidation_status END AS state
FROM episodes WHERE tenant_id = $1 AND id = ANY($2)

-- name: of_session
SELECT {columns} FROM episodes WHERE tenant_id = $1 AND session_id = $2
ORDER BY turn NULLS LAST, occurred_at, id LIMIT $3
