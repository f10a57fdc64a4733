CREATE OR REPLACE FUNCTION token_list(of_tenant text)
RETURNS TABLE (
    id uuid, tenant_id text, name text, scopes text[], created_at timestamptz,
    expires_at timestamptz, last_used_at timestamptz, revoked_at timestamptz
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT t.id, t.tenant_id, t.name, t.scopes, t.created_at, t.expires_at, t.last_used_at, t.revoked_at
    FROM public.tokens t
    WHERE of_tenant IS NULL OR t.tenant_id = of_tenant
    ORDER BY t.created_at, t.id
$$;
REVOKE ALL ON FUNCTION token_list FROM PUBLIC;
GRANT EXECUTE ON FUNCTION token_list TO {runtime};
