"""The journal's SQLite file: where it lies, how it opens, its two kinds of transaction."""

import copy
import fcntl
import os
import re
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal, Self

from memory_butler.domain.elapsed import require_aware
from memory_butler.domain.errors import (
    ConfigurationError,
    Conflict,
    Frozen,
    IntegrityViolation,
    InvalidInput,
    NotFound,
    Unavailable,
)
from memory_butler.domain.principals import parse_tenant
from memory_butler.files import read_only
from memory_butler.journal import sealing, state, texts
from memory_butler.journal.past import seen
from memory_butler.journal.policy import JournalPolicy
from memory_butler.journal.queries import text_of
from memory_butler.journal.sealing import SEALED_VERSION, Progress, Sealing
from memory_butler.journal.search import Index, begin_generation
from memory_butler.vault.keyring import KeySource, no_keys

# JSCH-17, C-290: versions of plain files are even, for the odd one after each is its sealed one.
SCHEMA_VERSION: Final = SEALED_VERSION - 1
# One file a version, run in order by whoever opens an older file.
_MIGRATIONS: Final = {2: "schema.sql", 4: "repeats.sql"}

# How long a writer waits for another process, in seconds. Transactions take milliseconds.
BUSY_SECONDS: Final = 10.0

# What one at a time does with a journal: answer, compile. Erasing waits for both (C-293).
Claim = Literal["reply", "maintenance"]

# Beside a tenant's journals while it moves to another installation, and for good where it has left:
# what is said to whoever wants to write.
FROZEN: Final = ".frozen"

# With less than that left SQLite cannot even make the index of its log.
_LEAST_FREE_BYTES: Final = 256 * 1024

# No dots: beside each file lies a folder named like it without the suffix.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,62}")
_SETTINGS = (
    f"PRAGMA busy_timeout = {int(BUSY_SECONDS * 1000)}",
    "PRAGMA foreign_keys = ON",
    # FULL: what was acknowledged is on disk, not merely in the log's pages (the price: one fsync).
    "PRAGMA synchronous = FULL",
    # Or a REPLACE could delete from the log without firing its triggers.
    "PRAGMA recursive_triggers = ON",
    "PRAGMA trusted_schema = OFF",
    # Looks at the past make temporary views; no file is to come of that.
    "PRAGMA temp_store = MEMORY",
)


def journal_path(data_dir: Path, tenant: str, name: str) -> Path:
    """`<data_dir>/journal/<tenant>/<name>.sqlite`; `InvalidInput` for names that are no names."""
    if not _NAME.fullmatch(name):
        raise InvalidInput(
            f"{name[:60]!r} is no name for a journal; use 1 to 63 letters, digits, '_' or "
            "'-', beginning with a letter or digit"
        )
    return data_dir / "journal" / parse_tenant(tenant) / f"{name}.sqlite"


