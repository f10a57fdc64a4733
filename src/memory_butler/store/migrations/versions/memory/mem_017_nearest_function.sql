-- The arm of meaning over {table}: the `depth` nearest, and what scoring needs of each.
--
-- Exact, unless `memory-butler index build` has made the approximate index: then the planner weighs it
-- against reading this tenant's vectors, by how many they are. What it finds is ordered again by the
-- exact distance.
--
-- * hnsw.iterative_scan: an index over all tenants must go on until it has found enough of this one.
-- * hnsw.ef_search: 0.996 of the true nearest at 100,000 facts (200: 0.99, 100: 0.96).
-- * ivfflat.probes = lists: whatever plan is chosen, the nearest rows are the true ones.
-- * plan_cache_mode: a cached plan of one tenant would serve every other.
-- * version_id: vectors of two models are never compared; without it any vector counts.
CREATE FUNCTION nearest_{table}(
    query_embedding vector, scope_name text, min_confidence double precision, asked_at timestamptz,
    depth integer, version_id integer DEFAULT NULL
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
SET hnsw.ef_search = 400
SET hnsw.iterative_scan = relaxed_order
SET random_page_cost = 1.1
AS $$
#variable_conflict use_column
DECLARE
    rough CONSTANT halfvec(384) := query_embedding::halfvec(384);
BEGIN
    IF to_regclass('public.idx_{table}_nearest') IS NULL THEN
        RETURN QUERY
        SELECT n.id, row_number() OVER (ORDER BY n.distance, n.id), 1 - n.distance,
               n.importance, n.confidence, n.decay_rate, n.last_confirmed_at,
               n.last_referenced_at, n.created_at, n.maturity
        FROM (
            SELECT m.id, m.embedding <=> query_embedding AS distance,
                   {importance} AS importance, {confidence} AS confidence,
                   {decay_rate} AS decay_rate, {last_confirmed_at} AS last_confirmed_at,
                   m.last_referenced_at, m.created_at, {maturity} AS maturity
            FROM {table} m
            WHERE m.tenant_id = current_setting('butler.tenant_id', true)
              AND {visible}
              AND (scope_name IS NULL OR {scoped})
              AND {confident}
              AND query_embedding IS NOT NULL AND m.embedding IS NOT NULL
              AND (version_id IS NULL OR m.embedding_version_id = version_id)
            ORDER BY m.embedding <=> query_embedding, m.id
            LIMIT depth
        ) n;
    ELSE
        RETURN QUERY
        SELECT n.id, row_number() OVER (ORDER BY n.distance, n.id), 1 - n.distance,
               n.importance, n.confidence, n.decay_rate, n.last_confirmed_at,
               n.last_referenced_at, n.created_at, n.maturity
        FROM (
            SELECT m.id, m.embedding <=> query_embedding AS distance,
                   {importance} AS importance, {confidence} AS confidence,
                   {decay_rate} AS decay_rate, {last_confirmed_at} AS last_confirmed_at,
                   m.last_referenced_at, m.created_at, {maturity} AS maturity
            FROM {table} m
            WHERE m.tenant_id = current_setting('butler.tenant_id', true)
              AND {visible}
              AND (scope_name IS NULL OR {scoped})
              AND {confident}
              AND query_embedding IS NOT NULL AND m.embedding IS NOT NULL
              AND (version_id IS NULL OR m.embedding_version_id = version_id)
            ORDER BY m.embedding::halfvec(384) <=> rough
            LIMIT depth
        ) n
        ORDER BY n.distance, n.id
        LIMIT depth;
    END IF;
END
$$;

REVOKE ALL ON FUNCTION nearest_{table} FROM PUBLIC;
GRANT EXECUTE ON FUNCTION nearest_{table} TO {runtime};
