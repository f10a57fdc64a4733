-- Tells PgQueuer's workers that the queue has changed; in a trigger by statement, which cannot see
-- whether an update changed a row and so says nothing of it.
CREATE OR REPLACE FUNCTION pgqueuer.fn_pgqueuer_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'UPDATE' THEN
        PERFORM pg_notify('ch_pgqueuer', json_build_object(
            'channel', 'ch_pgqueuer', 'operation', lower(TG_OP), 'sent_at', now(),
            'table', TG_TABLE_NAME, 'type', 'table_changed_event')::text);
    END IF;
    RETURN NULL;
END
$$;
