-- The names of then, for the searches.
CREATE OR REPLACE FUNCTION memory_history.entities_named(names text[]) RETURNS uuid[]
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (
        SELECT array_agg(e.id) FROM memory_history.entities e
        WHERE e.tenant_id = current_setting('butler.tenant_id', true)
          AND (lower(e.canonical_name) = ANY (names) OR e.aliases && names)
    );
END
$$;
