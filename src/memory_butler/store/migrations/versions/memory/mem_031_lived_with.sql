-- A memory that is lived with: statements that wait, keys compared without case and spaces, warnings that
-- do not fade, importance within 1 to 10.
ALTER TABLE facts DROP CONSTRAINT facts_validity_known;
ALTER TABLE facts ADD CONSTRAINT facts_validity_known
    CHECK (validity IN ('active', 'superseded', 'expired', 'retracted', 'waiting'));

-- "User", "user" and " user " are one subject. In columns of their own: under row-level security an index
-- serves a comparison of columns, not of what a function makes of them.
CREATE FUNCTION key_of(text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
AS $$ SELECT lower(btrim(regexp_replace($1, '\s+', ' ', 'g'))) $$;
GRANT EXECUTE ON FUNCTION key_of TO {runtime};
ALTER TABLE facts
    ADD COLUMN subject_key text GENERATED ALWAYS AS (key_of(subject)) STORED,
    ADD COLUMN predicate_key text GENERATED ALWAYS AS (key_of(predicate)) STORED;

ALTER TABLE facts NO FORCE ROW LEVEL SECURITY;
ALTER TABLE rules NO FORCE ROW LEVEL SECURITY;
ALTER TABLE episodes NO FORCE ROW LEVEL SECURITY;
ALTER TABLE memory_versions NO FORCE ROW LEVEL SECURITY;
ALTER TABLE memory_events NO FORCE ROW LEVEL SECURITY;
ALTER TABLE memory_links NO FORCE ROW LEVEL SECURITY;

-- Of active facts that share a key now, the most trusted stays, of these the newest; the others are
-- superseded by it, as if it had been stored under their key.
CREATE TEMPORARY TABLE merged_keys ON COMMIT DROP AS
SELECT * FROM (
    SELECT tenant_id, id, now() AS at,
           first_value(id) OVER one_key AS kept
    FROM facts WHERE validity = 'active'
    WINDOW one_key AS (
        PARTITION BY tenant_id, scope, entity_id, predicate_key,
                     CASE WHEN entity_id IS NULL THEN subject_key END
        ORDER BY trust DESC, created_at DESC, id)
) keyed WHERE id <> kept;

INSERT INTO memory_versions (tenant_id, kind, id, known_from, known_until, state)
SELECT f.tenant_id, 'fact', f.id, since.known_from, m.at,
       to_jsonb(f) - ARRAY['tenant_id', 'id', 'subject', 'predicate', 'subject_key', 'predicate_key',
                           'content', 'embedding', 'search_vector', 'reference_count', 'last_referenced_at', 'created_at']
FROM merged_keys m JOIN facts f USING (tenant_id, id), LATERAL (
    SELECT coalesce(max(v.known_until), f.created_at) AS known_from FROM memory_versions v
    WHERE v.tenant_id = f.tenant_id AND v.kind = 'fact' AND v.id = f.id
) since
WHERE since.known_from < m.at;

UPDATE facts f SET validity = 'superseded', retired_at = m.at
FROM merged_keys m WHERE f.tenant_id = m.tenant_id AND f.id = m.id;

INSERT INTO memory_links (tenant_id, source_type, source_id, target_type, target_id, relation, created_at)
SELECT tenant_id, 'fact', kept, 'fact', id, 'supersedes', at FROM merged_keys ON CONFLICT DO NOTHING;

INSERT INTO memory_events (tenant_id, event_type, actor, payload, created_at)
SELECT tenant_id, 'fact_superseded', 'migration',
       jsonb_build_object('memory_type', 'fact', 'memory_id', id, 'superseded_by', kept), at
FROM merged_keys;

DROP INDEX uq_facts_entity_active, uq_facts_subject_active;
CREATE UNIQUE INDEX uq_facts_entity_active ON facts (tenant_id, entity_id, scope, predicate_key)
    WHERE entity_id IS NOT NULL AND validity = 'active';
CREATE UNIQUE INDEX uq_facts_subject_active ON facts (tenant_id, scope, subject_key, predicate_key)
    WHERE entity_id IS NULL AND validity = 'active';
-- What waits is looked for when the same is said again, and listed.
CREATE INDEX idx_facts_waiting ON facts (tenant_id, subject_key, predicate_key)
    WHERE validity = 'waiting';

UPDATE facts SET importance = least(10, greatest(1, importance)) WHERE NOT importance BETWEEN 1 AND 10;
UPDATE episodes SET importance = least(10, greatest(1, importance)) WHERE NOT importance BETWEEN 1 AND 10;

-- A warning lives while its subject comes up.
UPDATE rules SET decay_rate = 0 WHERE maturity = 'anti_pattern' AND decay_rate <> 0;

ALTER TABLE facts FORCE ROW LEVEL SECURITY;
ALTER TABLE rules FORCE ROW LEVEL SECURITY;
ALTER TABLE episodes FORCE ROW LEVEL SECURITY;
ALTER TABLE memory_versions FORCE ROW LEVEL SECURITY;
ALTER TABLE memory_events FORCE ROW LEVEL SECURITY;
ALTER TABLE memory_links FORCE ROW LEVEL SECURITY;
