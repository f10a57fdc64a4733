-- name: insert
INSERT INTO memory_events (tenant_id, event_type, actor, payload, created_at)
SELECT $1, t.event_type, $2, t.payload, $5
FROM unnest($3::text[], $4::jsonb[]) AS t (event_type, payload)

-- name: newest
SELECT id, event_type, actor, payload, created_at FROM memory_events
WHERE tenant_id = $1 AND ($2::text[] IS NULL OR event_type = ANY($2))
ORDER BY created_at DESC, id LIMIT $3
