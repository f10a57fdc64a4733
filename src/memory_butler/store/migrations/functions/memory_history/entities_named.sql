-- The names of then, for the searches.
CREATE OR REPLACE FUNCTION memory_history.entities_named(of_tenant text, names text[]) RETURNS uuid[]
LANGUAGE plpgsql STABLE AS $$
DECLARE
    tenant CONSTANT text := CASE
        WHEN of_tenant = current_setting('butler.tenant_id', true) THEN of_tenant END;
BEGIN
    RETURN (
        SELECT array_agg(e.id) FROM memory_history.entities e
        WHERE e.tenant_id = tenant
          AND (lower(e.canonical_name) = ANY (names) OR e.aliases && names)
    );
END
$$;
