-- Note where the move of a tenant stands now, if it stood where the caller believes; whether it did. It
-- waits for all who write for the tenant. A tenant without tokens becomes known by it.
CREATE OR REPLACE FUNCTION tenant_mark(
    of_tenant text, was_id uuid, was_state text, new_id uuid, new_state text, new_place text
) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    tenant CONSTANT text := CASE
        WHEN of_tenant = current_setting('butler.tenant_id', true) THEN of_tenant END;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('memory-butler move ' || tenant, 0));
    INSERT INTO public.tenants (id) SELECT tenant WHERE tenant IS NOT NULL ON CONFLICT DO NOTHING;
    UPDATE public.tenants t SET move_id = new_id, move_state = new_state, move_place = new_place
    WHERE t.id = tenant AND t.move_id IS NOT DISTINCT FROM was_id
      AND t.move_state IS NOT DISTINCT FROM was_state;
    RETURN FOUND;
END
$$;
REVOKE ALL ON FUNCTION tenant_mark FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tenant_mark TO {runtime};
