-- It has more arguments now, with the values that it had.
DROP FUNCTION IF EXISTS tenants_with_work(text, timestamptz);
