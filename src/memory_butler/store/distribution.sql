-- name: tables
-- Our tables: whether a tenant's column leads the primary key, which makes them a tenant's.
SELECT c.relname AS name,
       coalesce((SELECT a.attname = 'tenant_id' FROM pg_index i JOIN pg_attribute a
                     ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
                 WHERE i.indrelid = c.oid AND i.indisprimary), false) AS of_tenant
FROM pg_class c
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
ORDER BY c.relname

-- name: uniques
SELECT i.indrelid::regclass::text AS "table", i.indexrelid::regclass::text AS name,
       ARRAY(SELECT a.attname::text FROM pg_attribute a
             WHERE a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey)) AS columns
FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
WHERE c.relnamespace = 'public'::regnamespace AND (i.indisunique OR i.indisexclusion)
ORDER BY 1, 2

-- name: foreign_keys
-- confdeltype and confupdtype: n sets NULL, d the default.
SELECT k.conrelid::regclass::text AS "table", k.conname::text AS name,
       k.confrelid::regclass::text AS target,
       ARRAY(SELECT a.attname::text FROM unnest(k.conkey) WITH ORDINALITY AS o (number, place)
             JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = o.number
             ORDER BY o.place) AS columns,
       ARRAY(SELECT a.attname::text FROM unnest(k.confkey) WITH ORDINALITY AS o (number, place)
             JOIN pg_attribute a ON a.attrelid = k.confrelid AND a.attnum = o.number
             ORDER BY o.place) AS targets,
       k.confdeltype::text IN ('n', 'd') OR k.confupdtype::text IN ('n', 'd') AS sets
FROM pg_constraint k
WHERE k.contype = 'f' AND k.connamespace = 'public'::regnamespace
ORDER BY 1, 2

-- name: triggers
SELECT t.tgrelid::regclass::text AS "table", t.tgname::text AS name
FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
WHERE NOT t.tgisinternal AND c.relnamespace = 'public'::regnamespace
ORDER BY 1, 2

-- name: functions
SELECT p.oid::regprocedure::text AS name FROM pg_proc p
WHERE p.pronamespace = 'public'::regnamespace AND NOT p.prosecdef
  AND NOT EXISTS (SELECT FROM pg_depend d
                  WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e')
ORDER BY 1

-- name: extensions
SELECT extname::text AS name FROM pg_extension
WHERE extnamespace = 'public'::regnamespace AND extname <> 'citus' ORDER BY 1

-- name: has_citus
SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')
