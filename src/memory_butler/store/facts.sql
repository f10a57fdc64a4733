-- fragment: all_but_content
id, tenant_id, subject, predicate, importance, confidence, decay_rate, permanence,
source_butler, source_episode_id, supersedes_id, entity_id, validity, scope, reference_count,
valid_from, valid_until, created_at, retired_at, last_referenced_at, last_confirmed_at, tags, metadata,
trust

-- fragment: columns
content, {all_but_content}

-- name: lock_key
-- C-21. One writer a key at a time: 64 writers at once all succeed, where row locks alone fail most.
SELECT pg_advisory_xact_lock($1)

-- name: try_lock_key
SELECT pg_try_advisory_xact_lock($1)

-- name: lock_many
SELECT id FROM facts WHERE tenant_id = $1 AND id = ANY($2) ORDER BY id FOR NO KEY UPDATE

-- fragment: known_since
-- As it is now: since it was stored, or changed last.
coalesce((SELECT max(v.known_until) FROM memory_versions v
          WHERE v.tenant_id = $1 AND v.kind = 'fact' AND v.id = facts.id), created_at)

-- name: active_of_subject
SELECT id, {known_since}, trust, content, valid_until FROM facts
WHERE tenant_id = $1 AND scope = $2 AND subject_key = key_of($3) AND predicate_key = key_of($4)
  AND entity_id IS NULL AND validity = 'active'
FOR UPDATE

-- name: active_of_entity
-- Under the entity, or under one of its names since before it was registered; the newest first.
SELECT id, {known_since}, trust, content, valid_until FROM facts
WHERE tenant_id = $1 AND validity = 'active' AND id = ANY (ARRAY(
    SELECT f.id FROM facts f
    WHERE f.tenant_id = $1 AND f.scope = $2 AND f.entity_id = $3
      AND f.predicate_key = key_of($4) AND f.validity = 'active'
    UNION ALL
    SELECT f.id FROM facts f
    WHERE f.tenant_id = $1 AND f.scope = $2 AND f.predicate_key = key_of($4)
      AND f.entity_id IS NULL AND f.validity = 'active'
      AND f.subject_key = ANY (ARRAY(
          SELECT key_of(n) FROM entities e, unnest(e.aliases || e.canonical_name) n
          WHERE e.tenant_id = $1 AND e.id = $3))))
ORDER BY created_at DESC, id FOR UPDATE

-- name: waiting_alike
-- What waits for somebody to say just this.
SELECT id, content FROM facts
WHERE tenant_id = $1 AND validity = 'waiting'
  AND subject_key = key_of($2) AND predicate_key = key_of($3)
FOR UPDATE

-- name: waiting_for
-- What waits under the key of a new fact to take the place of the one that it has superseded, with the trust of
-- both. What another installation set aside is decided by what that says (C-351); whoever holds a lock decides.
SELECT w.id, w.trust, n.trust AS new_trust
FROM facts n JOIN facts w ON w.tenant_id = $1 AND w.id <> n.id
    AND w.scope = n.scope AND w.predicate_key = n.predicate_key
    AND (w.entity_id = n.entity_id
        OR w.entity_id IS NULL AND n.entity_id IS NULL AND w.subject_key = n.subject_key)
WHERE n.tenant_id = $1 AND n.id = $2 AND w.validity = 'waiting'
  AND w.metadata->'waiting'->>'target' = $3::uuid::text
  AND w.metadata->'waiting'->>'reason' <> 'elsewhere'
ORDER BY w.id FOR UPDATE OF w SKIP LOCKED

-- name: forgotten_since
-- What was forgotten of a subject since $6, in whatever scope, the nearest first. The events tell when:
-- a fact that had waited, or was superseded before, is retired from an earlier moment.
SELECT f.id, f.scope, f.predicate, f.content,
       coalesce(CASE WHEN f.embedding_version_id = $5 THEN 1 - (f.embedding <=> $4) END, 0) AS nearness
