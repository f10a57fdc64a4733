CREATE OR REPLACE FUNCTION token_revoke(token uuid, revoked timestamptz) RETURNS boolean
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    WITH ended AS (
        UPDATE public.tokens SET revoked_at = revoked
        WHERE id = token AND revoked_at IS NULL RETURNING 1
    )
    SELECT EXISTS (SELECT 1 FROM ended)
$$;
REVOKE ALL ON FUNCTION token_revoke FROM PUBLIC;
GRANT EXECUTE ON FUNCTION token_revoke TO {runtime};
