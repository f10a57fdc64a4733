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

-- name: count_deleted
SELECT count(*)::integer {deleted}

-- name: deleted
-- Episodes that were known at a moment and are gone since; the log of events is all that is left.
SELECT gone.id::uuid AS id, born.payload->>'butler' AS butler, born.created_at,
       e.created_at AS deleted_at, e.payload->>'reason' AS reason
{deleted}
ORDER BY born.created_at DESC, gone.id LIMIT $5
