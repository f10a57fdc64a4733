"""Copies of journals while they are in use, by SQLite's own online backup."""

import hashlib
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

from memory_butler.domain.errors import IntegrityViolation, Unavailable
from memory_butler.files import read_only
from memory_butler.journal.file import JournalFile
from memory_butler.journal.meaning import MEANINGS
from memory_butler.journal.sealing import PREFIX, TABLES
from memory_butler.journal.search import INDEX, SEALED_INDEX
from memory_butler.journal.state import AMBIENT

_TABLES: Final = """
SELECT name FROM main.sqlite_master
WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name NOT IN ('sealing', 'schema_version')
ORDER BY name
"""
_NO_PART: Final = ("-wal", "-shm", "-journal", INDEX, SEALED_INDEX, MEANINGS)


def copy_all(data_dir: Path, target: Path, tenant: str = "") -> list[str]:
    """Copy every journal, or those of a tenant, each as of one moment, with its text files; their
    paths in `target`.

    Raises:
        IntegrityViolation: a journal is damaged; which one, and what to do.
        Unavailable: one is locked, or the disk is full.
    """
    source = data_dir / "journal"
    names = []
    for path in _files(source / tenant):
        name = path.relative_to(source)
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".sqlite":
            try:
                _copy(path, target / name)
            except IntegrityViolation as error:
                raise IntegrityViolation(f"{error}: move {path} away, and try again") from None
        else:
            shutil.copyfile(path, target / name)
        names.append(str(name))
    return names


def tenants(data_dir: Path) -> list[str]:
    """The tenants that have a journal."""
    source = data_dir / "journal"
    return sorted({path.relative_to(source).parts[0] for path in _files(source)})


def check(path: Path) -> None:
    """Raise IntegrityViolation where a journal's file is damaged."""
    try:
        with closing(sqlite3.connect(read_only(path), uri=True)) as connection:
            (said,) = connection.execute("PRAGMA integrity_check").fetchone()
    except sqlite3.DatabaseError as error:
        said = str(error)
    if said != "ok":
        raise IntegrityViolation(f"the journal {_named(path)} is damaged ({said})")


def digest(file: JournalFile) -> dict[str, tuple[int, str]]:
    """Of each table, how many rows it has and the sum of their hashes, sealed or not.

    What tells sealed from plain is left out: the version of the file, and the ambient text, which
    is a row of a sealed journal and a file beside a plain one.
    """
    columns = {table.name: ", ".join(table.columns) for table in TABLES}
    found = {}
    with file.reading() as db:
        names = [row[0].removeprefix(PREFIX) for row in db.execute(_TABLES)]
        for name in names:
            rows, total = 0, 0
            for row in db.execute(f"SELECT {columns.get(name, '*')} FROM {name}"):  # noqa: S608
                if (name, row[0]) == ("state", AMBIENT):
                    continue
                rows += 1
                total += int.from_bytes(hashlib.sha256(repr(row).encode()).digest())
            found[name] = (rows, f"{total:x}")
    return found


def _files(folder: Path) -> Iterator[Path]:
    """Journals and their texts; SQLite's own companions of a file (-wal, -shm) are no part, nor is
    what a search keeps, which is made again."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.name.endswith(_NO_PART):
            yield path


def _copy(source: Path, target: Path) -> None:
    try:
        with (
            closing(sqlite3.connect(read_only(source), uri=True, timeout=30)) as original,
            closing(sqlite3.connect(target)) as copy,
        ):
            original.backup(copy)
            # One file, without a log beside it that could be left behind.
            copy.execute("PRAGMA journal_mode = DELETE")
    except sqlite3.OperationalError as error:
        raise Unavailable(f"the journal {_named(source)} cannot be copied: {error}") from None
    except sqlite3.DatabaseError as error:
        raise IntegrityViolation(f"the journal {_named(source)} is damaged ({error})") from None
    check(target)


def _named(path: Path) -> str:
    """With its tenant's folder: each tenant has a `default.sqlite`."""
    return f"{path.parent.name}/{path.name}"
