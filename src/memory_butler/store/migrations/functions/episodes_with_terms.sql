-- As facts_with_terms: under row-level security a text match is no index condition.
CREATE OR REPLACE FUNCTION episodes_with_terms(typed text) RETURNS SETOF uuid
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp
SET plan_cache_mode = force_custom_plan
AS $$
    SELECT e.id FROM episodes e
    WHERE e.tenant_id = current_setting('butler.tenant_id', true)
      AND e.search_vector @@ prefix_terms(typed)
$$;
REVOKE ALL ON FUNCTION episodes_with_terms FROM PUBLIC;
GRANT EXECUTE ON FUNCTION episodes_with_terms TO {runtime};
