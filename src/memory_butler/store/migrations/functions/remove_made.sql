-- The runtime role deletes no fact, rule or entity. Undoing takes away what a step made, and nothing
-- else: what is removed is looked up here, in what the step told.
CREATE OR REPLACE FUNCTION remove_made(of_tenant text, undone uuid) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    tenant CONSTANT text := CASE
        WHEN of_tenant = current_setting('butler.tenant_id', true) THEN of_tenant END;
BEGIN
    DELETE FROM public.memory_links l WHERE l.tenant_id = tenant AND l.step = undone;
    DELETE FROM public.rule_applications a WHERE a.tenant_id = tenant AND a.step = undone;
    DELETE FROM public.facts f
    USING public.memory_events e
    WHERE f.tenant_id = tenant
      AND e.tenant_id = tenant AND e.step = undone AND e.event_type = 'fact_created'
      AND f.id = (e.payload->>'memory_id')::uuid;
    DELETE FROM public.rules r
    USING public.memory_events e
    WHERE r.tenant_id = tenant
      AND e.tenant_id = tenant AND e.step = undone AND e.event_type = 'rule_created'
      AND r.id = (e.payload->>'memory_id')::uuid;
END
$$;
REVOKE ALL ON FUNCTION remove_made FROM PUBLIC;
GRANT EXECUTE ON FUNCTION remove_made TO {runtime};
