-- name: episodes
SELECT * FROM find_episodes($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)

-- name: facts
SELECT * FROM find_facts($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)

-- name: rules
SELECT * FROM find_rules($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
