"""A sealed journal: what was said is encrypted in its file, and read and written like any other.

Its tables are named `sealed_...`. Over them lie temporary views by the usual names, with triggers
that seal what is written: no query outside of this module knows whether its journal is sealed.

Contents are sealed with AES-256-GCM, each for its place: table, column, and what tells the row from
others. Names that rows are found by (who spoke, keys of fragments) are sealed with AES-SIV: the
same name is the same bytes, so that constraints and look-ups work on them. Times, kinds, tags and
numbers stay as they are, because the file finds and orders rows by them.
"""

import os
import re
import secrets
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal
from weakref import WeakKeyDictionary

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, AESSIV
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from memory_butler.domain.errors import ConfigurationError, IntegrityViolation
from memory_butler.files import read_only
from memory_butler.vault.keyring import DataKey, Keyring, KeySource

Progress = Callable[[int, int], None]

# A file of this version is one of the version before with its contents sealed: programs that know
# no sealed files refuse it.
SEALED_VERSION: Final = 5

_NONCE_BYTES: Final = 12
_TAG_BYTES: Final = 16
_FILE_BYTES: Final = 16
# Rows that are sealed between two words of progress.
_BATCH: Final = 1_000
# More fragments than a journal has; each name is unsealed once a process.
_NAMES: Final = 65_536
# Of the tables of a sealed file.
PREFIX: Final = "sealed_"
# The views of the present; those of the past lie over the same.
OPENED: Final = "opened_"
_MARK: Final = """
    CREATE TABLE sealing (key TEXT NOT NULL, file TEXT NOT NULL, scrubbed INTEGER NOT NULL)
"""


@dataclass(frozen=True, slots=True)
class Mark:
    """What a sealed file says of itself: the ids of its key and of the file. Where it is not
    `scrubbed`, plain text of before may be left in it or beside it."""

    key: str
    file: str
    scrubbed: bool


@dataclass(frozen=True, slots=True)
class _Table:
    """The columns of a table in their order: `plain`, a `name`, or a `text`, which is bound to the
    columns `bound`; `key` tells a row from others."""

    name: str
    key: tuple[str, ...]
    bound: tuple[str, ...]
    columns: dict[str, Literal["plain", "name", "text"]]


TABLES: Final = (
    _Table(
        "events",
        ("id",),
        ("id", "ts", "actor"),
        {"id": "plain", "ts": "plain", "content": "text", "actor": "name", "image_path": "text"},
    ),
    _Table(
        "working_memory",
        ("id",),
        ("id", "type", "created_at"),
        {
            "id": "plain",
            "event_id": "plain",
            "type": "plain",
            "content": "text",
            "subject": "text",
            "actor": "name",
            "status": "plain",
            "due": "plain",
            "created_at": "plain",
            "refreshed_at": "plain",
            "resolved_at": "plain",
            "repeats": "plain",
        },
    ),
    _Table(
        "fragments",
        ("key",),
        ("key",),
        {
            "key": "name",
            "ambient": "text",
            "recognition": "text",
            "inventory": "text",
            "created_at": "plain",
            "updated_at": "plain",
        },
    ),
    _Table(
        "working_memory_refs",
        ("wm_id", "fragment_key"),
        (),
        {"wm_id": "plain", "fragment_key": "name"},
    ),
    _Table(
        "fragment_sources",
        ("fragment_key", "event_id"),
        (),
        {"fragment_key": "name", "event_id": "plain"},
    ),
    _Table(
        "fragment_edges",
        ("source_key", "target_key"),
        ("source_key", "target_key"),
        {"source_key": "name", "target_key": "name", "relation": "text"},
    ),
    _Table(
        "fragment_versions",
        ("id",),
        ("id", "fragment_key", "known_from"),
        {
            "id": "plain",
            "fragment_key": "name",
            "known_from": "plain",
            "known_until": "plain",
            "state": "text",
            "run_id": "plain",
        },
    ),
    _Table("state", ("key",), ("key",), {"key": "plain", "value": "text", "updated_at": "plain"}),
)


_OF_MAIN: Final = re.compile(rf"\bmain\.({'|'.join(one.name for one in TABLES)})\b")


def silent(_done: int, _total: int) -> None:
    """Progress that is told to nobody."""


