-- name: of_session
SELECT id FROM episodes WHERE tenant_id = $1 AND session_id = $2

-- name: of_writer
WITH stored AS (
    SELECT memory_id FROM memory_events
    WHERE tenant_id = $1 AND event_type IN ('episode_created', 'fact_created', 'rule_created')
      AND actor = $2 AND memory_id IS NOT NULL
)
SELECT 'episode' AS kind, id FROM episodes
WHERE tenant_id = $1 AND (butler = $2 OR id::text IN (SELECT memory_id FROM stored))
UNION ALL
SELECT 'fact', id FROM facts
WHERE tenant_id = $1 AND (source_butler = $2 OR id::text IN (SELECT memory_id FROM stored))
UNION ALL
SELECT 'rule', id FROM rules
WHERE tenant_id = $1 AND (source_butler = $2 OR id::text IN (SELECT memory_id FROM stored))
ORDER BY kind, id

-- name: entity_family
-- An entity, and all that were merged into it.
WITH RECURSIVE family AS (
    SELECT id FROM entities WHERE tenant_id = $1 AND id = $2
    UNION
    SELECT n.id FROM family f
    JOIN entities n ON n.tenant_id = $1 AND n.metadata->>'merged_into' = f.id::text
)
SELECT id FROM family

-- name: all_episodes
SELECT id FROM episodes WHERE tenant_id = $1 ORDER BY id

-- name: all_facts
SELECT id FROM facts WHERE tenant_id = $1 ORDER BY id

-- name: all_rules
SELECT id FROM rules WHERE tenant_id = $1 ORDER BY id

-- name: all_entities
SELECT id FROM entities WHERE tenant_id = $1 ORDER BY id

-- name: messages
-- Where a session of a journal became an episode: its messages.
SELECT metadata->>'journal' AS companion, (metadata->>'first_event')::bigint AS first,
       (metadata->>'last_event')::bigint AS last
FROM episodes
WHERE tenant_id = $1 AND id = ANY($2) AND jsonb_typeof(metadata->'journal') = 'string'
  AND jsonb_typeof(metadata->'first_event') = 'number'
  AND jsonb_typeof(metadata->'last_event') = 'number'
ORDER BY 1, 2

-- name: of_message
SELECT id FROM episodes
WHERE tenant_id = $1 AND metadata->>'journal' = $2
  AND jsonb_typeof(metadata->'first_event') = 'number'
  AND jsonb_typeof(metadata->'last_event') = 'number'
  AND $3 BETWEEN (metadata->>'first_event')::bigint AND (metadata->>'last_event')::bigint
ORDER BY id

-- name: facts_about
SELECT id FROM facts WHERE tenant_id = $1 AND entity_id = ANY($2)

-- name: names
SELECT DISTINCT n AS name FROM entities e, unnest(e.aliases || e.canonical_name) n
WHERE e.tenant_id = $1 AND e.id = ANY($2)

-- name: naming
SELECT 'episode' AS kind, id FROM episodes
WHERE tenant_id = $1 AND coalesce(speaker, '') || ' ' || content ~* $2
UNION ALL
SELECT 'fact', id FROM facts WHERE tenant_id = $1 AND subject || ' ' || content ~* $2
UNION ALL
SELECT 'rule', id FROM rules WHERE tenant_id = $1 AND content ~* $2
ORDER BY 1, 2

-- name: other_names
-- Entities but these that have such a name, or once had it, and rules that once said it.
SELECT 'entity' AS kind, id, false AS once FROM entities
WHERE tenant_id = $1 AND id <> ALL ($3::uuid[]) AND concat_ws(E'\n', canonical_name, aliases::text) ~* $2
UNION ALL
SELECT DISTINCT v.kind, v.id, true FROM memory_versions v
WHERE v.tenant_id = $1 AND v.kind IN ('entity', 'rule') AND v.id <> ALL ($3::uuid[])
  AND concat_ws(E'\n', v.state->>'content', v.state->>'canonical_name', v.state->>'aliases') ~* $2
  AND (EXISTS (SELECT FROM entities e WHERE e.tenant_id = $1 AND e.id = v.id)
       OR EXISTS (SELECT FROM rules r WHERE r.tenant_id = $1 AND r.id = v.id))
ORDER BY once, 1, 2

-- name: first_names
-- Of these entities, as far as they are persons and have another name besides.
SELECT DISTINCT split_part(trim(canonical_name), ' ', 1) AS name FROM entities
WHERE tenant_id = $1 AND id = ANY($2) AND entity_type = 'person' AND trim(canonical_name) ~ '\s'