FROM facts f
WHERE f.tenant_id = $1 AND f.validity = 'retracted'
  AND EXISTS (
      SELECT FROM memory_events e
      WHERE e.tenant_id = $1 AND e.memory_id = f.id::text AND e.event_type = 'fact_retracted'
        AND e.created_at > $6)
  AND (f.entity_id = $3 OR f.entity_id IS NULL AND f.subject_key IN (
      key_of($2), 'the ' || key_of($2), regexp_replace(key_of($2), '^the ', '')))
ORDER BY nearness DESC, f.id LIMIT 100

-- name: forgotten_of
-- As they are spelt: a program that repeats itself spells them alike, and there is an index. What had been
-- superseded was no longer said to hold: a project may be delayed again.
SELECT f.content FROM facts f
WHERE f.tenant_id = $1 AND f.subject = $2 AND f.predicate = $3 AND f.scope = $4 AND f.validity = 'retracted'
  AND NOT EXISTS (
      SELECT FROM memory_links l WHERE l.tenant_id = $1 AND l.relation = 'supersedes'
        AND l.source_type = 'fact' AND l.target_type = 'fact' AND l.target_id = f.id)
ORDER BY f.created_at DESC, f.id LIMIT 100

-- name: said_later
-- What consolidation drew has a mark of how far its episodes bear it out. An edit leaves valid_from.
WITH RECURSIVE former AS (
    SELECT id AS edited, supersedes_id AS id, valid_from, NULL::text AS content FROM facts
    WHERE tenant_id = $1 AND id = ANY($2)
    UNION ALL
    SELECT n.edited, f.supersedes_id, f.valid_from, f.content FROM former n
    JOIN facts f ON f.tenant_id = $1 AND f.id = n.id AND f.valid_from = n.valid_from
), earlier AS (
    SELECT max(least(occurred_at, created_at)) AS told,
           max(least(created_at, occurred_at + interval '1 day')) AS told_by
    FROM episodes WHERE tenant_id = $1 AND id = ANY($3)
)
SELECT f.trust, f.valid_from, earlier.told,
       ARRAY(SELECT n.content FROM former n WHERE n.edited = f.id AND n.content IS NOT NULL)
FROM facts f CROSS JOIN earlier
WHERE f.tenant_id = $1 AND f.id = ANY($2) AND f.validity = 'active'
  AND CASE WHEN f.metadata ? 'support' THEN EXISTS (
      SELECT FROM memory_links l
      JOIN episodes e ON e.tenant_id = $1 AND e.id = l.target_id
      WHERE l.tenant_id = $1 AND l.source_type = 'fact' AND l.source_id = f.id
        AND l.relation = 'derived_from' AND l.target_type = 'episode'
        AND least(e.occurred_at, e.created_at) > earlier.told)
  ELSE f.created_at > earlier.told_by END

-- name: lasting_of
-- The permanent facts of a subject, and those of $9, under predicates that begin with $2, with how near each is to
-- a vector. Of an entity also what stands under one of its names since before it was registered.
SELECT id, predicate, content, trust,
       coalesce(CASE WHEN embedding_version_id = $6 THEN 1 - (embedding <=> $5) END, 0) AS nearness
FROM facts
WHERE tenant_id = $1 AND validity = 'active' AND length(content) <= $8 AND id = ANY (ARRAY(
    SELECT f.id FROM facts f
    WHERE f.tenant_id = $1 AND f.scope = $7 AND f.entity_id = $4 AND f.validity = 'active'
      AND (f.permanence = 'permanent' OR f.id = ANY($9)) AND starts_with(f.predicate_key, key_of($2))
    UNION ALL
    SELECT f.id FROM facts f
    WHERE f.tenant_id = $1 AND f.scope = $7 AND f.entity_id IS NULL AND f.validity = 'active'
      AND (f.permanence = 'permanent' OR f.id = ANY($9)) AND starts_with(f.predicate_key, key_of($2))
      AND f.subject_key = ANY (ARRAY(
          SELECT key_of(n) FROM entities e, unnest(e.aliases || e.canonical_name) n
          WHERE e.tenant_id = $1 AND e.id = $4
          UNION ALL SELECT key_of($3)))))
