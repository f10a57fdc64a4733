-- The searches for a word and a tag as mem_014 had made them.
CREATE FUNCTION facts_with_terms(typed text) RETURNS SETOF uuid
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp
SET plan_cache_mode = force_custom_plan
AS $$
    SELECT f.id FROM facts f
    WHERE f.tenant_id = current_setting('butler.tenant_id', true)
      AND f.search_vector @@ prefix_terms(typed)
$$;

CREATE FUNCTION facts_with_tag(tag text) RETURNS SETOF uuid
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp
SET plan_cache_mode = force_custom_plan
AS $$
    SELECT f.id FROM facts f
    WHERE f.tenant_id = current_setting('butler.tenant_id', true) AND f.tags ? tag
$$;
REVOKE ALL ON FUNCTION facts_with_terms, facts_with_tag FROM PUBLIC;
GRANT EXECUTE ON FUNCTION facts_with_terms, facts_with_tag TO {runtime};
