-- The entities that go by one of these names, as written in `names`: one look into two indexes.
CREATE OR REPLACE FUNCTION entities_named(names text[]) RETURNS uuid[]
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
REVOKE ALL ON FUNCTION entities_named FROM PUBLIC;
GRANT EXECUTE ON FUNCTION entities_named TO {runtime};
