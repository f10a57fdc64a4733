-- Drops all that the role owns here, but the schemas, which an administrator made, and Alembic's table.
DO $$
DECLARE
    ours CONSTANT oid := (SELECT r.oid FROM pg_roles r WHERE r.rolname = current_user);
    statement text;
BEGIN
    FOR statement IN
        SELECT format('DROP VIEW %s', c.oid::regclass)
        FROM pg_class c WHERE c.relkind = 'v' AND c.relowner = ours
        UNION ALL
        SELECT 'DROP TABLE ' || string_agg(c.oid::regclass::text, ', ')
        FROM pg_class c WHERE c.relkind = 'r' AND c.relowner = ours
            AND c.relname <> 'alembic_version'
        UNION ALL
        SELECT format('DROP ROUTINE %s', p.oid::regprocedure)
        FROM pg_proc p WHERE p.proowner = ours
        UNION ALL
        SELECT format('DROP TYPE %s CASCADE', t.oid::regtype)
        FROM pg_type t LEFT JOIN pg_class c ON c.oid = t.typrelid
        WHERE t.typowner = ours
            AND (t.typtype = 'e' OR t.typtype = 'c' AND c.relkind = 'c')
    LOOP
        EXECUTE statement;
    END LOOP;
END $$;
