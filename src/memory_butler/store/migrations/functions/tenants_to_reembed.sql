-- Of the owner, because it looks across tenants; it tells their names and counts, nothing of theirs.
CREATE OR REPLACE FUNCTION tenants_to_reembed(to_version integer)
RETURNS TABLE (tenant_id text, memories bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT stale.tenant_id, count(*) FROM (
        SELECT e.tenant_id FROM public.episodes e
        WHERE e.embedding_version_id IS DISTINCT FROM to_version
        UNION ALL
        SELECT f.tenant_id FROM public.facts f
        WHERE f.embedding_version_id IS DISTINCT FROM to_version
        UNION ALL
        SELECT r.tenant_id FROM public.rules r
        WHERE r.embedding_version_id IS DISTINCT FROM to_version
    ) stale
    GROUP BY stale.tenant_id ORDER BY stale.tenant_id
$$;
REVOKE ALL ON FUNCTION tenants_to_reembed FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tenants_to_reembed TO {runtime};
