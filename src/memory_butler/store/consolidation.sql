-- name: waiting
SELECT butler, trust, count(*)::integer AS episodes FROM episodes
WHERE tenant_id = $1 AND consolidation_status = 'pending' AND expires_at > $2
  AND (next_consolidation_retry_at IS NULL OR next_consolidation_retry_at <= $2)
  AND (claimed_until IS NULL OR claimed_until <= $2)
GROUP BY butler, trust ORDER BY butler, trust DESC

-- name: left
SELECT butler, count(*)::integer AS episodes FROM episodes
WHERE tenant_id = $1 AND consolidation_status = 'pending' AND expires_at > $2
GROUP BY butler ORDER BY butler

-- name: exhausted
-- Claimed once more than is allowed, and the claim ran out: its worker was killed every time.
SELECT id FROM episodes
WHERE tenant_id = $1 AND butler = $2 AND consolidation_status = 'pending'
  AND consolidation_attempts > $4 AND claimed_until <= $3
ORDER BY id FOR UPDATE SKIP LOCKED

-- name: take_turns
-- Of two servers that claim at once each would skip what the other is about to take, and the
-- episodes of one conversation would go to two calls of a model. Between coordinators of a cluster
-- it does not hold, and they may be divided.
SELECT pg_advisory_xact_lock(hashtextextended('memory-butler claim ' || $1 || ' ' || $2, 0))

-- name: claim
-- The attempt is counted here, before any model is called: a worker that dies has used it up.
WITH claimable AS (
    SELECT id AS claimable_id FROM episodes
    WHERE tenant_id = $1 AND butler = $2 AND trust = $7
      AND consolidation_status = 'pending' AND expires_at > $3
      AND (next_consolidation_retry_at IS NULL OR next_consolidation_retry_at <= $3)
      AND (claimed_until IS NULL OR claimed_until <= $3)
    ORDER BY created_at, id LIMIT $4 FOR UPDATE SKIP LOCKED
)
UPDATE episodes
SET claimed_by = $5, claimed_until = $6, consolidation_attempts = consolidation_attempts + 1
FROM claimable WHERE tenant_id = $1 AND id = claimable_id
RETURNING id, content, created_at, occurred_at, speaker, session_id, trust,
       consolidation_attempts AS attempts

-- name: give_back
-- Claimed, but not shown to the model: the attempt does not count.
UPDATE episodes
SET claimed_by = NULL, claimed_until = NULL, consolidation_attempts = consolidation_attempts - 1
WHERE tenant_id = $1 AND claimed_by = $2 AND id = ANY($3)

-- name: held
-- Locked by id, as whoever embeds what was imported locks them.
WITH locked AS (
    SELECT id, content, created_at, occurred_at, speaker, session_id, trust,
           consolidation_attempts AS attempts
    FROM episodes WHERE tenant_id = $1 AND claimed_by = $2 AND claimed_until > $3
    ORDER BY id FOR UPDATE
)
SELECT id, content, created_at, occurred_at, speaker, session_id, trust, attempts
FROM locked ORDER BY created_at, id

-- name: expired
SELECT id FROM episodes WHERE tenant_id = $1 AND id = ANY($2) AND expires_at <= $3 ORDER BY id

-- name: end_claim
UPDATE episodes
SET consolidation_status = $3, last_consolidation_error = $4, next_consolidation_retry_at = $5,
    claimed_by = NULL, claimed_until = NULL
WHERE tenant_id = $1 AND id = ANY($2)

-- name: known_facts
-- CONG-06, C-52: what the model is shown, so that it does not extract it again. What is trusted less
-- than the episodes is not shown: it could tell the model what to make of them.
SELECT id, subject, predicate, content, scope, permanence, entity_id, trust FROM facts
WHERE tenant_id = $1 AND validity = 'active'
  AND (scope IN ('global', $2) OR source_butler = $2) AND trust >= $4
ORDER BY created_at DESC, id LIMIT $3

-- name: known_rules
SELECT id, content, scope, maturity, trust FROM rules
WHERE tenant_id = $1 AND metadata->>'forgotten' IS DISTINCT FROM 'true'
  AND (scope IN ('global', $2) OR source_butler = $2) AND trust >= $4
ORDER BY created_at DESC, id LIMIT $3

-- name: facts_by_id
SELECT id, subject, predicate, content, scope, permanence, entity_id, trust FROM facts
WHERE tenant_id = $1 AND id = ANY($2)

-- name: rules_by_id
SELECT id, content, scope, maturity, trust FROM rules WHERE tenant_id = $1 AND id = ANY($2)

-- name: latest_ratings
-- Of the latest facts that were learned from episodes: how many there are, from how many days, how
-- many of them a model called important, and how many permanent.
SELECT count(*)::integer AS facts,
       count(DISTINCT (created_at AT TIME ZONE 'UTC')::date)::integer AS days,
       count(*) FILTER (WHERE importance >= 8
                        OR metadata->'overrated' ? 'importance')::integer AS important,
       count(*) FILTER (WHERE permanence = 'permanent'
                        OR metadata->'overrated' ? 'permanence')::integer AS permanent
FROM (
    SELECT importance, permanence, metadata, created_at FROM facts
    WHERE tenant_id = $1 AND source_episode_id IS NOT NULL AND metadata ? 'support'
    ORDER BY created_at DESC, id LIMIT $2
) AS latest

-- name: begin_run
INSERT INTO consolidation_runs (
    tenant_id, id, butler, trigger_source, model, status, episodes, shown, started_at
) VALUES ($1, $2, $3, $4, $5, 'running', $6, $7, $8)

