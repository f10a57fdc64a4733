-- The planner takes an index of blocks for useless where neighbours differ, and would read everything,
-- by another index if need be: so no column of another, nor of another's predicate, is asked for as it
-- stands; but on Citus the tenant is, by whom it finds the shard.
CREATE OR REPLACE FUNCTION facts_referenced(
    of_tenant text, at_least integer, validities text[], most integer
) RETURNS SETOF uuid
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp
SET plan_cache_mode = force_custom_plan
SET enable_seqscan = off
AS $$
DECLARE
    tenant CONSTANT text := CASE
        WHEN of_tenant = current_setting('butler.tenant_id', true) THEN of_tenant END;
BEGIN
    IF current_setting('citus.version', true) IS NOT NULL THEN
        RETURN QUERY
        SELECT f.id FROM facts f
        WHERE f.tenant_id = tenant AND f.reference_count >= at_least
          AND (validities IS NULL OR f.validity = ANY(validities))
        ORDER BY f.reference_count DESC, f.id LIMIT most;
        RETURN;
    END IF;
    RETURN QUERY
    SELECT f.id FROM facts f
    WHERE f.tenant_id || '' = tenant
      AND f.reference_count >= at_least
      AND (validities IS NULL OR f.validity || '' = ANY(validities))
    ORDER BY f.reference_count DESC, f.id LIMIT most;
END
$$;
REVOKE ALL ON FUNCTION facts_referenced FROM PUBLIC;
GRANT EXECUTE ON FUNCTION facts_referenced TO {runtime};
