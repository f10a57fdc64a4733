-- Memory as it stood at another moment. A reading transaction that puts memory_history before public
-- on its search path, and says which moment it means in butler.known_at and butler.as_of, finds here
-- views by the names of the tables: every query then reads the past, without a word of it changed.
-- The views have the rights of who asks, so row-level security holds as it does for the tables.

-- What was known at this moment; unset is an error, never the present.
CREATE FUNCTION memory_history.known_at() RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE AS $$ SELECT current_setting('butler.known_at')::timestamptz $$;

-- What was true at this moment; NULL: whatever held when it was known.
CREATE FUNCTION memory_history.as_of() RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT nullif(current_setting('butler.as_of', true), '')::timestamptz
$$;

-- The names of then, for the searches.
CREATE FUNCTION memory_history.entities_named(names text[]) RETURNS uuid[]
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (
        SELECT array_agg(e.id) FROM memory_history.entities e
        WHERE e.tenant_id = current_setting('butler.tenant_id', true)
          AND (lower(e.canonical_name) = ANY (names) OR e.aliases && names)
    );
END
$$;

GRANT USAGE ON SCHEMA memory_history TO {runtime};
