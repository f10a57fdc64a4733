-- name: outcomes
-- What was said of memories that were claimed at that moment, the newest first, each with the state
-- just before. What was taken back since says nothing: undone steps, and forgetting that was restored.
SELECT e.event_type, e.memory_id, said.known_until AS at,
       (said.state->>'confidence')::float8 AS confidence,
       (said.state->>'decay_rate')::float8 AS decay_rate,
       (said.state->>'last_confirmed_at')::timestamptz AS last_confirmed_at,
       old.valid_from AS old_from, new.valid_from AS new_from,
       (old.subject, old.predicate, old.content) = (new.subject, new.predicate, new.content)
           AS same_text
FROM memory_events e
JOIN LATERAL (
    SELECT v.state, v.known_until FROM memory_versions v
    WHERE v.tenant_id = $1 AND v.kind = e.payload->>'memory_type' AND v.id = e.memory_id::uuid
      AND v.known_until <= e.created_at
    ORDER BY v.known_from DESC LIMIT 1
) said ON true
LEFT JOIN facts old
  ON e.event_type = 'fact_superseded' AND old.tenant_id = $1 AND old.id = e.memory_id::uuid
LEFT JOIN facts new
  ON e.event_type = 'fact_superseded' AND new.tenant_id = $1
 AND new.id = (e.payload->>'superseded_by')::uuid
WHERE e.tenant_id = $1 AND e.event_type = ANY($2) AND e.created_at >= $3
  AND ($4::text IS NULL OR e.payload->>'memory_type' = $4)
  AND ($5::text IS NULL OR said.state->>'scope' IN ('global', $5))
  AND coalesce(said.state->>'validity', 'active') = 'active'
  AND (said.state->'metadata'->>'forgotten') IS DISTINCT FROM 'true'
  AND NOT EXISTS (
      SELECT FROM memory_events u
      WHERE u.tenant_id = $1 AND u.event_type = 'change_undone'
        AND u.payload->>'undone' = e.step::text)
  AND NOT (e.event_type IN ('fact_retracted', 'rule_forgotten') AND EXISTS (
      SELECT FROM memory_events r
      WHERE r.tenant_id = $1 AND r.memory_id = e.memory_id AND r.event_type = 'memory_restored'
        AND r.created_at > e.created_at))
  AND NOT (e.event_type = 'fact_superseded' AND EXISTS (
      SELECT FROM memory_events m
      WHERE m.tenant_id = $1 AND m.step = e.step AND m.event_type = 'entity_merge'))
ORDER BY e.created_at DESC, e.id
LIMIT $6
