-- words_and_terms() says the words as well, which terms_of() was asked for a second time.
DROP FUNCTION IF EXISTS terms_and_parts(text);
