-- What waits is no state that the former version knows: it is forgotten, recoverably. Keys that were
-- merged stay merged, importances bounded and warnings lasting.
ALTER TABLE facts NO FORCE ROW LEVEL SECURITY;
UPDATE facts SET validity = 'retracted', metadata = metadata || '{"forgotten": true}'
WHERE validity = 'waiting';
ALTER TABLE facts FORCE ROW LEVEL SECURITY;
DROP INDEX idx_facts_waiting, uq_facts_entity_active, uq_facts_subject_active;
CREATE UNIQUE INDEX uq_facts_entity_active ON facts (tenant_id, entity_id, scope, predicate)
    WHERE entity_id IS NOT NULL AND validity = 'active';
CREATE UNIQUE INDEX uq_facts_subject_active ON facts (tenant_id, scope, subject, predicate)
    WHERE entity_id IS NULL AND validity = 'active';
DROP VIEW memory_history.facts;
ALTER TABLE facts DROP COLUMN subject_key, DROP COLUMN predicate_key;
DROP FUNCTION key_of;
ALTER TABLE facts DROP CONSTRAINT facts_validity_known;
ALTER TABLE facts ADD CONSTRAINT facts_validity_known
    CHECK (validity IN ('active', 'superseded', 'expired', 'retracted'));
