-- Version 2, the first: names, columns, types and keys as the requirements give them (JSCH-01..19).
-- Times are ISO 8601 in UTC with six decimals, so that their order as text is their order in time.

CREATE TABLE events (
    id          INTEGER PRIMARY KEY,
    ts          TEXT NOT NULL,
    content     TEXT NOT NULL,
    actor       TEXT,
    image_path  TEXT
);

-- Covers both questions that each turn asks: what was said last, and how many turns ago.
CREATE INDEX events_by_time ON events (ts, id, actor);

CREATE TABLE event_tags (
    event_id    INTEGER REFERENCES events (id),
    tag         TEXT NOT NULL,
    PRIMARY KEY (event_id, tag)
);

-- C-106: the log is the source of truth; nobody edits it, this program included.
CREATE TRIGGER events_never_updated BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'events is append-only'); END;

CREATE TRIGGER events_never_deleted BEFORE DELETE ON events
BEGIN SELECT RAISE(ABORT, 'events is append-only'); END;

-- INSERT OR REPLACE deletes without firing the trigger above.
CREATE TRIGGER events_never_replaced BEFORE INSERT ON events
WHEN EXISTS (SELECT 1 FROM events WHERE id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'events is append-only'); END;

CREATE TRIGGER event_tags_never_updated BEFORE UPDATE ON event_tags
BEGIN SELECT RAISE(ABORT, 'event_tags is append-only'); END;

CREATE TRIGGER event_tags_never_deleted BEFORE DELETE ON event_tags
BEGIN SELECT RAISE(ABORT, 'event_tags is append-only'); END;

CREATE TABLE working_memory (
    id            INTEGER PRIMARY KEY,
    event_id      INTEGER REFERENCES events (id),
    type          TEXT NOT NULL
        CHECK (type IN ('feeling', 'thought', 'pattern', 'desc', 'plan', 'pin', 'secret')),
    content       TEXT NOT NULL,
    subject       TEXT,
    actor         TEXT,
    status        TEXT NOT NULL DEFAULT 'active'
        CHECK (status IN ('active', 'resolved', 'dropped', 'decayed', 'superseded')),
    due           TEXT CHECK (due IS NULL OR type = 'plan'),
    created_at    TEXT NOT NULL,
    refreshed_at  TEXT NOT NULL,
    resolved_at   TEXT CHECK ((resolved_at IS NULL) = (status = 'active'))
);

CREATE INDEX working_memory_active ON working_memory (created_at, id) WHERE status = 'active';

CREATE TABLE fragments (
    key          TEXT PRIMARY KEY,
    ambient      TEXT,
    recognition  TEXT,
    inventory    TEXT,
    created_at   TEXT NOT NULL,
    updated_at   TEXT NOT NULL
);

CREATE TABLE working_memory_refs (
    wm_id         INTEGER REFERENCES working_memory (id),
    fragment_key  TEXT REFERENCES fragments (key),
    PRIMARY KEY (wm_id, fragment_key)
);

CREATE INDEX working_memory_refs_by_fragment ON working_memory_refs (fragment_key);

CREATE TABLE fragment_sources (
    fragment_key  TEXT REFERENCES fragments (key),
    event_id      INTEGER REFERENCES events (id),
    PRIMARY KEY (fragment_key, event_id)
);

CREATE TABLE fragment_edges (
    source_key  TEXT REFERENCES fragments (key),
    target_key  TEXT REFERENCES fragments (key),
    relation    TEXT,
    PRIMARY KEY (source_key, target_key)
);

CREATE INDEX fragment_edges_by_target ON fragment_edges (target_key);

-- What a fragment was before a run changed it: `state` is JSON with its tiers, edges and sources.
-- No foreign keys: a version outlives its fragment.
CREATE TABLE fragment_versions (
    id            INTEGER PRIMARY KEY,
    fragment_key  TEXT NOT NULL,
    known_from    TEXT NOT NULL,
    known_until   TEXT NOT NULL,
    state         TEXT NOT NULL,
    run_id        INTEGER NOT NULL
);

CREATE INDEX fragment_versions_by_time ON fragment_versions (fragment_key, known_from);

CREATE TABLE state (
    key         TEXT PRIMARY KEY,
    value       TEXT NOT NULL,
    updated_at  TEXT NOT NULL
);

CREATE TABLE maintenance_runs (
    id            INTEGER PRIMARY KEY,
    started_at    TEXT NOT NULL,
    completed_at  TEXT,
    run_type      TEXT NOT NULL CHECK (run_type IN ('weekly', 'monthly', 'manual', 'bootstrap'))
);

CREATE TABLE schema_version (
    version  INTEGER NOT NULL
);
