-- Counting and ordering the facts of a list without reading their rows, whose vectors make them wide.
-- What it includes changes only when a fact is confirmed or retired, never when it is read.
CREATE INDEX idx_facts_listed ON facts (tenant_id, created_at DESC, id)
    INCLUDE (validity, scope, subject, permanence, source_butler, confidence, decay_rate,
             last_confirmed_at);

-- Those that fade, for their badge: a few of many.
CREATE INDEX idx_facts_fading ON facts (tenant_id, created_at DESC, id) INCLUDE (validity)
    WHERE metadata->>'status' = 'fading';

-- Under row-level security neither a text match nor a look into JSON is an index condition: of the
-- owner, as the searches are, and like them these carry the tenant predicate themselves.
CREATE FUNCTION facts_with_terms(typed text) RETURNS SETOF uuid
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp
SET plan_cache_mode = force_custom_plan
AS $$
    SELECT f.id FROM facts f
    WHERE f.tenant_id = current_setting('butler.tenant_id', true)
      AND f.search_vector @@ prefix_terms(typed)
$$;

CREATE FUNCTION facts_with_tag(tag text) RETURNS SETOF uuid
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp
SET plan_cache_mode = force_custom_plan
AS $$
    SELECT f.id FROM facts f
    WHERE f.tenant_id = current_setting('butler.tenant_id', true) AND f.tags ? tag
$$;
REVOKE ALL ON FUNCTION facts_with_terms, facts_with_tag FROM PUBLIC;
GRANT EXECUTE ON FUNCTION facts_with_terms, facts_with_tag TO {runtime};
