"""An installation as the tests of backups use it, and what they do with it."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TypeAlias

from memory_butler.config import Settings
from memory_butler.domain.principals import Principal
from memory_butler.engine.memory import Memory
from memory_butler.engine.remember import store_episode, store_fact
from memory_butler.journal.file import JournalFile, journal_path

MARKER = "Zephyrine Quokkaschmidt plays the theremin"

# Its settings, its memory, and a login that may do everything.
Installation: TypeAlias = tuple[Settings, Memory, str]


def runtime(settings: Settings) -> str:
    assert settings.dsn is not None
    return settings.dsn.get_secret_value()


def left_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def fill(memory: Memory) -> None:
    for tenant in ("ana", "bob"):
        who = Principal(tenant)
        await store_episode(memory, who, f"{tenant} spoke of paint", "painter")
        await store_fact(memory, who, "user", "likes", f"{tenant} likes blue")
        await store_fact(memory, who, "user", "likes", f"{tenant} likes dark green")


async def tell_two(installation: Installation) -> None:
    """Two tenants with a marked fact and a journal each."""
    settings, memory, _ = installation
    await fill(memory)
    for tenant in ("ana", "bob"):
        await store_fact(memory, Principal(tenant), "artist", "plays", f"{tenant}: {MARKER}")
        JournalFile.open(settings.data_dir, tenant, "mira").close()
        with closing(sqlite3.connect(journal_path(settings.data_dir, tenant, "mira"))) as journal:
            journal.execute("CREATE TABLE notes (text TEXT)")
            journal.execute("INSERT INTO notes VALUES (?)", (f"{tenant}: {MARKER}",))
            journal.commit()
