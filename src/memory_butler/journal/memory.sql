-- fragment: columns
id, event_id, type, content, subject, actor, status, due, created_at, refreshed_at, resolved_at, repeats

-- name: active
SELECT {columns} FROM working_memory WHERE status = 'active' ORDER BY created_at, id

-- name: get
SELECT {columns} FROM working_memory WHERE id = ?

-- name: history
SELECT {columns} FROM working_memory ORDER BY created_at DESC, id DESC LIMIT ?

-- name: secrets
SELECT content FROM working_memory WHERE type = 'secret' AND status <> 'resolved' ORDER BY id

-- name: insert
INSERT INTO working_memory
    (id, event_id, type, content, subject, actor, status, due, created_at, refreshed_at, repeats)
VALUES ((SELECT coalesce(max(id), 0) + 1 FROM working_memory), :event_id, :type, :content, :subject,
    :actor, 'active', :due, :at, :at, :repeats)
RETURNING id

-- name: every
SELECT {columns} FROM working_memory ORDER BY id

-- name: bring
INSERT INTO working_memory
    (id, event_id, type, content, subject, actor, status, due, created_at, refreshed_at, resolved_at,
     repeats)
VALUES ((SELECT coalesce(max(id), 0) + 1 FROM working_memory), :event_id, :type, :content, :subject,
    :actor, :status, :due, :created_at, :refreshed_at, :resolved_at, :repeats)
RETURNING id

-- name: refresh
UPDATE working_memory SET refreshed_at = :at, due = coalesce(:due, due),
    repeats = coalesce(:repeats, repeats)
WHERE id = :id AND status = 'active'

-- name: fade_as_before
UPDATE working_memory SET refreshed_at = :at, due = :due, repeats = :repeats
WHERE id = :id AND status = 'active'

-- name: leave
UPDATE working_memory SET status = :status, resolved_at = :at
WHERE id = :id AND status = 'active'

-- name: refer
INSERT OR IGNORE INTO working_memory_refs (wm_id, fragment_key) VALUES (?, ?)

-- name: keys
SELECT key FROM fragments

-- name: referring_to
SELECT wm_id FROM working_memory_refs WHERE fragment_key = ?

-- name: came_round
-- Whether an item is the next round of one with the same words, which was done when it was made.
SELECT EXISTS (
    SELECT 1 FROM working_memory
    WHERE id < :id AND type = 'plan' AND status = 'resolved' AND repeats IS NOT NULL
      AND resolved_at = :created_at AND content = :content)
