-- Functions that read or write a tenant's rows take the tenant as their first argument, by which Citus
-- finds the machine that they run on. These had found it by a setting alone.
DROP FUNCTION IF EXISTS find_episodes(vector, text, text, double precision, timestamptz, integer, integer, boolean, text[], timestamptz, timestamptz);
DROP FUNCTION IF EXISTS find_facts(vector, text, text, double precision, timestamptz, integer, integer, boolean, text[], timestamptz, timestamptz, uuid[]);
DROP FUNCTION IF EXISTS find_rules(vector, text, text, double precision, timestamptz, integer, integer, boolean, text[], timestamptz, timestamptz, uuid[]);
DROP FUNCTION IF EXISTS nearest_episodes(vector, text, double precision, timestamptz, integer, integer);
DROP FUNCTION IF EXISTS nearest_facts(vector, text, double precision, timestamptz, integer, integer);
DROP FUNCTION IF EXISTS nearest_rules(vector, text, double precision, timestamptz, integer, integer);
DROP FUNCTION IF EXISTS worded_episodes(text, text, double precision, timestamptz, integer, integer);
DROP FUNCTION IF EXISTS worded_facts(text, text, double precision, timestamptz, integer, integer);
DROP FUNCTION IF EXISTS worded_rules(text, text, double precision, timestamptz, integer, integer);
DROP FUNCTION IF EXISTS memory_history.find_episodes(vector, text, text, double precision, timestamptz, integer, integer, boolean, text[], timestamptz, timestamptz);
DROP FUNCTION IF EXISTS memory_history.find_facts(vector, text, text, double precision, timestamptz, integer, integer, boolean, text[], timestamptz, timestamptz);
DROP FUNCTION IF EXISTS memory_history.find_rules(vector, text, text, double precision, timestamptz, integer, integer, boolean, text[], timestamptz, timestamptz);
DROP FUNCTION IF EXISTS entities_named(text[]);
DROP FUNCTION IF EXISTS memory_history.entities_named(text[]);
DROP FUNCTION IF EXISTS episodes_with_terms(text);
DROP FUNCTION IF EXISTS rules_with_terms(text);
DROP FUNCTION IF EXISTS facts_with_terms(text, text[]);
DROP FUNCTION IF EXISTS facts_with_tag(text, text[]);
DROP FUNCTION IF EXISTS facts_referenced(integer, text[], integer);
DROP FUNCTION IF EXISTS erase_memories(uuid, uuid[], uuid[], uuid[], uuid[]);
DROP FUNCTION IF EXISTS erase_tenant();
DROP FUNCTION IF EXISTS remove_made(uuid);
DROP FUNCTION IF EXISTS remove_made_entities(uuid);
