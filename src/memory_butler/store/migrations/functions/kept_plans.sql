-- How a plan that is the same for every tenant is kept; not on Citus, which finds the shard of a tenant
-- only where the plan is made for it.
CREATE OR REPLACE FUNCTION kept_plans() RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN current_setting('citus.version', true) IS NULL THEN 'force_generic_plan'
                ELSE 'force_custom_plan' END
$$;
GRANT EXECUTE ON FUNCTION kept_plans TO {runtime};
