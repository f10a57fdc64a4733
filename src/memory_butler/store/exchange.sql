-- fragment: place
-- Facts that may compete for one key lie together, on every installation alike.
sha256(convert_to(subject_key || chr(31) || predicate_key, 'UTF8'))

-- fragment: mark
-- What an exchange noted of a fact; anybody may have stored something else by that name.
CASE WHEN pg_input_is_valid(metadata #>> '{exchange,at}', 'timestamptz')
      AND pg_input_is_valid(metadata #>> '{exchange,since}', 'timestamptz')
      AND coalesce(pg_input_is_valid(metadata #>> '{exchange,made}', 'timestamptz'), true)
     THEN metadata->'exchange' END

-- fragment: known_since
-- Since when it is what it is: whatever else of it changed meanwhile.
coalesce((SELECT max(v.known_until) FROM memory_versions v
          WHERE v.tenant_id = $1 AND v.kind = 'fact' AND v.id = facts.id
            AND (v.state->>'validity' <> facts.validity
                 OR v.state->>'valid_until' IS DISTINCT FROM to_jsonb(facts.valid_until)#>>'{}')),
         facts.created_at)

-- fragment: sent
-- What was erased on another installation is forgotten here, and not passed on.
NOT coalesce({mark} ? 'gone', false)

-- fragment: rule_place
sha256(convert_to(id::text, 'UTF8'))

-- fragment: rule_state
-- In the words of facts: `waiting` is switched off, and `expired` what the sweep forgot.
CASE WHEN metadata->>'forgotten' IS DISTINCT FROM 'true'
     THEN CASE WHEN metadata->>'disabled' = 'true' THEN 'waiting' ELSE 'active' END
     WHEN metadata->>'swept' = 'true' THEN 'expired' ELSE 'retracted' END

-- fragment: rule_words
encode(sha256(convert_to(concat_ws(chr(31), content, scope), 'UTF8')), 'hex')

-- fragment: rule_says
concat_ws(chr(31), content, scope, tags::text, (maturity = 'anti_pattern')::text)

-- fragment: past_rules
-- What the rules of `listed` said and were before.
SELECT id, known_until, {rule_state} AS state, {rule_says} AS says, {rule_words} AS words, scope
FROM listed, LATERAL (
    SELECT v.known_until, v.state->>'content' AS content, v.state->>'scope' AS scope,
           v.state->'tags' AS tags, v.state->>'maturity' AS maturity, v.state->'metadata' AS metadata
    FROM memory_versions v WHERE v.tenant_id = $1 AND v.kind = 'rule' AND v.id = listed_id
) version, LATERAL (SELECT listed_id AS id) known

-- fragment: rule_columns
-- `text_since`, `known_since`: when it got its text, and its state, as known here.
id, content, scope, tags, maturity, permanence, decay_rate, source_butler, created_at,
last_confirmed_at, metadata, trust, {rule_state} AS state,
coalesce((SELECT max(p.known_until) FROM past p WHERE p.id = rules.id AND p.says <> {rule_says}),
         created_at) AS text_since,
coalesce((SELECT max(p.known_until) FROM past p WHERE p.id = rules.id AND p.state <> {rule_state}),
         created_at) AS known_since,
greatest(created_at, (SELECT max(p.known_until) FROM past p WHERE p.id = rules.id)) AS touched

-- name: digests
-- Of each part, what tells whether it is the same elsewhere. Decay is each side's own.
SELECT part, encode(sha256(convert_to(string_agg(line, E'\n' ORDER BY id), 'UTF8')), 'hex') AS digest
FROM (
    SELECT get_byte({place}, 0) AS part, id,
           concat_ws(' ', id, CASE validity WHEN 'expired' THEN 'active' ELSE validity END,
                     coalesce(extract(epoch FROM valid_until)::text, '-'),
                     coalesce(extract(epoch FROM last_confirmed_at)::text, '-'),
                     encode(sha256(convert_to(concat_ws(chr(31), subject, predicate, content, scope),
                                              'UTF8')), 'hex')) AS line
    FROM facts WHERE tenant_id = $1 AND {sent} AND ($2::text[] IS NULL OR scope = ANY($2))
    UNION ALL
    SELECT get_byte({rule_place}, 0), id,
           concat_ws(' ', id, CASE state WHEN 'expired' THEN 'active' ELSE state END,
                     coalesce(extract(epoch FROM last_confirmed_at)::text, '-'),
                     encode(sha256(convert_to({rule_says}, 'UTF8')), 'hex'))
    FROM rules, LATERAL (SELECT {rule_state} AS state) now
    WHERE tenant_id = $1 AND {sent} AND ($2::text[] IS NULL OR scope = ANY($2))
) lines
GROUP BY part ORDER BY part

-- name: page
-- The oldest of a key first, so that what a fact replaced comes before it.
WITH wanted AS (
    SELECT id AS wanted_id, {place} AS place,
           coalesce(({mark}->>'made')::timestamptz, created_at) AS made
    FROM facts WHERE tenant_id = $1 AND {sent} AND get_byte({place}, 0) = ANY($2::integer[])
      AND ($7::text[] IS NULL OR scope = ANY($7))
), listed AS (
    SELECT wanted_id, place, made FROM wanted
    WHERE $3::bytea IS NULL OR (place, made, wanted_id) > ($3, $4::timestamptz, $5::uuid)
    ORDER BY place, made, wanted_id LIMIT $6
)
SELECT l.place, l.made, facts.id, facts.subject, facts.predicate, facts.content, facts.importance,
       facts.confidence, facts.permanence, facts.source_butler, facts.supersedes_id, facts.scope,
       facts.valid_from, facts.valid_until, facts.validity, facts.created_at,
       facts.last_confirmed_at, facts.tags, facts.metadata, facts.trust,
       {known_since} AS known_since,
       e.canonical_name, e.entity_type, e.aliases, e.metadata AS entity_metadata
FROM listed l
JOIN facts ON facts.tenant_id = $1 AND facts.id = l.wanted_id
LEFT JOIN entities e ON e.tenant_id = $1 AND e.id = facts.entity_id
ORDER BY l.place, l.made, facts.id

-- name: rules_page
WITH listed AS (
    SELECT id AS listed_id FROM rules
    WHERE tenant_id = $1 AND {sent} AND get_byte({rule_place}, 0) = ANY($2::integer[])
      AND ($5::text[] IS NULL OR scope = ANY($5)) AND ($3::uuid IS NULL OR id > $3)
    ORDER BY id LIMIT $4
), past AS (
    {past_rules}
)
SELECT {rule_columns},
       ARRAY(SELECT DISTINCT p.words FROM past p
             WHERE p.id = rules.id AND ($5::text[] IS NULL OR p.scope = ANY($5))) AS former
FROM rules WHERE tenant_id = $1 AND id IN (SELECT listed_id FROM listed)
ORDER BY id

-- name: rules_there
-- Locked, in the order of ids.
WITH listed AS (
    SELECT listed_id FROM unnest($2::uuid[]) AS given (listed_id)
), past AS (
    {past_rules}
)
SELECT {rule_columns}
FROM rules WHERE tenant_id = $1 AND id = ANY($2) ORDER BY id FOR UPDATE OF rules

-- name: scopes_of_rules
SELECT id, scope FROM rules WHERE tenant_id = $1 AND id = ANY($2)

-- name: set_rule
UPDATE rules
SET last_confirmed_at = $3, metadata = $4, trust = $5,
    maturity = CASE WHEN $6 THEN 'anti_pattern' ELSE maturity END,
    decay_rate = CASE WHEN $6 THEN 0.01 ELSE decay_rate END
WHERE tenant_id = $1 AND id = $2

-- name: there
-- Locked, in the order of ids.
SELECT id, subject, predicate, content, scope, entity_id, validity, valid_until, valid_from,
       created_at, last_confirmed_at, supersedes_id, metadata, trust, {known_since} AS known_since,
       greatest(created_at, (SELECT max(v.known_until) FROM memory_versions v
                             WHERE v.tenant_id = $1 AND v.kind = 'fact' AND v.id = facts.id)) AS touched
FROM facts WHERE tenant_id = $1 AND id = ANY($2) ORDER BY id FOR UPDATE

-- name: ancestors
-- What a fact replaced, directly or through others. UNION: no chain of installations goes on for ever.
WITH RECURSIVE older (id, supersedes_id) AS (
    SELECT id, supersedes_id FROM facts WHERE tenant_id = $1 AND id = $2
    UNION
    SELECT f.id, f.supersedes_id FROM older o
    JOIN facts f ON f.tenant_id = $1 AND f.id = o.supersedes_id
)
SELECT id FROM older WHERE id <> $2

-- name: set_state
UPDATE facts
SET validity = $3, valid_until = $4, last_confirmed_at = $5, metadata = $6,
    retired_at = CASE WHEN $3 = 'active' THEN NULL ELSE coalesce(retired_at, $7) END
WHERE tenant_id = $1 AND id = $2

-- name: raise_trust
UPDATE facts SET trust = $3 WHERE tenant_id = $1 AND id = $2

-- name: connect
-- Facts of which the one that they replaced came later than they; of the same key, and not one that
-- is trusted more (`outranks`).
UPDATE facts SET supersedes_id = older.id
FROM facts older
WHERE facts.tenant_id = $1 AND facts.supersedes_id IS NULL AND facts.validity <> 'waiting'
  AND facts.metadata #>> '{exchange,supersedes}' IS NOT NULL
  AND older.tenant_id = $1 AND older.id::text = facts.metadata #>> '{exchange,supersedes}'
  AND older.id <> facts.id
  AND older.scope = facts.scope AND older.predicate_key = facts.predicate_key
  AND (older.subject_key = facts.subject_key OR older.entity_id = facts.entity_id)
  AND facts.trust >= least(older.trust, 4)

-- name: taken_away
-- What was erased here, or stored here and undone, unless the change was repeated.
SELECT away.id FROM (
    SELECT (jsonb_array_elements_text(report->'facts'))::uuid AS id FROM erasures
    WHERE tenant_id = $1 AND jsonb_typeof(report->'facts') = 'array'
    UNION
    SELECT (jsonb_array_elements_text(report->'rules'))::uuid FROM erasures
    WHERE tenant_id = $1 AND jsonb_typeof(report->'rules') = 'array'
    UNION
    SELECT (e.payload->>'memory_id')::uuid FROM memory_events u
    JOIN memory_events e ON e.tenant_id = $1 AND e.step = (u.payload->>'undone')::uuid
    WHERE u.tenant_id = $1 AND u.event_type = 'change_undone' AND e.event_type IN ('fact_created', 'rule_created')
      AND NOT e.payload ? 'exchange' AND e.payload->>'memory_id' IS NOT NULL
) away
WHERE NOT EXISTS (SELECT FROM facts f WHERE f.tenant_id = $1 AND f.id = away.id)
  AND NOT EXISTS (SELECT FROM rules r WHERE r.tenant_id = $1 AND r.id = away.id)
ORDER BY 1

-- name: emptied
-- When all of the tenant was erased last; what is older does not come back.
SELECT max(erased_at) FROM erasures WHERE tenant_id = $1 AND target->>'by' = 'tenant'