-- name: first_naming
-- Not what is about an entity of that first name: it is another's.
SELECT 'episode' AS kind, id FROM episodes
WHERE tenant_id = $1 AND concat(speaker, ' · ', content) ~ $2
UNION ALL
SELECT 'fact', f.id FROM facts f WHERE f.tenant_id = $1 AND f.subject || ' · ' || f.content ~ $2
AND NOT EXISTS (SELECT FROM entities e WHERE e.tenant_id = $1 AND e.id = f.entity_id
                AND split_part(trim(e.canonical_name), ' ', 1) = ANY ($3))
UNION ALL
SELECT 'rule', id FROM rules WHERE tenant_id = $1 AND content ~ $2
ORDER BY 1, 2

-- name: removed
-- What an undo removed: no table has it any more, its last past state has the whole of it. By an entity,
-- a session, a writer, what it was drawn from, a fact that it took the place of, its own id, or a name in it.
WITH stored AS (
    SELECT memory_id FROM memory_events
    WHERE tenant_id = $1 AND event_type IN ('episode_created', 'fact_created', 'rule_created')
      AND actor = $4 AND memory_id IS NOT NULL
), whole AS (
    SELECT DISTINCT ON (v.kind, v.id) v.kind, v.id, v.state,
           v.state->>'content' AS content,
           coalesce(v.state->>'subject', v.state->>'speaker', '') AS whose
    FROM memory_versions v
    WHERE v.tenant_id = $1 AND v.kind <> 'entity' AND v.state ?& ARRAY['content', 'created_at']
      AND NOT EXISTS (SELECT FROM facts f WHERE f.tenant_id = $1 AND f.id = v.id)
      AND NOT EXISTS (SELECT FROM rules r WHERE r.tenant_id = $1 AND r.id = v.id)
      AND NOT EXISTS (SELECT FROM episodes e WHERE e.tenant_id = $1 AND e.id = v.id)
    ORDER BY v.kind, v.id, v.known_from DESC
)
SELECT kind, id, content, concat_ws(' ', whose, state->>'predicate', content) AS words,
       left(CASE kind WHEN 'fact' THEN
           concat(whose, ' · ', replace(state->>'predicate', '_', ' '), ': ', content) ELSE content END, 200) AS label
FROM whole
WHERE state->>'entity_id' = ANY ($2::text[])
   OR state->>'session_id' = $3::uuid::text
   OR state->>'butler' = $4::text OR state->>'source_butler' = $4::text
   OR id::text IN (SELECT memory_id FROM stored)
   OR state->>'source_episode_id' = ANY ($5::text[])
   OR state->>'supersedes_id' = ANY ($6::text[])
   OR id = ANY ($7::uuid[])
   OR whose || ' ' || content ~* $8::text
ORDER BY kind, id

-- name: versions
-- What these facts replaced and what replaced them, directly or through others, without themselves. No step
-- is counted: a fact that is reached twice is one, and so each is read once.
WITH RECURSIVE older (id, supersedes_id) AS (
    SELECT id, supersedes_id FROM facts WHERE tenant_id = $1 AND id = ANY ($2)
    UNION
    SELECT f.id, f.supersedes_id FROM older o
    JOIN facts f ON f.tenant_id = $1 AND f.id = o.supersedes_id
), newer (id) AS (
    SELECT id FROM facts WHERE tenant_id = $1 AND id = ANY ($2)
    UNION
    SELECT f.id FROM newer n JOIN facts f ON f.tenant_id = $1 AND f.supersedes_id = n.id
)
SELECT id FROM (SELECT id FROM older UNION SELECT id FROM newer) found WHERE id <> ALL ($2) ORDER BY id

-- name: sources
-- The episodes that these facts and rules were drawn from, and that are still there.
SELECT e.id FROM episodes e
WHERE e.tenant_id = $1 AND e.id IN (
    SELECT source_episode_id FROM facts WHERE tenant_id = $1 AND id = ANY($2)
    UNION
    SELECT source_episode_id FROM rules WHERE tenant_id = $1 AND id = ANY($3)
    UNION
    SELECT target_id FROM memory_links
    WHERE tenant_id = $1 AND target_type = 'episode' AND relation = 'derived_from'
      AND ((source_type = 'fact' AND source_id = ANY($2)) OR (source_type = 'rule' AND source_id = ANY($3))))

