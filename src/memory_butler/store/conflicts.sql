-- fragment: newest
greatest(a.created_at, b.created_at) DESC, a.id, b.id

-- name: list
-- Pairs of facts that could hold, of which one says the same as the other, or contradicts it. What a newer
-- fact resembles stands in its metadata; contradictions are links, whoever made them, and stay when
-- they are settled: one of the two is then retired, or says that both hold. With $5, so many of each kind.
WITH pairs AS (
    SELECT f.id AS one, (r.key)::uuid AS other, 'duplicate' AS kind
    FROM facts f CROSS JOIN LATERAL jsonb_each(f.metadata->'resembles') r
    WHERE f.tenant_id = $1 AND f.validity = 'active' AND f.metadata->'resembles' IS NOT NULL
    UNION ALL
    SELECT source_id, target_id, 'contradiction' FROM memory_links
    WHERE tenant_id = $1 AND relation = 'contradicts'
      AND source_type = 'fact' AND target_type = 'fact'
)
SELECT kind, earlier_id, later_id, total FROM (
    SELECT p.kind,
           CASE WHEN (a.created_at, a.id) < (b.created_at, b.id) THEN a.id ELSE b.id END AS earlier_id,
           CASE WHEN (a.created_at, a.id) < (b.created_at, b.id) THEN b.id ELSE a.id END AS later_id,
           count(*) OVER () AS total,
           row_number() OVER (PARTITION BY p.kind ORDER BY {newest}) AS place,
           row_number() OVER (ORDER BY {newest}) AS among_all
    FROM pairs p
    JOIN facts a ON a.tenant_id = $1 AND a.id = p.one
    JOIN facts b ON b.tenant_id = $1 AND b.id = p.other
    WHERE (a.validity = 'active' AND b.validity = 'active'
        -- Or one waits beside the other.
        OR a.validity = 'active' AND b.validity = 'waiting'
           AND b.metadata->'waiting'->>'target' = a.id::text
        OR b.validity = 'active' AND a.validity = 'waiting'
           AND a.metadata->'waiting'->>'target' = b.id::text)
      -- Of what is over, nobody needs to know which it was.
      AND least(a.valid_until, b.valid_until) <= $4 IS NOT TRUE
      AND NOT coalesce(a.metadata->'settled' @> to_jsonb(b.id::text), false)
      AND NOT coalesce(b.metadata->'settled' @> to_jsonb(a.id::text), false)
) open
WHERE $5::integer IS NULL OR place <= $5
ORDER BY among_all LIMIT $2 OFFSET $3

-- name: among
-- The open contradictions between any two of these facts, b before a, in the order of b's standing: its
-- trust, of which what is more than $3 is no more (`outranks`), then when it was said last.
SELECT b.id AS first, a.id AS second
FROM memory_links l
JOIN facts a ON a.tenant_id = $1 AND a.id IN (l.source_id, l.target_id)
JOIN facts b ON b.tenant_id = $1 AND b.id IN (l.source_id, l.target_id)
WHERE l.tenant_id = $1 AND l.relation = 'contradicts'
  AND l.source_type = 'fact' AND l.target_type = 'fact'
  AND l.source_id = ANY($2) AND l.target_id = ANY($2)
  AND (least(a.trust, $3), a.last_confirmed_at) < (least(b.trust, $3), b.last_confirmed_at)
  AND NOT coalesce(a.metadata->'settled' @> to_jsonb(b.id::text), false)
  AND NOT coalesce(b.metadata->'settled' @> to_jsonb(a.id::text), false)
ORDER BY least(b.trust, $3), b.last_confirmed_at, b.id, a.id
