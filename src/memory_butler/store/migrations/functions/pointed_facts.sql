-- What a name or a period in a question points at, the nearest first, and what scoring needs of each.
CREATE OR REPLACE FUNCTION pointed_facts(
    of_tenant text, query_embedding vector, scope_name text, min_confidence double precision,
    asked_at timestamptz, depth integer, names text[], since timestamptz, until timestamptz,
    min_trust smallint DEFAULT NULL, without uuid[] DEFAULT NULL
) RETURNS TABLE (
    id uuid, rank bigint, similarity double precision,
    importance double precision, confidence double precision, decay_rate double precision,
    last_confirmed_at timestamptz, last_referenced_at timestamptz, created_at timestamptz,
    maturity text
)
LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 20
SET search_path = pg_catalog, public, pg_temp
SET plan_cache_mode = force_custom_plan
SET ivfflat.probes = 20
SET random_page_cost = 1.1
AS $$
#variable_conflict use_column
DECLARE
    tenant CONSTANT text := CASE
        WHEN of_tenant = current_setting('butler.tenant_id', true) THEN of_tenant END;
    entities CONSTANT uuid[] := CASE WHEN names IS NOT NULL THEN entities_named(tenant, names) END;
BEGIN
    IF since IS NULL AND entities IS NULL THEN
        RETURN;
    END IF;
    RETURN QUERY
    SELECT m.id, NULL::bigint, NULL::double precision,
           {importance}, {confidence}, {decay_rate}, {last_confirmed_at},
           m.last_referenced_at, m.created_at, {maturity}
    FROM {table} m
    WHERE m.tenant_id = tenant
      AND {visible}
      AND (scope_name IS NULL OR {scoped}) AND {allowed}
      AND {confident}
      AND ({named} OR ({happened_at} >= since AND {happened_at} < until))
    ORDER BY m.embedding <=> query_embedding, m.id
    LIMIT depth;
END
$$;

REVOKE ALL ON FUNCTION pointed_facts FROM PUBLIC;
GRANT EXECUTE ON FUNCTION pointed_facts TO {runtime};