-- name: resting
-- What was drawn from these episodes or is supported by these facts, and what else it rests on:
-- how many other episodes and facts, how many of the episodes are still there, and how close the
-- closest of those is (1 - cosine distance).
WITH touched AS (
    SELECT 'fact' AS kind, id FROM facts WHERE tenant_id = $1 AND source_episode_id = ANY($2)
    UNION
    SELECT 'rule', id FROM rules WHERE tenant_id = $1 AND source_episode_id = ANY($2)
    UNION
    SELECT source_type, source_id FROM memory_links
    WHERE tenant_id = $1 AND target_type = 'episode' AND target_id = ANY($2)
      AND relation = 'derived_from' AND source_type IN ('fact', 'rule')
    UNION
    SELECT 'rule', target_id FROM memory_links
    WHERE tenant_id = $1 AND source_type = 'fact' AND source_id = ANY($3) AND target_type = 'rule'
      AND relation = 'supports'
), items AS (
    SELECT t.kind, t.id, coalesce(f.embedding, r.embedding) AS embedding,
           coalesce(f.source_episode_id, r.source_episode_id) AS source_episode_id
    FROM touched t
    LEFT JOIN facts f ON t.kind = 'fact' AND f.tenant_id = $1 AND f.id = t.id
    LEFT JOIN rules r ON t.kind = 'rule' AND r.tenant_id = $1 AND r.id = t.id
    WHERE coalesce(f.id, r.id) IS NOT NULL
)
SELECT i.kind, i.id, coalesce(e.drawn, false) AS drawn,
       coalesce(e.others, 0) AS episodes, coalesce(s.others, 0) AS facts,
       coalesce(e.left, 0) AS episodes_left, e.closest
FROM items i
LEFT JOIN LATERAL (
    SELECT true AS drawn,
           (count(*) FILTER (WHERE x.id <> ALL($2::uuid[])))::integer AS others,
           (count(p.id) FILTER (WHERE x.id <> ALL($2::uuid[])))::integer AS left,
           max(1 - (p.embedding <=> i.embedding)) FILTER (WHERE x.id <> ALL($2::uuid[])) AS closest
    FROM (
        SELECT i.source_episode_id AS id WHERE i.source_episode_id IS NOT NULL
        UNION
        SELECT target_id FROM memory_links
        WHERE tenant_id = $1 AND source_type = i.kind AND source_id = i.id
          AND target_type = 'episode' AND relation = 'derived_from'
    ) x
    LEFT JOIN episodes p ON p.tenant_id = $1 AND p.id = x.id
    HAVING count(*) > 0
) e ON true
LEFT JOIN LATERAL (
    SELECT count(*)::integer AS others FROM memory_links
    WHERE tenant_id = $1 AND i.kind = 'rule' AND target_type = 'rule' AND target_id = i.id
      AND source_type = 'fact' AND relation = 'supports' AND source_id <> ALL($3::uuid[])
) s ON true
ORDER BY i.kind, i.id

-- name: texts_of_episode
SELECT id, content, content AS words, embedding FROM episodes
WHERE tenant_id = $1 AND id = ANY($2) ORDER BY id FOR UPDATE

-- name: texts_of_fact
SELECT id, content, subject || ' ' || predicate || ' ' || content AS words, embedding
FROM facts WHERE tenant_id = $1 AND id = ANY($2) ORDER BY id FOR UPDATE

-- name: texts_of_rule
SELECT id, content, content AS words, embedding
FROM rules WHERE tenant_id = $1 AND id = ANY($2) ORDER BY id FOR UPDATE

-- name: texts_of_entity
SELECT id, canonical_name AS content, canonical_name AS words, NULL::vector AS embedding
FROM entities WHERE tenant_id = $1 AND id = ANY($2) ORDER BY id FOR UPDATE

-- name: erase_memories
SELECT erase_memories($1, $2, $3, $4, $5, $6)

-- name: unlink_successors
UPDATE facts SET supersedes_id = NULL WHERE tenant_id = $1 AND supersedes_id = ANY($2)

-- name: erase_tenant
SELECT erase_tenant($1)

-- name: erase_tenant_tokens
SELECT erase_tenant_tokens($1)

-- name: record
INSERT INTO erasures (tenant_id, id, target, actor, erased_at, report) VALUES ($1, $2, $3, $4, $5, $6)

-- name: unfinished
SELECT id, target, actor, erased_at, report FROM erasures
WHERE tenant_id = $1 AND finished_at IS NULL ORDER BY erased_at, id

-- name: finish
UPDATE erasures SET finished_at = $3 WHERE tenant_id = $1 AND id = $2
