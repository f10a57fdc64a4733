-- The outcomes are those of domain.sweep.outcome; a test runs the same cases through both.
-- Parameters of every query here but the locks: tenant, now, retrieval threshold, expiry threshold,
-- then its own. CASE is written out with its conditions: Citus loses what a simple one compares.

-- fragment: outcome_now
CASE
    WHEN effective_confidence(confidence, decay_rate, last_confirmed_at, $2) >= $3
        THEN CASE WHEN metadata->>'status' = 'fading' THEN 'recover' END
    WHEN effective_confidence(confidence, decay_rate, last_confirmed_at, $2) < $4 THEN 'expire'
    WHEN metadata->>'status' IS DISTINCT FROM 'fading' THEN 'fade'
END

-- fragment: unmarked
-- A status that is not ours stays.
CASE WHEN metadata->>'status' = 'fading' THEN metadata - 'status' ELSE metadata END

-- fragment: swept_facts
tenant_id = $1 AND validity = 'active' AND decay_rate > 0

-- fragment: swept_rules
tenant_id = $1 AND decay_rate > 0 AND maturity <> 'anti_pattern'
AND metadata->>'forgotten' IS DISTINCT FROM 'true'

-- fragment: judgement
count(*)::integer AS evaluated,
count(*) FILTER (WHERE outcome = 'fade')::integer AS fade,
count(*) FILTER (WHERE outcome = 'recover')::integer AS recover,
count(*) FILTER (WHERE outcome = 'expire')::integer AS expire,
coalesce(array_agg(id) FILTER (WHERE outcome IS NOT NULL), '{}') AS ids

-- name: judge_facts
-- One pass over the table, by parallel workers; an id is 16 bytes, so all that change fit in memory.
SELECT {judgement}
FROM (
    SELECT id, {outcome_now} AS outcome FROM facts WHERE {swept_facts} AND id <> ALL($5)
) judged

-- name: judge_rules
SELECT {judgement}
FROM (
    SELECT id, {outcome_now} AS outcome FROM rules WHERE {swept_rules} AND id <> ALL($5)
) judged

-- name: lock_facts
-- A statement of its own: one that had waited for a lock would still see older versions and events.
SELECT FROM facts WHERE tenant_id = $1 AND id = ANY($2) ORDER BY id FOR NO KEY UPDATE

-- name: lock_rules
SELECT FROM rules WHERE tenant_id = $1 AND id = ANY($2) ORDER BY id FOR NO KEY UPDATE

-- name: apply_facts
-- Judged anew under the lock: a fact confirmed since it was planned stays as it is.
WITH judged AS (
    SELECT id AS judged_id, {outcome_now} AS outcome,
           effective_confidence(confidence, decay_rate, last_confirmed_at, $2) AS effective
    FROM facts WHERE {swept_facts} AND id = ANY($5) AND {outcome_now} IS NOT NULL
), kept AS (
    INSERT INTO memory_versions (tenant_id, kind, id, known_from, known_until, state)
    SELECT f.tenant_id, 'fact', f.id, since.known_from, $2,
           to_jsonb(state)
    FROM facts f JOIN judged ON judged_id = f.id, LATERAL (
        -- Named one by one: writing a vector as JSON, to drop it then, takes a third of a batch.
        SELECT f.importance, f.confidence, f.decay_rate, f.permanence, f.source_butler,
               f.source_episode_id, f.supersedes_id, f.entity_id, f.validity, f.scope,
               f.valid_from, f.valid_until, f.retired_at, f.last_confirmed_at, f.tags, f.metadata,
               f.trust, f.embedding_version_id
    ) state, LATERAL (
        SELECT coalesce(max(v.known_until), f.created_at) AS known_from FROM memory_versions v
        WHERE v.tenant_id = $1 AND v.kind = 'fact' AND v.id = f.id
    ) since
    WHERE f.tenant_id = $1 AND since.known_from < $2
), changed AS (
    UPDATE facts
    SET validity = CASE WHEN outcome = 'expire' THEN 'expired' ELSE validity END,
        retired_at = CASE WHEN outcome = 'expire' THEN $2 ELSE retired_at END,
        metadata = CASE WHEN outcome = 'fade' THEN metadata || '{"status": "fading"}'
                        ELSE {unmarked} END
    FROM judged WHERE tenant_id = $1 AND id = judged_id
    RETURNING id, outcome, effective,
              CASE WHEN outcome = 'fade' THEN 'fact_fading' WHEN outcome = 'recover' THEN 'fact_recovered'
                   ELSE 'fact_expired' END AS event_type
)
SELECT id, outcome, effective, event_type FROM changed

-- name: apply_rules
WITH judged AS (
    SELECT id AS judged_id, {outcome_now} AS outcome,
           effective_confidence(confidence, decay_rate, last_confirmed_at, $2) AS effective
    FROM rules WHERE {swept_rules} AND id = ANY($5) AND {outcome_now} IS NOT NULL
), kept AS (
    INSERT INTO memory_versions (tenant_id, kind, id, known_from, known_until, state)
    SELECT r.tenant_id, 'rule', r.id, since.known_from, $2,
           to_jsonb(state)
    FROM rules r JOIN judged ON judged_id = r.id, LATERAL (
        SELECT r.content, r.scope, r.maturity, r.confidence, r.decay_rate, r.permanence,
               r.effectiveness_score, r.applied_count, r.success_count, r.harmful_count,
               r.source_episode_id, r.source_butler, r.last_applied_at, r.last_evaluated_at,
               r.last_confirmed_at, r.tags, r.metadata, r.trust, r.embedding_version_id
    ) state, LATERAL (
        SELECT coalesce(max(v.known_until), r.created_at) AS known_from FROM memory_versions v
        WHERE v.tenant_id = $1 AND v.kind = 'rule' AND v.id = r.id
    ) since
    WHERE r.tenant_id = $1 AND since.known_from < $2
), changed AS (
    UPDATE rules
    SET metadata = CASE WHEN outcome = 'fade' THEN metadata || '{"status": "fading"}'
                    WHEN outcome = 'expire' THEN {unmarked} || '{"forgotten": true, "swept": true}'
                    ELSE {unmarked} END
    FROM judged WHERE tenant_id = $1 AND id = judged_id
    RETURNING id, outcome, effective,
              CASE WHEN outcome = 'fade' THEN 'rule_fading' WHEN outcome = 'recover' THEN 'rule_recovered'
                   ELSE 'rule_forgotten' END AS event_type
)
SELECT id, outcome, effective, event_type FROM changed
