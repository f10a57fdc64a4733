-- What was true at this moment; NULL: whatever held when it was known.
CREATE OR REPLACE FUNCTION memory_history.as_of() RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT nullif(current_setting('butler.as_of', true), '')::timestamptz
$$;
