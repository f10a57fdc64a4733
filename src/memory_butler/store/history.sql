-- What is asked of the past. The first three run where memory_history comes before public, as every
-- other query does then; they name it, so that no change of the everyday searches passes them by.

-- name: found_episode
SELECT * FROM memory_history.find_episodes($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)

-- name: found_fact
SELECT * FROM memory_history.find_facts($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)

-- name: found_rule
SELECT * FROM memory_history.find_rules($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)

-- fragment: deleted
FROM public.memory_events e
CROSS JOIN LATERAL jsonb_array_elements_text(e.payload->'ids') AS gone (id)
JOIN public.memory_events born
  ON born.tenant_id = $1 AND born.memory_id = gone.id AND born.event_type = 'episode_created'
 AND born.created_at <= $2
WHERE e.tenant_id = $1 AND e.event_type = 'episodes_cleaned' AND e.created_at > $2
  AND ($3::text IS NULL OR born.payload->>'butler' = $3)
  AND ($4::text IS NULL OR gone.id = $4)
  AND ($5::timestamptz IS NULL OR e.created_at <= $5)

-- name: count_deleted
SELECT count(*)::integer {deleted}

-- name: deleted
-- Episodes that were known at a moment and are gone since; the log of events is all that is left.
SELECT gone.id::uuid AS id, born.payload->>'butler' AS butler, born.created_at,
       e.created_at AS deleted_at, e.payload->>'reason' AS reason
{deleted}
ORDER BY born.created_at DESC, gone.id LIMIT $6

-- fragment: by_a_sweep
-- The report of a decay sweep (C-27), which is kept among the episodes; nobody told or learned it.
(butler = 'memory' AND metadata->>'kind' = 'decay_sweep') IS TRUE

-- name: touched
-- What may differ between two moments, but for what is new and took no other's place: changed, or out
-- of time in between, or a fact that supersedes another.
SELECT 'fact' AS kind, id FROM facts
WHERE tenant_id = $1 AND (created_at <= $2 AND valid_until > $2 AND valid_until <= $3
                          OR supersedes_id IS NOT NULL AND created_at > $2 AND created_at <= $3)
UNION
SELECT 'episode', id FROM episodes
WHERE tenant_id = $1 AND created_at <= $2 AND expires_at > $2 AND expires_at <= $3
  AND NOT {by_a_sweep}
UNION
SELECT kind, id FROM memory_versions
WHERE tenant_id = $1 AND known_until > $2 AND known_until <= $3
ORDER BY kind, id LIMIT $4

-- What follows runs at a moment: where memory_history comes before public. Why a memory is not there:

-- fragment: fact_gone
CASE WHEN validity = 'retracted' THEN 'forgotten' WHEN validity <> 'active' THEN validity
     WHEN valid_until <= memory_history.known_at() THEN 'ended' END

-- fragment: rule_gone
CASE WHEN metadata->'forgotten' = 'true' THEN 'forgotten'
     WHEN metadata->'disabled' = 'true' THEN 'disabled' END

-- fragment: episode_gone
CASE WHEN expires_at <= memory_history.known_at() THEN 'expired' END

-- fragment: entity_gone
CASE WHEN metadata ? 'merged_into' THEN 'merged' END

-- name: learned
-- What is there and was not before $2, without what took another's place; newest first, and how many.
-- Made first and looked through then: the planner takes a condition on a CASE to leave hardly a row.
WITH new AS MATERIALIZED (
    SELECT 'fact' AS kind, id, created_at, {fact_gone} AS gone
    FROM facts WHERE tenant_id = $1 AND created_at > $2 AND supersedes_id IS NULL
    UNION ALL
    SELECT 'rule', id, created_at, {rule_gone} FROM rules WHERE tenant_id = $1 AND created_at > $2
    UNION ALL
    SELECT 'episode', id, created_at, {episode_gone}
    FROM episodes WHERE tenant_id = $1 AND created_at > $2 AND NOT {by_a_sweep}
    UNION ALL
    SELECT 'entity', id, created_at, {entity_gone}
    FROM entities WHERE tenant_id = $1 AND created_at > $2
)
SELECT kind, id, count(*) OVER ()::integer AS total
FROM new WHERE gone IS NULL ORDER BY created_at DESC, id LIMIT $3

