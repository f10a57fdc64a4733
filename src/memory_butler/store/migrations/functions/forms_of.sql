-- The words of a text that is marked with configurations, by their places: of each word the lexemes that
-- these and English make of it, and the word itself without accents. So two texts whose languages were
-- taken for different ones still meet by the plain word; and an English text, or one that was stored before
-- `reindex-words`, by its English lexemes. What every configuration of the mark leaves out is a small word.
-- The mark is that of domain/wording.py: the names, between two unit separators.
--
-- The parser takes every sign outside ASCII for a letter: quotes and the like are made spaces before. A
-- word of accents alone is none, and one that is too long for a lexeme without its accents is left out.
CREATE OR REPLACE FUNCTION forms_of(marked text) RETURNS TABLE (place integer, form text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    WITH said AS MATERIALIZED (
        SELECT string_to_array(split_part(marked, E'\x1f', 2), ',')::regconfig[] AS configurations,
               regexp_replace(split_part(marked, E'\x1f', 3),
                   '[\u00a1\u00ab\u00bb\u00bf\u060c\u061b\u061f\u0964\u0965\u2010-\u2027\u2030-\u205e\u3001-\u3003\u3008-\u3020\uff01-\uff0f\uff1a-\uff1f]',
                   ' ', 'g') AS words
    ), plain_lexemes AS MATERIALIZED (
        SELECT t.positions, without_accents(t.lexeme) AS form
        FROM said s CROSS JOIN unnest(to_tsvector('simple', s.words)) t
    ), plain AS MATERIALIZED (
        SELECT p.place, l.form FROM plain_lexemes l CROSS JOIN unnest(l.positions) AS p (place)
        WHERE octet_length(l.form) BETWEEN 1 AND 2046
    ), stems AS MATERIALIZED (
        SELECT p.place, t.lexeme AS form
        FROM said s CROSS JOIN unnest(s.configurations) AS c (name)
        CROSS JOIN to_tsvector(c.name, s.words) AS v (vector)
        CROSS JOIN unnest(v.vector) t CROSS JOIN unnest(t.positions) AS p (place)
    ), english AS MATERIALIZED (
        SELECT p.place, t.lexeme AS form
        FROM said s CROSS JOIN unnest(to_tsvector('english', s.words)) t
        CROSS JOIN unnest(t.positions) AS p (place)
    )
    SELECT f.place, f.form
    FROM (SELECT * FROM stems UNION SELECT * FROM plain UNION SELECT * FROM english) f
    WHERE f.place IN (SELECT s.place FROM stems s) AND f.place IN (SELECT p.place FROM plain p)
$$;
GRANT EXECUTE ON FUNCTION forms_of TO {runtime};
