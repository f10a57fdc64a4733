-- A step is one transaction; see schema.sql. What was undone, and undoing itself, cancel each other out.

-- name: of_event
SELECT step, event_type FROM memory_events WHERE tenant_id = $1 AND id = $2

-- name: of_run
-- The event that closed an episode of the run lies in the transaction that wrote what was learned.
SELECT r.status, e.step
FROM consolidation_runs r
LEFT JOIN LATERAL (
    SELECT step FROM memory_events
    WHERE tenant_id = $1 AND event_type = 'episode_consolidated' AND created_at >= r.started_at
      AND payload->>'run_id' = r.id::text
    LIMIT 1
) e ON true
WHERE r.tenant_id = $1 AND r.id = $2

-- name: latest
SELECT e.step FROM memory_events e
WHERE e.tenant_id = $1 AND ($2::text IS NULL OR e.actor = $2) AND e.step IS NOT NULL
  AND e.event_type <> 'change_undone'
  AND NOT EXISTS (
      SELECT FROM memory_events u
      WHERE u.tenant_id = $1 AND u.event_type = 'change_undone'
        AND u.payload->>'undone' = e.step::text)
ORDER BY e.created_at DESC, e.id LIMIT 1

-- name: told
SELECT id, event_type, actor, payload, created_at FROM memory_events
WHERE tenant_id = $1 AND step = $2 ORDER BY created_at, id

-- name: undone_at
SELECT created_at FROM memory_events
WHERE tenant_id = $1 AND event_type = 'change_undone' AND payload->>'undone' = $2::uuid::text

-- name: kept
-- The state of each item before the step; a step that changed one twice kept two.
SELECT DISTINCT ON (v.kind, v.id) v.kind, v.id, v.known_until, v.state, f.subject,
       f.predicate, CASE v.kind WHEN 'rule' THEN r.content END AS content, r.tags,
       coalesce(f.id, r.id, e.id, n.id) IS NOT NULL AS present
FROM memory_versions v
LEFT JOIN facts f ON v.kind = 'fact' AND f.tenant_id = $1 AND f.id = v.id
LEFT JOIN rules r ON v.kind = 'rule' AND r.tenant_id = $1 AND r.id = v.id
LEFT JOIN episodes e ON v.kind = 'episode' AND e.tenant_id = $1 AND e.id = v.id
LEFT JOIN entities n ON v.kind = 'entity' AND n.tenant_id = $1 AND n.id = v.id
WHERE v.tenant_id = $1 AND v.step = $2
ORDER BY v.kind, v.id, v.known_from

-- name: count_links
SELECT count(*)::integer FROM memory_links WHERE tenant_id = $1 AND step = $2

-- name: later_changes
-- Of items since a moment, by steps that still stand; the event that told of each.
SELECT DISTINCT ON (v.kind, v.id) v.kind, v.id, v.known_until AS at, told.id AS event_id,
       told.event_type
FROM unnest($3::text[], $4::uuid[], $5::timestamptz[]) AS item (kind, id, since)
JOIN memory_versions v
  ON v.tenant_id = $1 AND v.kind = item.kind AND v.id = item.id AND v.known_from >= item.since
LEFT JOIN LATERAL (
    SELECT e.id, e.event_type FROM memory_events e
    WHERE e.tenant_id = $1 AND e.step = v.step
    ORDER BY e.payload->>'memory_id' IS DISTINCT FROM v.id::text,
             e.payload->>'entity_id' IS DISTINCT FROM v.id::text, e.created_at, e.id
    LIMIT 1
) told ON true
WHERE v.step IS DISTINCT FROM $2
  AND NOT EXISTS (
      SELECT FROM memory_events u
      WHERE u.tenant_id = $1 AND u.event_type = 'change_undone'
        AND u.payload->>'undone' = v.step::text)
  AND NOT EXISTS (
      SELECT FROM memory_events u
      WHERE u.tenant_id = $1 AND u.step = v.step AND u.event_type = 'change_undone')
ORDER BY v.kind, v.id, v.known_from

-- name: built_on
-- What rests on things that are to be removed, and is not removed with them.
WITH gone AS (
    SELECT * FROM unnest($3::text[], $4::uuid[]) AS g (kind, id)
)
SELECT g.kind, g.id, 'link' AS by_kind, l.relation AS how,
       CASE WHEN (l.source_type, l.source_id) = (g.kind, g.id) THEN l.target_id ELSE l.source_id END
           AS by_id
