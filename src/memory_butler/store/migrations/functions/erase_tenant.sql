-- Everything of the tenant, in every table that a migration ever made, its tokens too.
CREATE OR REPLACE FUNCTION erase_tenant() RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    tenant CONSTANT text := current_setting('butler.tenant_id', true);
    counts jsonb := '{}';
    owned text;
    n bigint;
BEGIN
    FOR owned IN
        SELECT c.relname FROM pg_class c
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND c.relrowsecurity
          AND c.relname <> 'erasures'
        -- Those that refer to others come first.
        ORDER BY (SELECT count(*) FROM pg_constraint k
                  WHERE k.confrelid = c.oid AND k.contype = 'f' AND k.conrelid <> c.oid), c.relname
    LOOP
        EXECUTE format('DELETE FROM public.%I WHERE tenant_id = $1', owned) USING tenant;
        GET DIAGNOSTICS n = ROW_COUNT;
        counts := counts || jsonb_build_object(owned, n);
    END LOOP;
    UPDATE public.job_runs SET detail = detail - tenant WHERE detail ? tenant;
    DELETE FROM public.tokens t WHERE t.tenant_id = tenant;
    GET DIAGNOSTICS n = ROW_COUNT;
    RETURN counts || jsonb_build_object('tokens', n);
END
$$;
REVOKE ALL ON FUNCTION erase_tenant FROM PUBLIC;
GRANT EXECUTE ON FUNCTION erase_tenant TO {runtime};
