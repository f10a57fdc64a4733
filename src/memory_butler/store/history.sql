-- What is asked of the past. The first three run where memory_history comes before public, as every
-- other query does then; they name it, so that no change of the everyday searches passes them by.

-- name: episodes
SELECT * FROM memory_history.find_episodes($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)

-- name: facts
SELECT * FROM memory_history.find_facts($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)

-- name: rules
SELECT * FROM memory_history.find_rules($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)

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

-- name: touched
-- What may differ between two moments: stored, changed, or out of time in between.
SELECT 'fact' AS kind, id FROM facts
WHERE tenant_id = $1 AND (created_at > $2 AND created_at <= $3
                          OR valid_until > $2 AND valid_until <= $3)
UNION
SELECT 'rule', id FROM rules WHERE tenant_id = $1 AND created_at > $2 AND created_at <= $3
UNION
SELECT 'episode', id FROM episodes
WHERE tenant_id = $1 AND (created_at > $2 AND created_at <= $3
                          OR expires_at > $2 AND expires_at <= $3)
UNION
SELECT 'entity', id FROM entities WHERE tenant_id = $1 AND created_at > $2 AND created_at <= $3
UNION
SELECT kind, id FROM memory_versions
WHERE tenant_id = $1 AND known_until > $2 AND known_until <= $3
ORDER BY kind, id LIMIT $4

-- name: states_of_facts
SELECT id, subject, predicate, left(content, 2000) AS content, validity, valid_until, entity_id,
       supersedes_id, last_confirmed_at, metadata
FROM facts WHERE tenant_id = $1 AND id = ANY($2)

-- name: states_of_rules
SELECT id, left(content, 2000) AS content, maturity, scope, tags, last_confirmed_at, applied_count,
       metadata
FROM rules WHERE tenant_id = $1 AND id = ANY($2)

-- name: states_of_episodes
SELECT id, left(content, 2000) AS content, consolidation_status, expires_at, metadata
FROM episodes WHERE tenant_id = $1 AND id = ANY($2)

-- name: states_of_entities
SELECT id, canonical_name, aliases, metadata FROM entities WHERE tenant_id = $1 AND id = ANY($2)
