-- What an import stored and nobody has embedded yet: found by its words, and by meaning from then on.
-- Each index is as small as what waits.
CREATE INDEX idx_episodes_unembedded ON episodes (tenant_id, id) WHERE embedding IS NULL;
CREATE INDEX idx_facts_unembedded ON facts (tenant_id, id) WHERE embedding IS NULL;
CREATE INDEX idx_rules_unembedded ON rules (tenant_id, id) WHERE embedding IS NULL;

-- Of the owner, because it looks across tenants; it tells their names and counts, nothing of theirs.
CREATE FUNCTION tenants_to_embed()
RETURNS TABLE (tenant_id text, memories bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT waiting.tenant_id, count(*) FROM (
        SELECT e.tenant_id FROM public.episodes e WHERE e.embedding IS NULL
        UNION ALL
        SELECT f.tenant_id FROM public.facts f WHERE f.embedding IS NULL
        UNION ALL
        SELECT r.tenant_id FROM public.rules r WHERE r.embedding IS NULL
    ) waiting
    GROUP BY waiting.tenant_id ORDER BY waiting.tenant_id
$$;
REVOKE ALL ON FUNCTION tenants_to_embed() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tenants_to_embed() TO {runtime};
