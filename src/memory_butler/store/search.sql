-- The queries named signals say what decides whether a candidate bears on a question: its nearness,
-- whichever retriever found it, which of the question's words it has, and what else a deep search
-- weighs. With each comes what the question itself is: its words, those of them that are names, whether
-- it names a known entity; and the store around, from its first ids, which are random: how many there
-- are, how far they reach, how their nearness spreads. Each is `asked` and one SELECT: those of several
-- tables share what is asked (`search.signals_of`).

-- name: found_episode
SELECT * FROM find_episodes($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)

-- name: worded
SELECT * FROM worded_memories($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)

-- name: nearest
SELECT * FROM nearest_memories($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)

-- The columns of the arms, of a fact that none of them ranks; and which facts a search may find.
-- fragment: unranked
'fact' AS memory_type, m.id, NULL::bigint AS rank, NULL::double precision AS similarity,
       m.importance, m.confidence, m.decay_rate, m.last_confirmed_at, m.last_referenced_at,
       m.created_at, NULL::text AS maturity

-- fragment: holds
m.validity = 'active' AND (m.valid_until IS NULL OR m.valid_until > $5)
      AND ($3::text IS NULL OR m.scope IN ('global', $3))
      AND effective_confidence(m.confidence, m.decay_rate, m.last_confirmed_at, $5) >= $4

-- fragment: findable
m.tenant_id = $1 AND {holds}

-- name: weightiest_facts
-- What matters most and is nearest to a question, of the thousand facts that matter most.
SELECT {unranked}
FROM (
    SELECT m.* FROM facts m
    WHERE {findable} AND m.importance >= 8
      AND ($6::integer IS NULL OR m.embedding_version_id = $6)
      AND ($8::smallint IS NULL OR m.trust >= $8) AND ($9::uuid[] IS NULL OR m.id <> ALL ($9))
    ORDER BY m.importance DESC, m.id LIMIT 1000
) m
ORDER BY m.embedding <=> $2, m.id LIMIT $7

-- name: facts_saying
SELECT * FROM facts_saying($1, $2, $3, $4, $5, $6, $7, $8)

-- name: rules_saying
SELECT 'rule' AS memory_type, m.id, NULL::bigint AS rank, NULL::double precision AS similarity,
       NULL::double precision AS importance, m.confidence, m.decay_rate, m.last_confirmed_at,
       m.last_referenced_at, m.created_at, m.maturity, m.content
FROM rules m
WHERE m.tenant_id = $1 AND m.metadata->>'forgotten' IS DISTINCT FROM 'true'
  AND m.metadata->>'disabled' IS DISTINCT FROM 'true'
  AND ($3::text IS NULL OR m.scope IN ('global', $3))
  AND effective_confidence(m.confidence, m.decay_rate, m.last_confirmed_at, $5) >= $4
  AND ($7::smallint IS NULL OR m.trust >= $7) AND ($8::uuid[] IS NULL OR m.id <> ALL ($8))
  AND m.search_vector @@ to_tsquery('english', $2)
ORDER BY m.created_at DESC, m.id LIMIT $6

-- name: facts_about
-- What matters most of what is known of some subjects.
SELECT {unranked}
FROM facts m
WHERE {findable} AND m.subject_key = ANY ($2)
  AND ($7::smallint IS NULL OR m.trust >= $7) AND ($8::uuid[] IS NULL OR m.id <> ALL ($8))
ORDER BY m.importance DESC, m.last_confirmed_at DESC, m.id LIMIT $6

-- name: facts_linked
-- What is known of some subjects and entities, the nearest to a question first. Their ids first, by an
-- index each: the planner, which knows nothing of the lists, would read all facts of the tenant.
WITH a AS MATERIALIZED (SELECT entities_named($1::text, $2::text[]) || $9::uuid[] AS entities)
SELECT {unranked}, m.subject_key, m.entity_id,
       (SELECT e.canonical_name || e.aliases FROM entities e
        WHERE e.tenant_id = $1 AND e.id = m.entity_id) AS names,
       CASE WHEN $11::integer IS NULL OR m.embedding_version_id = $11
            THEN 1 - (m.embedding <=> $10) END AS nearness
FROM (
    SELECT f.id, f.last_confirmed_at FROM facts f
    WHERE f.tenant_id = $1 AND f.subject_key = ANY ($2) AND f.validity = 'active'
    UNION
    SELECT f.id, f.last_confirmed_at FROM a CROSS JOIN facts f
    WHERE f.tenant_id = $1 AND f.entity_id = ANY (a.entities) AND f.validity = 'active'
    ORDER BY last_confirmed_at DESC, id LIMIT 1000
) f
CROSS JOIN LATERAL (SELECT * FROM facts o WHERE o.tenant_id = $1 AND o.id = f.id OFFSET 0) m
WHERE {holds}
  AND ($7::smallint IS NULL OR m.trust >= $7) AND ($8::uuid[] IS NULL OR m.id <> ALL ($8))
ORDER BY m.embedding <=> $10, m.id LIMIT $6

