-- The orders of the list of facts for which every fact was looked at.
CREATE INDEX idx_facts_confirmed ON facts (tenant_id, last_confirmed_at DESC NULLS LAST, id)
    INCLUDE (validity);

-- Of facts with one decay rate the surer one is the same at any moment: this is the logarithm of
-- confidence * exp(-rate * days), without the moment, which all of them share. What has no logarithm
-- comes last.
CREATE FUNCTION lasting(
    confidence double precision, decay_rate double precision, last_confirmed_at timestamptz
) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE
        WHEN confidence <= 0 OR decay_rate <> 0 AND last_confirmed_at IS NULL THEN '-infinity'
        WHEN decay_rate = 0 THEN ln(confidence)
        ELSE ln(confidence) + least(decay_rate, 1e290)
            * (date_part('epoch', last_confirmed_at - '2000-01-01Z'::timestamptz) / 86400.0)
    END
$$;
GRANT EXECUTE ON FUNCTION lasting TO {runtime};

CREATE INDEX idx_facts_lasting
    ON facts (tenant_id, decay_rate, lasting(confidence, decay_rate, last_confirmed_at) DESC, id)
    INCLUDE (validity);

-- A bump changes the count, and must stay on its page (HOT). An index of blocks lets it: all it holds
-- is the least and the most of each page, and it is widened in place.
CREATE INDEX idx_facts_references ON facts USING brin (reference_count)
    WITH (pages_per_range = 1, autosummarize = on);

-- The planner takes an index of blocks for useless where neighbours differ, and would read everything,
-- by another index if need be: so no column of another, nor of another's predicate, is asked for as it
-- stands.
CREATE FUNCTION facts_referenced(at_least integer, validities text[], most integer)
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

-- As in mem_014, and of some validities alone: their rows are read here anyway, and then need not be
-- read again to be counted.
DROP FUNCTION facts_with_terms(text), facts_with_tag(text);
CREATE FUNCTION facts_with_terms(typed text, validities text[] DEFAULT NULL) RETURNS SETOF uuid
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp
SET plan_cache_mode = force_custom_plan
AS $$
    SELECT f.id FROM facts f
    WHERE f.tenant_id = current_setting('butler.tenant_id', true)
      AND f.search_vector @@ prefix_terms(typed)
      AND (validities IS NULL OR f.validity = ANY(validities))
$$;

CREATE FUNCTION facts_with_tag(tag text, validities text[] DEFAULT NULL) RETURNS SETOF uuid
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp
SET plan_cache_mode = force_custom_plan
AS $$
    SELECT f.id FROM facts f
    WHERE f.tenant_id = current_setting('butler.tenant_id', true) AND f.tags ? tag
      AND (validities IS NULL OR f.validity = ANY(validities))
$$;
REVOKE ALL ON FUNCTION facts_referenced, facts_with_terms, facts_with_tag FROM PUBLIC;
GRANT EXECUTE ON FUNCTION facts_referenced, facts_with_terms, facts_with_tag TO {runtime};