-- name: states_of_facts
SELECT id, {fact_gone} AS gone, valid_until, entity_id, supersedes_id, last_confirmed_at,
       metadata->>'status' = 'fading' AS fading
FROM facts WHERE tenant_id = $1 AND id = ANY($2)

-- name: states_of_rules
SELECT id, {rule_gone} AS gone, md5(content) AS content, maturity, scope, tags, last_confirmed_at,
       applied_count, metadata->>'status' = 'fading' AS fading
FROM rules WHERE tenant_id = $1 AND id = ANY($2)

-- name: states_of_episodes
SELECT id, {episode_gone} AS gone, consolidation_status
FROM episodes WHERE tenant_id = $1 AND id = ANY($2)

-- name: states_of_entities
SELECT id, {entity_gone} AS gone, canonical_name, aliases
FROM entities WHERE tenant_id = $1 AND id = ANY($2)

-- name: texts
SELECT 'fact' AS kind, id,
       subject || ' · ' || replace(predicate, '_', ' ') || ': ' || left(content, 2000) AS text
FROM facts WHERE tenant_id = $1 AND id = ANY($2)
UNION ALL
SELECT 'rule', id, left(content, 2000) FROM rules WHERE tenant_id = $1 AND id = ANY($2)
UNION ALL
SELECT 'episode', id, left(content, 2000) FROM episodes WHERE tenant_id = $1 AND id = ANY($2)
UNION ALL
SELECT 'entity', id, canonical_name FROM entities WHERE tenant_id = $1 AND id = ANY($2)

-- fragment: state_gone
-- As the fragments above say it of a row, of any kind and apart from time.
CASE WHEN v.state->>'validity' = 'retracted' OR v.state->'metadata'->'forgotten' = 'true' THEN 'forgotten'
     WHEN v.state->>'validity' <> 'active' THEN v.state->>'validity'
     WHEN v.state->'metadata'->'disabled' = 'true' THEN 'disabled'
     WHEN v.state->'metadata' ? 'merged_into' THEN 'merged' END

-- name: changed_by
-- Who changed each memory after $6, up to $7, and when. $4 says where that is told: of what came, in the
-- event that brought it; of what changed, in the step that ended its last version; of what went for the
-- reason $5 or came back, in that which ended the last version that was not so, for one that is gone is
-- changed as well (by a merge); what ran out of time has an event only if somebody set its end.
-- The id of an entity has no column of its own in the events, and they are few.
SELECT DISTINCT ON (item.id) item.id, told.actor, told.created_at
FROM unnest($2::text[], $3::uuid[], $4::text[], $5::text[]) AS item (kind, id, how, gone)
CROSS JOIN LATERAL (
    SELECT e.actor, e.created_at FROM memory_events e
    WHERE item.how = 'came' AND e.tenant_id = $1 AND e.created_at > $6
      AND e.memory_id = item.id::text
    UNION ALL
    SELECT e.actor, e.created_at FROM memory_events e
    WHERE item.how = 'came' AND item.kind = 'entity' AND e.tenant_id = $1 AND e.created_at > $6
      AND e.event_type = 'entity_created' AND e.payload->>'entity_id' = item.id::text
    UNION ALL
    SELECT e.actor, e.created_at FROM memory_events e
    WHERE item.how = 'ended' AND e.tenant_id = $1 AND e.created_at > $6
      AND e.event_type = 'episode_forgotten' AND e.memory_id = item.id::text
    UNION ALL
    SELECT step.actor, v.known_until FROM memory_versions v
    CROSS JOIN LATERAL (
        SELECT e.actor FROM memory_events e WHERE e.tenant_id = $1 AND e.step = v.step
        ORDER BY e.memory_id IS DISTINCT FROM item.id::text, e.created_at, e.id LIMIT 1
    ) AS step
    WHERE v.tenant_id = $1 AND v.kind = item.kind AND v.id = item.id
      AND v.known_until > $6 AND v.known_until <= $7
      AND (item.how = 'changed'
           OR item.how IN ('went', 'came back') AND {state_gone} IS DISTINCT FROM item.gone)
) AS told
ORDER BY item.id, CASE WHEN item.how = 'came' THEN told.created_at END, told.created_at DESC