ORDER BY predicate_key = key_of($2) DESC, nearness DESC, id LIMIT 100

-- name: end_waiting
UPDATE facts SET validity = 'superseded', retired_at = $3 WHERE tenant_id = $1 AND id = $2

-- name: accept
UPDATE facts
SET validity = 'active', retired_at = NULL, confidence = 1.0, last_confirmed_at = $3,
    trust = greatest(trust, $4), metadata = metadata - 'waiting', supersedes_id = $5
WHERE tenant_id = $1 AND id = $2 AND validity = 'waiting'

-- name: supersede
-- What a change ended was true until the new fact began. A correction (the new fact begins no later)
-- takes valid_until away: the old one is then known never to have been true.
UPDATE facts
SET validity = 'superseded', retired_at = $3,
    valid_until = CASE WHEN $4 > valid_from THEN least(valid_until, $4) END
WHERE tenant_id = $1 AND id = $2 AND validity = 'active'

-- name: insert
INSERT INTO facts (
    tenant_id, id, subject, predicate, content, embedding, search_vector, importance, confidence,
    decay_rate, permanence, source_butler, source_episode_id, supersedes_id, entity_id, validity,
    scope, valid_from, valid_until, created_at, retired_at, last_referenced_at, last_confirmed_at,
    tags, metadata, embedding_version_id, trust
) VALUES (
    $1, $2, $3, $4, $5, $6, words_of($7), $8, $24, $9, $10, $11, $12, $13, $14, $15,
    $16, $17, $18, $19, $20, $19, $19, $21, $22, $23, $25
)

-- name: get
UPDATE facts
SET reference_count = reference_count + 1, last_referenced_at = $3
WHERE tenant_id = $1 AND id = $2
RETURNING {columns}

-- name: many
SELECT {columns} FROM facts WHERE tenant_id = $1 AND id = ANY($2) AND validity = 'active'

-- name: said
SELECT subject, predicate, content FROM facts
WHERE tenant_id = $1 AND id = ANY($2) AND validity = 'active'

-- name: of_any_state
SELECT {columns} FROM facts WHERE tenant_id = $1 AND id = ANY($2)

-- name: nearness
SELECT 1 - (embedding <=> $3) FROM facts
WHERE tenant_id = $1 AND id = $2 AND embedding_version_id = $4

-- name: embedded
SELECT embedding, embedding_version_id FROM facts WHERE tenant_id = $1 AND id = $2

-- name: make_as_old
-- It decays, and was looked at, as the one that it is stored anew of.
UPDATE facts
SET last_confirmed_at = former.last_confirmed_at, last_referenced_at = former.last_referenced_at,
    reference_count = former.reference_count
FROM (SELECT last_confirmed_at, last_referenced_at, reference_count FROM facts
      WHERE tenant_id = $1 AND id = $3) former
WHERE tenant_id = $1 AND id = $2

-- name: bump
WITH locked AS (
    SELECT id AS locked_id FROM facts
    WHERE tenant_id = $1 AND id = ANY($2) AND validity = 'active'
    ORDER BY id FOR NO KEY UPDATE
)
UPDATE facts
SET reference_count = reference_count + 1, last_referenced_at = $3
FROM locked WHERE tenant_id = $1 AND id = locked_id
RETURNING {columns}

-- name: confirm
-- C-25, C-29: confirming resets the decay timer and clears the fading mark; validity stays.
UPDATE facts
SET last_confirmed_at = $3,
    metadata = CASE WHEN metadata->>'status' = 'fading' THEN metadata - 'status' ELSE metadata END
WHERE tenant_id = $1 AND id = $2
RETURNING {columns}

-- name: set_tags
UPDATE facts SET tags = $3, search_vector = words_of($4) WHERE tenant_id = $1 AND id = $2

-- name: set_metadata
UPDATE facts SET metadata = $3 WHERE tenant_id = $1 AND id = $2

-- name: for_update
SELECT {columns} FROM facts WHERE tenant_id = $1 AND id = $2 FOR UPDATE

