-- The entities that go by one of these names, as written in `names`: one look into two indexes.
CREATE OR REPLACE FUNCTION entities_named(of_tenant text, names text[]) RETURNS uuid[]
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
    tenant CONSTANT text := CASE
        WHEN of_tenant = current_setting('butler.tenant_id', true) THEN of_tenant END;
BEGIN
    RETURN (SELECT array_agg(e.id) FROM (
        SELECT n.id FROM public.entities n
        WHERE n.tenant_id = tenant AND lower(n.canonical_name) = ANY (names)
        UNION
        SELECT n.id FROM public.entities n WHERE n.tenant_id = tenant AND n.aliases && names
    ) e);
END
$$;
REVOKE ALL ON FUNCTION entities_named FROM PUBLIC;
GRANT EXECUTE ON FUNCTION entities_named TO {runtime};
