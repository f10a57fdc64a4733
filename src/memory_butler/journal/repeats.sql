-- Version 4: what repeats (C-290). A rule of RFC 5545 on the local clock face, or NULL.
ALTER TABLE main.working_memory ADD COLUMN repeats TEXT CHECK (repeats IS NULL OR type = 'plan');
