-- The words' arm over {table}: the `depth` best, and what scoring needs of each; by the same formula as
-- in find_{table}, without its deep half, planned and run in a fraction of the time.
--
-- A common word is in a thousand memories of a large store, and none that has only that word will be
-- among the best. So where more than `most` memories would have to be read, words lead from the rarest
-- on until that many are expected; the others find nothing by themselves, and count in what those found.
-- How common they are is then estimated from a sample of what the tenant may see: its first ids, which
-- are random. Where there are few memories, each that matches is read and counted.
--
-- What leads may be rarer than it seemed, or be in no memory at all: the next word leads too, until
-- `depth` memories are met or every word leads. So whatever any word can find is an answer.
CREATE FUNCTION worded_{table}(
    question text, scope_name text, min_confidence double precision, asked_at timestamptz,
    depth integer, most integer DEFAULT 500
) RETURNS TABLE (
    id uuid, rank bigint, text_rank double precision, matches_all boolean,
    importance double precision, confidence double precision, decay_rate double precision,
    last_confirmed_at timestamptz, last_referenced_at timestamptz, created_at timestamptz,
    maturity text
)
LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 20
SET search_path = pg_catalog, public, pg_temp
SET plan_cache_mode = force_custom_plan
SET random_page_cost = 1.1
AS $$
#variable_conflict use_column
DECLARE
    every_term CONSTANT tsquery := plainto_tsquery('english', left(question, 20000));
    terms CONSTANT tsquery[] := terms_of(question);
    leaders tsquery := array_to_string(terms, ' | ')::tsquery;
    sample CONSTANT integer := 256;
    seen double precision;
    reach text;
    matching double precision;
    sampled_with double precision[];
    estimated double precision[];
    in_all double precision;
    by_rarity integer[];
    led integer;
    met integer;
BEGIN
    IF terms IS NULL THEN
        RETURN;
    END IF;
    WITH sampled AS MATERIALIZED (
        SELECT m.id, m.search_vector FROM {table} m
        WHERE m.tenant_id = current_setting('butler.tenant_id', true)
          AND {visible}
          AND (scope_name IS NULL OR {scoped})
        ORDER BY m.id LIMIT sample
    )
    SELECT count(*), max(s.id::text), count(*) FILTER (WHERE s.search_vector @@ leaders),
           ARRAY(
               SELECT (SELECT count(*) FROM sampled s WHERE s.search_vector @@ t.query)
               FROM unnest(terms) WITH ORDINALITY AS t (query, term) ORDER BY t.term)
    INTO seen, reach, matching, sampled_with
    FROM sampled s;
    IF seen = 0 THEN
        RETURN;
    END IF;
    IF seen = sample THEN
        -- As many for each part of the space of ids as up to the last one of the sample.
        in_all := sample / greatest(
            ('x' || left(reach, 8))::bit(32)::bigint / 4294967296.0, 1e-9)::double precision;
        IF in_all * matching / seen > most THEN
            SELECT string_agg(t.query::text, ' | ') FILTER (WHERE t.leads)::tsquery,
                   array_agg(CASE WHEN NOT t.leads THEN in_all * t.share END ORDER BY t.term),
                   array_agg(t.term ORDER BY t.share, t.term),
                   count(*) FILTER (WHERE t.leads)
            INTO leaders, estimated, by_rarity, led
            FROM (
                SELECT u.*, sum(in_all * u.share) OVER by_rarity <= most
                            OR row_number() OVER by_rarity = 1 AS leads
                FROM (
                    SELECT q.query, q.term, sampled_with[q.term] / seen AS share
                    FROM unnest(terms) WITH ORDINALITY AS q (query, term)
                ) u
                WINDOW by_rarity AS (ORDER BY u.share, u.term)
            ) t;
            in_all := in_all * matching / seen;
            WHILE led < cardinality(terms) LOOP
                SELECT count(*) INTO met FROM (
                    SELECT FROM {table} m
                    WHERE m.tenant_id = current_setting('butler.tenant_id', true)
                      AND {visible}
                      AND (scope_name IS NULL OR {scoped})
                      AND {confident}
                      AND m.search_vector @@ leaders
                    LIMIT depth
                ) f;
                EXIT WHEN met >= depth;
                led := led + 1;
                leaders := leaders || terms[by_rarity[led]];
                estimated[by_rarity[led]] := NULL;
            END LOOP;
        END IF;
    END IF;

    RETURN QUERY
    WITH hits AS MATERIALIZED (
        SELECT m.id, m.search_vector, length(m.search_vector) AS words,
               m.search_vector @@ every_term AS matches_all
        FROM {table} m
        WHERE m.tenant_id = current_setting('butler.tenant_id', true)
          AND {visible}
          AND (scope_name IS NULL OR {scoped})
          AND {confident}
          AND m.search_vector @@ leaders
        LIMIT 20 * most::bigint
    ), matched AS MATERIALIZED (
        SELECT h.id, h.words, h.matches_all, t.term, ts_rank(h.search_vector, t.query) AS weight
        FROM hits h
        CROSS JOIN unnest(terms) WITH ORDINALITY AS t (query, term)
        WHERE h.search_vector @@ t.query
    ), rarity AS MATERIALIZED (
        SELECT f.term, ln(1 + (greatest(a.hits - f.found, 0) + 0.5) / (f.found + 0.5)) AS rarity, a.usual
        FROM (
            SELECT m.term, coalesce(estimated[m.term], count(*)) AS found
            FROM matched m GROUP BY m.term
        ) f
        CROSS JOIN (
            SELECT CASE WHEN estimated IS NULL THEN count(*) ELSE greatest(in_all, count(*)) END AS hits,
                   avg(h.words)::double precision AS usual
            FROM hits h
        ) a
    ), scored AS (
        SELECT m.id, m.matches_all,
               sum(r.rarity * m.weight ORDER BY m.term)
                   / sqrt(greatest(m.words, 1) / min(r.usual)) AS text_rank
        FROM matched m JOIN rarity r ON r.term = m.term
        GROUP BY m.id, m.matches_all, m.words
        ORDER BY m.matches_all DESC, text_rank DESC, m.id
        LIMIT depth
    )
    SELECT m.id, row_number() OVER (ORDER BY s.matches_all DESC, s.text_rank DESC, s.id),
           s.text_rank, s.matches_all,
           {importance}, {confidence}, {decay_rate}, {last_confirmed_at},
           m.last_referenced_at, m.created_at, {maturity}
    FROM scored s
    JOIN {table} m ON m.tenant_id = current_setting('butler.tenant_id', true) AND m.id = s.id;
END
$$;

REVOKE ALL ON FUNCTION worded_{table} FROM PUBLIC;
GRANT EXECUTE ON FUNCTION worded_{table} TO {runtime};
