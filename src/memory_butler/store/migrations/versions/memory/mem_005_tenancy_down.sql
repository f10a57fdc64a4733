DROP FUNCTION
    authenticate(bytea, timestamptz),
    token_create(text, text, bytea, text[], timestamptz, timestamptz),
    token_list(text), token_revoke(uuid, timestamptz), token_used(uuid, timestamptz),
    tenants_with_work(text, timestamptz);
REVOKE ALL ON ALL TABLES IN SCHEMA public FROM {runtime};
REVOKE USAGE ON SCHEMA public FROM {runtime};
DROP POLICY episodes_of_tenant ON episodes;
DROP POLICY episodes_of_owner ON episodes;
DROP POLICY facts_of_tenant ON facts;
DROP POLICY facts_of_owner ON facts;
DROP POLICY rules_of_tenant ON rules;
DROP POLICY rules_of_owner ON rules;
DROP POLICY memory_links_of_tenant ON memory_links;
DROP POLICY memory_links_of_owner ON memory_links;
DROP POLICY entities_of_tenant ON entities;
DROP POLICY entities_of_owner ON entities;
DROP POLICY memory_events_of_tenant ON memory_events;
DROP POLICY memory_events_of_owner ON memory_events;
DROP POLICY rule_applications_of_tenant ON rule_applications;
DROP POLICY rule_applications_of_owner ON rule_applications;
DROP POLICY memory_versions_of_tenant ON memory_versions;
DROP POLICY memory_versions_of_owner ON memory_versions;
DROP POLICY served_of_tenant ON served;
DROP POLICY served_of_owner ON served;
