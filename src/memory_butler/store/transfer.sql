-- name: tables
-- What belongs to tenants, as the catalog has it: a table that a later migration adds is there too.
SELECT c.relname AS name,
       (SELECT array_agg(a.attname::text ORDER BY a.attnum) FROM pg_attribute a
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
       ) AS columns,
       (SELECT array_agg(a.attname::text ORDER BY a.attnum) FROM pg_attribute a
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND a.attgenerated <> '') AS generated,
       (SELECT array_agg(a.attname::text ORDER BY k.place)
        FROM pg_index i, unnest(i.indkey::smallint[]) WITH ORDINALITY AS k (number, place),
             pg_attribute a
        WHERE i.indrelid = c.oid AND i.indisprimary
          AND a.attrelid = c.oid AND a.attnum = k.number) AS key,
       (SELECT array_agg(DISTINCT f.relname::text) FROM pg_constraint r
        JOIN pg_class f ON f.oid = r.confrelid
        WHERE r.conrelid = c.oid AND r.contype = 'f') AS needs
FROM pg_class c
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND c.relrowsecurity
  -- A chain is of its installation: whoever imports events seals them anew. What was masked is restored
  -- where it was, within its hour, or not at all.
  AND c.relname NOT IN ('event_seals', 'audit_checkpoints', 'masked_texts')
ORDER BY c.relname

-- name: models
SELECT id, model_name, version, dimensions FROM embedding_versions ORDER BY id

-- name: know_model
INSERT INTO embedding_versions (model_name, version, dimensions, is_current)
VALUES ($1, $2, $3, false) ON CONFLICT DO NOTHING

-- name: model
SELECT id FROM embedding_versions WHERE model_name = $1 AND version = $2
