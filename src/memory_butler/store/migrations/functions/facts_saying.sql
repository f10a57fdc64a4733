-- The facts that match a text query, as it is typed, the newest first, what scoring needs of each, and
-- what each says: under row-level security a text match is no index condition.
CREATE OR REPLACE FUNCTION facts_saying(
    of_tenant text, said text, scope_name text, min_confidence double precision,
    asked_at timestamptz, depth integer, min_trust smallint DEFAULT NULL, without uuid[] DEFAULT NULL
) RETURNS TABLE (
    memory_type text, id uuid, rank bigint, similarity double precision,
    importance double precision, confidence double precision, decay_rate double precision,
    last_confirmed_at timestamptz, last_referenced_at timestamptz, created_at timestamptz,
    maturity text, predicate text, content text
)
LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 20
SET search_path = pg_catalog, public, pg_temp
SET plan_cache_mode = force_custom_plan
AS $$
#variable_conflict use_column
DECLARE
    tenant CONSTANT text := CASE
        WHEN of_tenant = current_setting('butler.tenant_id', true) THEN of_tenant END;
    sought CONSTANT tsquery := to_tsquery('english', said);
BEGIN
    RETURN QUERY
    SELECT 'fact'::text, m.id, NULL::bigint, NULL::double precision,
           {importance}, {confidence}, {decay_rate}, {last_confirmed_at},
           m.last_referenced_at, m.created_at, {maturity}, m.predicate, m.content
    FROM {table} m
    WHERE m.tenant_id = tenant
      AND {visible}
      AND (scope_name IS NULL OR {scoped}) AND {allowed}
      AND {confident}
      AND m.search_vector @@ sought
    ORDER BY m.created_at DESC, m.id
    LIMIT depth;
END
$$;
REVOKE ALL ON FUNCTION facts_saying FROM PUBLIC;
GRANT EXECUTE ON FUNCTION facts_saying TO {runtime};
