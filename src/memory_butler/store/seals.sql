-- name: turn
-- One sealer of a tenant at a time; held until commit.
SELECT pg_advisory_xact_lock(hashtextextended('memory-butler seal ' || $1, 0))

-- name: waiting
-- Any that wait, in the order in which they happened: to sort all of them for each batch would take
-- the square of their number.
SELECT w.event_id, w.mac
FROM (SELECT event_id, mac FROM event_seals WHERE tenant_id = $1 AND seq IS NULL LIMIT $2) w
LEFT JOIN memory_events e ON e.tenant_id = $1 AND e.id = w.event_id
ORDER BY e.created_at, w.event_id

-- name: count_waiting
SELECT count(*) FROM event_seals WHERE tenant_id = $1 AND seq IS NULL

-- name: chain
UPDATE event_seals s SET seq = n.seq, sealed_at = $5, link = n.link
FROM unnest($2::uuid[], $3::bigint[], $4::bytea[]) AS n (event_id, seq, link)
WHERE s.tenant_id = $1 AND s.event_id = n.event_id

-- name: head
SELECT seq, encode(link, 'hex') AS link FROM event_seals
WHERE tenant_id = $1 AND seq IS NOT NULL ORDER BY seq DESC LIMIT 1

-- name: unsealed
-- Moments as `seals.instant` writes them. No driver reads those far off, which somebody put there.
SELECT e.id, e.event_type, e.actor, e.step, e.payload::text AS payload,
       CASE WHEN e.created_at BETWEEN '0001-01-02' AND '9999-12-30'
            THEN to_char(e.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"')
            ELSE e.created_at::text END AS created_at
FROM memory_events e
WHERE e.tenant_id = $1 AND e.id > $2 AND ($3::uuid[] IS NULL OR e.id = ANY($3))
  AND NOT EXISTS (SELECT FROM event_seals s WHERE s.tenant_id = $1 AND s.event_id = e.id)
ORDER BY e.id LIMIT $4

-- name: add
INSERT INTO event_seals (tenant_id, event_id, salt, content, mac)
VALUES ($1, unnest($2::uuid[]), unnest($3::bytea[]), unnest($4::bytea[]), unnest($5::bytea[]))

-- name: checkpoint
SELECT statement, encode(signature, 'hex') AS signature FROM audit_checkpoints WHERE tenant_id = $1

-- name: put_checkpoint
INSERT INTO audit_checkpoints (tenant_id, statement, signature) VALUES ($1, $2, $3)
ON CONFLICT (tenant_id) DO UPDATE SET statement = excluded.statement, signature = excluded.signature

-- name: emptied
SELECT id FROM memory_events
WHERE tenant_id = $1 AND payload = jsonb_build_object('erased', $2::uuid) ORDER BY id

-- name: entries
SELECT s.event_id, s.salt, s.content, s.mac, s.seq, s.link,
       e.id, e.event_type, e.actor, e.step, e.payload::text AS payload,
       CASE WHEN s.sealed_at BETWEEN '0001-01-02' AND '9999-12-30'
            THEN to_char(s.sealed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"')
            ELSE s.sealed_at::text END AS sealed_at,
       CASE WHEN e.created_at BETWEEN '0001-01-02' AND '9999-12-30'
            THEN to_char(e.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"')
            ELSE e.created_at::text END AS created_at
FROM (SELECT * FROM event_seals WHERE tenant_id = $1) s
FULL JOIN (SELECT * FROM memory_events WHERE tenant_id = $1) e ON e.id = s.event_id
ORDER BY s.seq NULLS LAST, e.created_at, coalesce(s.event_id, e.id)

-- name: tenants_to_seal
SELECT tenant_id FROM tenants_to_seal()
