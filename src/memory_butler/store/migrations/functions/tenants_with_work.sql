-- Which tenants a background job has to visit, in the order of their names beyond `beyond`, up to `most`;
-- jobs then work tenant by tenant. By shard, a machine of Citus that is away takes only its own with it.
CREATE OR REPLACE FUNCTION tenants_with_work(
    kind text, asked_at timestamptz, beyond text DEFAULT '', most integer DEFAULT NULL,
    by_shard boolean DEFAULT false
) RETURNS SETOF text
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    -- Rows of which table are work.
    work CONSTANT jsonb := CASE kind
        WHEN 'consolidation' THEN jsonb_build_object('episodes', format(
            'consolidation_status = ''pending'' AND (next_consolidation_retry_at IS NULL'
            ' OR next_consolidation_retry_at <= %L)', asked_at))
        WHEN 'episodes' THEN jsonb_build_object('episodes', 'true')
        WHEN 'cleanup' THEN jsonb_build_object('episodes', 'true', 'served', 'true',
            'context_receipts', 'true', 'items', 'expires_at IS NOT NULL', 'masked_texts', 'true')
        WHEN 'decay' THEN jsonb_build_object('facts', 'validity = ''active''', 'rules', 'true')
    END;
    asked CONSTANT text := 'SELECT DISTINCT tenant_id FROM %s WHERE tenant_id > %L AND %s ORDER BY 1 LIMIT %L';
BEGIN
    IF work IS NULL THEN
        RAISE EXCEPTION 'unknown kind of work: %', kind;
    ELSIF by_shard AND current_setting('citus.version', true) IS NOT NULL THEN
        RETURN QUERY SELECT DISTINCT found.tenant FROM jsonb_each_text(work) w (of_table, condition)
            CROSS JOIN LATERAL run_command_on_shards(of_table::regclass, format(
                'SELECT coalesce(jsonb_agg(tenant_id), ''[]'') FROM (' || asked || ') waiting',
                '%s', beyond, condition, most)) s
            CROSS JOIN LATERAL jsonb_array_elements_text(
                CASE WHEN s.success THEN s.result::jsonb ELSE '[]' END) found (tenant)
            ORDER BY 1 LIMIT most;
    ELSE
        RETURN QUERY EXECUTE format('SELECT * FROM (%s) waiting ORDER BY 1 LIMIT %L', (
            SELECT string_agg('(' || format(asked, 'public.' || of_table, beyond, condition, most) || ')', ' UNION ')
            FROM jsonb_each_text(work) w (of_table, condition)
        ), most);
    END IF;
END
$$;
REVOKE ALL ON FUNCTION tenants_with_work FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tenants_with_work TO {runtime};