-- name: retract
UPDATE facts
SET validity = 'retracted', retired_at = coalesce(retired_at, $3),
    metadata = metadata || '{"forgotten": true}'
WHERE tenant_id = $1 AND id = $2

-- name: restore
-- To what it was before: a fact that was superseded when it was forgotten is no current truth again.
UPDATE facts
SET validity = $3, metadata = metadata - 'forgotten',
    retired_at = CASE WHEN $3 = 'active' THEN NULL ELSE retired_at END
WHERE tenant_id = $1 AND id = $2

-- name: exists
SELECT true FROM facts WHERE tenant_id = $1 AND id = $2

-- name: of_entities
-- MRG-02, MRG-03: every fact of two entities, of whatever validity, locked for the merge.
SELECT {columns} FROM facts
WHERE tenant_id = $1 AND entity_id = ANY($2) ORDER BY id FOR UPDATE

-- name: about_entities
SELECT {columns} FROM facts WHERE tenant_id = $1 AND entity_id = ANY($2) ORDER BY id

-- name: unlinked
-- What the names mean, and no other entity: two sought lists, each by its index.
WITH named (key) AS MATERIALIZED (
    SELECT key_of(n) FROM unnest($3::text[]) n
    EXCEPT
    SELECT name_key FROM entities
    WHERE tenant_id = $1 AND id <> $2 AND metadata->>'merged_into' IS NULL
      AND name_key = ANY (ARRAY(SELECT key_of(n) FROM unnest($3::text[]) n))
    EXCEPT
    SELECT unnest(alias_keys) FROM entities
    WHERE tenant_id = $1 AND id <> $2 AND metadata->>'merged_into' IS NULL AND alias_keys IS NOT NULL
      AND alias_keys && ARRAY(SELECT key_of(n) FROM unnest($3::text[]) n)
)
SELECT id, scope, predicate, subject FROM facts
WHERE tenant_id = $1 AND entity_id IS NULL AND subject_key = ANY (ARRAY(SELECT key FROM named))
ORDER BY id

-- name: repoint
UPDATE facts SET entity_id = $3 WHERE tenant_id = $1 AND id = ANY($2)

-- name: supersede_many
-- A merge found another to be right: these are known never to have been true, as after a correction.
UPDATE facts SET validity = 'superseded', retired_at = $3, valid_until = NULL
WHERE tenant_id = $1 AND id = ANY($2) AND validity = 'active'

-- name: set_supersedes
UPDATE facts SET supersedes_id = $3 WHERE tenant_id = $1 AND id = $2 AND supersedes_id IS NULL

-- name: texts_of_entities
-- C-71: up to 500 active facts a candidate, so that a busy one does not starve the others.
SELECT e.entity_id, f.predicate, f.content
FROM unnest($2::uuid[]) AS e (entity_id)
CROSS JOIN LATERAL (
    SELECT predicate, content FROM facts
    WHERE tenant_id = $1 AND entity_id = e.entity_id AND validity = 'active'
    ORDER BY created_at DESC, id LIMIT 500
) f

-- name: with_terms
-- Up to $3; null where there are more.
SELECT facts_with_terms($1, $2, $3, $4)

-- name: with_tag
SELECT facts_with_tag($1, $2, $3, $4)

-- fragment: wanted
tenant_id = $1
  AND ($2::text IS NULL OR scope = $2)
  AND ($3::text IS NULL OR scope IN ('global', $3))
  AND ($4::text IS NULL OR subject_key = key_of($4))
  AND ($5::uuid IS NULL OR entity_id = $5)
  AND ($6::text IS NULL OR CASE WHEN numnode(prefix_terms($6)) > 0
      THEN search_vector @@ prefix_terms($6)
      ELSE strpos(lower(subject || ' ' || content), lower($6)) > 0 END)
  AND ($7::text[] IS NULL OR permanence = ANY($7))
  AND ($8::text IS NULL OR source_butler = $8)
  AND ($9::text[] IS NULL OR validity = ANY($9))
  AND (NOT $10::boolean OR metadata->>'status' = 'fading')
  AND ($11::float8 IS NULL
       OR effective_confidence(confidence, decay_rate, last_confirmed_at, $12::timestamptz) >= $11)
  AND ($13::text IS NULL OR tags ? $13)
  AND ($14::timestamptz IS NULL OR created_at >= $14)
  AND ($15::timestamptz IS NULL OR created_at < $15)
  AND ($16::uuid[] IS NULL OR id = ANY($16))
  AND ($17::smallint IS NULL OR trust >= $17)
  AND ($18::text IS NULL OR predicate_key = key_of($18))

