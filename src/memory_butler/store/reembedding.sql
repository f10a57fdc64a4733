-- name: tenants
SELECT tenant_id, memories FROM tenants_to_reembed($1)

-- name: stale_episodes
SELECT id, content AS text, speaker, occurred_at FROM episodes
WHERE tenant_id = $1 AND embedding_version_id IS DISTINCT FROM $2 AND id > $4
ORDER BY id LIMIT $3

-- name: stale_facts
SELECT id, subject, predicate, content, tags FROM facts
WHERE tenant_id = $1 AND embedding_version_id IS DISTINCT FROM $2 AND id > $4
ORDER BY id LIMIT $3

-- name: stale_rules
SELECT id, content AS text, tags FROM rules
WHERE tenant_id = $1 AND embedding_version_id IS DISTINCT FROM $2 AND id > $4
ORDER BY id LIMIT $3

-- name: tenants_unembedded
SELECT tenant_id, memories FROM tenants_to_embed()

-- name: unembedded_episodes
SELECT id, content AS text, speaker, occurred_at FROM episodes
WHERE tenant_id = $1 AND embedding IS NULL AND id > $3 ORDER BY id LIMIT $2

-- name: unembedded_facts
SELECT id, subject, predicate, content, tags FROM facts
WHERE tenant_id = $1 AND embedding IS NULL AND id > $3 ORDER BY id LIMIT $2

-- name: unembedded_rules
SELECT id, content AS text, tags FROM rules
WHERE tenant_id = $1 AND embedding IS NULL AND id > $3 ORDER BY id LIMIT $2

-- name: try_turn
SELECT pg_try_advisory_lock(hashtextextended('memory-butler embedding', 0))

-- name: end_turn
SELECT pg_advisory_unlock(hashtextextended('memory-butler embedding', 0))

-- name: write_episodes
UPDATE episodes SET embedding = $3, embedding_version_id = $4 WHERE tenant_id = $1 AND id = $2

-- name: write_facts
UPDATE facts SET embedding = $3, embedding_version_id = $4 WHERE tenant_id = $1 AND id = $2

-- name: write_rules
-- A rule that was inverted meanwhile has another text, and a vector of the new model already.
UPDATE rules SET embedding = $3, embedding_version_id = $4
WHERE tenant_id = $1 AND id = $2 AND content = $5

-- name: write_words_episodes
UPDATE episodes SET search_vector = said.words
FROM (SELECT id AS said_id, words_of(marked) AS words
      FROM unnest($2::uuid[], $3::text[]) AS new (id, marked) OFFSET 0) said
WHERE tenant_id = $1 AND id = said_id AND search_vector IS DISTINCT FROM said.words

-- name: write_words_facts
-- One that was given tags meanwhile has its words already.
UPDATE facts SET search_vector = said.words
FROM (SELECT id AS said_id, said_tags, words_of(marked) AS words
      FROM unnest($2::uuid[], $3::text[], $4::text[]) AS new (id, marked, said_tags) OFFSET 0) said
WHERE tenant_id = $1 AND id = said_id AND tags = said_tags::jsonb
  AND search_vector IS DISTINCT FROM said.words

-- name: write_words_rules
-- Also one that was edited or inverted meanwhile, as in write_rules.
UPDATE rules SET search_vector = said.words
FROM (SELECT id AS said_id, said_tags, text AS said_text, words_of(marked) AS words
      FROM unnest($2::uuid[], $3::text[], $4::text[], $5::text[])
           AS new (id, marked, said_tags, text) OFFSET 0) said
WHERE tenant_id = $1 AND id = said_id AND tags = said_tags::jsonb AND content = said_text
  AND search_vector IS DISTINCT FROM said.words
