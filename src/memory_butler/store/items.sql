-- fragment: there
tenant_id = $1 AND namespace >= $2 AND namespace[1:cardinality($2)] = $2
    AND (expires_at IS NULL OR expires_at > $3)

-- name: put
INSERT INTO items AS i (tenant_id, namespace, key, value, embedding, embedding_version_id,
    ttl_minutes, expires_at, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8::timestamptz + $7 * interval '1 minute', $8, $8)
ON CONFLICT (tenant_id, namespace, key) DO UPDATE SET
    value = excluded.value,
    embedding = excluded.embedding,
    embedding_version_id = excluded.embedding_version_id,
    ttl_minutes = excluded.ttl_minutes,
    expires_at = excluded.expires_at,
    -- What had expired was no longer there.
    created_at = CASE WHEN i.expires_at <= $8 THEN excluded.created_at ELSE i.created_at END,
    updated_at = excluded.updated_at

-- name: take_turns
-- Of those who append to one namespace or take its last record, one after the other.
SELECT pg_advisory_xact_lock(
    hashtextextended('memory-butler items ' || $1 || array_to_string($2::text[], ' '), 0))

-- name: last_number
-- Keys that `append` made are numbers of one length, so that their order is that of the numbers.
SELECT coalesce(max(key)::bigint, 0) FROM items
WHERE tenant_id = $1 AND namespace = $2 AND key ~ '^[0-9]{18}$'

-- name: append
INSERT INTO items (tenant_id, namespace, key, value, created_at, updated_at)
VALUES ($1, $2, unnest($3::text[]), unnest($4::jsonb[]), $5, $5)

-- name: tail
SELECT namespace, key, value, created_at, updated_at FROM items
WHERE tenant_id = $1 AND namespace = $2 AND (expires_at IS NULL OR expires_at > $3)
    AND ($4::text IS NULL OR key < $4)
ORDER BY key DESC LIMIT $5

-- name: pop
DELETE FROM items WHERE tenant_id = $1 AND namespace = $2 AND key = (
    SELECT key FROM items
    WHERE tenant_id = $1 AND namespace = $2 AND (expires_at IS NULL OR expires_at > $3)
    ORDER BY key DESC LIMIT 1
)
RETURNING namespace, key, value, created_at, updated_at

-- name: clear
DELETE FROM items WHERE tenant_id = $1 AND namespace = $2

-- name: delete
DELETE FROM items WHERE tenant_id = $1 AND namespace = $2 AND key = $3

-- name: get
SELECT i.namespace, i.key, i.value, i.created_at, i.updated_at
FROM items i JOIN jsonb_to_recordset($2) AS w (namespace text[], key text)
    ON i.namespace = w.namespace AND i.key = w.key
WHERE i.tenant_id = $1 AND (i.expires_at IS NULL OR i.expires_at > $3)

-- name: touch
-- In UTC, not in the session's time zone: what depends on a session is refused by Citus in an UPDATE.
UPDATE items i
SET expires_at = ($3::timestamptz AT TIME ZONE 'UTC' + i.ttl_minutes * interval '1 minute')
                 AT TIME ZONE 'UTC'
FROM jsonb_to_recordset($2) AS w (namespace text[], key text)
WHERE i.tenant_id = $1 AND i.namespace = w.namespace AND i.key = w.key
    AND i.expires_at > $3

-- name: search
-- The nearest to $5 first, then what has no vector of the model $6, the latest first. Exact: no
-- index of vectors leaves anything out.
SELECT i.namespace, i.key, i.value, i.created_at, i.updated_at,
    CASE WHEN i.embedding_version_id = $6 THEN 1 - (i.embedding <=> $5::vector) END AS score
FROM items i
WHERE {there}
    AND NOT EXISTS (
        SELECT FROM jsonb_to_recordset($4) AS c (path text[], operator text, value jsonb),
            LATERAL (SELECT
                coalesce(i.value #> c.path, 'null') AS found, coalesce(c.value, 'null') AS wanted
            ) AS v
        WHERE NOT CASE c.operator
            WHEN 'eq' THEN v.found = v.wanted
            WHEN 'ne' THEN v.found <> v.wanted
            ELSE jsonb_typeof(v.found) = jsonb_typeof(v.wanted) AND CASE c.operator
                WHEN 'gt' THEN v.found > v.wanted
                WHEN 'gte' THEN v.found >= v.wanted
                WHEN 'lt' THEN v.found < v.wanted
                WHEN 'lte' THEN v.found <= v.wanted
            END
        END
    )
ORDER BY score DESC NULLS LAST, i.updated_at DESC, i.namespace COLLATE "C", i.key COLLATE "C"
LIMIT $7 OFFSET $8

-- name: namespaces
WITH named AS (
    SELECT DISTINCT namespace[cardinality($2::text[]) + 1:] AS below
    FROM items WHERE {there} AND cardinality(namespace) > cardinality($2)
)
SELECT DISTINCT n.below[1:coalesce($5, cardinality(n.below))] COLLATE "C" AS namespace
FROM named n
WHERE NOT EXISTS (
    SELECT FROM jsonb_to_recordset($4) AS c (match text, path text[])
    WHERE cardinality(n.below) < cardinality(c.path) OR EXISTS (
        SELECT FROM generate_subscripts(c.path, 1) AS place
        WHERE c.path[place] <> '*' AND c.path[place] <> n.below[place + CASE c.match
            WHEN 'suffix' THEN cardinality(n.below) - cardinality(c.path) ELSE 0 END]
    )
)
ORDER BY 1 LIMIT $6 OFFSET $7

-- name: expire
DELETE FROM items i USING (
    SELECT namespace, key FROM items WHERE tenant_id = $1 AND expires_at <= $2
    ORDER BY expires_at LIMIT $3 FOR UPDATE SKIP LOCKED
) AS gone
WHERE i.tenant_id = $1 AND i.namespace = gone.namespace AND i.key = gone.key

-- name: count_expired
SELECT count(*) FROM items WHERE tenant_id = $1 AND expires_at <= $2