-- name: count
SELECT count(*)::integer FROM (SELECT FROM facts WHERE {wanted} LIMIT $19) counted

-- fragment: rates
-- Each decay rate that there is, by a step in the index each; up to 65, of more there is no use.
rates (rate, place) AS (
    (SELECT decay_rate, 1 FROM facts WHERE tenant_id = $1 ORDER BY decay_rate LIMIT 1)
    UNION ALL
    SELECT (SELECT decay_rate FROM facts WHERE tenant_id = $1 AND decay_rate > rates.rate
            ORDER BY decay_rate LIMIT 1), place + 1
    FROM rates WHERE rate IS NOT NULL AND place < 65
)

-- name: surest
-- The first $19 of each decay rate: those of all are among them. What was confirmed in the future has
-- not decayed (C-31).
WITH RECURSIVE {rates}
SELECT CASE WHEN (SELECT count(rate) FROM rates) < 65 THEN ARRAY(
    SELECT found.id FROM rates CROSS JOIN LATERAL (
        SELECT id FROM facts
        WHERE {wanted} AND decay_rate = rate
          AND (last_confirmed_at <= $12 OR last_confirmed_at IS NULL)
        ORDER BY lasting(confidence, decay_rate, last_confirmed_at) DESC, id LIMIT $19
    ) found
    UNION ALL
    (SELECT id FROM facts WHERE {wanted} AND last_confirmed_at > $12
     ORDER BY confidence DESC, id LIMIT $19)
) END

-- name: referenced
-- Those with as many references as the fourth on every two hundredth page: some eight hundred, where
-- few have as many; the first $19 of them.
SELECT ARRAY(SELECT facts_referenced($1, sampled.least, $9, $19))
FROM (SELECT reference_count AS least FROM facts TABLESAMPLE SYSTEM (0.5) WHERE {wanted}
      ORDER BY reference_count DESC OFFSET 3 LIMIT 1) sampled

-- fragment: ordering
-- The planner drops the orderings that the given $19 and $20 (descending) make constant.
CASE WHEN $19::text = 'created' AND $20::boolean THEN created_at END DESC,
CASE WHEN $19 = 'created' AND NOT $20 THEN created_at END,
CASE WHEN $19 = 'confirmed' AND $20 THEN last_confirmed_at END DESC NULLS LAST,
CASE WHEN $19 = 'confirmed' AND NOT $20 THEN last_confirmed_at END NULLS FIRST,
CASE WHEN $19 = 'subject' AND $20 THEN subject END DESC,
CASE WHEN $19 = 'subject' AND NOT $20 THEN subject END,
CASE WHEN $19 = 'importance' AND $20 THEN importance END DESC,
CASE WHEN $19 = 'importance' AND NOT $20 THEN importance END,
CASE WHEN $19 = 'references'
     THEN CASE WHEN $20 THEN -reference_count ELSE reference_count END END,
CASE WHEN $19 = 'confidence'
     THEN CASE WHEN $20 THEN -1 ELSE 1 END
          * effective_confidence(confidence, decay_rate, last_confirmed_at, $12) END,
id

-- fragment: shown
left(content, 2000) AS content, length(content) AS content_length, {all_but_content},
       (SELECT newer.id FROM facts newer
        WHERE newer.tenant_id = $1 AND newer.supersedes_id = facts.id
        ORDER BY newer.created_at DESC, newer.id LIMIT 1) AS superseded_by

