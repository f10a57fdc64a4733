-- The keys of an entity's aliases, NULL where it has none, so that an index holds those alone that have
-- one. Qualified, because a dump is loaded, and the column computed, with no search path.
CREATE OR REPLACE FUNCTION keys_of(text[]) RETURNS text[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
AS $$ SELECT array_agg(public.key_of(a)) FROM unnest($1) a $$;
GRANT EXECUTE ON FUNCTION keys_of TO {runtime};
