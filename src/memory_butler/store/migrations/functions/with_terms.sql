-- {table}, as facts_with_terms: under row-level security a text match is no index condition.
CREATE OR REPLACE FUNCTION {table}_with_terms(
    of_tenant text, typed text, most integer
) RETURNS uuid[]
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
    tenant CONSTANT text := CASE
        WHEN of_tenant = current_setting('butler.tenant_id', true) THEN of_tenant END;
BEGIN
    IF numnode(prefix_terms(typed)) = 0 THEN
        RETURN NULL;
    END IF;
    RETURN (
        WITH found AS MATERIALIZED (
            SELECT m.id FROM {table} m
            WHERE m.tenant_id = tenant AND m.search_vector @@ prefix_terms(typed)
        )
        SELECT CASE WHEN cardinality(few.ids) <= most THEN few.ids END
        FROM (SELECT ARRAY(SELECT f.id FROM found f LIMIT most + 1) OFFSET 0) few (ids)
    );
END
$$;
REVOKE ALL ON FUNCTION {table}_with_terms FROM PUBLIC;
GRANT EXECUTE ON FUNCTION {table}_with_terms TO {runtime};