-- name: end_run
UPDATE consolidation_runs
SET status = $3, counts = $4, errors = $5, tokens_in = tokens_in + $6, tokens_out = tokens_out + $7,
    cost_usd = CASE WHEN $8::double precision IS NULL THEN cost_usd
                    ELSE coalesce(cost_usd, 0) + $8 END,
    finished_at = $9
WHERE tenant_id = $1 AND id = $2

-- name: run
SELECT id, butler, trigger_source, model, status, episodes, shown, counts, errors, tokens_in,
       tokens_out, cost_usd, started_at, finished_at
FROM consolidation_runs WHERE tenant_id = $1 AND id = $2

-- name: runs
SELECT id, butler, trigger_source, model, status, episodes, counts, errors, tokens_in, tokens_out,
       cost_usd, started_at, finished_at
FROM consolidation_runs WHERE tenant_id = $1 ORDER BY started_at DESC, id LIMIT $2

-- name: tokens_since
SELECT coalesce(sum(tokens_in + tokens_out), 0)::bigint FROM consolidation_runs
WHERE tenant_id = $1 AND started_at >= $2

-- name: abandon_stale
-- Runs whose worker is gone: their claims have run out long ago.
UPDATE consolidation_runs SET status = 'abandoned', finished_at = $2
WHERE tenant_id = $1 AND status = 'running' AND started_at < $3

-- name: dead_letters
SELECT id, butler, content, importance, consolidation_attempts, last_consolidation_error, created_at,
       expires_at, consolidation_status
FROM episodes WHERE tenant_id = $1 AND consolidation_status IN ('dead_letter', 'failed')
  AND expires_at > $3
ORDER BY created_at, id LIMIT $2

-- name: dead_letters_for_update
SELECT id FROM episodes
WHERE tenant_id = $1 AND consolidation_status IN ('dead_letter', 'failed')
  AND CASE WHEN $2::uuid[] IS NULL THEN expires_at > $3 ELSE id = ANY($2) END
ORDER BY id FOR UPDATE

-- name: revive
UPDATE episodes
SET consolidation_status = 'pending', consolidation_attempts = 0, last_consolidation_error = NULL,
    next_consolidation_retry_at = NULL, expires_at = greatest(expires_at, $3)
WHERE tenant_id = $1 AND id = ANY($2)

-- fragment: kept_waiting
consolidation_status = 'pending'
  AND expires_at = (created_at AT TIME ZONE 'UTC' + $2::interval) AT TIME ZONE 'UTC'
  AND expires_at < (created_at AT TIME ZONE 'UTC' + $3::interval) AT TIME ZONE 'UTC'

-- name: expiring_unread
SELECT count(*)::integer FROM episodes
WHERE tenant_id = $1 AND consolidation_status = 'pending' AND expires_at > $4 AND expires_at <= $5
  AND NOT ({kept_waiting})

-- name: kept_waiting
SELECT count(*)::integer FROM episodes WHERE tenant_id = $1 AND {kept_waiting} AND expires_at < $4

-- name: kept_waiting_for_update
SELECT id FROM episodes WHERE tenant_id = $1 AND {kept_waiting} AND expires_at < $4
ORDER BY id FOR NO KEY UPDATE

-- name: extend
-- In UTC, not in the session's time zone: what depends on a session is refused by Citus in an UPDATE.
UPDATE episodes SET expires_at = (created_at AT TIME ZONE 'UTC' + $2::interval) AT TIME ZONE 'UTC'
WHERE tenant_id = $1 AND id = ANY($3)

-- name: served_to
-- Sketches of what memory handed to a session; or to the butler, or to nobody in particular, outside
-- any session; before the episodes were stored.
SELECT shingles, item_ids, session_id, served_at FROM served
WHERE tenant_id = $1
  AND (session_id = ANY($2::uuid[])
       OR (served_at >= $4 AND (butler = $3 OR (butler IS NULL AND session_id IS NULL))))
  AND served_at <= $5
ORDER BY served_at DESC, id LIMIT $6

-- name: served_memories
-- What of it a statement may be a rewording of, and whether memory has it still.
SELECT id, subject, predicate, content, embedding, trust, validity = 'active' AS holds FROM facts
WHERE tenant_id = $1 AND id = ANY($2) AND embedding_version_id = $3 AND embedding IS NOT NULL
UNION ALL
SELECT id, '', '', content, embedding, trust, metadata->>'forgotten' IS DISTINCT FROM 'true' FROM rules
WHERE tenant_id = $1 AND id = ANY($2) AND embedding_version_id = $3 AND embedding IS NOT NULL

-- name: bearing_facts
-- The active facts that bear on the episodes, by meaning or by words, best first.
WITH bearing AS (
    SELECT n.id, n.rank FROM episodes e
    CROSS JOIN LATERAL nearest_facts($1, e.embedding, $2, 0, $5, $6, $7) n
    WHERE e.tenant_id = $1 AND e.id = ANY($3) AND e.embedding IS NOT NULL
    UNION ALL
    SELECT w.id, w.rank FROM episodes e
    CROSS JOIN LATERAL worded_facts($1, left(e.content, 4000), $2, 0, $5, $6) w
    WHERE e.tenant_id = $1 AND e.id = ANY($3)
)
SELECT f.id, f.subject, f.predicate, f.content, f.scope, f.permanence, f.entity_id, f.trust
FROM (SELECT id, min(rank) AS place FROM bearing GROUP BY id) b
JOIN facts f ON f.tenant_id = $1 AND f.id = b.id
WHERE f.trust >= $4
ORDER BY b.place, f.created_at DESC, f.id LIMIT $8
