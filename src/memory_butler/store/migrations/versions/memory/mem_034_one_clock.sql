-- A tick that was due before its entry was first seen is noted, and run by nobody.
ALTER TABLE job_runs DROP CONSTRAINT job_runs_status_known;
ALTER TABLE job_runs ADD CONSTRAINT job_runs_status_known
    CHECK (status IN ('running', 'succeeded', 'failed', 'skipped'));

-- It was an alarm clock only: what it had under way is in job_runs.
DROP SCHEMA IF EXISTS pgqueuer CASCADE;
