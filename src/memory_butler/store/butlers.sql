-- name: all
-- Everyone who told something, or for whom something is kept.
WITH traces AS (
    SELECT butler, count(*) AS episodes,
           count(*) FILTER (WHERE consolidation_status = 'pending') AS pending,
           count(*) FILTER (WHERE consolidation_status IN ('dead_letter', 'failed') AND expires_at > $3)
               AS dead_letters,
           min(created_at) FILTER (WHERE consolidation_status = 'pending') AS waiting_since,
           count(DISTINCT session_id) AS sessions, max(created_at) AS seen_at,
           0 AS facts, 0 AS own_facts, 0 AS rules
    FROM episodes WHERE tenant_id = $1 GROUP BY butler
    UNION ALL
    SELECT source_butler, 0, 0, 0, NULL, 0, max(created_at),
           count(*) FILTER (WHERE validity = 'active'), 0, 0
    FROM facts WHERE tenant_id = $1 AND source_butler IS NOT NULL GROUP BY source_butler
    UNION ALL
    SELECT scope, 0, 0, 0, NULL, 0, max(created_at), 0,
           count(*) FILTER (WHERE validity = 'active'), 0
    FROM facts WHERE tenant_id = $1 AND scope <> 'global' GROUP BY scope
    UNION ALL
    SELECT scope, 0, 0, 0, NULL, 0, max(created_at), 0, 0,
           count(*) FILTER (WHERE metadata->>'forgotten' IS DISTINCT FROM 'true')
    FROM rules WHERE tenant_id = $1 AND scope <> 'global' GROUP BY scope
    UNION ALL
    SELECT source_butler, 0, 0, 0, NULL, 0, max(created_at), 0, 0, 0
    FROM rules WHERE tenant_id = $1 AND source_butler IS NOT NULL GROUP BY source_butler
)
SELECT butler AS name, sum(episodes)::integer AS episodes, sum(pending)::integer AS pending,
       sum(dead_letters)::integer AS dead_letters, min(waiting_since) AS waiting_since,
       sum(sessions)::integer AS sessions, max(seen_at) AS seen_at,
       sum(facts)::integer AS facts_learned, sum(own_facts)::integer AS facts_in_scope,
       sum(rules)::integer AS rules_in_scope
FROM traces WHERE $2::text IS NULL OR butler = $2
GROUP BY butler ORDER BY butler
