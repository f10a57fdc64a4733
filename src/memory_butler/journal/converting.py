"""Sealing a journal that is there, and back; either may be cut off at any point, and done again.

The contents change in one transaction. What they were is then still in pages that nobody uses, in
the log, and in the files beside the journal: that goes in a second step, which the journal notes
when it is done.
"""

import sqlite3
from contextlib import closing
from pathlib import Path

from memory_butler.journal.erasing import scrub
from memory_butler.journal.file import BUSY_SECONDS, JournalFile
from memory_butler.journal.meaning import forget as forget_meanings
from memory_butler.journal.sealing import Progress, mark_in, mark_scrubbed, silent
from memory_butler.journal.search import forget
from memory_butler.journal.texts import remove_ambient
from memory_butler.vault.keyring import KeySource


def seal(path: Path, keys: KeySource, progress: Progress = silent) -> bool:
    """Seal a journal with the key of its tenant; whether anything was left to do.

    `progress` is told how many rows of how many are sealed.

    Raises:
        Unavailable: another process reads or writes for too long; what was done stays.
        ConfigurationError: no keys are set up, or the tenant's is not to be had.
    """
    with JournalFile(path, keys) as file:
        sealed = file.seal(progress)
    mark = mark_in(path)
    if not sealed and (mark is None or mark.scrubbed):
        return False
    scrub(path)
    # Not before: until nobody reads the journal as it was, these may be written again.
    remove_ambient(path.with_suffix(""))
    forget(path.with_suffix(""))
    forget_meanings(path.with_suffix(""))
    with closing(sqlite3.connect(path, timeout=BUSY_SECONDS)) as db, db:
        mark_scrubbed(db)
    return True


def unseal(path: Path, keys: KeySource, progress: Progress = silent) -> bool:
    """Make a sealed journal a plain one; whether it was sealed.

    Raises:
        Unavailable: another process reads or writes for too long; nothing was changed.
        ConfigurationError: its key is not to be had.
    """
    with JournalFile(path, keys) as file:
        opened = file.unseal(progress)
    if opened:
        forget(path.with_suffix(""))
        forget_meanings(path.with_suffix(""))
    return opened
