-- name: authenticate
SELECT token_id, tenant_id, token_name, token_scopes FROM authenticate($1, $2)

-- name: create
SELECT token_create($1, $2, $3, $4, $5, $6)

-- name: list
SELECT * FROM token_list($1)

-- name: revoke
SELECT token_revoke($1, $2)

-- name: used
SELECT token_used($1, $2)
