-- name: mark
SELECT tenant_mark($1, $2, $3, $4, $5, $6)

-- name: has_tokens
SELECT EXISTS (SELECT FROM token_list($1))

-- name: tokens
SELECT tenant_tokens($1)

-- name: take_tokens
SELECT tenant_take_tokens($1, $2)

-- name: try_turn
SELECT pg_try_advisory_lock(hashtextextended('memory-butler mover ' || $1, 0))

-- name: end_turn
SELECT pg_advisory_unlock(hashtextextended('memory-butler mover ' || $1, 0))
