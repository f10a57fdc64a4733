-- The arm of meaning over {table}: the `depth` nearest, and what scoring needs of each.
--
-- Once there is an approximate index (HNSW), each call weighs it against reading this tenant's vectors,
-- by how many it would have to read: a sample of the tenant's first ids, which are random, says how many
-- memories there are and how many of them the question may see. The index holds all tenants, and is
-- followed until enough of this one has been met. What it finds is ordered by the exact distance.
--
-- * ef_search, of the whole graph: see docs/retrieval.md for what it finds.
-- * The walk ends after hnsw.max_scan_tuples (20,000), whatever it has met: nobody sets out who may have
--   to go as far. Where it comes back with too few, every vector is read after all.
-- * ivfflat.probes = lists: whatever plan is chosen, the nearest rows are the true ones.
-- * plan_cache_mode: a cached plan of one tenant would serve every other. But each plan opens all indexes
--   of the table; so those are kept that are the same for all: of the sample (the first ids, in their
--   index's order), and of reading what was found by its ids.
-- * version_id: vectors of two models are never compared; without it any vector counts.
CREATE OR REPLACE FUNCTION nearest_{table}(
    of_tenant text, query_embedding vector, scope_name text, min_confidence double precision,
    asked_at timestamptz, depth integer, version_id integer DEFAULT NULL,
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
SET hnsw.ef_search = 200
SET hnsw.iterative_scan = relaxed_order
SET random_page_cost = 1.1
SET enable_seqscan = on
SET enable_bitmapscan = on
SET enable_sort = on
AS $$
#variable_conflict use_column
DECLARE
    tenant CONSTANT text := CASE
        WHEN of_tenant = current_setting('butler.tenant_id', true) THEN of_tenant END;
    rough CONSTANT halfvec(384) := query_embedding::halfvec(384);
    index CONSTANT regclass := to_regclass('public.idx_{table}_nearest');
    sample CONSTANT integer := 64;
    seen double precision;
    reach text;
    fitting double precision;
    in_all double precision;
    of_everybody double precision;
    ef_search integer;
    walk double precision;
    found uuid[];
BEGIN
    IF index IS NOT NULL AND query_embedding IS NOT NULL THEN
        PERFORM set_config('plan_cache_mode', kept_plans(), true),
                set_config('enable_sort', 'off', true);
        SELECT count(*), max(s.id::text), count(*) FILTER (WHERE s.fits)
        INTO seen, reach, fitting
        FROM (
            SELECT m.id,
                   {visible} AND (scope_name IS NULL OR {scoped}) AND {allowed} AND {confident}
                   AND m.embedding IS NOT NULL
                   AND (version_id IS NULL OR m.embedding_version_id = version_id) AS fits
            FROM {table} m
            WHERE m.tenant_id = tenant
            ORDER BY m.id LIMIT sample
        ) s;
        PERFORM set_config('plan_cache_mode', 'force_custom_plan', true),
                set_config('enable_sort', 'on', true);
        IF seen = sample AND fitting > 0 THEN
            -- As many for each part of the space of ids as up to the last one of the sample.
            in_all := sample / greatest(
                ('x' || left(reach, 8))::bit(32)::bigint / 4294967296.0, 1e-9)::double precision;
            SELECT greatest(c.reltuples, in_all) INTO of_everybody
            FROM pg_class c WHERE c.oid = 'public.{table}'::regclass;
            ef_search := least(1000, CASE
                WHEN of_everybody > 500000 THEN 1000
                WHEN of_everybody > 50000 THEN greatest(400, 10 * depth)
                ELSE greatest(200, 4 * depth) END);
            walk := greatest(ef_search, 2 * depth * of_everybody / (in_all * fitting / seen));
            -- Microseconds, measured: 0.2 to pass a row by, 1 to compare it, 7 for a step in the graph.
            IF walk < 20000 AND 7 * walk < 0.2 * in_all + in_all * fitting / seen THEN
                PERFORM set_config('hnsw.ef_search', ef_search::text, true),
                        set_config('enable_seqscan', 'off', true),
                        set_config('enable_bitmapscan', 'off', true),
                        set_config('enable_sort', 'off', true);
                found := ARRAY(
                    SELECT m.id FROM {table} m
                    WHERE m.tenant_id = tenant
                      AND {visible}
                      AND (scope_name IS NULL OR {scoped}) AND {allowed}
                      AND {confident}
                      AND m.embedding IS NOT NULL
                      AND (version_id IS NULL OR m.embedding_version_id = version_id)
                    ORDER BY m.embedding::halfvec(384) <=> rough
                    LIMIT depth
                );
                IF cardinality(found) = depth THEN
                    -- They were met in the same moment: what fitted then fits now.
                    PERFORM set_config('plan_cache_mode', kept_plans(), true),
                            set_config('enable_sort', 'on', true);
                    RETURN QUERY
                    SELECT m.id,
                           row_number() OVER (ORDER BY m.embedding <=> query_embedding, m.id),
                           1 - (m.embedding <=> query_embedding),
                           {importance}, {confidence}, {decay_rate}, {last_confirmed_at},
                           m.last_referenced_at, m.created_at, {maturity}
                    FROM {table} m
                    WHERE m.tenant_id = tenant
                      AND m.id = ANY (found);
                    RETURN;
                END IF;
                PERFORM set_config('enable_seqscan', 'on', true),
                        set_config('enable_bitmapscan', 'on', true),
                        set_config('enable_sort', 'on', true);
            END IF;
        END IF;
    END IF;

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
        WHERE m.tenant_id = tenant
          AND {visible}
          AND (scope_name IS NULL OR {scoped}) AND {allowed}
          AND {confident}
          AND query_embedding IS NOT NULL AND m.embedding IS NOT NULL
          AND (version_id IS NULL OR m.embedding_version_id = version_id)
        ORDER BY m.embedding <=> query_embedding, m.id
        LIMIT depth
    ) n;
END
$$;

REVOKE ALL ON FUNCTION nearest_{table} FROM PUBLIC;
GRANT EXECUTE ON FUNCTION nearest_{table} TO {runtime};
