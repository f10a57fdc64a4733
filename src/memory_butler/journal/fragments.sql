-- name: all
SELECT key, ambient, recognition, inventory, created_at, updated_at FROM fragments ORDER BY key

-- name: edges
SELECT source_key, target_key, relation FROM fragment_edges ORDER BY source_key, target_key

-- name: sources
SELECT fragment_key, event_id FROM fragment_sources ORDER BY fragment_key, event_id

-- name: put
INSERT OR REPLACE INTO fragments (key, ambient, recognition, inventory, created_at, updated_at)
VALUES (:key, :ambient, :recognition, :inventory, :created_at, :at)

-- name: delete
DELETE FROM fragments WHERE key = ?

-- name: forget_refs
DELETE FROM working_memory_refs WHERE fragment_key = ?

-- name: forget_edges
DELETE FROM fragment_edges WHERE source_key = ?

-- name: forget_sources
DELETE FROM fragment_sources WHERE fragment_key = ?

-- name: add_edge
INSERT INTO fragment_edges (source_key, target_key, relation) VALUES (?, ?, ?)

-- name: add_source
INSERT INTO fragment_sources (fragment_key, event_id) VALUES (?, ?)

-- name: known_events
SELECT id FROM events WHERE id IN (SELECT value FROM json_each(?))

-- name: add_version
INSERT INTO fragment_versions (id, fragment_key, known_from, known_until, state, run_id)
VALUES ((SELECT coalesce(max(id), 0) + 1 FROM fragment_versions), :key, :known_from, :known_until,
    :state, :run_id)

-- name: versions_of
SELECT known_from, known_until, state, run_id FROM fragment_versions
WHERE fragment_key = ? ORDER BY known_from, id

-- name: begin_run
INSERT INTO maintenance_runs (started_at, run_type) VALUES (:at, :run_type) RETURNING id

-- fragment: run_columns
id, started_at, completed_at, run_type, (SELECT value FROM state WHERE key = 'report:' || id)

-- name: run
SELECT {run_columns} FROM maintenance_runs WHERE id = ?

-- name: runs
SELECT {run_columns} FROM maintenance_runs ORDER BY id DESC LIMIT ?

-- name: complete_run
UPDATE maintenance_runs SET completed_at = :at WHERE id = :id AND completed_at IS NULL

-- name: newest_completion
SELECT max(completed_at) FROM maintenance_runs

-- name: unreviewed_since
SELECT coalesce(
    (SELECT max(started_at) FROM maintenance_runs
     WHERE run_type = 'monthly' AND completed_at IS NOT NULL),
    (SELECT min(started_at) FROM maintenance_runs)
)