class Cipher:
    """Seals and opens what one file holds, with keys that are derived for it alone."""

    def __init__(self, key: DataKey, file: str) -> None:
        info = f"memory-butler journal {key.id} {file}".encode()
        derived = HKDF(SHA256(), 96, salt=None, info=info).derive(key.secret)
        self._contents, self._names = AESGCM(derived[:32]), AESSIV(derived[32:])
        # As SQL functions they are called for every row of a table.
        self.named = lru_cache(_NAMES)(self._named)
        self.name_of = lru_cache(_NAMES)(self._name_of)

    def seal(self, data: bytes, place: str) -> bytes:
        """Something that can be opened at this place alone."""
        nonce = os.urandom(_NONCE_BYTES)
        return nonce + self._contents.encrypt(nonce, data, place.encode())

    def open(self, sealed: bytes, place: str) -> bytes:
        """What `seal` was given.

        Raises:
            InvalidTag, ValueError, TypeError: it was changed, or comes from elsewhere.
        """
        return self._contents.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], place.encode())

    def open_into(self, sealed: memoryview, place: str, clear: memoryview) -> int:
        """As `open`, into memory that is there; how many bytes it is.

        Raises:
            InvalidTag, ValueError: it was changed, comes from elsewhere, or `clear` is too short.
        """
        size = len(sealed) - _NONCE_BYTES - _TAG_BYTES
        if size < 0:
            raise ValueError("too short to be sealed")
        nonce, rest = sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:]
        return self._contents.decrypt_into(nonce, rest, place.encode(), clear[:size])

    def sealed(self, value: object, place: str) -> bytes:
        """A value for the file; `place` is where it will stand."""
        return self.seal(str(value).encode(), place)

    def opened(self, value: bytes, place: str) -> str:
        """A value from the file; raises as `open` does."""
        return self.open(value, place).decode()

    def _named(self, name: str | None) -> bytes | None:
        return None if name is None else self._names.encrypt(name.encode(), None)

    def _name_of(self, token: bytes | None) -> str | None:
        return None if token is None else self._names.decrypt(token, None).decode()


# Kept as long as a keyring holds the key, and with it the names: every use of a journal opens its
# file anew. Of each key by the file's id.
_ciphers: WeakKeyDictionary[DataKey, dict[str, Cipher]] = WeakKeyDictionary()
_FILES: Final = 32


def _cipher(key: DataKey, file: str) -> Cipher:
    of_files = _ciphers.setdefault(key, {})
    found = of_files.get(file)
    if found is None:
        if len(of_files) >= _FILES:
            of_files.clear()
        found = of_files[file] = Cipher(key, file)
    return found


@dataclass(slots=True)
class Sealing:
    """How an open file is sealed, on its connection; looked at again when its schema changed."""

    path: Path
    keys: KeySource
    cipher: Cipher | None = None
    _schema: int | None = field(default=None, init=False)
    # What could not be opened last: SQLite tells no more than that a function failed.
    _damaged: str | None = field(default=None, init=False)

    def is_current(self, db: sqlite3.Connection) -> bool:
        """Whether nobody has changed the schema since `look`; within a transaction."""
        return bool(db.execute("PRAGMA main.schema_version").fetchone()[0] == self._schema)

    def look(self, db: sqlite3.Connection) -> None:
        """Find out whether the file is sealed, and lay the views over it or take them away.

        Raises:
            ConfigurationError: it is, and its key is not to be had.
        """
        db.execute("BEGIN")
        try:
            schema = int(db.execute("PRAGMA main.schema_version").fetchone()[0])
            mark = _mark_of(db)
        finally:
            db.execute("ROLLBACK")
        if self.cipher is not None:
            _close_up(db)
            self.cipher = None
        if mark is not None:
            self.cipher = _cipher(key_of(self.path, mark.key, self.keys), mark.file)
            _register(db, self.cipher, self._note_damage)
            _open_up(db)
        self._schema = schema

    def refuse_damaged(self) -> None:
        """Say what could not be opened, where the last statement failed for that.

        Raises:
            IntegrityViolation: something could not.
        """
        place, self._damaged = self._damaged, None
        if place is not None:
            raise IntegrityViolation(
                f"the journal {self.path.stem} is damaged: what is sealed as {place} is not what "
                "was written there; restore it from a backup"
            )

    def _note_damage(self, place: str) -> None:
        self._damaged = place


