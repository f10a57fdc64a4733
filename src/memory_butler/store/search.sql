-- name: found_episode
SELECT * FROM find_episodes($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)

-- name: found_fact
SELECT * FROM find_facts($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)

-- name: found_rule
SELECT * FROM find_rules($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)

-- name: worded_episode
SELECT 'episode' AS memory_type, w.* FROM worded_episodes($1, $2, $3, $4, $5, $6) w

-- name: worded_fact
SELECT 'fact' AS memory_type, w.* FROM worded_facts($1, $2, $3, $4, $5, $6) w

-- name: worded_rule
SELECT 'rule' AS memory_type, w.* FROM worded_rules($1, $2, $3, $4, $5, $6) w

-- name: nearest_episode
SELECT 'episode' AS memory_type, n.* FROM nearest_episodes($1, $2, $3, $4, $5, $6) n

-- name: nearest_fact
SELECT 'fact' AS memory_type, n.* FROM nearest_facts($1, $2, $3, $4, $5, $6) n

-- name: nearest_rule
SELECT 'rule' AS memory_type, n.* FROM nearest_rules($1, $2, $3, $4, $5, $6) n
