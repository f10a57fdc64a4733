-- name: begin
-- The key arbitrates: of several servers that wake for one tick, one gets the row back.
INSERT INTO job_runs (job, scheduled_for, started_at, status)
VALUES ($1, $2, $3, 'running')
ON CONFLICT DO NOTHING
RETURNING true

-- name: last
SELECT max(scheduled_for) FROM job_runs WHERE job = $1 AND scheduled_for <= $2

-- name: newest
SELECT max(started_at) FROM job_runs WHERE $1::timestamptz IS NULL OR started_at < $1

-- name: last_success
SELECT max(started_at) FROM job_runs
WHERE job = ANY($1) AND status = 'succeeded' AND started_at <= $2

-- name: give_back
DELETE FROM job_runs WHERE job = $1 AND scheduled_for = $2 AND status = 'running'

-- name: skip
INSERT INTO job_runs (job, scheduled_for, started_at, finished_at, status)
VALUES ($1, $2, $3, $3, 'skipped')
ON CONFLICT DO NOTHING

-- name: end
UPDATE job_runs SET status = $3, detail = $4, finished_at = $5 WHERE job = $1 AND scheduled_for = $2

-- name: latest
SELECT job, scheduled_for, started_at, finished_at, status, detail FROM job_runs
WHERE status <> 'skipped'
ORDER BY started_at DESC, job LIMIT $1

-- name: forget_before
DELETE FROM job_runs r
WHERE r.started_at < $1
  AND EXISTS (
    SELECT FROM job_runs n WHERE n.job = r.job AND n.scheduled_for > r.scheduled_for
      AND (n.status = 'succeeded' OR r.status <> 'succeeded')
  )

-- name: tenants_with_work
-- In the order of their names, beyond $3.
SELECT tenants_with_work($1, $2, $3, $4, $5)
