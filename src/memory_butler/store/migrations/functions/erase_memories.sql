-- Of the owner: the runtime role deletes no memory, and changes no event. How many rows of which
-- table; events keep their type and moment and lose what they say.
CREATE OR REPLACE FUNCTION erase_memories(
    of_tenant text, erasure uuid, episode_ids uuid[], fact_ids uuid[], rule_ids uuid[], entity_ids uuid[]
) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    tenant CONSTANT text := CASE
        WHEN of_tenant = current_setting('butler.tenant_id', true) THEN of_tenant END;
    ids CONSTANT uuid[] := episode_ids || fact_ids || rule_ids || entity_ids;
    named CONSTANT text[] := ids::text[];
    counts jsonb := '{}';
    listing text;
    n bigint;
BEGIN
    DELETE FROM public.memory_links
    WHERE tenant_id = tenant AND (source_id = ANY (ids) OR target_id = ANY (ids));
    GET DIAGNOSTICS n = ROW_COUNT;
    counts := counts || jsonb_build_object('memory_links', n);
    DELETE FROM public.rule_applications WHERE tenant_id = tenant AND rule_id = ANY (rule_ids);
    GET DIAGNOSTICS n = ROW_COUNT;
    counts := counts || jsonb_build_object('rule_applications', n);
    DELETE FROM public.memory_versions WHERE tenant_id = tenant AND id = ANY (ids);
    GET DIAGNOSTICS n = ROW_COUNT;
    counts := counts || jsonb_build_object('memory_versions', n);

    -- Past states of what stays may name what goes.
    UPDATE public.memory_versions v
    SET state = v.state || (
        SELECT jsonb_object_agg(r.key, NULL) FROM jsonb_each_text(v.state) r
        WHERE r.key IN ('source_episode_id', 'supersedes_id', 'entity_id') AND r.value = ANY (named))
    WHERE v.tenant_id = tenant AND (
        v.state->>'source_episode_id' IN (SELECT unnest(named))
        OR v.state->>'supersedes_id' IN (SELECT unnest(named))
        OR v.state->>'entity_id' IN (SELECT unnest(named)));

    -- Whatever lists what it was made of: what was served, and the receipts of contexts; but no part of
    -- a table, as a machine of Citus lists them, under its name and a number.
    FOR listing IN
        SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND a.attname = 'item_ids'
          AND c.relname !~ '_[0-9]+$'
        ORDER BY 1
    LOOP
        EXECUTE format('DELETE FROM public.%I WHERE tenant_id = $1 AND item_ids && $2', listing)
            USING tenant, ids;
        GET DIAGNOSTICS n = ROW_COUNT;
        counts := counts || jsonb_build_object(listing, n);
    END LOOP;

    -- What went wrong in a run may be told in the words of an episode.
    UPDATE public.consolidation_runs r SET shown = '{}', errors = '[]'
    WHERE r.tenant_id = tenant AND r.id::text IN (
        SELECT e.payload->>'run_id' FROM public.memory_events e
        WHERE e.tenant_id = tenant AND e.payload->>'memory_id' IN (SELECT unnest(named)))
       OR r.tenant_id = tenant AND EXISTS (
        SELECT FROM jsonb_each_text(r.shown) s WHERE s.value IN (SELECT unnest(named)));
    GET DIAGNOSTICS n = ROW_COUNT;
    counts := counts || jsonb_build_object('consolidation_runs', n);
    UPDATE public.memory_events e SET payload = jsonb_build_object('erased', erasure)
    WHERE e.tenant_id = tenant AND EXISTS (
        SELECT FROM jsonb_path_query(e.payload, 'strict $.**') v
        WHERE jsonb_typeof(v) = 'string' AND v #>> '{}' IN (SELECT unnest(named)));
    GET DIAGNOSTICS n = ROW_COUNT;
    counts := counts || jsonb_build_object('memory_events', n);
    -- Without its salt what an event said cannot be guessed from its seal.
    UPDATE public.event_seals s SET salt = NULL FROM public.memory_events e
    WHERE s.tenant_id = tenant AND e.tenant_id = tenant AND e.id = s.event_id
      AND e.payload = jsonb_build_object('erased', erasure);
    GET DIAGNOSTICS n = ROW_COUNT;
    counts := counts || jsonb_build_object('event_seals', n);

    DELETE FROM public.facts WHERE tenant_id = tenant AND id = ANY (fact_ids);
    GET DIAGNOSTICS n = ROW_COUNT;
    counts := counts || jsonb_build_object('facts', n);
    DELETE FROM public.rules WHERE tenant_id = tenant AND id = ANY (rule_ids);
    GET DIAGNOSTICS n = ROW_COUNT;
    counts := counts || jsonb_build_object('rules', n);
    DELETE FROM public.entities WHERE tenant_id = tenant AND id = ANY (entity_ids);
    GET DIAGNOSTICS n = ROW_COUNT;
    counts := counts || jsonb_build_object('entities', n);
    DELETE FROM public.episodes WHERE tenant_id = tenant AND id = ANY (episode_ids);
    GET DIAGNOSTICS n = ROW_COUNT;
    RETURN counts || jsonb_build_object('episodes', n);
END
$$;
REVOKE ALL ON FUNCTION erase_memories FROM PUBLIC;
GRANT EXECUTE ON FUNCTION erase_memories TO {runtime};
