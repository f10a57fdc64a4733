-- A deep search over {table}: both arms, each `depth` deep, what a name or a period in the question
-- points at, and what scoring needs of every candidate. A NULL embedding or question leaves that arm
-- out. A rank is NULL where an arm did not find the row. What has no session has no turns around it.
-- The arm of words may have been asked before, beside the embedding of the question: `told` is what it
-- found, and an empty question then leaves it out here.
CREATE OR REPLACE FUNCTION find_{table}(
    of_tenant text, query_embedding vector, question text, scope_name text,
    min_confidence double precision, asked_at timestamptz, depth integer, version_id integer DEFAULT NULL,
    deep boolean DEFAULT false, names text[] DEFAULT NULL,
    since timestamptz DEFAULT NULL, until timestamptz DEFAULT NULL, told uuid[] DEFAULT NULL
) RETURNS TABLE (
    id uuid, semantic_rank bigint, similarity double precision,
    keyword_rank bigint, text_rank double precision, matches_all boolean,
    importance double precision, confidence double precision, decay_rate double precision,
    last_confirmed_at timestamptz, last_referenced_at timestamptz, created_at timestamptz,
    maturity text, words integer, session_rank double precision, before uuid[], after uuid[],
    named boolean, happened_at timestamptz
)
LANGUAGE plpgsql STABLE SECURITY DEFINER
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
    pointed_at uuid[];
BEGIN
    IF since IS NOT NULL OR entities IS NOT NULL THEN
        pointed_at := ARRAY(
            SELECT m.id
            FROM {table} m
            WHERE m.tenant_id = tenant
              AND {visible}
              AND (scope_name IS NULL OR {scoped})
              AND {confident}
              AND ({named} OR ({happened_at} >= since AND {happened_at} < until))
            ORDER BY m.embedding <=> query_embedding, m.id
            LIMIT depth
        );
    END IF;
    RETURN QUERY
    WITH nearest AS MATERIALIZED (
        SELECT n.id, n.rank, n.similarity
        FROM nearest_{table}(
            tenant, query_embedding, scope_name, min_confidence, asked_at, depth, version_id) n
    ), worded AS MATERIALIZED (
        SELECT w.id, w.rank, w.text_rank, w.matches_all
        FROM worded_{table}(
            tenant, question, scope_name, min_confidence, asked_at, depth, 25 * depth) w
    ), wanted AS (
        SELECT n.id FROM nearest n
        UNION SELECT w.id FROM worded w
        UNION SELECT p.id FROM unnest(pointed_at || told) p (id)
    )
    SELECT m.id, n.rank, n.similarity, k.rank, k.text_rank, k.matches_all,
           {importance}, {confidence}, {decay_rate}, {last_confirmed_at},
           m.last_referenced_at, m.created_at, {maturity},
           length(m.search_vector), 0::double precision, NULL::uuid[], NULL::uuid[],
           coalesce({named}, false), {happened_at}
    FROM wanted w
    JOIN {table} m
      ON m.tenant_id = tenant AND m.id = w.id
    LEFT JOIN nearest n ON n.id = w.id
    LEFT JOIN worded k ON k.id = w.id
    ORDER BY n.rank NULLS LAST, k.rank, m.id;
END
$$;

REVOKE ALL ON FUNCTION find_{table} FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_{table} TO {runtime};
