-- The runtime role deletes no fact, rule or entity. Undoing takes away what a step made, and nothing
-- else: what is removed is looked up here, in what the step told.
CREATE OR REPLACE FUNCTION remove_made(undone uuid) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    DELETE FROM public.memory_links l
    WHERE l.tenant_id = current_setting('butler.tenant_id', true) AND l.step = undone;
    DELETE FROM public.rule_applications a
    WHERE a.tenant_id = current_setting('butler.tenant_id', true) AND a.step = undone;
    DELETE FROM public.facts f
    USING public.memory_events e
    WHERE f.tenant_id = current_setting('butler.tenant_id', true)
      AND e.tenant_id = f.tenant_id AND e.step = undone AND e.event_type = 'fact_created'
      AND f.id = (e.payload->>'memory_id')::uuid;
    DELETE FROM public.rules r
    USING public.memory_events e
    WHERE r.tenant_id = current_setting('butler.tenant_id', true)
      AND e.tenant_id = r.tenant_id AND e.step = undone AND e.event_type = 'rule_created'
      AND r.id = (e.payload->>'memory_id')::uuid;
$$;
REVOKE ALL ON FUNCTION remove_made FROM PUBLIC;
GRANT EXECUTE ON FUNCTION remove_made TO {runtime};
