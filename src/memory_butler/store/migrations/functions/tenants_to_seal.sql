-- Of the owner, because it looks across tenants: who has events that wait for their place in the chain,
-- or has no chain yet. One look into an index a tenant, however many events there are.
CREATE OR REPLACE FUNCTION tenants_to_seal() RETURNS TABLE (tenant_id text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    WITH RECURSIVE holders (tenant) AS (
        (SELECT e.tenant_id FROM public.memory_events e ORDER BY 1 LIMIT 1)
        UNION ALL
        SELECT (SELECT e.tenant_id FROM public.memory_events e
                WHERE e.tenant_id > h.tenant ORDER BY 1 LIMIT 1)
        FROM holders h WHERE h.tenant IS NOT NULL
    )
    SELECT h.tenant FROM holders h
    WHERE h.tenant IS NOT NULL AND (
        NOT EXISTS (SELECT FROM public.audit_checkpoints c WHERE c.tenant_id = h.tenant)
        OR EXISTS (SELECT FROM public.event_seals s WHERE s.tenant_id = h.tenant AND s.seq IS NULL))
    ORDER BY 1
$$;
REVOKE ALL ON FUNCTION tenants_to_seal FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tenants_to_seal TO {runtime};
