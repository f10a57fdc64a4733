-- Tokens. The caller hashes; a token itself never reaches the database.
CREATE OR REPLACE FUNCTION authenticate(presented_hash bytea, asked_at timestamptz)
RETURNS TABLE (token_id uuid, tenant_id text, token_name text, token_scopes text[])
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT t.id, t.tenant_id, t.name, t.scopes
    FROM public.tokens t
    WHERE t.token_hash = presented_hash
      AND t.revoked_at IS NULL
      AND (t.expires_at IS NULL OR t.expires_at > asked_at)
$$;
REVOKE ALL ON FUNCTION authenticate FROM PUBLIC;
GRANT EXECUTE ON FUNCTION authenticate TO {runtime};
