-- The tokens of a tenant that is leaving, revoked ones too, for the place that it goes to.
CREATE OR REPLACE FUNCTION tenant_tokens(of_tenant text) RETURNS jsonb
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT coalesce(jsonb_agg(to_jsonb(k)), '[]')
    FROM public.tokens k JOIN public.tenants t ON t.id = k.tenant_id
    WHERE k.tenant_id = of_tenant AND of_tenant = current_setting('butler.tenant_id', true)
      AND t.move_state = 'leaving'
$$;
REVOKE ALL ON FUNCTION tenant_tokens FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tenant_tokens TO {runtime};
