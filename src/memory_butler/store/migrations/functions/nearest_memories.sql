-- The arm of meaning over the tables of all types that are asked for: one call, which Citus can send on
-- whole. With names or a period, also the facts that these point at, which have no rank.
CREATE OR REPLACE FUNCTION nearest_memories(
    of_tenant text, types text[], query_embedding vector, scope_name text,
    min_confidence double precision, asked_at timestamptz, depth integer, version_id integer,
    names text[] DEFAULT NULL, since timestamptz DEFAULT NULL, until timestamptz DEFAULT NULL,
    min_trust smallint DEFAULT NULL, without uuid[] DEFAULT NULL
) RETURNS TABLE (
    memory_type text, id uuid, rank bigint, similarity double precision,
    importance double precision, confidence double precision, decay_rate double precision,
    last_confirmed_at timestamptz, last_referenced_at timestamptz, created_at timestamptz,
    maturity text
)
LANGUAGE plpgsql STABLE ROWS 60 AS $$
#variable_conflict use_column
BEGIN
    IF 'episode' = ANY (types) THEN
        RETURN QUERY SELECT 'episode'::text, a.* FROM nearest_episodes(
            of_tenant, query_embedding, scope_name, min_confidence, asked_at, depth, version_id,
            min_trust, without) a;
    END IF;
    IF 'fact' = ANY (types) THEN
        RETURN QUERY SELECT 'fact'::text, a.* FROM nearest_facts(
            of_tenant, query_embedding, scope_name, min_confidence, asked_at, depth, version_id,
            min_trust, without) a;
    END IF;
    IF 'fact' = ANY (types) AND (names IS NOT NULL OR since IS NOT NULL) THEN
        RETURN QUERY SELECT 'fact'::text, a.* FROM pointed_facts(
            of_tenant, query_embedding, scope_name, min_confidence, asked_at, depth,
            names, since, until, min_trust, without) a;
    END IF;
    IF 'rule' = ANY (types) THEN
        RETURN QUERY SELECT 'rule'::text, a.* FROM nearest_rules(
            of_tenant, query_embedding, scope_name, min_confidence, asked_at, depth, version_id,
            min_trust, without) a;
    END IF;
END
$$;
GRANT EXECUTE ON FUNCTION nearest_memories TO {runtime};
