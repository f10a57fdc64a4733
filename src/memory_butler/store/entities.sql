-- fragment: columns
id, tenant_id, canonical_name, entity_type, aliases, metadata, created_at, updated_at

-- name: insert
INSERT INTO entities (
    tenant_id, id, canonical_name, entity_type, aliases, metadata, created_at, updated_at
) VALUES ($1, $2, $3, $4, $5, $6, $7, $7)
ON CONFLICT ON CONSTRAINT entities_name_unique DO NOTHING
RETURNING {columns}

-- name: get
SELECT {columns} FROM entities WHERE tenant_id = $1 AND id = $2

-- name: share
-- Held until commit, so that a merge cannot tombstone the entity while a fact about it is stored.
SELECT {columns} FROM entities WHERE tenant_id = $1 AND id = $2 FOR SHARE

-- name: named
SELECT {columns} FROM entities WHERE tenant_id = $1 AND canonical_name = $2 AND entity_type = $3

-- name: exactly_named
-- Whom a text names in full, by name or alias, whatever its case and spaces; two are enough to know
-- that it is not one. With IN they would be sought anew for each entity of the tenant.
SELECT id FROM entities
WHERE tenant_id = $1 AND metadata->>'merged_into' IS NULL AND id = ANY (ARRAY(
    SELECT id FROM entities WHERE tenant_id = $1 AND name_key = key_of($2)
    UNION ALL
    SELECT id FROM entities
    WHERE tenant_id = $1 AND alias_keys IS NOT NULL AND key_of($2) = ANY (alias_keys)))
LIMIT 2 FOR SHARE

-- name: called
-- Those that go by one of these names, in as many spellings as they are given, by another than the usual;
-- without what is somebody else's own name, or begins it: "Bill", where there is a Bill Turner.
SELECT canonical_name, ARRAY(
    SELECT alias FROM unnest(aliases) alias WHERE NOT EXISTS (
        SELECT FROM entities o WHERE o.tenant_id = $1 AND o.id <> entities.id AND o.metadata->>'merged_into' IS NULL
        AND starts_with(lower(o.canonical_name) || ' ', lower(alias) || ' '))) AS aliases
FROM entities
WHERE tenant_id = $1 AND id = ANY (entities_named($1, $2::text[])) AND aliases && $2::text[]
  AND metadata->>'merged_into' IS NULL
ORDER BY canonical_name, id

-- name: with_word
SELECT canonical_name FROM entities
WHERE tenant_id = $1 AND metadata->>'merged_into' IS NULL
  AND position(lower($2) IN lower(canonical_name)) > 0
ORDER BY canonical_name LIMIT $3

-- name: lock
SELECT {columns} FROM entities WHERE tenant_id = $1 AND id = ANY($2) ORDER BY id FOR UPDATE

-- name: update
UPDATE entities
SET canonical_name = $3, aliases = $4, metadata = $5, updated_at = $6
WHERE tenant_id = $1 AND id = $2
RETURNING {columns}

-- name: candidates
-- RES-01..03, RES-06: each entity once, in the best tier that its name or an alias reaches.
WITH tiers AS (
    SELECT {columns},
        CASE
            WHEN lower(canonical_name) = lower($2) THEN 'exact'
            WHEN EXISTS (SELECT 1 FROM unnest(aliases) a WHERE lower(a) = lower($2)) THEN 'alias'
            WHEN lower(canonical_name) LIKE '%' || lower($3) || '%' ESCAPE '\'
              OR EXISTS (SELECT 1 FROM unnest(aliases) a
                         WHERE lower(a) LIKE '%' || lower($3) || '%' ESCAPE '\') THEN 'prefix'
        END AS name_match
    FROM entities
    WHERE tenant_id = $1 AND ($4::text IS NULL OR entity_type = $4)
      AND metadata->>'merged_into' IS NULL
)
SELECT {columns}, name_match FROM tiers WHERE name_match IS NOT NULL
ORDER BY array_position(ARRAY['exact', 'alias', 'prefix'], name_match), canonical_name, id
LIMIT $5

-- name: fuzzy
-- RES-04, C-70. Without pg_trgm this fails to run; the caller keeps it in a savepoint.
SELECT {columns}, 'fuzzy' AS name_match FROM entities
WHERE tenant_id = $1 AND ($3::text IS NULL OR entity_type = $3)
  AND metadata->>'merged_into' IS NULL AND NOT id = ANY($4::uuid[])
  AND (similarity(lower(canonical_name), lower($2)) >= $5
       OR EXISTS (SELECT 1 FROM unnest(aliases) a WHERE similarity(lower(a), lower($2)) >= $5))
ORDER BY canonical_name, id
LIMIT $6

-- fragment: wanted
tenant_id = $1
  AND ($2::text IS NULL OR entity_type = $2)
  AND ($3::boolean IS NULL OR (metadata->>'merged_into' IS NOT NULL) = $3)
  AND ($4::text IS NULL OR lower(canonical_name) LIKE '%' || lower($4) || '%' ESCAPE '\'
       OR EXISTS (SELECT 1 FROM unnest(aliases) a
                  WHERE lower(a) LIKE '%' || lower($4) || '%' ESCAPE '\'))

-- name: count
SELECT count(*)::integer FROM entities WHERE {wanted}

-- fragment: facts_about
-- What a list, a map and a look call facts about an entity. Counted for one entity at a time, by the index:
-- joined with counts of all, they were counted anew for each where the planner knew too little of the tables.
(SELECT count(*)::integer FROM facts f
 WHERE f.tenant_id = $1 AND f.entity_id = entities.id AND f.validity = 'active')

-- name: page
SELECT {columns}, {facts_about} AS facts
FROM entities WHERE {wanted}
ORDER BY canonical_name, entity_type, id
LIMIT $5 OFFSET $6

-- name: labels
SELECT id, canonical_name AS label, created_at,
       CASE WHEN metadata->>'merged_into' IS NULL THEN 'active' ELSE 'merged' END AS state
FROM entities WHERE tenant_id = $1 AND id = ANY($2)

-- name: names_borne
-- What active facts call them by their own name, with the trust of the one trusted most.
SELECT e.id, e.canonical_name AS name, max(f.trust) AS trust
FROM entities e
JOIN facts f ON f.tenant_id = e.tenant_id AND f.entity_id = e.id AND f.subject_key = e.name_key
WHERE e.tenant_id = $1 AND e.id = ANY($2) AND f.validity = 'active'
GROUP BY e.id, e.canonical_name

-- name: for_map
-- Those with the most active facts first.
SELECT id, canonical_name, entity_type, aliases, {facts_about} AS facts, count(*) OVER ()::integer AS total
FROM entities
WHERE tenant_id = $1 AND metadata->>'merged_into' IS NULL
ORDER BY facts DESC, canonical_name, entity_type, id
LIMIT $2
