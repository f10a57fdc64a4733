-- fragment: columns
id, event_id, type, content, subject, actor, status, due, created_at, refreshed_at, resolved_at

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
    (id, event_id, type, content, subject, actor, status, due, created_at, refreshed_at)
VALUES ((SELECT coalesce(max(id), 0) + 1 FROM working_memory), :event_id, :type, :content, :subject,
    :actor, 'active', :due, :at, :at)
RETURNING id

-- name: refresh
UPDATE working_memory SET refreshed_at = :at, due = coalesce(:due, due)
WHERE id = :id AND status = 'active'

-- name: fade_as_before
UPDATE working_memory SET refreshed_at = :at, due = :due WHERE id = :id AND status = 'active'

-- name: leave
UPDATE working_memory SET status = :status, resolved_at = :at
WHERE id = :id AND status = 'active'

-- name: refer
INSERT OR IGNORE INTO working_memory_refs (wm_id, fragment_key) VALUES (?, ?)

-- name: keys
SELECT key FROM fragments

-- name: referring_to
SELECT wm_id FROM working_memory_refs WHERE fragment_key = ?