class JournalFile:
    """One companion's file. Safe to share between threads, and with other processes.

    One connection a process: a lock lets its threads in one by one, WAL lets other processes read
    meanwhile, and BEGIN IMMEDIATE makes writers wait for each other instead of failing half-way.
    """

    def __init__(self, path: Path, keys: KeySource = no_keys) -> None:
        """Open the file, making and migrating it where needed; readable by its owner alone.

        A new one is sealed where there are keys, with that of the tenant whose folder it lies in;
        `keys` is asked only for a new or a sealed file.

        Raises:
            Unavailable: the file cannot be opened, or another process holds it too long.
            ConfigurationError: it was made by a newer version of this program, or by another; or it
                is sealed, and its key is not to be had.
            Frozen: it is a new one, and its tenant is moving, or has moved.
        """
        self.path = path
        self._sealing = Sealing(path, keys)
        self._lock = threading.RLock()
        self._closed = False
        self._past: tuple[datetime, JournalPolicy | None] | None = None
        if not path.exists():
            refuse_frozen(path)
        try:
            _make_private(path)
            self._connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
            self._opened = _which(path)
        except (OSError, sqlite3.Error) as error:
            raise self._cannot_open(error) from error
        try:
            self._prepare()
        except BaseException:
            self._connection.close()
            raise

    @classmethod
    def open(cls, data_dir: Path, tenant: str, name: str, keys: KeySource = no_keys) -> Self:
        """The journal `name` of a tenant, under the server's data directory."""
        return cls(journal_path(data_dir, tenant, name), keys)

    @property
    def texts_dir(self) -> Path:
        """Where wake-context.md, image-context.md and ambient.md lie."""
        return self.path.with_suffix("")

    @property
    def is_sealed(self) -> bool:
        """Whether its contents are encrypted; it stays so while a transaction lasts."""
        return self._sealing.cipher is not None

    @property
    def index(self) -> Index:
        """The index of what was said; to be asked for within a transaction."""
        return Index(self.texts_dir, self._sealing.cipher)

    def at(self, known_at: datetime, policy: JournalPolicy | None = None) -> Self:
        """This file as it was known at a moment: for reading only, and while this one is open.

        `policy` is how the log is read for what was known of working memory.
        """
        past = copy.copy(self)
        past._past = (require_aware(known_at, "known_at"), policy)
        return past

    @property
    def is_past(self) -> bool:
        """Whether this is the file as it was known at a moment."""
        return self._past is not None

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A snapshot: every query of the block sees the same state."""
        with self._transaction("BEGIN") as connection:
            if self._past is None:
                yield connection
            else:
                with seen(connection, *self._past):
                    yield connection

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction: on disk when the block ends, as if nothing had happened when it raises.

        Raises:
            Unavailable: another process wrote for longer than `BUSY_SECONDS`, or the disk failed.
            IntegrityViolation: a constraint or trigger refused the change.
            Conflict: this is the file of a moment in the past; or the file was deleted or replaced
                since it was opened, as by a restore, and what is written to it would be lost.
            Frozen: its tenant is moving to another installation, or has moved.
        """
        if self._past is not None:
            moment = self._past[0].isoformat()
            raise Conflict(f"the journal as it was known at {moment} cannot be changed")
        with self._transaction("BEGIN IMMEDIATE") as connection:
            refuse_frozen(self.path)
            if _which(self.path) != self._opened:
                raise Conflict(
                    f"the journal {self.path.stem} was deleted or replaced while it was open; "
                    "nothing was kept: open it again"
                )
            yield connection

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        with self._lock:
            if self._closed:
                raise Unavailable(f"the journal {self.path.name} is closed")
            connection = self._connection
            try:
                try:
                    self._begin(begin)
                    yield connection
                    connection.execute("COMMIT")
                except BaseException:
                    # Also where it failed after BEGIN: no other transaction could begin.
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                    raise
            except sqlite3.IntegrityError as error:
                raise IntegrityViolation(
                    f"the journal refused the change ({error}); nothing was written"
                ) from error
            except sqlite3.Error as error:
                self._sealing.refuse_damaged()
                told = _of_the_disk(self.path) or str(error)
                raise Unavailable(f"the journal did not answer: {told}") from error

    def _begin(self, begin: str) -> None:
        """Begin a transaction on the file as it is: another process may have sealed it."""
        self._connection.execute(begin)
        while not self._sealing.is_current(self._connection):
            self._connection.execute("ROLLBACK")
            self._sealing.look(self._connection)
            self._connection.execute(begin)

    def claimed(self, what: Claim, taken: str) -> AbstractContextManager[None]:
        """Hold what only one process may do at a time; see `claimed` below.

        Raises:
            Conflict: somebody else holds it; `taken` is the message.
            NotFound: the journal was erased meanwhile.
        """
        return claimed(self.path, what, taken)

    def seal(self, progress: Progress = sealing.silent) -> bool:
        """Seal what the file holds, with the key of its tenant; whether it was plain.

        One transaction: a process that is killed leaves the file plain, or sealed. What is left of
        the plain text is for `converting.py`.

        Raises:
            ConfigurationError: no keys are set up.
        """
        keyring = self._sealing.keys()
        if keyring is None:
            raise ConfigurationError("no keys are set up: `memory-butler keys init` does it")
        with self.writing() as db:
            if self.is_sealed:
                return False
            if text := texts.read_texts(self.texts_dir).ambient:
                state.put(db, state.AMBIENT, text, datetime.now(UTC))
            sealing.seal_rows(db, self._sealing, keyring, progress)
            begin_generation(db)
        return True

    def unseal(self, progress: Progress = sealing.silent) -> bool:
        """Make the file a plain one again, in one transaction; whether it was sealed."""
        with self.writing() as db:
            if not self.is_sealed:
                return False
            text = state.get(db, state.AMBIENT)
            sealing.open_rows(db, SCHEMA_VERSION, progress)
            if text is not None:
                texts.write_ambient(self.texts_dir, text)
                state.drop(db, state.AMBIENT)
            begin_generation(db)
        return True

    def _cannot_open(self, error: Exception) -> Unavailable:
        told = _of_the_disk(self.path) or str(error)
        return Unavailable(f"the journal {self.path.name} cannot be opened: {told}")

    def close(self) -> None:
        """Close the file; closing twice is harmless."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _prepare(self) -> None:
        try:
            for setting in _SETTINGS:
                self._connection.execute(setting)
            _enter_wal(self._connection)
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_NOTADB:
                raise ConfigurationError(
                    f"{self.path.name} is no SQLite file; move it out of the way"
                ) from error
            raise self._cannot_open(error) from error
        with self.reading() as connection:
            version = _version(connection, self.path.name)
        if version >= SCHEMA_VERSION:
            return
        # Before the transaction: a key management service may take its time.
        keyring = self._sealing.keys() if version == 0 else None
        with self.writing() as connection:
            new = _version(connection, self.path.name) == 0
            _migrate(connection, self.path.name)
            if new and keyring is not None:
                sealing.seal_rows(connection, self._sealing, keyring)
                sealing.mark_scrubbed(connection)
        self._sealing.look(self._connection)


def is_current(path: Path) -> bool:
    """Whether a journal needs no migration, so that to open it changes nothing.

    Raises:
        ConfigurationError: it was made by a newer version of this program, or by another.
        Unavailable: it cannot be read.
    """
    try:
        with closing(sqlite3.connect(read_only(path), uri=True)) as connection:
            return _version(connection, path.name) >= SCHEMA_VERSION
    except sqlite3.Error as error:
        raise Unavailable(f"the journal {path.name} cannot be opened: {error}") from error


@contextmanager
def claimed(path: Path, what: Claim, taken: str) -> Iterator[None]:
    """Hold what only one process may do at a time with a journal; a killed one lets go by itself.

    Raises:
        Conflict: somebody else holds it; `taken` is the message.
        NotFound: there is no such journal.
    """
    try:
        lock = os.open(path.with_suffix("") / f".{what}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    except FileNotFoundError:
        raise NotFound(f"there is no journal {path.stem!r} any more") from None
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Conflict(taken) from None
        yield
    finally:
        os.close(lock)


def refuse_frozen(path: Path) -> None:
    """Raise `Frozen` where the tenant of a journal moves to another installation, or has moved.

    Asked within a transaction that writes: who freezes a tenant then waits for those who asked
    before.
    """
    try:
        said = path.with_name(FROZEN).read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return
    raise Frozen(said)


def _which(path: Path) -> tuple[int, int] | None:
    """Which file lies at a path; None where there is none."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def _of_the_disk(path: Path) -> str | None:
    """What is the matter with the disk, where SQLite says "disk I/O error" and no more."""
    try:
        disk = os.statvfs(path.parent)
    except OSError:
        return None
    if disk.f_flag & os.ST_RDONLY:
        return "its disk is read-only; once it can be written, it goes on by itself"
    if disk.f_bavail * disk.f_frsize < _LEAST_FREE_BYTES:
        return "its disk is full; make room there, and it goes on by itself"
    return None