FROM gone g
JOIN memory_links l ON l.tenant_id = $1 AND l.step IS DISTINCT FROM $2
 AND ((l.source_type = g.kind AND l.source_id = g.id) OR (l.target_type = g.kind AND l.target_id = g.id))
UNION ALL
SELECT g.kind, g.id, 'fact', 'is about it', f.id
FROM gone g JOIN facts f ON g.kind = 'entity' AND f.tenant_id = $1 AND f.entity_id = g.id
WHERE f.id NOT IN (SELECT id FROM gone WHERE kind = 'fact') AND f.id <> ALL($6::uuid[])
UNION ALL
SELECT g.kind, g.id, 'fact', 'was drawn from it', f.id
FROM gone g JOIN facts f ON g.kind = 'episode' AND f.tenant_id = $1 AND f.source_episode_id = g.id
WHERE f.id NOT IN (SELECT id FROM gone WHERE kind = 'fact')
UNION ALL
SELECT g.kind, g.id, 'rule', 'was drawn from it', r.id
FROM gone g JOIN rules r ON g.kind = 'episode' AND r.tenant_id = $1 AND r.source_episode_id = g.id
WHERE r.id NOT IN (SELECT id FROM gone WHERE kind = 'rule')
UNION ALL
SELECT g.kind, g.id, 'fact', 'superseded it', f.id
FROM gone g JOIN facts f ON g.kind = 'fact' AND f.tenant_id = $1 AND f.supersedes_id = g.id
WHERE f.id NOT IN (SELECT id FROM gone WHERE kind = 'fact') AND f.id <> ALL($6::uuid[])
UNION ALL
SELECT g.kind, g.id, 'run', 'is reading it', e.claimed_by
FROM gone g JOIN episodes e ON g.kind = 'episode' AND e.tenant_id = $1 AND e.id = g.id
WHERE e.claimed_until > $5

-- name: taken
-- Who has the key or the name by now that an item would have again.
WITH before AS (
    SELECT f.id, f.subject, f.predicate, s.scope, s.entity_id
    FROM unnest($2::uuid[], $3::jsonb[]) AS b (id, state)
    CROSS JOIN LATERAL jsonb_populate_record(NULL::facts, b.state) AS s
    JOIN facts f ON f.tenant_id = $1 AND f.id = b.id
    WHERE s.validity = 'active'
)
SELECT 'fact' AS kind, b.id, h.id AS holder FROM before b
JOIN facts h ON h.tenant_id = $1 AND h.validity = 'active' AND h.scope = b.scope
 AND h.predicate_key = key_of(b.predicate) AND h.entity_id = b.entity_id
WHERE h.id <> ALL($6::uuid[])
UNION ALL
SELECT 'fact', b.id, h.id FROM before b
JOIN facts h ON h.tenant_id = $1 AND h.validity = 'active' AND h.scope = b.scope
 AND h.predicate_key = key_of(b.predicate) AND h.subject_key = key_of(b.subject) AND h.entity_id IS NULL
WHERE b.entity_id IS NULL AND h.id <> ALL($6::uuid[])
UNION ALL
SELECT 'entity', b.id, h.id
FROM unnest($4::uuid[], $5::jsonb[]) AS b (id, state)
JOIN entities h ON h.tenant_id = $1 AND h.canonical_name = b.state->>'canonical_name'
 AND h.entity_type = b.state->>'entity_type'
WHERE h.id <> ALL($6::uuid[])

-- name: lock_facts
SELECT FROM facts WHERE tenant_id = $1 AND id = ANY($2) ORDER BY id FOR UPDATE

-- name: lock_rules
SELECT FROM rules WHERE tenant_id = $1 AND id = ANY($2) ORDER BY id FOR UPDATE

-- name: lock_episodes
SELECT FROM episodes WHERE tenant_id = $1 AND id = ANY($2) ORDER BY id FOR UPDATE

-- name: lock_entities
SELECT FROM entities WHERE tenant_id = $1 AND id = ANY($2) ORDER BY id FOR UPDATE

