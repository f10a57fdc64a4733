-- Of the owner, because it looks across tenants; it tells their names and counts, nothing of theirs.
CREATE OR REPLACE FUNCTION tenants_to_embed()
RETURNS TABLE (tenant_id text, memories bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT waiting.tenant_id, count(*) FROM (
        SELECT e.tenant_id FROM public.episodes e WHERE e.embedding IS NULL
        UNION ALL
        SELECT f.tenant_id FROM public.facts f WHERE f.embedding IS NULL
        UNION ALL
        SELECT r.tenant_id FROM public.rules r WHERE r.embedding IS NULL
    ) waiting
    GROUP BY waiting.tenant_id ORDER BY waiting.tenant_id
$$;
REVOKE ALL ON FUNCTION tenants_to_embed FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tenants_to_embed TO {runtime};
