-- Everything of the tenant, in every table of tenants that a migration ever made. On a machine of Citus
-- the parts of a table are listed beside it, under its name and a number.
CREATE OR REPLACE FUNCTION erase_tenant(of_tenant text) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    tenant CONSTANT text := CASE
        WHEN of_tenant = current_setting('butler.tenant_id', true) THEN of_tenant END;
    counts jsonb := '{}';
    owned text;
    n bigint;
BEGIN
    FOR owned IN
        SELECT c.relname FROM pg_class c
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND c.relrowsecurity
          AND c.relname <> 'erasures' AND c.relname !~ '_[0-9]+$'
        -- Those that refer to others come first.
        ORDER BY (SELECT count(*) FROM pg_constraint k
                  WHERE k.confrelid = c.oid AND k.contype = 'f' AND k.conrelid <> c.oid), c.relname
    LOOP
        EXECUTE format('DELETE FROM public.%I WHERE tenant_id = $1', owned) USING tenant;
        GET DIAGNOSTICS n = ROW_COUNT;
        counts := counts || jsonb_build_object(owned, n);
    END LOOP;
    RETURN counts;
END
$$;
REVOKE ALL ON FUNCTION erase_tenant FROM PUBLIC;
GRANT EXECUTE ON FUNCTION erase_tenant TO {runtime};
