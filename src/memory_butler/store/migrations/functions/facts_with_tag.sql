-- As facts_with_terms, for a tag.
CREATE OR REPLACE FUNCTION facts_with_tag(tag text, validities text[] DEFAULT NULL) RETURNS SETOF uuid
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp
SET plan_cache_mode = force_custom_plan
AS $$
    SELECT f.id FROM facts f
    WHERE f.tenant_id = current_setting('butler.tenant_id', true) AND f.tags ? tag
      AND (validities IS NULL OR f.validity = ANY(validities))
$$;
REVOKE ALL ON FUNCTION facts_with_tag FROM PUBLIC;
GRANT EXECUTE ON FUNCTION facts_with_tag TO {runtime};