-- fragment: asked
WITH a AS MATERIALIZED (
    SELECT w.words, w.terms, entities_named($5::text, $4::text[]) AS entities,
           CASE WHEN starts_with($2, E'\x1f') THEN '{}' ELSE tsvector_to_array(words_of($3::text)) END AS names,
           ARRAY(SELECT plainto_tsquery('english', code) FROM unnest($11::text[]) AS c (code)) AS codes
    FROM words_and_terms($2::text) w
)

-- fragment: signals
m.id,
CASE WHEN $9::integer IS NULL OR m.embedding_version_id = $9::integer
     THEN 1 - (m.embedding <=> $1::vector) END AS similarity,
-- Both lists in the select list of one row: as functions in FROM they would be stored for each memory.
ARRAY(SELECT t.word FROM (SELECT unnest(a.words) AS word, unnest(a.terms) AS term) t
      WHERE m.search_vector @@ t.term) AS shared,
coalesce(m.search_vector @@ ANY (a.codes), false) AS coded,
length(m.search_vector) AS length, a.words, a.names, a.entities IS NOT NULL AS names_entity,
s.seen, s.reach, s.mean, s.spread

-- fragment: around
count(*)::integer AS seen, max(s.id::text) AS reach,
       coalesce(1 - avg(s.distance), 0) AS mean, coalesce(stddev_pop(s.distance), 0) AS spread

-- fragment: sampled
m.id, CASE WHEN $9::integer IS NULL OR m.embedding_version_id = $9::integer
           THEN m.embedding <=> $1::vector END AS distance

-- fragment: says_nothing
NULL::text AS subject, NULL::text AS predicate, NULL::text AS content, NULL::uuid AS entity_id, NULL::smallint AS trust

-- name: signals_episode
{asked}
SELECT 'episode' AS memory_type, {signals}, m.speaker, 
       strpos(m.content, '?') > 0 OR strpos(m.content, '？') > 0 OR strpos(m.content, '؟') > 0 AS asks,
       left(m.content, 500) ~ $10::text AS of_self,
       false AS named, false AS subject_named, m.occurred_at AS happened_at, {says_nothing}
FROM a
CROSS JOIN (
    SELECT {around} FROM (
        SELECT {sampled} FROM episodes m
        WHERE m.tenant_id = $5::text AND m.expires_at > $7::timestamptz
          AND ($6::text IS NULL OR m.butler = $6::text)
        ORDER BY m.id LIMIT 256
    ) s
) s
JOIN episodes m ON m.tenant_id = $5 AND m.id = ANY ($8::uuid[])

-- name: signals_fact
-- `of_self` is always false here; it names $10 because each statement must use every parameter.
{asked}
SELECT 'fact' AS memory_type, {signals}, NULL AS speaker, false AS asks,
       $10::text IS NULL AS of_self,
       -- Or by its full name, where nobody has registered it: a subject of several words, each with a capital;
       -- or in one word, also as programs have them ("web-shop"), but for who asks, whom everything is about.
       coalesce(m.entity_id = ANY (a.entities)
                OR m.subject = ANY ($4::text[]) AND strpos(m.subject, ' ') > 0
                   AND m.subject !~ '(^| )[^[:upper:]]'
                OR lower(m.subject) = ANY ($4::text[])
                   AND m.subject ~ '^\w+([-_]\w+)*$' AND lower(m.subject) NOT IN ('user', 'family'), false) AS named,
       coalesce(lower(m.subject) = ANY ($4::text[]), false) AS subject_named, m.valid_from AS happened_at,
       m.subject, m.predicate, m.content, m.entity_id, m.trust
FROM a
CROSS JOIN (
    SELECT {around} FROM (
        SELECT {sampled} FROM facts m
        WHERE m.tenant_id = $5::text AND m.validity = 'active'
          AND (m.valid_until IS NULL OR m.valid_until > $7::timestamptz)
          AND ($6::text IS NULL OR m.scope IN ('global', $6::text))
        ORDER BY m.id LIMIT 256
    ) s
) s
JOIN facts m ON m.tenant_id = $5 AND m.id = ANY ($8::uuid[])

-- name: signals_rule
-- `of_self` is always false here, and $7 never NULL: each statement must use every parameter.
{asked}
SELECT 'rule' AS memory_type, {signals}, NULL AS speaker, false AS asks,
       $10::text IS NULL AS of_self, false AS named, false AS subject_named,
       NULL::timestamptz AS happened_at, {says_nothing}
FROM a
CROSS JOIN (
    SELECT {around} FROM (
        SELECT {sampled} FROM rules m
        WHERE m.tenant_id = $5::text AND $7::timestamptz IS NOT NULL
          AND m.metadata->>'forgotten' IS DISTINCT FROM 'true'
          AND m.metadata->>'disabled' IS DISTINCT FROM 'true'
          AND ($6::text IS NULL OR m.scope IN ('global', $6::text))
        ORDER BY m.id LIMIT 256
    ) s
) s
JOIN rules m ON m.tenant_id = $5 AND m.id = ANY ($8::uuid[])
