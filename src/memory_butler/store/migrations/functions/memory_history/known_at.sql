-- What was known at this moment; unset is an error, never the present.
CREATE OR REPLACE FUNCTION memory_history.known_at() RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE AS $$ SELECT current_setting('butler.known_at')::timestamptz $$;
