-- Tokens. The caller hashes; a token itself never reaches the database.
CREATE OR REPLACE FUNCTION token_create(
    for_tenant text, named text, hashed bytea, allowed text[], made_at timestamptz, ends_at timestamptz
) RETURNS uuid
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    INSERT INTO public.tenants (id, created_at) VALUES (for_tenant, made_at) ON CONFLICT DO NOTHING;
    INSERT INTO public.tokens (tenant_id, name, token_hash, scopes, created_at, expires_at)
    VALUES (for_tenant, named, hashed, allowed, made_at, ends_at)
    RETURNING id
$$;
REVOKE ALL ON FUNCTION token_create FROM PUBLIC;
GRANT EXECUTE ON FUNCTION token_create TO {runtime};
