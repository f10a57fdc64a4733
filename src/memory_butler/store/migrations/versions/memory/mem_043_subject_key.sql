CREATE INDEX idx_facts_subject_key ON facts (tenant_id, subject_key);
