-- Whether a token was valid and is not any more; NULL: its tenant moves, and a copy of it would stay valid.
CREATE OR REPLACE FUNCTION token_revoke(token uuid, revoked timestamptz) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    tenant CONSTANT text := (SELECT t.tenant_id FROM public.tokens t WHERE t.id = token);
BEGIN
    PERFORM pg_advisory_xact_lock_shared(hashtextextended('memory-butler move ' || tenant, 0));
    -- Once it has arrived a token can be revoked: the other place, whose copy still reads, may be lost.
    IF EXISTS (
        SELECT FROM public.tenants t
        WHERE t.id = tenant AND t.move_state IN ('leaving', 'arriving', 'returning')
    ) THEN
        RETURN NULL;
    END IF;
    UPDATE public.tokens SET revoked_at = revoked WHERE id = token AND revoked_at IS NULL;
    RETURN FOUND;
END
$$;
REVOKE ALL ON FUNCTION token_revoke FROM PUBLIC;
GRANT EXECUTE ON FUNCTION token_revoke TO {runtime};
