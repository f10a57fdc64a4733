-- What speaks of a tenant in tables that are no tenant's: its tokens, and ticks that name it. How many tokens.
CREATE OR REPLACE FUNCTION erase_tenant_tokens(of_tenant text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    tenant CONSTANT text := CASE
        WHEN of_tenant = current_setting('butler.tenant_id', true) THEN of_tenant END;
    n bigint;
BEGIN
    UPDATE public.job_runs SET detail = detail - tenant WHERE detail ? tenant;
    DELETE FROM public.tokens t WHERE t.tenant_id = tenant;
    GET DIAGNOSTICS n = ROW_COUNT;
    RETURN n;
END
$$;
REVOKE ALL ON FUNCTION erase_tenant_tokens FROM PUBLIC;
GRANT EXECUTE ON FUNCTION erase_tenant_tokens TO {runtime};
