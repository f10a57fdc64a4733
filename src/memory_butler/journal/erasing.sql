-- name: triggers
SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY name

-- name: doomed
SELECT ts, content, actor, image_path FROM events WHERE id BETWEEN :first AND :last ORDER BY id

-- name: fragments_of
-- Fragments that rest on these events, and on how many others.
SELECT s.fragment_key, (
    SELECT count(*) FROM fragment_sources o
    WHERE o.fragment_key = s.fragment_key AND o.event_id NOT BETWEEN :first AND :last
) FROM fragment_sources s WHERE s.event_id BETWEEN :first AND :last
GROUP BY s.fragment_key ORDER BY s.fragment_key

-- name: forget_items_refs
DELETE FROM working_memory_refs
WHERE wm_id IN (SELECT id FROM working_memory WHERE event_id BETWEEN :first AND :last)

-- name: items
SELECT count(*) FROM working_memory WHERE event_id BETWEEN :first AND :last

-- name: forget_items
DELETE FROM working_memory WHERE event_id BETWEEN :first AND :last

-- name: forget_sources
DELETE FROM fragment_sources WHERE event_id BETWEEN :first AND :last

-- name: forget_tags
DELETE FROM event_tags WHERE event_id BETWEEN :first AND :last

-- name: images
-- Those that no other message shows.
SELECT image_path FROM events WHERE image_path IS NOT NULL AND id BETWEEN :first AND :last
EXCEPT SELECT image_path FROM events WHERE id NOT BETWEEN :first AND :last

-- name: forget_events
DELETE FROM events WHERE id BETWEEN :first AND :last

-- name: forget_fragment_refs
DELETE FROM working_memory_refs WHERE fragment_key = ?

-- name: forget_fragment_edges
DELETE FROM fragment_edges WHERE ?1 IN (source_key, target_key)

-- name: forget_fragment_sources
DELETE FROM fragment_sources WHERE fragment_key = ?

-- name: forget_fragment
DELETE FROM fragments WHERE key = ?

-- name: forget_versions
DELETE FROM fragment_versions WHERE fragment_key = ?

-- name: forget_versions_resting
-- Of fragments that are gone by now, or rest on these events no more: a run was undone.
DELETE FROM fragment_versions WHERE EXISTS (
    SELECT 1 FROM json_each(state, '$.sources') AS s WHERE s.value BETWEEN :first AND :last
)

-- name: forget_quotes
-- Reports of maintenance, its prose, what memory added last, a map on its way: texts made of others. And what
-- could be undone, for numbers of items are given out again.
DELETE FROM state WHERE key LIKE 'report:%' OR key LIKE 'ambient:%' OR key LIKE 'missed:%' OR key IN ('recalled', 'ambient_pending', 'ambient', 'undoable')

-- name: lower_marks
-- Numbers of messages that are given out again must not count as read, compiled or handed over.
UPDATE state SET value = (SELECT coalesce(max(id), 0) FROM events)
WHERE key IN ('compiled_until', 'handed_over_to', 'handing_over', 'session_ended')
  AND CAST(value AS INTEGER) > (SELECT coalesce(max(id), 0) FROM events)

-- name: left
SELECT count(*) FROM events WHERE id BETWEEN ? AND ?
