-- fragment: all_but_content
id, tenant_id, scope, maturity, confidence, decay_rate, permanence, effectiveness_score,
applied_count, success_count, harmful_count, source_episode_id, source_butler, reference_count,
created_at, last_applied_at, last_evaluated_at, last_referenced_at, last_confirmed_at, tags, metadata, trust

-- fragment: columns
content, {all_but_content}

-- name: insert
INSERT INTO rules (
    tenant_id, id, content, embedding, search_vector, scope, maturity, confidence, decay_rate,
    permanence, source_episode_id, source_butler, created_at, last_referenced_at, last_confirmed_at,
    tags, metadata, embedding_version_id, trust
) VALUES (
    $1, $2, $3, $4, words_of($5), $6, 'candidate', 0.5, $7, $8, $9, $10, $11, $11, $11,
    $12, $13, $14, $15
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
SET last_confirmed_at = $3, decay_rate = $4, permanence = $5,
    metadata = CASE WHEN metadata->>'status' = 'fading' THEN metadata - 'status' ELSE metadata END
WHERE tenant_id = $1 AND id = $2
RETURNING {columns}

-- name: set_tags
UPDATE rules SET tags = $3, search_vector = words_of($4) WHERE tenant_id = $1 AND id = $2

-- name: for_update
SELECT {columns} FROM rules WHERE tenant_id = $1 AND id = $2 FOR UPDATE

-- name: saying
-- A rule that counts in just these words, locked; the most trusted of them.
SELECT {columns} FROM rules
WHERE tenant_id = $1 AND scope = $2 AND lower(btrim(content)) = lower(btrim($3)) AND trust >= $4
  AND maturity <> 'anti_pattern' AND metadata->>'forgotten' IS DISTINCT FROM 'true'
  AND metadata->>'disabled' IS DISTINCT FROM 'true'
ORDER BY trust DESC, created_at, id LIMIT 1 FOR UPDATE

-- name: lock_saying
SELECT FROM rules
WHERE tenant_id = $1 AND lower(btrim(content)) = ANY (SELECT lower(btrim(c)) FROM unnest($2::text[]) c)
ORDER BY id FOR UPDATE

-- name: apply_mark
-- What helped holds: a helpful mark confirms, and clears the mark of fading.
UPDATE rules
SET maturity = $3, effectiveness_score = $4, applied_count = $5, success_count = $6,
    harmful_count = $7, confidence = $11, last_applied_at = $8, last_evaluated_at = $8,
    last_confirmed_at = CASE WHEN $10 THEN $8 ELSE last_confirmed_at END,
    metadata = CASE WHEN $10 AND $9::jsonb->>'status' = 'fading' THEN $9::jsonb - 'status'
                    ELSE $9::jsonb END
WHERE tenant_id = $1 AND id = $2
RETURNING {columns}

-- name: given_up
-- Of a scope and the global one: what became a warning, as it was worded before, and what was forgotten.
SELECT id, coalesce(metadata->>'original_content', content) AS content,
       metadata->>'forgotten' = 'true' IS TRUE AS forgotten
FROM rules
WHERE tenant_id = $1 AND scope IN ('global', $2)
  AND (metadata->>'forgotten' = 'true' OR maturity = 'anti_pattern' AND metadata ? 'original_content')
ORDER BY coalesce(CASE WHEN embedding_version_id = $4 THEN embedding <=> $3 END, 2), id LIMIT 100

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

-- name: count_applications
SELECT count(*)::integer FROM rule_applications WHERE tenant_id = $1 AND rule_id = $2

-- name: harmful
SELECT {columns} FROM rules
WHERE tenant_id = $1 AND harmful_count >= $3 AND effectiveness_score < $4
  AND maturity <> 'anti_pattern' AND metadata->>'needs_inversion' IS DISTINCT FROM 'false'
  AND metadata->>'forgotten' IS DISTINCT FROM 'true'
ORDER BY id LIMIT $2

-- name: invert
-- A warning does not decay (C-26): it lives while its subject comes up.
UPDATE rules
SET content = $3, embedding = $4, search_vector = words_of($5),
    embedding_version_id = $6, maturity = 'anti_pattern', last_evaluated_at = $7, metadata = $8,
    last_confirmed_at = $7, decay_rate = 0
WHERE tenant_id = $1 AND id = $2

-- name: edit
-- C-37: an edited rule has to earn its trust anew; its counters stay, as its history does.
UPDATE rules
SET content = $3, embedding = $4, search_vector = words_of($5),
    embedding_version_id = $6, scope = $7, tags = $8, metadata = $9, maturity = 'candidate',
    last_evaluated_at = $10, last_confirmed_at = $10, trust = $11, decay_rate = $12,
    permanence = $13, confidence = CASE WHEN content = $3 THEN confidence ELSE 0.5 END
WHERE tenant_id = $1 AND id = $2
RETURNING {columns}

-- name: set_text
UPDATE rules
SET content = $3, embedding = $4, search_vector = words_of($5),
    embedding_version_id = $6
WHERE tenant_id = $1 AND id = $2

-- name: set_maturity
UPDATE rules SET maturity = $3, last_evaluated_at = $4 WHERE tenant_id = $1 AND id = $2
RETURNING {columns}

-- name: with_terms
-- Up to $3; null where there are more.
SELECT rules_with_terms($1, $2, $3)

-- fragment: wanted
tenant_id = $1
  AND ($2::text IS NULL OR scope = $2)
  AND ($3::text IS NULL OR scope IN ('global', $3))
  AND ($4::text[] IS NULL OR maturity = ANY($4))
  AND ($5::text IS NULL OR CASE WHEN numnode(prefix_terms($5)) > 0
      THEN search_vector @@ prefix_terms($5)
      ELSE strpos(lower(content), lower($5)) > 0 END)
  AND ($6::text IS NULL OR source_butler = $6)
  AND ($7::boolean IS NULL OR (metadata->>'forgotten' IS NOT DISTINCT FROM 'true') = $7)
  AND ($8::boolean IS NULL OR (metadata->>'disabled' IS NOT DISTINCT FROM 'true') = $8)
  AND ($9::boolean IS NULL OR (metadata->>'status' IS NOT DISTINCT FROM 'fading') = $9)
  AND ($10::float8 IS NULL
       OR effective_confidence(confidence, decay_rate, last_confirmed_at, $11::timestamptz) >= $10)
  AND ($12::text IS NULL OR tags ? $12)
  AND ($13::timestamptz IS NULL OR created_at >= $13)
  AND ($14::timestamptz IS NULL OR created_at < $14)
  AND ($15::uuid[] IS NULL OR id = ANY($15))
  AND ($16::smallint IS NULL OR trust >= $16)

-- name: count
SELECT count(*)::integer FROM (SELECT FROM rules WHERE {wanted} LIMIT $17) counted

-- name: page
SELECT left(content, 2000) AS content, length(content) AS content_length, {all_but_content}
FROM rules WHERE {wanted}
ORDER BY CASE WHEN $17::text = 'created' AND $18::boolean THEN created_at END DESC,
         CASE WHEN $17 = 'created' AND NOT $18 THEN created_at END,
         CASE WHEN $17 = 'effectiveness'
              THEN CASE WHEN $18 THEN -effectiveness_score ELSE effectiveness_score END END,
         CASE WHEN $17 = 'applied'
              THEN CASE WHEN $18 THEN -applied_count ELSE applied_count END END,
         CASE WHEN $17 = 'confidence'
              THEN CASE WHEN $18 THEN -1 ELSE 1 END
                   * effective_confidence(confidence, decay_rate, last_confirmed_at, $11) END,
         CASE WHEN $17 = 'maturity' THEN CASE WHEN $18 THEN -1 ELSE 1 END
              * array_position(ARRAY['anti_pattern', 'candidate', 'established', 'proven'], maturity)
         END,
         id
LIMIT $19 OFFSET $20

-- name: look
SELECT {columns} FROM rules WHERE tenant_id = $1 AND id = $2

-- name: labels
SELECT id, left(content, 200) AS label, created_at, source_episode_id,
       CASE WHEN metadata->>'forgotten' = 'true' THEN 'forgotten'
            WHEN metadata->>'disabled' = 'true' THEN 'disabled'
            ELSE maturity END AS state
FROM rules WHERE tenant_id = $1 AND id = ANY($2)

-- name: of_episodes
SELECT {columns} FROM rules
WHERE tenant_id = $1 AND (
    source_episode_id = ANY($2)
    OR id IN (SELECT source_id FROM memory_links
              WHERE tenant_id = $1 AND source_type = 'rule' AND target_type = 'episode'
                AND target_id = ANY($2) AND relation = 'derived_from'))
ORDER BY created_at, id LIMIT $3
