-- Of the owner, because it looks across tenants: who has events and no chain yet, and whose events wait
-- for their place in it.
CREATE OR REPLACE FUNCTION tenants_to_seal() RETURNS TABLE (tenant_id text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_column
BEGIN
    IF current_setting('citus.version', true) IS NOT NULL THEN
        -- Each machine reads its events: Citus follows no recursion through all of them.
        RETURN QUERY
        SELECT DISTINCT e.tenant_id FROM public.memory_events e
        WHERE NOT EXISTS (SELECT FROM public.audit_checkpoints c WHERE c.tenant_id = e.tenant_id)
        UNION SELECT s.tenant_id FROM public.event_seals s WHERE s.seq IS NULL
        ORDER BY 1;
        RETURN;
    END IF;
    RETURN QUERY
    -- From tenant to tenant in the index, not through all events.
    WITH RECURSIVE known (tenant) AS (
        (SELECT e.tenant_id FROM public.memory_events e ORDER BY e.tenant_id LIMIT 1)
        UNION ALL
        SELECT (
            SELECT e.tenant_id FROM public.memory_events e
            WHERE e.tenant_id > k.tenant ORDER BY e.tenant_id LIMIT 1
        ) FROM known k WHERE k.tenant IS NOT NULL
    )
    SELECT k.tenant FROM known k WHERE k.tenant IS NOT NULL
    EXCEPT SELECT c.tenant_id FROM public.audit_checkpoints c
    UNION SELECT s.tenant_id FROM public.event_seals s WHERE s.seq IS NULL
    ORDER BY 1;
END
$$;
REVOKE ALL ON FUNCTION tenants_to_seal FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tenants_to_seal TO {runtime};
