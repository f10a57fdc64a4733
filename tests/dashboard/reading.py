"""What keeps the tests that share a server from depending on each other: nothing can be written."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memory_butler.journal.meaning import MEANINGS

# What a server notes while it is read: the model that it uses, its jobs, the contexts it gave, and
# how often a search found a memory.
_NOTES = ("embedding_versions", "job_runs", "served", "context_receipts")
_COUNTERS = ("reference_count", "last_referenced_at")


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(f"'{name}'" for name in names)


# Triggers hold everybody, the owner's functions too; a grant holds the runtime role alone.
# They fire after the change, when the generated columns are known.
REFUSE_TO_WRITE = f"""
CREATE FUNCTION refuse_to_write() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    counters CONSTANT text[] := ARRAY[{_listed(_COUNTERS)}];
BEGIN
    IF TG_OP = 'UPDATE' AND to_jsonb(OLD) - counters = to_jsonb(NEW) - counters THEN
        RETURN NULL;
    END IF;
    RAISE read_only_sql_transaction
        USING MESSAGE = 'a test that changes memories needs a server of its own';
END $$;
DO $$
DECLARE
    one regclass;
BEGIN
    FOR one IN SELECT oid FROM pg_class
               WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
                 AND relname <> ALL (ARRAY[{_listed(_NOTES)}]) LOOP
        EXECUTE format('CREATE TRIGGER refuse_to_write AFTER INSERT OR UPDATE OR DELETE ON %s '
                       'FOR EACH ROW EXECUTE FUNCTION refuse_to_write()', one);
    END LOOP;
END $$;
"""


@contextmanager
def unchanged(folder: Path) -> Iterator[None]:
    """Fail at the end of the block if a journal in the folder was written to."""
    before = _journals(folder)
    assert before, f"no journal in {folder}"
    yield
    assert _journals(folder) == before, "a test wrote to the journal of the read-only server"


def _journals(folder: Path) -> dict[Path, str]:
    """Each journal's hash; a log of SQLite beside it that holds anything counts too.

    The vectors of messages do not: a server makes them by itself.
    """
    return {
        file: hashlib.sha256(file.read_bytes()).hexdigest()
        for file in folder.glob("journal/**/*.sqlite*")
        if file.stat().st_size
        and not file.name.endswith("-shm")
        and not file.name.startswith(MEANINGS)
    }
