-- name: acknowledged
-- Asked after a commit, whose record lies before.
SELECT pg_current_wal_insert_lsn()::text

-- name: on_disk
SELECT pg_current_wal_flush_lsn()::text

-- name: standing
-- The system is the same on a primary and all its standbys.
SELECT pg_is_in_recovery() AS standby, system_identifier::text AS system,
       pg_last_wal_replay_lsn()::text AS replayed
FROM pg_control_system()

-- name: replayed
SELECT pg_last_wal_replay_lsn()::text
