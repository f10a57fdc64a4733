-- name: is_begun
-- Whether anything was written for a tenant. What reading leaves behind does not count.
SELECT EXISTS (SELECT FROM memory_events WHERE tenant_id = $1)
    OR EXISTS (SELECT FROM episodes WHERE tenant_id = $1)
    OR EXISTS (SELECT FROM facts WHERE tenant_id = $1)
    OR EXISTS (SELECT FROM rules WHERE tenant_id = $1)
    OR EXISTS (SELECT FROM entities WHERE tenant_id = $1)
    OR EXISTS (SELECT FROM items WHERE tenant_id = $1)
    OR EXISTS (SELECT FROM erasures WHERE tenant_id = $1)

-- name: episodes
SELECT count(*)::integer AS total,
       count(*) FILTER (WHERE consolidation_status = 'pending')::integer AS unconsolidated,
       count(*) FILTER (WHERE consolidation_status = 'consolidated')::integer AS consolidated,
       count(*) FILTER (WHERE consolidation_status = 'failed')::integer AS failed,
       count(*) FILTER (WHERE consolidation_status = 'dead_letter')::integer AS dead_letter,
       date_part('epoch', $3 - min(created_at) FILTER (WHERE consolidation_status = 'pending'))
           / 3600.0 AS backlog_age_hours
FROM episodes WHERE tenant_id = $1 AND ($2::text IS NULL OR butler = $2)

-- name: facts
-- Bands of effective confidence as the dashboard colours them (C-85), below 0.5 split at the thresholds.
WITH counted AS (
    SELECT validity, metadata->>'status' = 'fading' AS fading, permanence,
           effective_confidence(confidence, decay_rate, last_confirmed_at, $3) AS effective
    FROM facts WHERE tenant_id = $1 AND ($2::text IS NULL OR scope IN ('global', $2))
)
SELECT count(*) FILTER (WHERE validity = 'active' AND fading IS NOT TRUE)::integer AS active,
       count(*) FILTER (WHERE validity = 'active' AND fading)::integer AS fading,
       count(*) FILTER (WHERE validity = 'superseded')::integer AS superseded,
       count(*) FILTER (WHERE validity = 'expired')::integer AS expired,
       count(*) FILTER (WHERE validity = 'retracted')::integer AS retracted,
       count(*) FILTER (WHERE validity = 'waiting')::integer AS waiting,
       count(*) FILTER (WHERE validity = 'active' AND effective > 0.8)::integer AS above_080,
       count(*) FILTER (WHERE validity = 'active' AND effective BETWEEN 0.5 AND 0.8)::integer
           AS from_050_to_080,
       count(*) FILTER (WHERE validity = 'active' AND effective >= 0.2 AND effective < 0.5)::integer
           AS from_020_to_050,
       count(*) FILTER (WHERE validity = 'active' AND effective >= 0.05 AND effective < 0.2)::integer
           AS from_005_to_020,
       count(*) FILTER (WHERE validity = 'active' AND effective < 0.05)::integer AS below_005
FROM counted

-- name: permanence
SELECT permanence, count(*)::integer AS facts FROM facts
WHERE tenant_id = $1 AND validity = 'active' AND ($2::text IS NULL OR scope IN ('global', $2))
GROUP BY permanence ORDER BY permanence

-- name: rules
-- C-72: the maturity buckets exclude forgotten rules, so that the buckets are disjoint.
WITH counted AS (
    SELECT maturity, applied_count, effectiveness_score,
           metadata->>'forgotten' IS NOT DISTINCT FROM 'true' AS forgotten
    FROM rules WHERE tenant_id = $1 AND ($2::text IS NULL OR scope IN ('global', $2))
)
SELECT count(*) FILTER (WHERE NOT forgotten AND maturity = 'candidate')::integer AS candidate,
       count(*) FILTER (WHERE NOT forgotten AND maturity = 'established')::integer AS established,
       count(*) FILTER (WHERE NOT forgotten AND maturity = 'proven')::integer AS proven,
       count(*) FILTER (WHERE NOT forgotten AND maturity = 'anti_pattern')::integer AS anti_pattern,
       count(*) FILTER (WHERE forgotten)::integer AS forgotten,
       count(*) FILTER (WHERE NOT forgotten AND applied_count > 0)::integer AS applied,
       count(*) FILTER (WHERE NOT forgotten AND applied_count > 0 AND effectiveness_score >= 0.6)
           ::integer AS helping,
       avg(effectiveness_score) FILTER (WHERE NOT forgotten AND applied_count > 0)
           AS mean_effectiveness
FROM counted

-- name: permanence_by_day
-- What was known at the end of each day: stored until then, and not retired. $2 is when the days begin.
WITH changes AS (
    SELECT width_bucket(created_at, $2::timestamptz[]) AS place, permanence, count(*) AS change
    FROM facts WHERE tenant_id = $1 AND ($3::text IS NULL OR scope IN ('global', $3))
    GROUP BY 1, 2
    UNION ALL
    SELECT width_bucket(retired_at, $2::timestamptz[]), permanence, -count(*)
    FROM facts WHERE tenant_id = $1 AND ($3::text IS NULL OR scope IN ('global', $3))
      AND retired_at IS NOT NULL
    GROUP BY 1, 2
)
SELECT d.day, c.permanence, sum(c.change)::integer AS facts
FROM unnest($2::timestamptz[]) WITH ORDINALITY AS d (day, place)
JOIN changes c ON c.place <= d.place
GROUP BY d.day, c.permanence ORDER BY d.day, c.permanence

-- name: confidence_buckets
SELECT least(floor(effective_confidence(confidence, decay_rate, last_confirmed_at, $3)
                   * $4::integer), $4 - 1)::integer AS bucket, count(*)::integer AS facts
FROM facts
WHERE tenant_id = $1 AND validity = 'active' AND ($2::text IS NULL OR scope IN ('global', $2))
GROUP BY 1 ORDER BY 1

-- name: effectiveness_buckets
SELECT least(floor(effectiveness_score * $3::integer), $3 - 1)::integer AS bucket,
       count(*)::integer AS rules
FROM rules
WHERE tenant_id = $1 AND applied_count > 0 AND metadata->>'forgotten' IS DISTINCT FROM 'true'
  AND ($2::text IS NULL OR scope IN ('global', $2))
GROUP BY 1 ORDER BY 1
