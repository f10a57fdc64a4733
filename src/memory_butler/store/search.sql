-- name: episodes
SELECT * FROM search_episodes($1, $2, $3, $4, $5, $6, $7)

-- name: facts
SELECT * FROM search_facts($1, $2, $3, $4, $5, $6, $7)

-- name: rules
SELECT * FROM search_rules($1, $2, $3, $4, $5, $6, $7)
