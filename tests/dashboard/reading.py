"""What keeps the tests that share a server from depending on each other: nothing can be written."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# What a server notes while it is read: the model that it uses, its jobs, the contexts it gave.
_NOTES = ("embedding_versions", "job_runs", "served", "context_receipts")

# Triggers hold everybody, the owner's functions too; a grant holds the runtime role alone.
REFUSE_TO_WRITE = f"""
CREATE FUNCTION refuse_to_write() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE read_only_sql_transaction
        USING MESSAGE = 'a test that changes memories needs a server of its own';
END $$;
DO $$
DECLARE
    one regclass;
BEGIN
    FOR one IN SELECT oid FROM pg_class
               WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
                 AND relname <> ALL (ARRAY[{", ".join(f"'{name}'" for name in _NOTES)}]) LOOP
        EXECUTE format('CREATE TRIGGER refuse_to_write BEFORE INSERT OR UPDATE OR DELETE ON %s '
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
    """Each journal's hash; a log of SQLite beside it that holds anything counts too."""
    return {
        file: hashlib.sha256(file.read_bytes()).hexdigest()
        for file in folder.glob("journal/**/*.sqlite*")
        if file.stat().st_size and not file.name.endswith("-shm")
    }
