-- Entities last, once no fact is about them.
CREATE OR REPLACE FUNCTION remove_made_entities(of_tenant text, undone uuid) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    tenant CONSTANT text := CASE
        WHEN of_tenant = current_setting('butler.tenant_id', true) THEN of_tenant END;
BEGIN
    DELETE FROM public.entities n
    USING public.memory_events e
    WHERE n.tenant_id = tenant
      AND e.tenant_id = tenant AND e.step = undone AND e.event_type = 'entity_created'
      AND n.id = (e.payload->>'entity_id')::uuid;
END
$$;
REVOKE ALL ON FUNCTION remove_made_entities FROM PUBLIC;
GRANT EXECUTE ON FUNCTION remove_made_entities TO {runtime};
