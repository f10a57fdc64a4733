-- The words of each of some texts, in their order.
CREATE OR REPLACE FUNCTION words_of_each(said text[]) RETURNS tsvector[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT array_agg(words_of(s.text) ORDER BY s.place) FROM unnest(said) WITH ORDINALITY AS s (text, place)
$$;
GRANT EXECUTE ON FUNCTION words_of_each TO {runtime};
