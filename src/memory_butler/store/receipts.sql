-- name: insert
INSERT INTO context_receipts (
    tenant_id, id, butler, session_id, created_at, item_ids, receipt, sha256
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)

-- name: get
SELECT id, butler, session_id, created_at, receipt, sha256 FROM context_receipts
WHERE tenant_id = $1 AND id = $2

-- name: latest
SELECT id, butler, session_id, created_at, sha256, receipt->>'prompt' AS prompt,
       cardinality(item_ids) AS items
FROM context_receipts
WHERE tenant_id = $1 AND ($2::text IS NULL OR butler = $2)
ORDER BY created_at DESC, id LIMIT $3

-- name: texts_of_episodes
SELECT id, content, trust FROM episodes WHERE tenant_id = $1 AND id = ANY($2)

-- name: texts_of_facts
SELECT id, content, subject, predicate, trust FROM facts WHERE tenant_id = $1 AND id = ANY($2)

-- name: texts_of_rules
SELECT id, content, trust FROM rules WHERE tenant_id = $1 AND id = ANY($2)

-- name: forget_before
DELETE FROM context_receipts WHERE tenant_id = $1 AND created_at < $2

-- name: take_with_prompt
-- Removed to be kept again without it: no role of ours may change a receipt.
DELETE FROM context_receipts
WHERE tenant_id = $1 AND id IN (
    SELECT id FROM context_receipts WHERE tenant_id = $1 AND receipt ? 'prompt' LIMIT $2
)
RETURNING id, butler, session_id, created_at, item_ids, receipt - 'prompt' AS receipt, sha256
