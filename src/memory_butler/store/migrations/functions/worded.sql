-- The words' arm over {table}: the `depth` best, and what scoring needs of each.
--
-- A common word is in a thousand memories of a large store, and none that has only that word will be
-- among the best. So where more than `most` memories would have to be read, words lead from the rarest
-- on until that many are expected. Of the words that are too common for that, two together lead: what
-- has both of them comes before what has one. The others find nothing by themselves, and count in what
-- those found. Where there are few memories, each that matches is read and counted.
--
-- How common words are is then estimated from a sample of what the tenant may see: its first ids,
-- which are random; of a pair, as if words came together by chance. The sample is so large that one of
-- it stands for `most` memories or fewer: what a smaller one lacks may still be in many times as many.
--
-- What leads may be rarer than it seemed, or be in no memory at all: the next pair or word leads too,
-- until `enough` memories (`depth`, unless it is given) are met or every word leads. So where fewer are
-- met, whatever any word can find is an answer. What leads may be more common, too: no more than four
-- times `most` are read, and what has every word.
--
-- Each plan of a statement opens all indexes of the table, which takes longer than most of them run;
-- and the index of words holds all tenants. So the memories are read by one statement, which goes
-- through the index once, and ranked by another, which reads no table. The plan of that one is kept,
-- and the sample's (the first ids, in their index's order): they are the same for every tenant.
CREATE OR REPLACE FUNCTION worded_{table}(
    of_tenant text, question text, scope_name text, min_confidence double precision,
    asked_at timestamptz, depth integer, most integer DEFAULT 500,
    enough integer DEFAULT NULL, min_trust smallint DEFAULT NULL, without uuid[] DEFAULT NULL
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
SET enable_sort = on
AS $$
#variable_conflict use_column
DECLARE
    tenant CONSTANT text := CASE
        WHEN of_tenant = current_setting('butler.tenant_id', true) THEN of_tenant END;
    every_term CONSTANT tsquery := every_term(question);
    terms CONSTANT tsquery[] := terms_of(question);
    any_term CONSTANT tsquery := array_to_string(terms, ' | ')::tsquery;
    sample integer := 256;
    seen double precision;
    reach text;
    matching double precision;
    sampled_with double precision[];
    in_all double precision;
    pairing CONSTANT integer := 8;
    leads text[];
    singly integer[];
    led integer;
    estimated double precision[];
    at_most CONSTANT bigint := 4 * most::bigint;
    sought tsquery := any_term;
    already uuid[] := '{}';
    met worded_memory[] := '{}';
BEGIN
    IF terms IS NULL THEN
        RETURN;
    END IF;
    LOOP
        PERFORM set_config('plan_cache_mode', kept_plans(), true),
                set_config('enable_sort', 'off', true);
        WITH sampled AS MATERIALIZED (
            SELECT m.id, m.search_vector FROM {table} m
            WHERE m.tenant_id = tenant
              AND {visible}
              AND (scope_name IS NULL OR {scoped}) AND {allowed}
            ORDER BY m.id LIMIT sample
        )
        SELECT count(*), max(s.id::text), count(*) FILTER (WHERE s.search_vector @@ any_term),
               ARRAY(
                   SELECT (SELECT count(*) FROM sampled s WHERE s.search_vector @@ t.query)
                   FROM unnest(terms) WITH ORDINALITY AS t (query, word) ORDER BY t.word)
        INTO seen, reach, matching, sampled_with
        FROM sampled s;
        PERFORM set_config('plan_cache_mode', 'force_custom_plan', true),
                set_config('enable_sort', 'on', true);
        IF seen = 0 THEN
            RETURN;
        END IF;
        IF seen < sample THEN
            -- A second one that is smaller than asked for is all that there is.
            in_all := CASE WHEN in_all IS NOT NULL THEN seen END;
            EXIT;
        END IF;
        -- As many for each part of the space of ids as up to the last one of the sample.
        in_all := sample / greatest(
            ('x' || left(reach, 8))::bit(32)::bigint / 4294967296.0, 1e-9)::double precision;
        EXIT WHEN sample > 256 OR in_all <= sample * most::bigint;
        sample := least(ceil(in_all / most), 4096);
    END LOOP;
    matching := in_all * matching / seen;
    IF matching > most THEN
        WITH known AS (
            SELECT k.*, row_number() OVER (PARTITION BY k.alone ORDER BY k.expected, k.word) AS place
            FROM (
                SELECT q.query, q.word, in_all * sampled_with[q.word] / seen AS expected,
                       sum(in_all * sampled_with[q.word] / seen)
                           OVER (ORDER BY sampled_with[q.word], q.word) <= most AS alone
                FROM unnest(terms) WITH ORDINALITY AS q (query, word)
            ) k
        ), candidates AS (
            SELECT k.query, k.word, k.expected, CASE WHEN k.alone THEN 1 ELSE 3 END AS turn
            FROM known k
            UNION ALL
            SELECT a.query && b.query, NULL, a.expected * b.expected / in_all, 2
            FROM known a JOIN known b ON a.place < b.place
            WHERE NOT a.alone AND NOT b.alone AND b.place <= pairing
        )
        SELECT array_agg(c.query::text ORDER BY c.place), array_agg(c.word ORDER BY c.place),
               count(*) FILTER (WHERE c.upto <= most OR c.place = 1),
               (SELECT array_agg(k.expected ORDER BY k.word) FROM known k)
        INTO leads, singly, led, estimated
        FROM (
            SELECT c.*, sum(c.expected) OVER by_turn AS upto, row_number() OVER by_turn AS place
            FROM candidates c
            WINDOW by_turn AS (ORDER BY c.turn, c.expected, c.word, c.query::text)
        ) c;
        sought := array_to_string(leads[:led], ' | ')::tsquery;
    END IF;

    LOOP
        met := met || ARRAY(
            SELECT (m.id, m.search_vector @@ every_term, length(m.search_vector), ARRAY(
                        SELECT CASE WHEN m.search_vector @@ t.query
                                    THEN ts_rank(m.search_vector, t.query) END
                        FROM unnest(terms) WITH ORDINALITY AS t (query, word) ORDER BY t.word),
                    {importance}, {confidence}, {decay_rate}, {last_confirmed_at},
                    m.last_referenced_at, m.created_at, {maturity})::worded_memory
            FROM {table} m
            WHERE m.tenant_id = tenant
              AND {visible}
              AND (scope_name IS NULL OR {scoped}) AND {allowed}
              AND {confident}
              AND m.search_vector @@ sought
              AND m.id <> ALL (already)
            LIMIT at_most
        );
        EXIT WHEN leads IS NULL OR sought = every_term;
        IF cardinality(met) >= at_most THEN
            -- Which of them were read is left to where they lie: none may be missing that has every word.
            sought := every_term;
        ELSE
            EXIT WHEN led = cardinality(leads) OR cardinality(met) >= coalesce(enough, depth);
            led := led + 1;
            sought := leads[led]::tsquery;
        END IF;
        already := ARRAY(SELECT h.id FROM unnest(met) h);
    END LOOP;
    IF cardinality(met) < at_most THEN
        -- The memories of a word that leads alone are all there, to be counted.
        FOR step IN 1 .. coalesce(led, 0) LOOP
            IF singly[step] IS NOT NULL THEN
                estimated[singly[step]] := NULL;
            END IF;
        END LOOP;
    END IF;

    PERFORM set_config('plan_cache_mode', 'force_generic_plan', true);
    RETURN QUERY
    WITH hits AS MATERIALIZED (
        SELECT h.* FROM unnest(met) h
    ), of_all AS MATERIALIZED (
        SELECT CASE WHEN leads IS NULL THEN count(*) ELSE greatest(matching, count(*)) END AS hits,
               avg(h.words)::double precision AS usual
        FROM hits h
    ), rarities AS MATERIALIZED (
        SELECT array_agg(
                   ln(1 + (greatest(a.hits - f.found, 0) + 0.5) / (f.found + 0.5)) ORDER BY f.word
               ) AS of_words
        FROM (
            SELECT t.word, coalesce(estimated[t.word], (
                       SELECT count(*) FROM hits h WHERE h.weights[t.word] IS NOT NULL)) AS found
            FROM generate_subscripts(terms, 1) t (word)
        ) f
        CROSS JOIN of_all a
    ), scored AS (
        SELECT h.*, (
                   SELECT sum(r.of_words[w.word] * w.weight ORDER BY w.word)
                   FROM unnest(h.weights) WITH ORDINALITY AS w (weight, word)
               ) / sqrt(greatest(h.words, 1) / a.usual) AS text_rank
        FROM hits h CROSS JOIN rarities r CROSS JOIN of_all a
    )
    SELECT s.id, row_number() OVER (ORDER BY s.matches_all DESC, s.text_rank DESC, s.id),
           s.text_rank, s.matches_all,
           s.importance, s.confidence, s.decay_rate, s.last_confirmed_at,
           s.last_referenced_at, s.created_at, s.maturity
    FROM scored s
    ORDER BY s.matches_all DESC, s.text_rank DESC, s.id
    LIMIT depth;
END
$$;

REVOKE ALL ON FUNCTION worded_{table} FROM PUBLIC;
GRANT EXECUTE ON FUNCTION worded_{table} TO {runtime};
