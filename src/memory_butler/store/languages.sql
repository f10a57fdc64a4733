-- name: sampled
-- Some of what a tenant's memories say, facts first: those with the first ids, which are random.
(SELECT left(content, $2) FROM facts WHERE tenant_id = $1 ORDER BY id LIMIT $3)
UNION ALL
(SELECT left(content, $2) FROM rules WHERE tenant_id = $1 ORDER BY id LIMIT $3)
UNION ALL
(SELECT left(content, $2) FROM episodes WHERE tenant_id = $1 ORDER BY id LIMIT $3)
LIMIT $3
