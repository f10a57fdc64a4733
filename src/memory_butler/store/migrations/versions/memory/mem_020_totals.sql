-- Totals of the lists of facts: what most of them are limited by, each value stored once for all its
-- rows, so that the index is a thirtieth of the one that orders them. Nothing of it changes by reading.
CREATE INDEX idx_facts_counted ON facts (tenant_id, validity, scope, source_butler, permanence);

CREATE INDEX idx_facts_importance ON facts (tenant_id, importance DESC, id);

-- As for facts (mem_014): under row-level security a text match is no index condition.
CREATE FUNCTION rules_with_terms(typed text) RETURNS SETOF uuid
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp
SET plan_cache_mode = force_custom_plan
AS $$
    SELECT r.id FROM rules r
    WHERE r.tenant_id = current_setting('butler.tenant_id', true)
      AND r.search_vector @@ prefix_terms(typed)
$$;

CREATE FUNCTION episodes_with_terms(typed text) RETURNS SETOF uuid
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp
SET plan_cache_mode = force_custom_plan
AS $$
    SELECT e.id FROM episodes e
    WHERE e.tenant_id = current_setting('butler.tenant_id', true)
      AND e.search_vector @@ prefix_terms(typed)
$$;
REVOKE ALL ON FUNCTION rules_with_terms, episodes_with_terms FROM PUBLIC;
GRANT EXECUTE ON FUNCTION rules_with_terms, episodes_with_terms TO {runtime};
