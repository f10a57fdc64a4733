-- What a person types into a filter: every word must occur, the last may be unfinished. Empty where
-- the text has stop words or signs alone; the callers then compare letter by letter.
CREATE FUNCTION prefix_terms(typed text) RETURNS tsquery
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT coalesce(nullif(plainto_tsquery('english', left(typed, 1000))::text, '') || ':*', '')::tsquery
$$;
GRANT EXECUTE ON FUNCTION prefix_terms TO {runtime};

-- The memory that an event is about. Generated, because under row-level security no expression over
-- the payload can be an index condition.
ALTER TABLE memory_events
    ADD COLUMN memory_id text GENERATED ALWAYS AS (payload->>'memory_id') STORED;
CREATE INDEX idx_memory_events_memory ON memory_events (tenant_id, memory_id, created_at DESC)
    WHERE memory_id IS NOT NULL;

CREATE INDEX idx_episodes_occurred ON episodes (tenant_id, occurred_at DESC);