def key_of(path: Path, id: str, keys: KeySource) -> DataKey:
    """The key that a journal is sealed with.

    Raises:
        ConfigurationError: it was destroyed, or is not there; the message says what to do.
    """
    name = path.stem
    keyring = keys()
    if keyring is None:
        raise ConfigurationError(
            f"the journal {name} is sealed with the key {id}, and no keys are set up here: bring "
            "back the keyring with `memory-butler keys import`, and its master key"
        )
    try:
        key = keyring.key(id)
    except ConfigurationError as error:
        raise ConfigurationError(f"the journal {name} is sealed: {error}") from error
    if key is None:
        raise ConfigurationError(
            f"the journal {name} is sealed with the key {id}, which was destroyed when its tenant "
            "was erased: nobody can read it again"
        )
    return key


def seal_rows(
    db: sqlite3.Connection,
    sealing: Sealing,
    keyring: Keyring,
    progress: Progress = silent,
) -> None:
    """Seal a plain file within a transaction, and mark that its former pages are not scrubbed."""
    key = keyring.key_of(sealing.path.parent.name, datetime.now(UTC))
    file = secrets.token_hex(_FILE_BYTES)
    _register(db, _cipher(key, file))
    _change_all(db, "", PREFIX, _sealed, progress)
    db.execute(_MARK)
    db.execute("INSERT INTO sealing VALUES (?, ?, false)", (key.id, file))
    db.execute("UPDATE schema_version SET version = ?", (SEALED_VERSION,))


def open_rows(db: sqlite3.Connection, version: int, progress: Progress = silent) -> None:
    """Make a sealed file one of `version`, which is plain, within a transaction."""
    _close_up(db)
    _change_all(db, PREFIX, "", _opened, progress)
    db.execute("DROP TABLE sealing")
    db.execute("UPDATE schema_version SET version = ?", (version,))


def mark_scrubbed(db: sqlite3.Connection) -> None:
    """Note that nothing plain is left in the pages of a sealed file."""
    db.execute("UPDATE sealing SET scrubbed = true")


def mark_in(path: Path) -> Mark | None:
    """How a file is sealed, which needs no key; None: it is plain.

    Raises:
        sqlite3.Error: it cannot be read.
    """
    with closing(sqlite3.connect(read_only(path), uri=True)) as db:
        return _mark_of(db)


def of_opened(db: sqlite3.Connection, sql: str) -> str:
    """SQL on the tables of `main`, on what is opened of them where the journal is sealed."""
    query = f"SELECT 1 FROM temp.sqlite_schema WHERE name = '{OPENED}events'"
    return _OF_MAIN.sub(rf"{OPENED}\1", sql) if db.execute(query).fetchone() else sql


def of_sealed(sql: str) -> str:
    """SQL on the tables of `main`, on those of a sealed journal as they lie in its file."""
    return _OF_MAIN.sub(rf"main.{PREFIX}\1", sql)


def set_aside(db: sqlite3.Connection, name: str) -> None:
    """Remove the view of the present `name`, within a savepoint that brings it back."""
    db.execute(f"DROP VIEW IF EXISTS temp.{name}")


def _change_all(
    db: sqlite3.Connection,
    former: str,
    new: str,
    changed: Callable[[_Table, str, str], str],
    progress: Progress,
) -> None:
    """Write every column that is sealed anew, then rename the tables from one prefix to another."""
    # Keys of fragments change in one table after the other.
    db.execute("PRAGMA defer_foreign_keys = ON")
    db.execute("PRAGMA secure_delete = ON")
    triggers = db.execute("SELECT name, sql FROM main.sqlite_schema WHERE type = 'trigger'")
    triggers_there = triggers.fetchall()
    for name, _ in triggers_there:
        db.execute(f'DROP TRIGGER "{name}"')
    ends = [
        int(db.execute(f"SELECT coalesce(max(rowid), 0) FROM {former}{one.name}").fetchone()[0])
        for one in TABLES
    ]
    done, total = 0, sum(ends)
    for table, end in zip(TABLES, ends, strict=True):
        sets = ", ".join(
            f"{one} = {changed(table, one, '')}"
            for one, kind in table.columns.items()
            if kind != "plain"
        )
        update = f"UPDATE {former}{table.name} SET {sets} WHERE rowid > ? AND rowid <= ?"
        for first in range(0, end, _BATCH):
            last = min(first + _BATCH, end)
            db.execute(update, (first, last))
            done += last - first
            progress(done, total)
    for _, sql in triggers_there:
        db.execute(sql)
    # Renaming a table renames it in triggers and foreign keys, too.
    for table in TABLES:
        db.execute(f"ALTER TABLE {former}{table.name} RENAME TO {new}{table.name}")


