-- The planner takes an index of blocks for useless where neighbours differ, and would read everything,
-- by another index if need be: so no column of another, nor of another's predicate, is asked for as it
-- stands.
CREATE OR REPLACE FUNCTION facts_referenced(at_least integer, validities text[], most integer)
RETURNS SETOF uuid
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp
SET plan_cache_mode = force_custom_plan
SET enable_seqscan = off
AS $$
    SELECT f.id FROM facts f
    WHERE f.tenant_id || '' = current_setting('butler.tenant_id', true)
      AND f.reference_count >= at_least
      AND (validities IS NULL OR f.validity || '' = ANY(validities))
    ORDER BY f.reference_count DESC, f.id LIMIT most
$$;
REVOKE ALL ON FUNCTION facts_referenced FROM PUBLIC;
GRANT EXECUTE ON FUNCTION facts_referenced TO {runtime};