-- name: park_facts
-- Off their keys, before others take them: a unique index looks at each row as it is written.
UPDATE facts SET validity = 'superseded'
WHERE tenant_id = $1 AND id = ANY($2) AND validity = 'active'

-- name: remove_made
-- Links, uses of rules, facts and rules; then what these had named.
SELECT remove_made($1, $2)

-- name: remove_made_entities
SELECT remove_made_entities($1, $2)

-- name: remove_episodes
DELETE FROM episodes WHERE tenant_id = $1 AND id = ANY($2)

-- name: restore_facts
-- An episode, or a fact before this one, may have been deleted since: no reference then.
UPDATE facts f
SET importance = s.importance, confidence = s.confidence, decay_rate = s.decay_rate,
    permanence = s.permanence, source_butler = s.source_butler, entity_id = s.entity_id,
    source_episode_id = (SELECT e.id FROM episodes e
                         WHERE e.tenant_id = $1 AND e.id = s.source_episode_id),
    supersedes_id = (SELECT o.id FROM facts o WHERE o.tenant_id = $1 AND o.id = s.supersedes_id),
    validity = s.validity, scope = s.scope, valid_from = s.valid_from, valid_until = s.valid_until,
    retired_at = s.retired_at, last_confirmed_at = s.last_confirmed_at, tags = s.tags,
    metadata = s.metadata, trust = coalesce(s.trust, f.trust)
FROM unnest($2::uuid[], $3::jsonb[]) AS before (id, state)
CROSS JOIN LATERAL jsonb_populate_record(NULL::facts, before.state) AS s
WHERE f.tenant_id = $1 AND f.id = before.id

-- name: restore_rules
-- All but the text, which is embedded anew where it changed (`rules.set_text`).
UPDATE rules r
SET scope = s.scope, maturity = s.maturity, confidence = s.confidence, decay_rate = s.decay_rate,
    permanence = s.permanence, effectiveness_score = s.effectiveness_score,
    applied_count = s.applied_count, success_count = s.success_count,
    harmful_count = s.harmful_count, source_butler = s.source_butler,
    source_episode_id = (SELECT e.id FROM episodes e
                         WHERE e.tenant_id = $1 AND e.id = s.source_episode_id),
    last_applied_at = s.last_applied_at, last_evaluated_at = s.last_evaluated_at,
    last_confirmed_at = s.last_confirmed_at, tags = s.tags, metadata = s.metadata,
    trust = coalesce(s.trust, r.trust)
FROM unnest($2::uuid[], $3::jsonb[]) AS before (id, state)
CROSS JOIN LATERAL jsonb_populate_record(NULL::rules, before.state) AS s
WHERE r.tenant_id = $1 AND r.id = before.id

-- name: restore_episodes
-- An episode that the undone run had claimed is given back: the attempt does not count.
UPDATE episodes e
SET importance = s.importance, consolidation_status = s.consolidation_status,
    consolidation_attempts = s.consolidation_attempts - (s.claimed_by IS NOT DISTINCT FROM $4
        AND $4 IS NOT NULL)::integer,
    last_consolidation_error = s.last_consolidation_error,
    next_consolidation_retry_at = s.next_consolidation_retry_at,
    claimed_by = nullif(s.claimed_by, $4),
    claimed_until = CASE WHEN s.claimed_by IS DISTINCT FROM $4 THEN s.claimed_until END,
    expires_at = s.expires_at, metadata = s.metadata, trust = coalesce(s.trust, e.trust)
FROM unnest($2::uuid[], $3::jsonb[]) AS before (id, state)
CROSS JOIN LATERAL jsonb_populate_record(NULL::episodes, before.state) AS s
WHERE e.tenant_id = $1 AND e.id = before.id

-- name: restore_entities
UPDATE entities n
SET canonical_name = s.canonical_name, entity_type = s.entity_type, aliases = s.aliases,
    metadata = s.metadata, updated_at = s.updated_at
FROM unnest($2::uuid[], $3::jsonb[]) AS before (id, state)
CROSS JOIN LATERAL jsonb_populate_record(NULL::entities, before.state) AS s
WHERE n.tenant_id = $1 AND n.id = before.id

-- name: mark_run
UPDATE consolidation_runs SET status = 'undone' WHERE tenant_id = $1 AND id = $2
