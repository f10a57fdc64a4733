-- The queries named bearing say what decides whether a candidate bears on a question: its nearness,
-- whichever retriever found it, and which of the question's words it has. With each comes what the question itself is: its words, those of them
-- that are names, whether it names a known entity; and the store around, from its first ids, which are
-- random: how many there are, how far they reach, how their nearness spreads.

-- name: found_episode
SELECT * FROM find_episodes($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)

-- name: found_fact
SELECT * FROM find_facts($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)

-- name: found_rule
SELECT * FROM find_rules($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)

-- name: worded
SELECT * FROM worded_memories($1, $2, $3, $4, $5, $6, $7, $8)

-- name: nearest
SELECT * FROM nearest_memories($1, $2, $3, $4, $5, $6, $7, $8)

-- What matters most and is nearest to a question, of the thousand facts that matter most.
-- name: weightiest_facts
SELECT m.id FROM (
    SELECT m.id, m.embedding FROM facts m
    WHERE m.tenant_id = $1 AND m.validity = 'active' AND m.importance >= 8
      AND (m.valid_until IS NULL OR m.valid_until > $5)
      AND ($3::text IS NULL OR m.scope IN ('global', $3))
      AND effective_confidence(m.confidence, m.decay_rate, m.last_confirmed_at, $5) >= $4
      AND ($6::integer IS NULL OR m.embedding_version_id = $6)
    ORDER BY m.importance DESC, m.id LIMIT 1000
) m
ORDER BY m.embedding <=> $2, m.id LIMIT $7

-- fragment: asked
(
    SELECT CASE WHEN marked.terms IS NULL THEN tsvector_to_array(words_of(left($2::text, 20000)))
                ELSE marked.terms::text[] END AS words,
           CASE WHEN marked.terms IS NULL THEN tsvector_to_array(words_of($3::text)) ELSE '{}' END AS names,
           marked.terms,
           entities_named($5::text, $4::text[]) IS NOT NULL AS names_entity
    FROM (SELECT CASE WHEN starts_with($2, E'\x1f') THEN coalesce(terms_of($2), '{}') END OFFSET 0)
        AS marked (terms)
    OFFSET 0
) a

-- fragment: bearing
m.id,
CASE WHEN $9::integer IS NULL OR m.embedding_version_id = $9::integer
     THEN 1 - (m.embedding <=> $1::vector) END AS similarity,
CASE WHEN a.terms IS NULL
     THEN ARRAY(SELECT unnest(a.words) INTERSECT SELECT unnest(tsvector_to_array(m.search_vector)))
     ELSE ARRAY(SELECT term::text FROM unnest(a.terms) AS t (term) WHERE m.search_vector @@ term)
END AS shared,
a.words, a.names, a.names_entity, s.seen, s.reach, s.mean, s.spread

-- fragment: around
count(*)::integer AS seen, max(s.id::text) AS reach,
       coalesce(1 - avg(s.embedding <=> $1::vector)
           FILTER (WHERE $9::integer IS NULL OR s.embedding_version_id = $9::integer), 0) AS mean,
       coalesce(stddev_pop(s.embedding <=> $1::vector)
           FILTER (WHERE $9::integer IS NULL OR s.embedding_version_id = $9::integer), 0) AS spread

-- name: bearing_episode
SELECT 'episode' AS memory_type, {bearing}, m.speaker, 
       strpos(m.content, '?') > 0 OR strpos(m.content, '？') > 0 OR strpos(m.content, '؟') > 0 AS asks,
       left(m.content, 500) ~ $10::text AS of_self
FROM {asked}
CROSS JOIN (
    SELECT {around} FROM (
        SELECT m.id, m.embedding, m.embedding_version_id FROM episodes m
        WHERE m.tenant_id = $5::text AND m.expires_at > $7::timestamptz
          AND ($6::text IS NULL OR m.butler = $6::text)
        ORDER BY m.id LIMIT 256
    ) s
) s
JOIN episodes m ON m.tenant_id = $5 AND m.id = ANY ($8::uuid[])

-- name: bearing_fact
-- `of_self` is always false here; it names $10 because each statement must use every parameter.
SELECT 'fact' AS memory_type, {bearing}, NULL AS speaker, false AS asks,
       $10::text IS NULL AS of_self
FROM {asked}
CROSS JOIN (
    SELECT {around} FROM (
        SELECT m.id, m.embedding, m.embedding_version_id FROM facts m
        WHERE m.tenant_id = $5::text AND m.validity = 'active'
          AND (m.valid_until IS NULL OR m.valid_until > $7::timestamptz)
          AND ($6::text IS NULL OR m.scope IN ('global', $6::text))
        ORDER BY m.id LIMIT 256
    ) s
) s
JOIN facts m ON m.tenant_id = $5 AND m.id = ANY ($8::uuid[])

-- name: bearing_rule
-- `of_self` is always false here, and $7 never NULL: each statement must use every parameter.
SELECT 'rule' AS memory_type, {bearing}, NULL AS speaker, false AS asks,
       $10::text IS NULL AS of_self
FROM {asked}
CROSS JOIN (
    SELECT {around} FROM (
        SELECT m.id, m.embedding, m.embedding_version_id FROM rules m
        WHERE m.tenant_id = $5::text AND $7::timestamptz IS NOT NULL
          AND m.metadata->>'forgotten' IS DISTINCT FROM 'true'
          AND m.metadata->>'disabled' IS DISTINCT FROM 'true'
          AND ($6::text IS NULL OR m.scope IN ('global', $6::text))
        ORDER BY m.id LIMIT 256
    ) s
) s
JOIN rules m ON m.tenant_id = $5 AND m.id = ANY ($8::uuid[])
