-- Facts and rules are found by nearest_memories() alone, and what a search knows of a candidate besides
-- its ranks is read once, by the queries named bearing. The words' arm stops where a search has enough,
-- and what is trusted too little, or left out, is left out by the searches themselves.
DROP FUNCTION IF EXISTS find_episodes(text, vector, text, text, double precision, timestamptz, integer, integer, boolean, text[], timestamptz, timestamptz);
DROP FUNCTION IF EXISTS find_facts(text, vector, text, text, double precision, timestamptz, integer, integer, boolean, text[], timestamptz, timestamptz, uuid[]);
DROP FUNCTION IF EXISTS find_rules(text, vector, text, text, double precision, timestamptz, integer, integer, boolean, text[], timestamptz, timestamptz, uuid[]);
DROP FUNCTION IF EXISTS nearest_episodes(text, vector, text, double precision, timestamptz, integer, integer);
DROP FUNCTION IF EXISTS nearest_facts(text, vector, text, double precision, timestamptz, integer, integer);
DROP FUNCTION IF EXISTS nearest_rules(text, vector, text, double precision, timestamptz, integer, integer);
DROP FUNCTION IF EXISTS nearest_memories(text, text[], vector, text, double precision, timestamptz, integer, integer);
DROP FUNCTION IF EXISTS worded_episodes(text, text, text, double precision, timestamptz, integer, integer);
DROP FUNCTION IF EXISTS worded_facts(text, text, text, double precision, timestamptz, integer, integer);
DROP FUNCTION IF EXISTS worded_rules(text, text, text, double precision, timestamptz, integer, integer);
DROP FUNCTION IF EXISTS worded_memories(text, text[], text, text, double precision, timestamptz, integer, integer);
DROP FUNCTION IF EXISTS memory_history.find_episodes(text, vector, text, text, double precision, timestamptz, integer, integer, boolean, text[], timestamptz, timestamptz);
DROP FUNCTION IF EXISTS memory_history.find_facts(text, vector, text, text, double precision, timestamptz, integer, integer, boolean, text[], timestamptz, timestamptz);
DROP FUNCTION IF EXISTS memory_history.find_rules(text, vector, text, text, double precision, timestamptz, integer, integer, boolean, text[], timestamptz, timestamptz);
