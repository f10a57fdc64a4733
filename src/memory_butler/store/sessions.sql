-- fragment: sessions
-- A session leaves episodes, or traces of what it was served, or both.
sessions AS (
    SELECT session_id, min(moment) AS began_at, max(moment) AS ended_at,
           sum(episodes)::integer AS episodes, sum(answers)::integer AS answers,
           array_agg(DISTINCT butler ORDER BY butler) FILTER (WHERE butler IS NOT NULL) AS butlers
    FROM (
        SELECT session_id, butler, occurred_at AS moment, 1 AS episodes, 0 AS answers
        FROM episodes WHERE tenant_id = $1 AND session_id IS NOT NULL
        UNION ALL
        SELECT session_id, butler, served_at, 0, 1
        FROM served WHERE tenant_id = $1 AND session_id IS NOT NULL
    ) traces
    WHERE $2::uuid IS NULL OR session_id = $2
    GROUP BY session_id
    HAVING $3::text IS NULL OR bool_or(butler = $3)
)

-- name: count
WITH {sessions} SELECT count(*)::integer FROM sessions

-- name: page
WITH {sessions}
SELECT session_id, began_at, ended_at, episodes, answers, coalesce(butlers, '{}') AS butlers,
       (SELECT left(e.content, 200) FROM episodes e
        WHERE e.tenant_id = $1 AND e.session_id = s.session_id
        ORDER BY e.occurred_at, e.created_at, e.id LIMIT 1) AS begins_with,
       (SELECT count(*)::integer FROM facts f JOIN episodes e
          ON e.tenant_id = $1 AND e.id = f.source_episode_id
        WHERE f.tenant_id = $1 AND e.session_id = s.session_id) AS facts,
       (SELECT count(*)::integer FROM rules r JOIN episodes e
          ON e.tenant_id = $1 AND e.id = r.source_episode_id
        WHERE r.tenant_id = $1 AND e.session_id = s.session_id) AS rules
FROM sessions s ORDER BY ended_at DESC, session_id LIMIT $4 OFFSET $5
