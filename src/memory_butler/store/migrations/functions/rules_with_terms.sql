-- As facts_with_terms: under row-level security a text match is no index condition.
CREATE OR REPLACE FUNCTION rules_with_terms(typed text) RETURNS SETOF uuid
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp
SET plan_cache_mode = force_custom_plan
AS $$
    SELECT r.id FROM rules r
    WHERE r.tenant_id = current_setting('butler.tenant_id', true)
      AND r.search_vector @@ prefix_terms(typed)
$$;
REVOKE ALL ON FUNCTION rules_with_terms FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rules_with_terms TO {runtime};