def _make_private(path: Path) -> None:
    """Folders 0700 and file 0600, before anything is written; SQLite's side files follow suit.

    Folders that were there keep their mode: they may be somebody else's.
    """
    for folder in (*reversed(path.parents), path.with_suffix("")):
        if not folder.exists():
            folder.mkdir(mode=0o700, exist_ok=True)
    # Only a new file is opened here: closing a file drops the locks that the process holds on it.
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    path.chmod(0o600)


def _enter_wal(connection: sqlite3.Connection) -> None:
    """Switch to WAL. SQLite does not wait when two processes do it to a new file at once."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _version(connection: sqlite3.Connection, name: str) -> int:
    """The version of the schema in the file, as a plain one has it; 0 for an empty one."""
    tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_schema")}
    if not tables:
        return 0
    row = None
    if "schema_version" in tables:
        row = connection.execute("SELECT version FROM schema_version").fetchone()
    if row is None:
        raise ConfigurationError(f"{name} is an SQLite file of something else, not a journal")
    known = SEALED_VERSION if _is_sealed(connection) else SCHEMA_VERSION
    if row[0] > known:
        raise ConfigurationError(
            f"{name} has schema version {row[0]}, this program knows {known}; update it"
        )
    return int(row[0]) - (known - SCHEMA_VERSION)


def _is_sealed(connection: sqlite3.Connection) -> bool:
    query = "SELECT 1 FROM main.sqlite_schema WHERE name = 'sealing'"
    return connection.execute(query).fetchone() is not None


def _migrate(connection: sqlite3.Connection, name: str) -> None:
    """Run what is missing, in one transaction; another process may have done it meanwhile."""
    before = _version(connection, name)
    for version, file in sorted(_MIGRATIONS.items()):
        if version > before:
            sealed = _is_sealed(connection)
            for statement in _statements(text_of(file)):
                connection.execute(sealing.of_sealed(statement) if sealed else statement)
            written = version + (SEALED_VERSION - SCHEMA_VERSION) * sealed
            connection.execute("DELETE FROM schema_version")
            connection.execute("INSERT INTO schema_version (version) VALUES (?)", (written,))


def _statements(script: str) -> Iterator[str]:
    """The statements of a script. `executescript` would commit the open transaction."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
