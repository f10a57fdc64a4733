-- One policy a role: under one shared policy the owner's functions would lose their indexes too.

CREATE POLICY episodes_of_tenant ON episodes TO {runtime}
    USING (tenant_id = current_setting('butler.tenant_id', true))
    WITH CHECK (tenant_id = current_setting('butler.tenant_id', true));
CREATE POLICY episodes_of_owner ON episodes TO {owner} USING (true) WITH CHECK (true);

CREATE POLICY facts_of_tenant ON facts TO {runtime}
    USING (tenant_id = current_setting('butler.tenant_id', true))
    WITH CHECK (tenant_id = current_setting('butler.tenant_id', true));
CREATE POLICY facts_of_owner ON facts TO {owner} USING (true) WITH CHECK (true);

CREATE POLICY rules_of_tenant ON rules TO {runtime}
    USING (tenant_id = current_setting('butler.tenant_id', true))
    WITH CHECK (tenant_id = current_setting('butler.tenant_id', true));
CREATE POLICY rules_of_owner ON rules TO {owner} USING (true) WITH CHECK (true);

CREATE POLICY memory_links_of_tenant ON memory_links TO {runtime}
    USING (tenant_id = current_setting('butler.tenant_id', true))
    WITH CHECK (tenant_id = current_setting('butler.tenant_id', true));
CREATE POLICY memory_links_of_owner ON memory_links TO {owner} USING (true) WITH CHECK (true);

CREATE POLICY entities_of_tenant ON entities TO {runtime}
    USING (tenant_id = current_setting('butler.tenant_id', true))
    WITH CHECK (tenant_id = current_setting('butler.tenant_id', true));
CREATE POLICY entities_of_owner ON entities TO {owner} USING (true) WITH CHECK (true);

CREATE POLICY memory_events_of_tenant ON memory_events TO {runtime}
    USING (tenant_id = current_setting('butler.tenant_id', true))
    WITH CHECK (tenant_id = current_setting('butler.tenant_id', true));
CREATE POLICY memory_events_of_owner ON memory_events TO {owner} USING (true) WITH CHECK (true);

CREATE POLICY rule_applications_of_tenant ON rule_applications TO {runtime}
    USING (tenant_id = current_setting('butler.tenant_id', true))
    WITH CHECK (tenant_id = current_setting('butler.tenant_id', true));
CREATE POLICY rule_applications_of_owner ON rule_applications TO {owner} USING (true) WITH CHECK (true);

CREATE POLICY memory_versions_of_tenant ON memory_versions TO {runtime}
    USING (tenant_id = current_setting('butler.tenant_id', true))
    WITH CHECK (tenant_id = current_setting('butler.tenant_id', true));
CREATE POLICY memory_versions_of_owner ON memory_versions TO {owner} USING (true) WITH CHECK (true);

CREATE POLICY served_of_tenant ON served TO {runtime}
    USING (tenant_id = current_setting('butler.tenant_id', true))
    WITH CHECK (tenant_id = current_setting('butler.tenant_id', true));
CREATE POLICY served_of_owner ON served TO {owner} USING (true) WITH CHECK (true);

-- Only what the server does. Nothing deletes a fact, a rule or an entity; nobody changes an event.
GRANT USAGE ON SCHEMA public TO {runtime};
GRANT SELECT ON alembic_version TO {runtime};
GRANT SELECT, INSERT, UPDATE, DELETE ON episodes TO {runtime};
GRANT SELECT, INSERT, UPDATE ON facts, rules, entities TO {runtime};
GRANT SELECT, INSERT ON memory_links, memory_events, rule_applications, memory_versions TO {runtime};
GRANT SELECT, INSERT, DELETE ON served TO {runtime};
GRANT SELECT, INSERT, UPDATE ON embedding_versions TO {runtime};

-- Tokens. The caller hashes; a token itself never reaches the database.
CREATE FUNCTION authenticate(presented_hash bytea, asked_at timestamptz)
RETURNS TABLE (token_id uuid, tenant_id text, token_name text, token_scopes text[])
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT t.id, t.tenant_id, t.name, t.scopes
    FROM public.tokens t
    WHERE t.token_hash = presented_hash
      AND t.revoked_at IS NULL
      AND (t.expires_at IS NULL OR t.expires_at > asked_at)
$$;

CREATE FUNCTION token_create(
    for_tenant text, named text, hashed bytea, allowed text[], made_at timestamptz, ends_at timestamptz
) RETURNS uuid
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    INSERT INTO public.tenants (id, created_at) VALUES (for_tenant, made_at) ON CONFLICT DO NOTHING;
    INSERT INTO public.tokens (tenant_id, name, token_hash, scopes, created_at, expires_at)
    VALUES (for_tenant, named, hashed, allowed, made_at, ends_at)
    RETURNING id
$$;

CREATE FUNCTION token_list(of_tenant text)
RETURNS TABLE (
    id uuid, tenant_id text, name text, scopes text[], created_at timestamptz,
    expires_at timestamptz, last_used_at timestamptz, revoked_at timestamptz
)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT t.id, t.tenant_id, t.name, t.scopes, t.created_at, t.expires_at, t.last_used_at, t.revoked_at
    FROM public.tokens t
    WHERE of_tenant IS NULL OR t.tenant_id = of_tenant
    ORDER BY t.created_at, t.id
$$;

CREATE FUNCTION token_revoke(token uuid, revoked timestamptz) RETURNS boolean
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    WITH ended AS (
        UPDATE public.tokens SET revoked_at = revoked
        WHERE id = token AND revoked_at IS NULL RETURNING 1
    )
    SELECT EXISTS (SELECT 1 FROM ended)
$$;

-- At most one write a minute a token, so that every request does not wait for one row.
CREATE FUNCTION token_used(token uuid, used_at timestamptz) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    UPDATE public.tokens SET last_used_at = used_at
    WHERE id = token AND (last_used_at IS NULL OR last_used_at < used_at - interval '1 minute')
$$;

-- Which tenants a background job has to visit; jobs then work tenant by tenant.
CREATE FUNCTION tenants_with_work(kind text, asked_at timestamptz) RETURNS SETOF text
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    CASE kind
        WHEN 'consolidation' THEN
            RETURN QUERY SELECT DISTINCT e.tenant_id FROM public.episodes e
                WHERE e.consolidation_status = 'pending'
                  AND (e.next_consolidation_retry_at IS NULL
                       OR e.next_consolidation_retry_at <= asked_at)
                ORDER BY 1;
        WHEN 'cleanup' THEN
            RETURN QUERY SELECT DISTINCT e.tenant_id FROM public.episodes e ORDER BY 1;
        WHEN 'decay' THEN
            RETURN QUERY
                SELECT f.tenant_id FROM public.facts f WHERE f.validity = 'active'
                UNION SELECT r.tenant_id FROM public.rules r
                ORDER BY 1;
        ELSE RAISE EXCEPTION 'unknown kind of work: %', kind;
    END CASE;
END
$$;

REVOKE ALL ON FUNCTION
    authenticate(bytea, timestamptz),
    token_create(text, text, bytea, text[], timestamptz, timestamptz),
    token_list(text), token_revoke(uuid, timestamptz), token_used(uuid, timestamptz),
    tenants_with_work(text, timestamptz)
FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
    authenticate(bytea, timestamptz),
    token_create(text, text, bytea, text[], timestamptz, timestamptz),
    token_list(text), token_revoke(uuid, timestamptz), token_used(uuid, timestamptz),
    tenants_with_work(text, timestamptz)
TO {runtime};
