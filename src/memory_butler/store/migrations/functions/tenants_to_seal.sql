-- Of the owner, because it looks across tenants: who has events and no chain yet, and whose events wait
-- for their place in it.
CREATE OR REPLACE FUNCTION tenants_to_seal() RETURNS TABLE (tenant_id text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT e.tenant_id FROM public.memory_events e
    EXCEPT SELECT c.tenant_id FROM public.audit_checkpoints c
    UNION SELECT s.tenant_id FROM public.event_seals s WHERE s.seq IS NULL
    ORDER BY 1
$$;
REVOKE ALL ON FUNCTION tenants_to_seal FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tenants_to_seal TO {runtime};
