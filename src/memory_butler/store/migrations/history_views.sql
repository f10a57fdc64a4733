-- The views of memory_history over what changes, made anew from the columns that the tables have.
--
-- What has not changed since the moment is its own row; the state of what has is in the first version
-- that ended after it. `embedding` and `search_vector` are in the state of a version only where a text
-- was about to change, and hold for every version before it; otherwise they are those of the row, and
-- so is the model that made them. When something was referenced last is not kept: where that lies
-- later, all that is known is that it was there. What a period says was true at butler.as_of is active
-- there, whatever took its place since; what was taken back or corrected, or has faded, is not.
DO $$
DECLARE
    noun record;
    named text;
    of_state text;
    shown text;
    of_row text;
BEGIN
    FOR noun IN SELECT * FROM (VALUES
        ('episodes', 'episode', 'r.occurred_at <= memory_history.as_of()'),
        ('facts', 'fact', $q$r.validity NOT IN ('retracted', 'expired', 'waiting') AND r.valid_from <= memory_history.as_of()
            AND (r.valid_until > memory_history.as_of()
                 OR r.valid_until IS NULL AND r.validity = 'active')$q$),
        ('rules', 'rule', 'true'),
        ('entities', 'entity', 'true')
    ) AS nouns (name, kind, true_then) LOOP
        SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum),
               string_agg(CASE WHEN attname IN ('tenant_id', 'id') THEN 't.' ELSE 'm.' END
                          || quote_ident(attname), ', ' ORDER BY attnum),
               string_agg(CASE
                   WHEN attname = 'last_referenced_at' THEN
                       'CASE WHEN r.last_referenced_at <= memory_history.known_at()'
                       ' THEN r.last_referenced_at ELSE r.created_at END'
                   WHEN attname = 'validity' THEN
                       'CASE WHEN memory_history.as_of() IS NULL THEN r.validity ELSE ''active'' END'
                   -- A name changes, and its key is in no version.
                   WHEN attname = 'name_key' THEN 'key_of(r.canonical_name)'
                   WHEN attname = 'alias_keys' THEN 'keys_of(r.aliases)'
                   ELSE 'r.' || quote_ident(attname)
               END || ' AS ' || quote_ident(attname), ', ' ORDER BY attnum),
               -- `t` itself has no type on a machine of Citus, where a part of the table stands for it.
               string_agg('t.' || quote_ident(attname), ', ' ORDER BY attnum)
        INTO named, of_state, shown, of_row
        FROM pg_attribute
        WHERE attrelid = format('public.%I', noun.name)::regclass AND attnum > 0 AND NOT attisdropped;

        EXECUTE format($view$
            DROP VIEW IF EXISTS memory_history.%1$I;
            CREATE VIEW memory_history.%1$I WITH (security_invoker = true) AS
            SELECT %4$s FROM (
                SELECT %2$s FROM public.%1$I t
                WHERE t.created_at <= memory_history.known_at() AND NOT EXISTS (
                    SELECT FROM public.memory_versions v
                    WHERE v.tenant_id = t.tenant_id AND v.kind = %5$L AND v.id = t.id
                      AND v.known_until > memory_history.known_at())
                UNION ALL
                SELECT %3$s
                FROM (
                    SELECT DISTINCT ON (v.tenant_id, v.id) v.tenant_id, v.id, v.state
                    FROM public.memory_versions v
                    WHERE v.kind = %5$L AND v.known_until > memory_history.known_at()
                    ORDER BY v.tenant_id, v.id, v.known_until
                ) v
                JOIN public.%1$I t ON t.tenant_id = v.tenant_id AND t.id = v.id
                LEFT JOIN (
                    SELECT DISTINCT ON (s.tenant_id, s.id) s.tenant_id, s.id, jsonb_build_object(
                        'embedding', s.state->'embedding',
                        'search_vector', s.state->'search_vector',
                        'embedding_version_id', s.state->'embedding_version_id') AS found
                    FROM public.memory_versions s
                    WHERE %5$L = 'rule' AND s.kind = 'rule'
                      AND s.known_until > memory_history.known_at() AND s.state ? 'embedding'
                    ORDER BY s.tenant_id, s.id, s.known_until
                ) text ON text.tenant_id = t.tenant_id AND text.id = t.id
                CROSS JOIN LATERAL jsonb_populate_record(
                    ROW(%7$s)::public.%1$I, (v.state - 'embedding_version_id') || coalesce(text.found, '{}')) m
                WHERE t.created_at <= memory_history.known_at()
            ) r
            WHERE memory_history.as_of() IS NULL OR (%6$s)
        $view$, noun.name, named, of_state, shown, noun.kind, noun.true_then, of_row);
    END LOOP;

    -- What is only ever added to.
    FOR noun IN SELECT * FROM unnest(ARRAY['memory_links', 'rule_applications', 'memory_events']) n (name)
    LOOP
        EXECUTE format($view$
            DROP VIEW IF EXISTS memory_history.%1$I;
            CREATE VIEW memory_history.%1$I WITH (security_invoker = true) AS
            SELECT * FROM public.%1$I WHERE created_at <= memory_history.known_at()
        $view$, noun.name);
    END LOOP;
END $$;
GRANT SELECT ON ALL TABLES IN SCHEMA memory_history TO {runtime};
