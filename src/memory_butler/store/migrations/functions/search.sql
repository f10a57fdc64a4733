-- One search over {table}: both arms, each `depth` deep, and what scoring needs of every candidate.
-- A NULL embedding or question leaves that arm out. A rank is NULL where an arm did not find the row.
--
-- * plan_cache_mode: a cached generic plan of one tenant would serve every other.
-- * ivfflat.probes = lists: whatever plan is chosen, the nearest rows are the true ones.
-- * version_id: vectors of two models are never compared; without it any vector counts.
-- * hits is capped: ts_rank reads each matching document, and a common word matches most of a store.
CREATE OR REPLACE FUNCTION search_{table}(
    query_embedding vector, question text, scope_name text, min_confidence double precision,
    asked_at timestamptz, depth integer, version_id integer DEFAULT NULL
) RETURNS TABLE (
    id uuid, semantic_rank bigint, similarity double precision,
    keyword_rank bigint, text_rank real, matches_all boolean,
    importance double precision, confidence double precision, decay_rate double precision,
    last_confirmed_at timestamptz, last_referenced_at timestamptz, created_at timestamptz,
    maturity text
)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp
SET plan_cache_mode = force_custom_plan
SET ivfflat.probes = 20
AS $$
#variable_conflict use_column
DECLARE
    every_term CONSTANT tsquery := every_term(question);
    any_term CONSTANT tsquery := any_of_terms(question);
BEGIN
    RETURN QUERY
    WITH nearest AS MATERIALIZED (
        SELECT m.id, m.embedding <=> query_embedding AS distance
        FROM {table} m
        WHERE m.tenant_id = current_setting('butler.tenant_id', true)
          AND {visible}
          AND (scope_name IS NULL OR {scoped})
          AND {confident}
          AND query_embedding IS NOT NULL AND m.embedding IS NOT NULL
          AND (version_id IS NULL OR m.embedding_version_id = version_id)
        ORDER BY m.embedding <=> query_embedding, m.id
        LIMIT depth
    ), semantic AS (
        SELECT n.id, n.distance, row_number() OVER (ORDER BY n.distance, n.id) AS rank FROM nearest n
    ), hits AS MATERIALIZED (
        (SELECT m.id, m.search_vector, true AS matches_all
         FROM {table} m
         WHERE m.tenant_id = current_setting('butler.tenant_id', true)
           AND {visible}
           AND (scope_name IS NULL OR {scoped})
           AND {confident}
           AND m.search_vector @@ every_term
         ORDER BY m.id LIMIT 20000)
        UNION ALL
        (SELECT m.id, m.search_vector, false
         FROM {table} m
         WHERE m.tenant_id = current_setting('butler.tenant_id', true)
           AND {visible}
           AND (scope_name IS NULL OR {scoped})
           AND {confident}
           AND m.search_vector @@ any_term AND NOT m.search_vector @@ every_term
         ORDER BY m.id LIMIT 20000)
    ), scored AS (
        SELECT h.id, h.matches_all, ts_rank(h.search_vector, any_term) AS text_rank
        FROM hits h
        ORDER BY h.matches_all DESC, text_rank DESC, h.id
        LIMIT depth
    ), keyword AS (
        SELECT s.*, row_number() OVER (ORDER BY s.matches_all DESC, s.text_rank DESC, s.id) AS rank
        FROM scored s
    )
    SELECT m.id, s.rank, 1 - s.distance, k.rank, k.text_rank, k.matches_all,
           {importance}, {confidence}, {decay_rate}, {last_confirmed_at},
           m.last_referenced_at, m.created_at, {maturity}
    FROM semantic s
    FULL JOIN keyword k ON k.id = s.id
    JOIN {table} m
      ON m.tenant_id = current_setting('butler.tenant_id', true) AND m.id = coalesce(s.id, k.id)
    ORDER BY s.rank NULLS LAST, k.rank;
END
$$;

REVOKE ALL ON FUNCTION search_{table} FROM PUBLIC;
GRANT EXECUTE ON FUNCTION search_{table} TO {runtime};
