-- Temporary views by the names of the tables, so that every query reads the past as it stands: SQLite
-- looks for a name among what is temporary first. `main.` is the present.

-- name: moment
CREATE TEMP TABLE IF NOT EXISTS moment (at TEXT NOT NULL)

-- name: refreshed
-- Items that were refreshed since: when that had been done last, and what was due then.
CREATE TEMP TABLE IF NOT EXISTS refreshed (wm_id INTEGER PRIMARY KEY, refreshed_at TEXT, due TEXT)

-- name: events
CREATE TEMP VIEW IF NOT EXISTS events AS
SELECT * FROM main.events WHERE ts <= (SELECT at FROM moment)

-- name: working_memory
CREATE TEMP VIEW IF NOT EXISTS working_memory AS
SELECT w.id, w.event_id, w.type, w.content, w.subject, w.actor,
       CASE WHEN w.resolved_at <= at THEN w.status ELSE 'active' END AS status,
       CASE WHEN r.wm_id IS NULL THEN w.due ELSE r.due END AS due,
       w.created_at, coalesce(r.refreshed_at, w.refreshed_at) AS refreshed_at,
       CASE WHEN w.resolved_at <= at THEN w.resolved_at END AS resolved_at, w.repeats
FROM moment JOIN main.working_memory AS w ON w.created_at <= at
LEFT JOIN refreshed AS r ON r.wm_id = w.id

-- name: fragments
CREATE TEMP VIEW IF NOT EXISTS fragments AS
SELECT key, ambient, recognition, inventory, created_at, updated_at
FROM main.fragments WHERE updated_at <= (SELECT at FROM moment)
UNION ALL
SELECT fragment_key, json_extract(state, '$.ambient'), json_extract(state, '$.recognition'),
       json_extract(state, '$.inventory'), json_extract(state, '$.created_at'),
       json_extract(state, '$.updated_at')
FROM moment JOIN main.fragment_versions ON known_from <= at AND at < known_until

-- name: fragment_edges
CREATE TEMP VIEW IF NOT EXISTS fragment_edges AS
SELECT e.source_key, e.target_key, e.relation
FROM main.fragment_edges AS e JOIN main.fragments AS f ON f.key = e.source_key
WHERE f.updated_at <= (SELECT at FROM moment)
UNION ALL
SELECT fragment_key, json_extract(edge.value, '$[0]'), json_extract(edge.value, '$[1]')
FROM moment JOIN main.fragment_versions ON known_from <= at AND at < known_until,
     json_each(state, '$.edges') AS edge

-- name: fragment_sources
CREATE TEMP VIEW IF NOT EXISTS fragment_sources AS
SELECT s.fragment_key, s.event_id
FROM main.fragment_sources AS s JOIN main.fragments AS f ON f.key = s.fragment_key
WHERE f.updated_at <= (SELECT at FROM moment)
UNION ALL
SELECT fragment_key, source.value
FROM moment JOIN main.fragment_versions ON known_from <= at AND at < known_until,
     json_each(state, '$.sources') AS source

-- name: fragment_versions
CREATE TEMP VIEW IF NOT EXISTS fragment_versions AS
SELECT * FROM main.fragment_versions WHERE known_until <= (SELECT at FROM moment)

-- name: maintenance_runs
CREATE TEMP VIEW IF NOT EXISTS maintenance_runs AS
SELECT id, started_at, CASE WHEN completed_at <= at THEN completed_at END AS completed_at, run_type
FROM moment JOIN main.maintenance_runs ON started_at <= at

-- name: state
-- What is written once and stays; a key that is written again has no past.
CREATE TEMP VIEW IF NOT EXISTS state AS
SELECT * FROM main.state
WHERE updated_at <= (SELECT at FROM moment) AND (key LIKE 'report:%' OR key LIKE 'ambient:%' OR key LIKE 'missed:%')

-- name: forget_moment
DELETE FROM moment

-- name: stand_at
INSERT INTO moment (at) VALUES (?)

-- name: forget_refreshed
DELETE FROM refreshed

-- name: refreshed_since
SELECT id, type, content, subject, repeats, created_at FROM main.working_memory
WHERE created_at <= :at AND refreshed_at > :at

-- name: tagged_between
SELECT e.ts, e.content FROM main.events AS e JOIN main.event_tags AS t ON t.event_id = e.id
WHERE t.tag = :type AND e.ts BETWEEN :since AND :at ORDER BY e.ts, e.id

-- name: was_refreshed
INSERT INTO refreshed (wm_id, refreshed_at, due) VALUES (?, ?, ?)

-- name: ambients
SELECT key, ambient FROM fragments

-- name: newest_run
SELECT id FROM maintenance_runs WHERE completed_at IS NOT NULL
ORDER BY completed_at DESC, id DESC LIMIT 1
