-- The words of a text that is marked with configurations, by their places: of each word the lexemes that
-- these make of it, and the word itself without accents. So two texts whose languages were taken for
-- different ones still meet by the plain word. What every configuration leaves out is a small word.
-- The mark is that of domain/wording.py: the names, between two unit separators.
CREATE OR REPLACE FUNCTION forms_of(marked text) RETURNS TABLE (place integer, form text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    WITH said AS MATERIALIZED (
        SELECT string_to_array(split_part(marked, E'\x1f', 2), ',')::regconfig[] AS configurations,
               split_part(marked, E'\x1f', 3) AS words
    ), stems AS MATERIALIZED (
        SELECT p.place, t.lexeme
        FROM said s CROSS JOIN unnest(s.configurations) AS c (name)
        CROSS JOIN to_tsvector(c.name, s.words) AS v (vector)
        CROSS JOIN unnest(v.vector) t CROSS JOIN unnest(t.positions) AS p (place)
    )
    SELECT s.place, s.lexeme FROM stems s
    UNION
    SELECT p.place, without_accents(t.lexeme)
    FROM said s CROSS JOIN unnest(to_tsvector('simple', s.words)) t CROSS JOIN unnest(t.positions) AS p (place)
    WHERE p.place IN (SELECT k.place FROM stems k)
$$;
GRANT EXECUTE ON FUNCTION forms_of TO {runtime};
