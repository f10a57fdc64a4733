-- name: lock
-- One batch of a tenant at a time, so that two imports of one file do not both find a line missing.
SELECT pg_advisory_xact_lock(hashtextextended('import:' || $1, 0))

-- name: existing
SELECT id FROM episodes WHERE tenant_id = $1 AND id = ANY($2)
UNION ALL SELECT id FROM facts WHERE tenant_id = $1 AND id = ANY($2)
UNION ALL SELECT id FROM rules WHERE tenant_id = $1 AND id = ANY($2)
UNION ALL SELECT id FROM entities WHERE tenant_id = $1 AND id = ANY($2)
