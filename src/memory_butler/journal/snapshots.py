"""Copies of journals while they are in use, by SQLite's own online backup."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

from memory_butler.domain.errors import IntegrityViolation
from memory_butler.journal.meaning import MEANINGS
from memory_butler.journal.search import INDEX, SEALED_INDEX

_NO_PART: Final = ("-wal", "-shm", "-journal", INDEX, SEALED_INDEX, MEANINGS)


def copy_all(data_dir: Path, target: Path) -> list[str]:
    """Copy every journal, each as of one moment, with its text files; their paths in `target`.

    Raises:
        IntegrityViolation: a copy is damaged, so the journal is.
    """
    source = data_dir / "journal"
    names = []
    for path in _files(source):
        name = path.relative_to(source)
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".sqlite":
            _copy(path, target / name)
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
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            (said,) = connection.execute("PRAGMA integrity_check").fetchone()
    except sqlite3.DatabaseError as error:
        said = str(error)
    if said != "ok":
        raise IntegrityViolation(f"the journal {path.name} is damaged: {said}")


def _files(folder: Path) -> Iterator[Path]:
    """Journals and their texts; SQLite's own companions of a file (-wal, -shm) are no part, nor is
    what a search keeps, which is made again."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.name.endswith(_NO_PART):
            yield path


def _copy(source: Path, target: Path) -> None:
    with (
        closing(sqlite3.connect(f"file:{source}?mode=ro", uri=True, timeout=30)) as original,
        closing(sqlite3.connect(target)) as copy,
    ):
        original.backup(copy)
        # One file, without a log beside it that could be left behind.
        copy.execute("PRAGMA journal_mode = DELETE")
    check(target)
