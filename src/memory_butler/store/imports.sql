-- name: existing
SELECT id FROM episodes WHERE tenant_id = $1 AND id = ANY($2)
UNION ALL SELECT id FROM facts WHERE tenant_id = $1 AND id = ANY($2)
UNION ALL SELECT id FROM rules WHERE tenant_id = $1 AND id = ANY($2)
UNION ALL SELECT id FROM entities WHERE tenant_id = $1 AND id = ANY($2)

-- name: said_otherwise
-- Facts of these ids that were superseded, and what holds in the place of each now, where another statement of
-- the same note took it. An edit keeps the note, and a random id (version 4): it is no statement of the note,
-- whose facts have ids made from what they say (version 5).
SELECT f.id, n.id AS instead, n.content
FROM facts f JOIN facts n ON n.tenant_id = f.tenant_id AND n.scope = f.scope
    AND n.subject_key = f.subject_key AND n.predicate_key = f.predicate_key AND n.validity = 'active'
WHERE f.tenant_id = $1 AND f.id = ANY($2) AND f.validity = 'superseded'
  AND n.metadata->>'imported_from' = f.metadata->>'imported_from'
  AND n.metadata->>'note' = f.metadata->>'note' AND substr(n.id::text, 15, 1) = '5'

-- name: contents
SELECT content FROM episodes WHERE tenant_id = $1 AND id = $2
UNION ALL SELECT content FROM facts WHERE tenant_id = $1 AND id = $2
UNION ALL SELECT content FROM rules WHERE tenant_id = $1 AND id = $2
UNION ALL SELECT canonical_name FROM entities WHERE tenant_id = $1 AND id = $2

-- name: begun
-- Where nobody said since when, it is since it was stored.
SELECT valid_from FROM facts WHERE tenant_id = $1 AND id = ANY($2) AND valid_from < created_at

-- name: erased
-- What was erased one by one. What went with everything of a tenant may be imported to begin anew.
SELECT jsonb_array_elements_text(e.report->kind)::uuid AS id
FROM erasures e CROSS JOIN unnest('{episodes,facts,rules,entities}'::text[]) AS kind
WHERE e.tenant_id = $1 AND e.target->>'by' <> 'tenant' AND jsonb_typeof(e.report->kind) = 'array'
UNION
SELECT (e.target->>'id')::uuid FROM erasures e WHERE e.tenant_id = $1 AND e.target->>'by' = 'entity'
