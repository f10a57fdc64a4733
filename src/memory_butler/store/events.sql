-- name: insert
-- Lists in VALUES make a row each, as a SELECT from them would; Citus sends only these to one shard.
WITH told AS (
    INSERT INTO memory_events (tenant_id, id, event_type, actor, payload, created_at)
    VALUES ($1, unnest($6::uuid[]), unnest($3::text[]), $2, unnest($4::jsonb[]), $5)
)
INSERT INTO event_seals (tenant_id, event_id, salt, content, mac)
VALUES ($1, unnest($7::uuid[]), unnest($8::bytea[]), unnest($9::bytea[]), unnest($10::bytea[]))

-- fragment: wanted
tenant_id = $1
  AND ($2::text[] IS NULL OR event_type = ANY($2))
  AND ($3::text IS NULL OR memory_id = $3
       -- Or what took one of its changes back, with others.
       OR id = ANY (ARRAY(
           SELECT u.id FROM memory_events e
           JOIN memory_events u
             ON u.tenant_id = $1 AND u.event_type = 'change_undone'
             AND u.payload->>'undone' = e.step::text
           WHERE e.tenant_id = $1 AND e.memory_id = $3)))
  AND ($4::text IS NULL OR actor = $4 OR payload->>'butler' = $4
       OR EXISTS (SELECT 1 FROM facts f WHERE f.tenant_id = $1 AND f.id::text = memory_id
                    AND $4 IN (f.source_butler, f.scope))
       OR EXISTS (SELECT 1 FROM rules r WHERE r.tenant_id = $1 AND r.id::text = memory_id
                    AND $4 IN (r.source_butler, r.scope))
       OR EXISTS (SELECT 1 FROM episodes e WHERE e.tenant_id = $1 AND e.id::text = memory_id
                    AND e.butler = $4))
  AND ($5::timestamptz IS NULL OR created_at >= $5)
  AND ($6::timestamptz IS NULL OR created_at < $6)

-- name: count
SELECT count(*)::integer FROM memory_events WHERE {wanted}

-- name: page
-- The butler of an event: who acted, whose episode it is, or who learned what it is about.
SELECT id, event_type, actor, payload, created_at FROM memory_events WHERE {wanted}
ORDER BY created_at DESC, id LIMIT $7 OFFSET $8

-- name: reworded
-- What a rule said before and after an event that changed its text; a line of each. What held from then
-- on is in the version after, or in the rule itself.
SELECT e.id, left(v.state->>'content', 200) AS before, left(held.content, 200) AS after
FROM memory_events e
JOIN memory_versions v
  ON v.tenant_id = $1 AND v.step = e.step AND v.kind = 'rule' AND v.id::text = e.memory_id
JOIN rules r ON r.tenant_id = $1 AND r.id = v.id
CROSS JOIN LATERAL (
    SELECT coalesce((
        SELECT s.state->>'content' FROM memory_versions s
        WHERE s.tenant_id = $1 AND s.kind = 'rule' AND s.id = v.id AND s.known_from >= v.known_until
        ORDER BY s.known_from LIMIT 1
    ), r.content) AS content
) held
WHERE e.tenant_id = $1 AND e.id = ANY($2) AND e.event_type IN ('rule_edited', 'rule_inverted')
  AND v.state->>'content' <> held.content

-- name: undone
SELECT e.id FROM memory_events e
JOIN memory_events u
  ON u.tenant_id = $1 AND u.event_type = 'change_undone' AND u.payload->>'undone' = e.step::text
WHERE e.tenant_id = $1 AND e.id = ANY($2)

-- name: unseen
-- What commits late is older than what was seen, and so is looked for by id.
SELECT id, event_type, actor, payload, created_at FROM memory_events
WHERE tenant_id = $1 AND created_at BETWEEN $2 AND $3 AND id <> ALL($4)
ORDER BY created_at, id LIMIT $5

-- name: newest
SELECT id FROM memory_events WHERE tenant_id = $1 AND created_at <= $2
ORDER BY created_at DESC, id DESC LIMIT 1

-- name: after
SELECT id, event_type, actor, payload, created_at FROM memory_events
WHERE tenant_id = $1 AND (created_at, id) > ($2, $3) AND created_at <= $4
ORDER BY created_at, id LIMIT $5

-- name: moment
SELECT created_at FROM memory_events WHERE tenant_id = $1 AND id = $2

-- name: by_day
-- $2 is when the days begin.
SELECT ($2::timestamptz[])[width_bucket(created_at, $2::timestamptz[])] AS day, event_type,
       count(*)::integer AS events
FROM memory_events
WHERE tenant_id = $1 AND created_at >= ($2::timestamptz[])[1] AND event_type = ANY($3)
GROUP BY 1, 2 ORDER BY 1, 2

-- name: last_of
SELECT max(created_at) FROM memory_events
WHERE tenant_id = $1 AND memory_id = $2 AND event_type = $3
