-- As facts_with_terms, for a tag.
CREATE OR REPLACE FUNCTION facts_with_tag(
    of_tenant text, tag text, most integer, validities text[] DEFAULT NULL
) RETURNS uuid[]
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
    tenant CONSTANT text := CASE
        WHEN of_tenant = current_setting('butler.tenant_id', true) THEN of_tenant END;
BEGIN
    RETURN (
        WITH found AS MATERIALIZED (
            SELECT f.id FROM facts f
            WHERE f.tenant_id = tenant AND f.tags ? tag
              AND (validities IS NULL OR f.validity = ANY(validities))
        )
        SELECT CASE WHEN cardinality(few.ids) <= most THEN few.ids END
        FROM (SELECT ARRAY(SELECT f.id FROM found f LIMIT most + 1) OFFSET 0) few (ids)
    );
END
$$;
REVOKE ALL ON FUNCTION facts_with_tag FROM PUBLIC;
GRANT EXECUTE ON FUNCTION facts_with_tag TO {runtime};
