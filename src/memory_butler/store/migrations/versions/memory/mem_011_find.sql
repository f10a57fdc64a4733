-- The different words of a question, each as a query of its own. Beyond 64 of them the longest count:
-- longer words are rarer (Zipf), and tsvector sorts by length. In a tsquery a quote or backslash within
-- the quotes is doubled.
CREATE FUNCTION terms_of(question text) RETURNS tsquery[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT array_agg(
        ('''' || replace(replace(word, '\', '\\'), '''', '''''') || '''')::tsquery
    )
    FROM (
        SELECT word FROM unnest(tsvector_to_array(to_tsvector('english', left(question, 20000))))
            WITH ORDINALITY AS w (word, place)
        ORDER BY place DESC LIMIT 64
    ) longest
$$;

-- The entities that go by one of these names, as written in `names`: one look into two indexes.
CREATE FUNCTION entities_named(names text[]) RETURNS uuid[]
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp
SET plan_cache_mode = force_custom_plan
AS $$
    SELECT array_agg(e.id) FROM (
        SELECT id FROM public.entities
        WHERE tenant_id = current_setting('butler.tenant_id', true)
          AND lower(canonical_name) = ANY (names)
        UNION
        SELECT id FROM public.entities
        WHERE tenant_id = current_setting('butler.tenant_id', true) AND aliases && names
    ) e
$$;
REVOKE ALL ON FUNCTION entities_named(text[]) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION terms_of, entities_named TO {runtime};

-- The turns of a session in their order, for the neighbours of a turn.
CREATE INDEX idx_episodes_order
    ON episodes (tenant_id, session_id, coalesce(turn, 0), occurred_at, created_at, id)
    WHERE session_id IS NOT NULL;
