-- Take the tokens of a tenant that is arriving, as tenant_tokens gave them; how many.
CREATE OR REPLACE FUNCTION tenant_take_tokens(of_tenant text, given jsonb) RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    WITH taken AS (
        INSERT INTO public.tokens
        SELECT k.* FROM jsonb_populate_recordset(NULL::public.tokens, given) k
        JOIN public.tenants t ON t.id = k.tenant_id
        WHERE k.tenant_id = of_tenant AND of_tenant = current_setting('butler.tenant_id', true)
          AND t.move_state IN ('arriving', 'returning')
        RETURNING 1
    )
    SELECT count(*) FROM taken
$$;
REVOKE ALL ON FUNCTION tenant_take_tokens FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tenant_take_tokens TO {runtime};
