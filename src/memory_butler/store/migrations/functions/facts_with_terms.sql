-- Up to `most`; null where there are more. Text that is no word is in no index, and of a word that every
-- fifth of the newest has, the index would gather all before the first could be read.
-- Under row-level security neither a text match nor a look into JSON is an index condition: of the
-- owner, as the searches are. Of some validities alone: their rows are read here anyway, and then need
-- not be read again to be counted. All that match are planned for, and no more read than are wanted.
CREATE OR REPLACE FUNCTION facts_with_terms(
    of_tenant text, typed text, most integer, validities text[] DEFAULT NULL
) RETURNS uuid[]
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
    tenant CONSTANT text := CASE
        WHEN of_tenant = current_setting('butler.tenant_id', true) THEN of_tenant END;
BEGIN
    IF numnode(prefix_terms(typed)) = 0 OR (
        SELECT count(*) FILTER (WHERE newest.search_vector @@ prefix_terms(typed)) >= 100
        FROM (SELECT f.search_vector FROM facts f WHERE f.tenant_id = tenant
              ORDER BY f.created_at DESC, f.id LIMIT 500) newest
    ) THEN
        RETURN NULL;
    END IF;
    RETURN (
        WITH found AS MATERIALIZED (
            SELECT f.id FROM facts f
            WHERE f.tenant_id = tenant AND f.search_vector @@ prefix_terms(typed)
              AND (validities IS NULL OR f.validity = ANY(validities))
        )
        SELECT CASE WHEN cardinality(few.ids) <= most THEN few.ids END
        FROM (SELECT ARRAY(SELECT f.id FROM found f LIMIT most + 1) OFFSET 0) few (ids)
    );
END
$$;
REVOKE ALL ON FUNCTION facts_with_terms FROM PUBLIC;
GRANT EXECUTE ON FUNCTION facts_with_terms TO {runtime};
