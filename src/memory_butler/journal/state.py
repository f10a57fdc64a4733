"""The key-value store of whatever must survive between two calls (JST-01).

Keys in use: `recalled` (the answers to the last reply's look-ups), `run:<id>` and `compiled_until`
(how far into the log a maintenance run, and the last one completed, could see), `ambient_pending`
(a map that is committed and not yet in its file), `ambient` (the map of a sealed journal, which has
no such file), `report:<id>` (the report of a maintenance
run), `ambient:<id>` (the prose that a run brought, where it brought any), `import:<digest>` (how
far an import has come), `handed_over_to`, `handing_over` and `session_ended` (how far another
memory has been given the log, see `sessions.py`), `missed:<id>` (what the commands of a message did
not find, and which plans that repeat they ended), `undoable` (what messages changed in mind lately,
see `corrections.py`), `introduction` (who talks with whom, see `introduction.py`),
`picture:<number>` (a message's picture, see
`pictures.py`), `kept:<id>` (the changes of a maintenance run that a person approved), `erased_key`
and `erased:<hash>` (how many messages of that keyed hash were erased, see `erasing.py`).
"""

import sqlite3
from datetime import datetime

from memory_butler.journal.items import to_text
from memory_butler.journal.queries import load

SQL = load("state")

AMBIENT = "ambient"
AMBIENT_PENDING = "ambient_pending"


def get(db: sqlite3.Connection, key: str) -> str | None:
    """The value of a key, or None."""
    row = db.execute(SQL["get"], (key,)).fetchone()
    return row[0] if row else None


def put(db: sqlite3.Connection, key: str, value: str, at: datetime) -> None:
    """Set a key, dated `at`."""
    db.execute(SQL["put"], {"key": key, "value": value, "at": to_text(at)})


def drop(db: sqlite3.Connection, key: str) -> None:
    """Remove a key; one that is not there is no error."""
    db.execute(SQL["drop"], (key,))


def with_prefix(db: sqlite3.Connection, prefix: str) -> dict[str, str]:
    """Every key that begins with `prefix`, and its value."""
    return dict(db.execute(SQL["with_prefix"], {"prefix": prefix}).fetchall())
