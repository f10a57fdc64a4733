-- One search over {table}: both arms, each `depth` deep, and what scoring needs of every candidate.
-- A NULL embedding or question leaves that arm out. A rank is NULL where an arm did not find the row.
-- With `deep`, also: what a name or a period in the question points at, the two turns of the session
-- on either side of each candidate, and how well the question's words fit each session as a whole.
--
-- * text_rank is ts_rank of each word, times how rare the word is (its inverse document frequency),
--   over the root of how much longer than usual the text is. Rarity is counted in what matched, so
--   there is no table of frequencies to keep, and nothing of another tenant or scope in it.
-- * plan_cache_mode: a cached generic plan of one tenant would serve every other.
-- * ivfflat.probes = lists: whatever plan is chosen, the nearest rows are the true ones.
-- * random_page_cost: a few hundred rows by their keys come from memory, not from a turning disk.
-- * version_id: vectors of two models are never compared; without it any vector counts.
-- * hits is capped: ts_rank reads each matching document, and a common word matches most of a store.
CREATE OR REPLACE FUNCTION memory_history.find_{table}(
    of_tenant text, query_embedding vector, question text, scope_name text,
    min_confidence double precision, asked_at timestamptz, depth integer, version_id integer DEFAULT NULL,
    deep boolean DEFAULT false, names text[] DEFAULT NULL,
    since timestamptz DEFAULT NULL, until timestamptz DEFAULT NULL,
    min_trust smallint DEFAULT NULL, without uuid[] DEFAULT NULL
) RETURNS TABLE (
    id uuid, semantic_rank bigint, similarity double precision,
    keyword_rank bigint, text_rank double precision, matches_all boolean,
    importance double precision, confidence double precision, decay_rate double precision,
    last_confirmed_at timestamptz, last_referenced_at timestamptz, created_at timestamptz,
    maturity text, session_rank double precision, before uuid[], after uuid[]
)
LANGUAGE plpgsql STABLE SECURITY INVOKER
SET search_path = pg_catalog, memory_history, public, pg_temp
SET plan_cache_mode = force_custom_plan
SET ivfflat.probes = 20
SET random_page_cost = 1.1
AS $$
#variable_conflict use_column
DECLARE
    tenant CONSTANT text := CASE
        WHEN of_tenant = current_setting('butler.tenant_id', true) THEN of_tenant END;
    every_term CONSTANT tsquery := every_term(question);
    terms CONSTANT tsquery[] := terms_of(question);
    any_term CONSTANT tsquery := array_to_string(terms, ' | ')::tsquery;
    entities CONSTANT uuid[] := CASE WHEN names IS NOT NULL THEN entities_named(tenant, names) END;
BEGIN
    RETURN QUERY
    WITH nearest AS MATERIALIZED (
        SELECT m.id, m.embedding <=> query_embedding AS distance
        FROM {table} m
        WHERE m.tenant_id = tenant
          AND {visible}
          AND (scope_name IS NULL OR {scoped}) AND {allowed}
          AND {confident}
          AND query_embedding IS NOT NULL AND m.embedding IS NOT NULL
          AND (version_id IS NULL OR m.embedding_version_id = version_id)
        ORDER BY m.embedding <=> query_embedding, m.id
        LIMIT depth
    ), semantic AS (
        SELECT n.id, n.distance, row_number() OVER (ORDER BY n.distance, n.id) AS rank FROM nearest n
    ), {ranked_words}, pointed_at AS MATERIALIZED (
        SELECT m.id
        FROM {table} m
        WHERE (since IS NOT NULL OR entities IS NOT NULL)
          AND m.tenant_id = tenant
          AND {visible}
          AND (scope_name IS NULL OR {scoped}) AND {allowed}
          AND {confident}
          AND ({named} OR ({happened_at} >= since AND {happened_at} < until))
        ORDER BY m.embedding <=> query_embedding, m.id
        LIMIT depth
    ), found AS (
        -- Only what stands out from its arm's candidates has something to hand on to its neighbours:
        -- the same mean as in domain/deep.py.
        SELECT f.id, bool_or(f.stands_out) AS stands_out
        FROM (
            SELECT n.id, n.distance < (SELECT avg(a.distance) FROM nearest a) AS stands_out
            FROM nearest n
            UNION ALL
            SELECT s.id, s.text_rank > (
                SELECT sum(a.text_rank) / greatest(count(*), (SELECT count(*) FROM nearest))
                FROM scored a)
            FROM scored s
            UNION ALL
            SELECT p.id, false FROM pointed_at p
        ) f
        GROUP BY f.id
    ), {surroundings}
    SELECT m.id, s.rank, 1 - s.distance, k.rank, k.text_rank, k.matches_all,
           {importance}, {confidence}, {decay_rate}, {last_confirmed_at},
           m.last_referenced_at, m.created_at, {maturity},
           coalesce(t.rank, 0), around.before, around.after
    FROM wanted w
    JOIN {table} m
      ON m.tenant_id = tenant AND m.id = w.id
    LEFT JOIN semantic s ON s.id = w.id
    LEFT JOIN keyword k ON k.id = w.id
    LEFT JOIN seeds around ON around.id = w.id
    LEFT JOIN talks t ON t.session = {session}
    ORDER BY s.rank NULLS LAST, k.rank, m.id;
END
$$;

REVOKE ALL ON FUNCTION memory_history.find_{table} FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memory_history.find_{table} TO {runtime};
