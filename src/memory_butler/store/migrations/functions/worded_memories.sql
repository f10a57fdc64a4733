-- The arm of words over the tables of all types that are asked for: one call, which Citus can send on whole.
CREATE OR REPLACE FUNCTION worded_memories(
    of_tenant text, types text[], question text, scope_name text,
    min_confidence double precision, asked_at timestamptz, depth integer, most integer,
    enough integer DEFAULT NULL, min_trust smallint DEFAULT NULL, without uuid[] DEFAULT NULL
) RETURNS TABLE (
    memory_type text, id uuid, rank bigint, text_rank double precision, matches_all boolean,
    importance double precision, confidence double precision, decay_rate double precision,
    last_confirmed_at timestamptz, last_referenced_at timestamptz, created_at timestamptz,
    maturity text
)
LANGUAGE plpgsql STABLE ROWS 60 AS $$
#variable_conflict use_column
BEGIN
    IF 'episode' = ANY (types) THEN
        RETURN QUERY SELECT 'episode'::text, a.* FROM worded_episodes(
            of_tenant, question, scope_name, min_confidence, asked_at, depth, most, enough,
            min_trust, without) a;
    END IF;
    IF 'fact' = ANY (types) THEN
        RETURN QUERY SELECT 'fact'::text, a.* FROM worded_facts(
            of_tenant, question, scope_name, min_confidence, asked_at, depth, most, enough,
            min_trust, without) a;
    END IF;
    IF 'rule' = ANY (types) THEN
        RETURN QUERY SELECT 'rule'::text, a.* FROM worded_rules(
            of_tenant, question, scope_name, min_confidence, asked_at, depth, most, enough,
            min_trust, without) a;
    END IF;
END
$$;
GRANT EXECUTE ON FUNCTION worded_memories TO {runtime};
