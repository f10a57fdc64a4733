-- Where the move of a tenant stands; no row: it has never moved. Whoever is about to write asks first, and
-- holds the lock until commit: a tenant is not frozen (tenant_mark) before all who asked have committed.
CREATE OR REPLACE FUNCTION tenant_move(of_tenant text)
RETURNS TABLE (move_id uuid, move_state text, move_place text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    tenant CONSTANT text := CASE
        WHEN of_tenant = current_setting('butler.tenant_id', true) THEN of_tenant END;
BEGIN
    PERFORM pg_advisory_xact_lock_shared(hashtextextended('memory-butler move ' || tenant, 0));
    RETURN QUERY SELECT t.move_id, t.move_state, t.move_place FROM public.tenants t
        WHERE t.id = tenant AND t.move_state IS NOT NULL;
END
$$;
REVOKE ALL ON FUNCTION tenant_move FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tenant_move TO {runtime};
