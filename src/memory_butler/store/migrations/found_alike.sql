-- What the searches find_…, of the present and of the past, have in common: so both find alike.
-- In `functions/` a name in braces stands for a block.

-- name: ranked_words
hits AS MATERIALIZED (
        (SELECT m.id, m.search_vector, length(m.search_vector) AS words, {session} AS session,
                true AS matches_all
         FROM {table} m
         WHERE m.tenant_id = tenant
           AND {visible}
           AND (scope_name IS NULL OR {scoped}) AND {allowed}
           AND {confident}
           AND m.search_vector @@ every_term
         ORDER BY m.id LIMIT 20000)
        UNION ALL
        (SELECT m.id, m.search_vector, length(m.search_vector), {session}, false
         FROM {table} m
         WHERE m.tenant_id = tenant
           AND {visible}
           AND (scope_name IS NULL OR {scoped}) AND {allowed}
           AND {confident}
           AND m.search_vector @@ any_term AND NOT m.search_vector @@ every_term
         ORDER BY m.id LIMIT 20000)
    ), matched AS MATERIALIZED (
        SELECT h.id, h.words, h.session, h.matches_all, t.term,
               ts_rank(h.search_vector, t.query) AS weight
        FROM hits h
        CROSS JOIN unnest(terms) WITH ORDINALITY AS t (query, term)
        WHERE h.search_vector @@ t.query
    ), rarity AS MATERIALIZED (
        SELECT f.term, ln(1 + (a.hits - f.found + 0.5) / (f.found + 0.5)) AS rarity, a.usual
        FROM (SELECT m.term, count(*)::double precision AS found FROM matched m GROUP BY m.term) f
        CROSS JOIN (SELECT count(*) AS hits, avg(h.words) AS usual FROM hits h) a
    ), scored AS (
        SELECT m.id, m.matches_all,
               sum(r.rarity * m.weight ORDER BY m.term)
                   / sqrt(greatest(m.words, 1) / min(r.usual)::double precision) AS text_rank
        FROM matched m JOIN rarity r ON r.term = m.term
        GROUP BY m.id, m.matches_all, m.words
        ORDER BY m.matches_all DESC, text_rank DESC, m.id
        LIMIT depth
    ), keyword AS (
        SELECT s.*, row_number() OVER (ORDER BY s.matches_all DESC, s.text_rank DESC, s.id) AS rank
        FROM scored s
    )

-- name: surroundings
seeds AS MATERIALIZED (
        SELECT m.id, around.before, around.after
        FROM found f
        JOIN {table} m
          ON m.tenant_id = tenant AND m.id = f.id
        CROSS JOIN LATERAL (SELECT {before} AS before, {after} AS after) around
    ), spread AS (
        -- By session: how often each word comes up in it, and in how many sessions the word does.
        SELECT t.session, t.term, t.times,
               count(*) OVER (PARTITION BY t.term)::double precision AS sessions
        FROM (
            SELECT m.session, m.term, count(*)::double precision AS times
            FROM matched m WHERE deep AND m.session IS NOT NULL GROUP BY m.session, m.term
        ) t
    ), talks AS (
        -- BM25 of a session as one document, its length left out (k1 = 1.2, b = 0).
        SELECT s.session,
               sum(ln(1 + (a.sessions - s.sessions + 0.5) / (s.sessions + 0.5))
                   * 2.2 * s.times / (s.times + 1.2) ORDER BY s.term) AS rank
        FROM spread s CROSS JOIN (SELECT count(DISTINCT p.session) AS sessions FROM spread p) a
        GROUP BY s.session
    ), wanted AS (
        SELECT s.id FROM seeds s
        UNION
        SELECT around.id
        FROM seeds s CROSS JOIN LATERAL (SELECT unnest(s.before || s.after) AS id LIMIT 4) around
        WHERE deep
    )
