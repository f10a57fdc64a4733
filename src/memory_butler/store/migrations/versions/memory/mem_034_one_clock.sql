-- A tick that was due before its entry was first seen is noted, and run by nobody.
ALTER TABLE job_runs DROP CONSTRAINT job_runs_status_known;
ALTER TABLE job_runs ADD CONSTRAINT job_runs_status_known
    CHECK (status IN ('running', 'succeeded', 'failed', 'skipped'));

-- It was an alarm clock only: what it had under way is in job_runs.
DROP SCHEMA IF EXISTS pgqueuer CASCADE;

-- The searches of both retrievers in one, which `worded_…` and `nearest_…` have replaced.
DROP FUNCTION IF EXISTS search_episodes(vector, text, text, double precision, timestamptz, integer, integer);
DROP FUNCTION IF EXISTS search_facts(vector, text, text, double precision, timestamptz, integer, integer);
DROP FUNCTION IF EXISTS search_rules(vector, text, text, double precision, timestamptz, integer, integer);
DROP FUNCTION IF EXISTS any_of_terms(text);
