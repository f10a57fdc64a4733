-- A step is one transaction: what it wrote carries the same id, so that it can be taken back as one.
-- The transaction names the step; rows of before, and of the owner's own hand, have none.
ALTER TABLE memory_events
    ADD COLUMN step uuid DEFAULT nullif(current_setting('butler.step', true), '')::uuid;
ALTER TABLE memory_versions
    ADD COLUMN step uuid DEFAULT nullif(current_setting('butler.step', true), '')::uuid;
ALTER TABLE memory_links
    ADD COLUMN step uuid DEFAULT nullif(current_setting('butler.step', true), '')::uuid;
ALTER TABLE rule_applications
    ADD COLUMN step uuid DEFAULT nullif(current_setting('butler.step', true), '')::uuid;

CREATE INDEX idx_memory_events_step ON memory_events (tenant_id, step) WHERE step IS NOT NULL;
CREATE INDEX idx_memory_versions_step ON memory_versions (tenant_id, step) WHERE step IS NOT NULL;
CREATE INDEX idx_memory_links_step ON memory_links (tenant_id, step) WHERE step IS NOT NULL;
CREATE INDEX idx_rule_applications_step ON rule_applications (tenant_id, step)
    WHERE step IS NOT NULL;

-- What was undone, and by which step: few rows, asked for whenever something is to be undone.
CREATE INDEX idx_memory_events_undone ON memory_events (tenant_id, (payload->>'undone'))
    WHERE event_type = 'change_undone';

-- The runtime role deletes no fact, rule or entity. Undoing takes away what a step made, and nothing
-- else: what is removed is looked up here, in what the step told.
CREATE FUNCTION remove_made(undone uuid) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    DELETE FROM public.memory_links l
    WHERE l.tenant_id = current_setting('butler.tenant_id', true) AND l.step = undone;
    DELETE FROM public.rule_applications a
    WHERE a.tenant_id = current_setting('butler.tenant_id', true) AND a.step = undone;
    DELETE FROM public.facts f
    USING public.memory_events e
    WHERE f.tenant_id = current_setting('butler.tenant_id', true)
      AND e.tenant_id = f.tenant_id AND e.step = undone AND e.event_type = 'fact_created'
      AND f.id = (e.payload->>'memory_id')::uuid;
    DELETE FROM public.rules r
    USING public.memory_events e
    WHERE r.tenant_id = current_setting('butler.tenant_id', true)
      AND e.tenant_id = r.tenant_id AND e.step = undone AND e.event_type = 'rule_created'
      AND r.id = (e.payload->>'memory_id')::uuid;
$$;

-- Entities last, once no fact is about them.
CREATE FUNCTION remove_made_entities(undone uuid) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    DELETE FROM public.entities n
    USING public.memory_events e
    WHERE n.tenant_id = current_setting('butler.tenant_id', true)
      AND e.tenant_id = n.tenant_id AND e.step = undone AND e.event_type = 'entity_created'
      AND n.id = (e.payload->>'entity_id')::uuid;
$$;
REVOKE ALL ON FUNCTION remove_made(uuid), remove_made_entities(uuid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION remove_made(uuid), remove_made_entities(uuid) TO {runtime};

ALTER TABLE consolidation_runs DROP CONSTRAINT consolidation_runs_status_known;
ALTER TABLE consolidation_runs ADD CONSTRAINT consolidation_runs_status_known
    CHECK (status IN ('running', 'succeeded', 'retrying', 'failed', 'abandoned', 'undone'));
