-- Entities last, once no fact is about them.
CREATE OR REPLACE FUNCTION remove_made_entities(undone uuid) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    DELETE FROM public.entities n
    USING public.memory_events e
    WHERE n.tenant_id = current_setting('butler.tenant_id', true)
      AND e.tenant_id = n.tenant_id AND e.step = undone AND e.event_type = 'entity_created'
      AND n.id = (e.payload->>'entity_id')::uuid;
$$;
REVOKE ALL ON FUNCTION remove_made_entities FROM PUBLIC;
GRANT EXECUTE ON FUNCTION remove_made_entities TO {runtime};
