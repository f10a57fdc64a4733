-- What a person types into a filter: every word must occur, the last may be unfinished. Empty where
-- the text has stop words or signs alone, or letters of Chinese, Japanese or Korean, whose words have no
-- spaces between them; the callers then compare letter by letter. Half a word tells no language: each is
-- looked for as English has it, and as it stands, which finds the plain words of the others.
CREATE OR REPLACE FUNCTION prefix_terms(typed text) RETURNS tsquery
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT coalesce(string_agg('(' || w.forms || ')', ' & ' ORDER BY w.place), '')::tsquery
    FROM (
        SELECT f.place, string_agg(
            quoted_lexeme(f.form) || CASE WHEN f.place = f.last THEN ':*' ELSE '' END, ' | ') AS forms
        FROM (
            SELECT k.*, max(k.place) OVER () AS last
            FROM forms_of(E'\x1fenglish\x1f' || left(typed, 1000)) k
            WHERE typed !~ '[\u1100-\u11ff\u3005\u3007\u3041-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003134f]'
        ) f
        GROUP BY f.place
    ) w
$$;
GRANT EXECUTE ON FUNCTION prefix_terms TO {runtime};