def _mark_of(db: sqlite3.Connection) -> Mark | None:
    there = db.execute("SELECT 1 FROM main.sqlite_schema WHERE name = 'sealing'").fetchone()
    if there is None:
        return None
    key, file, scrubbed = db.execute("SELECT key, file, scrubbed FROM sealing").fetchone()
    return Mark(key, file, bool(scrubbed))


def _register(
    db: sqlite3.Connection, cipher: Cipher, note_damage: Callable[[str], None] = lambda _: None
) -> None:
    """Make the SQL functions of the views and triggers known to a connection.

    `note_damage` is told the place of what cannot be opened.
    """

    def opened(value: bytes, place: str) -> str:
        try:
            return cipher.opened(value, place)
        except (InvalidTag, ValueError, TypeError):
            note_damage(place.partition("|")[0])
            raise

    def name_of(token: bytes | None) -> str | None:
        try:
            return cipher.name_of(token)
        except (InvalidTag, ValueError, TypeError):
            note_damage("a name")
            raise

    db.create_function("sealed", 2, cipher.sealed)
    db.create_function("opened", 2, opened, deterministic=True)
    db.create_function("named", 1, cipher.named, deterministic=True)
    db.create_function("name_of", 1, name_of, deterministic=True)


def _open_up(db: sqlite3.Connection) -> None:
    """Lay a view by its usual name over each sealed table, which seals what is written to it."""
    for table in TABLES:
        name, sealed = table.name, f"{PREFIX}{table.name}"
        columns = ", ".join(table.columns)
        opened = ", ".join(f"{_opened(table, one, '')} AS {one}" for one in table.columns)
        written = [_sealed(table, one, "NEW.") for one in table.columns]
        changes = ", ".join(f"{one} = {to}" for one, to in zip(table.columns, written, strict=True))
        row = " AND ".join(f"{one} = {_found(table, one)}" for one in table.key)
        db.execute(f"CREATE TEMP VIEW {OPENED}{name} AS SELECT {opened} FROM main.{sealed}")
        db.execute(f"CREATE TEMP VIEW {name} AS SELECT {columns} FROM {OPENED}{name}")
        for action, does in (
            ("INSERT", f"INSERT INTO {sealed} ({columns}) VALUES ({', '.join(written)})"),
            ("UPDATE", f"UPDATE {sealed} SET {changes} WHERE {row}"),
            ("DELETE", f"DELETE FROM {sealed} WHERE {row}"),
        ):
            trigger = f"CREATE TEMP TRIGGER {name}_{action} INSTEAD OF {action} ON {name}"
            db.execute(f"{trigger} BEGIN {does}; END")


def _close_up(db: sqlite3.Connection) -> None:
    """Take the views away, and their triggers with them."""
    for table in TABLES:
        db.execute(f"DROP VIEW IF EXISTS temp.{table.name}")
        db.execute(f"DROP VIEW IF EXISTS temp.{OPENED}{table.name}")


def _sealed(table: _Table, column: str, row: str) -> str:
    """The expression that seals a column of a row, which is opened; `row` is NEW. or ''."""
    kind = table.columns[column]
    if kind == "plain":
        return f"{row}{column}"
    if kind == "name":
        return f"named({row}{column})"
    bound = [
        f"hex(named({row}{one}))" if table.columns[one] == "name" else f"{row}{one}"
        for one in table.bound
    ]
    return (
        f"iif({row}{column} IS NULL, NULL, sealed({row}{column}, {_place(table, column, bound)}))"
    )


def _opened(table: _Table, column: str, row: str) -> str:
    """The expression that opens a column of a row, which is sealed."""
    kind = table.columns[column]
    if kind == "plain":
        return f"{row}{column}"
    if kind == "name":
        return f"name_of({row}{column})"
    bound = [
        f"hex({row}{one})" if table.columns[one] == "name" else f"{row}{one}" for one in table.bound
    ]
    return (
        f"iif({row}{column} IS NULL, NULL, opened({row}{column}, {_place(table, column, bound)}))"
    )


def _place(table: _Table, column: str, bound: list[str]) -> str:
    return " || '|' || ".join([f"'{table.name}.{column}'", *bound])


def _found(table: _Table, column: str) -> str:
    return f"named(OLD.{column})" if table.columns[column] == "name" else f"OLD.{column}"
