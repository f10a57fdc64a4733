-- fragment: columns
e.id, e.ts, e.content, e.actor, e.image_path,
(SELECT group_concat(tag, ' ') FROM event_tags WHERE event_id = e.id)

-- name: append
-- The id that SQLite would give: a sealed journal seals the content for it.
INSERT INTO events (id, ts, content, actor, image_path)
VALUES ((SELECT coalesce(max(id), 0) + 1 FROM events), :ts, :content, :actor, :image_path)
RETURNING id

-- name: tag
INSERT INTO event_tags (event_id, tag) VALUES (?, ?)

-- name: newest_ts
SELECT max(ts) FROM events

-- name: get
SELECT {columns} FROM events AS e WHERE e.id = :id

-- name: newest_of_users
SELECT {columns} FROM events AS e
WHERE e.actor IS NULL OR e.actor NOT IN (SELECT value FROM json_each(:assistants))
ORDER BY e.ts DESC, e.id DESC LIMIT 1

-- name: newest_of_companion
SELECT {columns} FROM events AS e
WHERE e.actor IN (SELECT value FROM json_each(:assistants))
ORDER BY e.ts DESC, e.id DESC LIMIT 1

-- name: before
SELECT {columns} FROM events AS e
WHERE (e.ts, e.id) < (:ts, :id) ORDER BY e.ts DESC, e.id DESC LIMIT :limit

-- name: after
SELECT {columns} FROM events AS e
WHERE (e.ts, e.id) > (:ts, :id) ORDER BY e.ts, e.id LIMIT :limit

-- name: appended_after
SELECT {columns} FROM events AS e WHERE e.id > :id ORDER BY e.id LIMIT :limit

-- name: batch
-- What reached the log after one message and up to another, in order of time: imported history lies
-- before the talk that it precedes.
SELECT {columns} FROM events AS e
WHERE e.id > :low AND e.id <= :high
  AND (e.ts, e.id) > (coalesce((SELECT ts FROM events WHERE id = :at), ''), :at)
ORDER BY e.ts, e.id LIMIT :limit

-- name: newest_id
SELECT coalesce(max(id), 0) FROM events

-- name: user_turns
-- Answered by the index alone; the limit keeps it from reading the whole log.
SELECT ts FROM events
WHERE ts > :since
  AND (actor IS NULL OR actor NOT IN (SELECT value FROM json_each(:assistants)))
ORDER BY ts DESC LIMIT :limit

-- name: same
SELECT count(*) FROM events
WHERE ts = :ts AND actor IS :actor AND content = :content AND image_path IS :image_path

-- name: page
SELECT {columns} FROM events AS e
WHERE (e.ts, e.id) < (:ts, :id)
  AND (:actor IS NULL OR e.actor = :actor)
  AND (:tag IS NULL OR EXISTS (SELECT 1 FROM event_tags WHERE event_id = e.id AND tag = :tag))
ORDER BY e.ts DESC, e.id DESC LIMIT :limit

-- name: tagged
SELECT EXISTS (
    SELECT 1 FROM event_tags AS t JOIN events AS e ON e.id = t.event_id
    WHERE t.tag IN (SELECT value FROM json_each(:tags))
      AND e.actor IN (SELECT value FROM json_each(:actors))
)

-- name: count
SELECT count(*), max(ts) FROM events
