-- Under row-level security neither a text match nor a look into JSON is an index condition: of the
-- owner, as the searches are. Of some validities alone: their rows are read here anyway, and then need
-- not be read again to be counted.
CREATE OR REPLACE FUNCTION facts_with_terms(typed text, validities text[] DEFAULT NULL) RETURNS SETOF uuid
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp
SET plan_cache_mode = force_custom_plan
AS $$
    SELECT f.id FROM facts f
    WHERE f.tenant_id = current_setting('butler.tenant_id', true)
      AND f.search_vector @@ prefix_terms(typed)
      AND (validities IS NULL OR f.validity = ANY(validities))
$$;
REVOKE ALL ON FUNCTION facts_with_terms FROM PUBLIC;
GRANT EXECUTE ON FUNCTION facts_with_terms TO {runtime};
