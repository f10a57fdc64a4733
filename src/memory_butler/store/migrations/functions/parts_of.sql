-- What a compound of a question may be made of: each of its beginnings of five letters or more and endings
-- of four or more, as they are and by their stems. "Zahnarzttermin" is in no memory of "Termin beim
-- Zahnarzt". Most of them are no words, and so in no memory either; shorter beginnings are names, as in
-- "Theorie". A beginning that modifies a verb makes no compound: "Unternehmen" is no "nehmen". Of German,
-- Dutch, Danish, Norwegian and Swedish; in others such words are written apart.
CREATE OR REPLACE FUNCTION parts_of(form text, configurations text[]) RETURNS SETOF text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    WITH known AS MATERIALIZED (
        SELECT (c || '_stem')::regdictionary AS stemmer FROM unnest(configurations) c
        WHERE c IN ('german', 'dutch', 'danish', 'norwegian', 'swedish')
    ), cut AS MATERIALIZED (
        SELECT n, without_accents(left(form, n)) AS beginning, without_accents(right(form, -n)) AS ending
        FROM generate_series(2, length(form) - 4) n
        WHERE EXISTS (SELECT FROM known)
    ), parts AS MATERIALIZED (
        SELECT p.part FROM cut c CROSS JOIN LATERAL (
            VALUES (CASE WHEN c.n >= 5 THEN c.beginning END), (CASE WHEN c.n >= 3 THEN c.ending END)
        ) p (part)
        WHERE p.part IS NOT NULL AND c.beginning <> ALL (ARRAY[
            'abs', 'ander', 'auf', 'aus', 'bei', 'dar', 'durch', 'ein', 'einander', 'ent', 'entgegen', 'fest',
            'fort', 'gegen', 'haupt', 'her', 'heraus', 'herein', 'hin', 'hinter', 'los', 'miss', 'mit', 'nach',
            'nieder', 'ober', 'statt', 'teil', 'uber', 'unter', 'ver', 'vor', 'voran', 'voraus', 'weg', 'weiter',
            'wider', 'wieder', 'zer', 'zuruck', 'zusammen',
            'aan', 'achter', 'bij', 'deel', 'door', 'hoofd', 'mee', 'neer', 'onder', 'ont', 'over', 'plaats',
            'rond', 'samen', 'tegen', 'terug', 'toe', 'uit', 'voor',
            'bort', 'efter', 'fram', 'frem', 'for', 'genom', 'gjennom', 'igennem', 'mellan', 'mellem', 'mot', 'ned',
            'ner', 'sam', 'til', 'till', 'under', 'upp'])
    )
    SELECT part FROM parts
    UNION
    SELECT s.stem FROM parts p CROSS JOIN known k CROSS JOIN unnest(ts_lexize(k.stemmer, p.part)) s (stem)
    WHERE length(p.part) > 4
$$;
GRANT EXECUTE ON FUNCTION parts_of TO {runtime};
