-- How far a memory is to be believed (domain/trust.py): 1 untrusted_web, 2 imported, 3 tool_output,
-- 4 agent_inferred, 5 user_said. What was stored before nobody said anything about: it came through an
-- agent, or an import that left no trace of being one, and is taken for what agents store by default.
ALTER TABLE episodes ADD COLUMN trust smallint NOT NULL DEFAULT 4
    CONSTRAINT episodes_trust_known CHECK (trust BETWEEN 1 AND 5);
ALTER TABLE facts ADD COLUMN trust smallint NOT NULL DEFAULT 4
    CONSTRAINT facts_trust_known CHECK (trust BETWEEN 1 AND 5);
ALTER TABLE rules ADD COLUMN trust smallint NOT NULL DEFAULT 4
    CONSTRAINT rules_trust_known CHECK (trust BETWEEN 1 AND 5);

-- A memory that is looked at by id, and a context that is made again, put text into a session too.
ALTER TABLE served DROP CONSTRAINT served_operation_known;
ALTER TABLE served ADD CONSTRAINT served_operation_known
    CHECK (operation IN ('search', 'recall', 'context', 'get', 'receipt'));
