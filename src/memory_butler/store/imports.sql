-- name: existing
SELECT id FROM episodes WHERE tenant_id = $1 AND id = ANY($2)
UNION ALL SELECT id FROM facts WHERE tenant_id = $1 AND id = ANY($2)
UNION ALL SELECT id FROM rules WHERE tenant_id = $1 AND id = ANY($2)
UNION ALL SELECT id FROM entities WHERE tenant_id = $1 AND id = ANY($2)
