-- A correction (the new fact begins no later) says that the old one never held; one with an end of its
-- own kept it, and so was true again whenever somebody asked what had been.
ALTER TABLE facts NO FORCE ROW LEVEL SECURITY;
UPDATE facts old SET valid_until = NULL
FROM facts new
WHERE new.tenant_id = old.tenant_id AND new.supersedes_id = old.id
  AND old.validity = 'superseded' AND old.valid_until IS NOT NULL
  AND new.valid_from <= old.valid_from;
ALTER TABLE facts FORCE ROW LEVEL SECURITY;
