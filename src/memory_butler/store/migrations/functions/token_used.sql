-- At most one write a minute a token, so that every request does not wait for one row.
CREATE OR REPLACE FUNCTION token_used(token uuid, used_at timestamptz) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    UPDATE public.tokens SET last_used_at = used_at
    WHERE id = token AND (last_used_at IS NULL OR last_used_at < used_at - interval '1 minute')
$$;
REVOKE ALL ON FUNCTION token_used FROM PUBLIC;
GRANT EXECUTE ON FUNCTION token_used TO {runtime};
