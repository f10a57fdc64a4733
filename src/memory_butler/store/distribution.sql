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
-- Ours, but for those of extensions; and by which argument Citus may find where one runs.
SELECT p.oid::regprocedure::text AS signature, p.proname::text AS name,
       p.proargnames[1] IS NOT DISTINCT FROM 'of_tenant' AS of_tenant,
       p.prosecdef AS of_owner, coalesce(p.proconfig, '{}') AS settings
FROM pg_proc p
WHERE p.pronamespace IN ('public'::regnamespace, 'memory_history'::regnamespace)
  AND NOT EXISTS (SELECT FROM pg_depend d
                  WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e')
ORDER BY 1

-- name: types
SELECT t.oid::regtype::text AS name, pg_get_userbyid(t.typowner)::text AS owner,
       (SELECT string_agg(quote_ident(a.attname) || ' ' || format_type(a.atttypid, a.atttypmod), ', '
                          ORDER BY a.attnum)
        FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0) AS columns
FROM pg_type t JOIN pg_class c ON c.oid = t.typrelid
WHERE c.relkind = 'c' AND t.typnamespace = 'public'::regnamespace ORDER BY 1

-- name: views
SELECT c.oid::regclass::text AS name, pg_get_viewdef(c.oid) AS definition FROM pg_class c
WHERE c.relkind = 'v' AND c.relnamespace = 'memory_history'::regnamespace ORDER BY 1

-- name: inventory
-- What a machine has of what the queries of tenants use, a line each.
SELECT coalesce(string_agg(line, E'\n' ORDER BY line), '') FROM (
    SELECT 'extension ' || extname AS line FROM pg_extension
    WHERE extnamespace = 'public'::regnamespace AND extname <> 'citus'
    UNION ALL
    SELECT 'setting ' || c.told FROM pg_db_role_setting r, unnest(r.setconfig) c (told)
    WHERE r.setrole = 0 AND r.setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND split_part(c.told, '=', 1) IN ('citus.propagate_set_commands', 'session_preload_libraries')
    UNION ALL
    SELECT 'type ' || t.oid::regtype FROM pg_type t JOIN pg_class c ON c.oid = t.typrelid
    WHERE c.relkind = 'c' AND t.typnamespace = 'public'::regnamespace
    UNION ALL
    SELECT 'view ' || c.oid::regclass || right_of.told FROM pg_class c, LATERAL (VALUES
        (''), (CASE WHEN has_table_privilege(current_database() || '_runtime', c.oid, 'SELECT') THEN ' for the server' END)
    ) right_of (told)
    WHERE c.relkind = 'v' AND c.relnamespace = to_regnamespace('memory_history') AND told IS NOT NULL
    UNION ALL
    SELECT 'role ' || rolname || ' that may move rows' FROM pg_roles
    WHERE rolname = current_database() || '_owner' AND rolbypassrls
    UNION ALL
    SELECT 'schema ' || nspname || ' for the server' FROM pg_namespace
    WHERE nspname IN ('public', 'memory_history') AND has_schema_privilege(current_database() || '_runtime', oid, 'USAGE')
    UNION ALL
    SELECT 'function ' || p.oid::regprocedure || right_of.told FROM pg_proc p, LATERAL (VALUES
        (''),
        (CASE WHEN has_function_privilege(current_database() || '_runtime', p.oid, 'EXECUTE') THEN ' for the server' END),
        (CASE WHEN p.prosecdef THEN ' with the rights of ' || pg_get_userbyid(p.proowner) END),
        (CASE WHEN p.prosecdef AND EXISTS (
             SELECT FROM aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a WHERE a.grantee = 0)
         THEN ' for everybody' END)
    ) right_of (told)
    WHERE p.pronamespace IN ('public'::regnamespace, to_regnamespace('memory_history'))
      AND told IS NOT NULL
      AND NOT EXISTS (SELECT FROM pg_depend d
                      WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e')
) had

-- name: has_roles
-- Whether the owner may write the parts of tables that move, and the server sees the catalog as it is.
SELECT (SELECT rolbypassrls FROM pg_roles WHERE rolname = current_database() || '_owner')
   AND EXISTS (SELECT FROM pg_db_role_setting r
               WHERE r.setrole = to_regrole(quote_ident(current_database() || '_runtime'))
                 AND r.setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database())
                 AND 'citus.override_table_visibility=off' = ANY (r.setconfig))

-- name: extensions
-- Of which no table has a column: those come with the table.
SELECT e.extname::text AS name FROM pg_extension e
WHERE e.extnamespace = 'public'::regnamespace AND e.extname <> 'citus'
  AND NOT EXISTS (
    SELECT FROM pg_depend d JOIN pg_attribute a ON a.atttypid = d.objid JOIN pg_class c ON c.oid = a.attrelid
    WHERE d.classid = 'pg_type'::regclass AND d.refobjid = e.oid AND d.deptype = 'e'
      AND c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p'))
ORDER BY 1

-- name: has_citus
SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')