-- name: page
-- Which rows is found in a narrow index where it can be; only then are the wide rows read.
WITH ordered AS (
    SELECT id FROM facts WHERE {wanted} ORDER BY {ordering} LIMIT $21 OFFSET $22
), placed AS (
    SELECT id AS placed_id, row_number() OVER () AS place FROM ordered
)
SELECT {shown}
FROM placed JOIN facts ON tenant_id = $1 AND id = placed_id
ORDER BY place

-- name: counted_page
-- The same where few are wanted, whose rows are read but once: each says how many there are.
WITH ordered AS (
    SELECT id, count(*) OVER () AS total FROM facts
    WHERE {wanted} ORDER BY {ordering} LIMIT $21 OFFSET $22
), placed AS (
    SELECT id AS placed_id, total, row_number() OVER () AS place FROM ordered
)
SELECT total, {shown}
FROM placed JOIN facts ON tenant_id = $1 AND id = placed_id
ORDER BY place

-- name: sure_enough
-- Those with at least $2 of confidence, above 0, and a hair less; up to $4, null where there are more.
WITH RECURSIVE {rates}
SELECT CASE WHEN (SELECT count(rate) FROM rates) < 65 AND cardinality(found) <= $4 THEN found END
FROM (SELECT ARRAY(
          SELECT sure.id FROM rates CROSS JOIN LATERAL (
              SELECT id FROM facts
              WHERE tenant_id = $1 AND decay_rate = rate
                AND lasting(confidence, decay_rate, last_confirmed_at)
                    >= lasting($2, rate, $3::timestamptz) - 1e-6
          ) sure LIMIT $4 + 1
      ) OFFSET 0) few (found)

-- name: look
-- As it is, without counting a reference: for people who browse.
SELECT {columns},
       (SELECT newer.id FROM facts newer
        WHERE newer.tenant_id = $1 AND newer.supersedes_id = facts.id
        ORDER BY newer.created_at DESC, newer.id LIMIT 1) AS superseded_by
FROM facts WHERE tenant_id = $1 AND id = $2

-- name: chain
-- Every fact that this one replaced, or that replaced it, directly or through others.
WITH RECURSIVE older (id, supersedes_id, steps) AS (
    SELECT id, supersedes_id, 0 FROM facts WHERE tenant_id = $1 AND id = $2
    UNION ALL
    SELECT f.id, f.supersedes_id, o.steps + 1 FROM older o
    JOIN facts f ON f.tenant_id = $1 AND f.id = o.supersedes_id
    WHERE o.steps < $3
), newer (id, steps) AS (
    SELECT id, 0 FROM older WHERE steps = 0
    UNION ALL
    SELECT f.id, n.steps + 1 FROM newer n
    JOIN facts f ON f.tenant_id = $1 AND f.supersedes_id = n.id
    WHERE n.steps < $3
)
SELECT id FROM older UNION SELECT id FROM newer

-- name: labels
SELECT id, subject || ' · ' || replace(predicate, '_', ' ') || ': ' || left(content, 200) AS label,
       created_at,
       CASE WHEN validity = 'active' AND metadata->>'status' = 'fading' THEN 'fading'
            ELSE validity END AS state,
       supersedes_id, source_episode_id
FROM facts WHERE tenant_id = $1 AND id = ANY($2)

-- name: for_map
SELECT id, entity_id, subject, left(content, 500) AS content, trust,
       effective_confidence(confidence, decay_rate, last_confirmed_at, $2::timestamptz)
           AS effective_confidence
FROM facts WHERE tenant_id = $1 AND validity = 'active'
ORDER BY created_at DESC, id LIMIT $3

-- name: latest_of_butler
SELECT {columns} FROM facts
WHERE tenant_id = $1 AND source_butler = $2 AND validity = 'active'
ORDER BY created_at DESC, id LIMIT $3

-- name: of_episodes
SELECT {columns} FROM facts
WHERE tenant_id = $1 AND (
    source_episode_id = ANY($2)
    OR id IN (SELECT source_id FROM memory_links
              WHERE tenant_id = $1 AND source_type = 'fact' AND target_type = 'episode'
                AND target_id = ANY($2) AND relation = 'derived_from'))
ORDER BY created_at, id LIMIT $3
