-- Tokens. The caller hashes; a token itself never reaches the database. NULL: the tenant moves, or has moved.
CREATE OR REPLACE FUNCTION token_create(
    for_tenant text, named text, hashed bytea, allowed text[], made_at timestamptz, ends_at timestamptz
) RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    made uuid;
BEGIN
    PERFORM pg_advisory_xact_lock_shared(hashtextextended('memory-butler move ' || for_tenant, 0));
    INSERT INTO public.tenants (id, created_at) VALUES (for_tenant, made_at) ON CONFLICT DO NOTHING;
    INSERT INTO public.tokens (tenant_id, name, token_hash, scopes, created_at, expires_at)
    SELECT t.id, named, hashed, allowed, made_at, ends_at FROM public.tenants t
    WHERE t.id = for_tenant AND (t.move_state IS NULL OR t.move_state = 'arrived')
    RETURNING id INTO made;
    RETURN made;
END
$$;
REVOKE ALL ON FUNCTION token_create FROM PUBLIC;
GRANT EXECUTE ON FUNCTION token_create TO {runtime};
