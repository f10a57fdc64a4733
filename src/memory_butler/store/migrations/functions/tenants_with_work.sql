-- Which tenants a background job has to visit; jobs then work tenant by tenant.
CREATE OR REPLACE FUNCTION tenants_with_work(kind text, asked_at timestamptz) RETURNS SETOF text
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    CASE kind
        WHEN 'consolidation' THEN
            RETURN QUERY SELECT DISTINCT e.tenant_id FROM public.episodes e
                WHERE e.consolidation_status = 'pending'
                  AND (e.next_consolidation_retry_at IS NULL
                       OR e.next_consolidation_retry_at <= asked_at)
                ORDER BY 1;
        WHEN 'cleanup' THEN
            RETURN QUERY SELECT DISTINCT e.tenant_id FROM public.episodes e ORDER BY 1;
        WHEN 'decay' THEN
            RETURN QUERY
                SELECT f.tenant_id FROM public.facts f WHERE f.validity = 'active'
                UNION SELECT r.tenant_id FROM public.rules r
                ORDER BY 1;
        ELSE RAISE EXCEPTION 'unknown kind of work: %', kind;
    END CASE;
END
$$;
REVOKE ALL ON FUNCTION tenants_with_work FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tenants_with_work TO {runtime};
