-- "User", "user" and " user " are one subject. In columns of their own: under row-level security an index
-- serves a comparison of columns, not of what a function makes of them.
CREATE OR REPLACE FUNCTION key_of(text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
AS $$ SELECT lower(btrim(regexp_replace($1, '\s+', ' ', 'g'))) $$;
GRANT EXECUTE ON FUNCTION key_of TO {runtime};
