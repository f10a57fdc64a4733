-- fragment: columns
id, tenant_id, content, scope, maturity, confidence, decay_rate, permanence, effectiveness_score,
applied_count, success_count, harmful_count, source_episode_id, source_butler, reference_count,
created_at, last_applied_at, last_evaluated_at, last_referenced_at, last_confirmed_at, tags, metadata

-- name: insert
INSERT INTO rules (
    tenant_id, id, content, embedding, search_vector, scope, maturity, confidence, decay_rate,
    permanence, source_episode_id, source_butler, created_at, last_referenced_at, last_confirmed_at,
    tags, metadata, embedding_version_id
) VALUES (
    $1, $2, $3, $4, to_tsvector('english', $5), $6, 'candidate', 0.5, $7, $8, $9, $10, $11, $11, $11,
    $12, $13, $14
)

-- name: get
UPDATE rules
SET reference_count = reference_count + 1, last_referenced_at = $3
WHERE tenant_id = $1 AND id = $2
RETURNING {columns}

-- name: many
SELECT {columns} FROM rules WHERE tenant_id = $1 AND id = ANY($2) AND metadata->>'forgotten' IS DISTINCT FROM 'true'

-- name: bump
WITH locked AS (
    SELECT id AS locked_id FROM rules
    WHERE tenant_id = $1 AND id = ANY($2) AND metadata->>'forgotten' IS DISTINCT FROM 'true'
    ORDER BY id FOR NO KEY UPDATE
)
UPDATE rules
SET reference_count = reference_count + 1, last_referenced_at = $3
FROM locked WHERE tenant_id = $1 AND id = locked_id
RETURNING {columns}

-- name: confirm
UPDATE rules
SET last_confirmed_at = $3,
    metadata = CASE WHEN metadata->>'status' = 'fading' THEN metadata - 'status' ELSE metadata END
WHERE tenant_id = $1 AND id = $2
RETURNING {columns}

-- name: for_update
SELECT {columns} FROM rules WHERE tenant_id = $1 AND id = $2 FOR UPDATE

-- name: apply_mark
UPDATE rules
SET maturity = $3, effectiveness_score = $4, applied_count = $5, success_count = $6,
    harmful_count = $7, last_applied_at = $8, last_evaluated_at = $8, metadata = $9
WHERE tenant_id = $1 AND id = $2
RETURNING {columns}

-- name: set_metadata
UPDATE rules SET metadata = $3 WHERE tenant_id = $1 AND id = $2

-- name: exists
SELECT true FROM rules WHERE tenant_id = $1 AND id = $2

-- name: insert_application
INSERT INTO rule_applications (tenant_id, rule_id, outcome, context, created_at)
VALUES ($1, $2, $3, $4, $5)

-- name: applications
SELECT id, rule_id, outcome, context, created_at FROM rule_applications
WHERE tenant_id = $1 AND rule_id = $2 ORDER BY created_at DESC, id LIMIT $3

-- name: flagged
SELECT {columns} FROM rules
WHERE tenant_id = $1 AND metadata->>'needs_inversion' = 'true' AND maturity <> 'anti_pattern'
  AND metadata->>'forgotten' IS DISTINCT FROM 'true'
ORDER BY id LIMIT $2

-- name: invert
UPDATE rules
SET content = $3, embedding = $4, search_vector = to_tsvector('english', $5),
    embedding_version_id = $6, maturity = 'anti_pattern', last_evaluated_at = $7, metadata = $8
WHERE tenant_id = $1 AND id = $2
