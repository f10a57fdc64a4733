"""What is left by a backup, a restore or a move that was cut off.

A backup and a restore leave the database into which they loaded a dump; a restore also leaves a
plain dump of all tenants. An encrypted backup leaves copies of journals, and so does a move, at its
target.

What a restore moves aside on purpose is kept under another name, and only reported.
"""

import asyncio
import math
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from memory_butler.domain.errors import Conflict, Unavailable
from memory_butler.logs import get_logger

log = get_logger()

# Folders in the data directory, with the id of the process that backs up or restores, and kept
# journals.
UNFINISHED: Final = ".restoring-"
# With the name of the tenant whose journals come by a move; they are not encrypted yet.
_ARRIVING: Final = ".arriving-"
_KEPT_JOURNALS: Final = "journal-before-*"
_MOMENT: Final = re.compile(r"\d{8}_\d{6}")


@dataclass(frozen=True, slots=True)
class Found:
    """Names of databases and folders; `arriving` are of moves, which may be under way."""

    unfinished: tuple[str, ...]
    kept: tuple[str, ...]
    arriving: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Kept:
    """The former databases and folders of journals that restores keep."""

    databases: tuple[str, ...]
    folders: tuple[Path, ...]


async def find(data_dir: Path, dsn: str, name: str) -> Found:
    """What is there, by any login to the server; `name` is that of our database."""
    # Here and not above: every command looks for leftovers, and nearly none finds any.
    from memory_butler.store import dump

    databases = await dump.databases(dsn)
    folders = await asyncio.to_thread(_unfinished, data_dir)
    kept = await asyncio.to_thread(lambda: sorted(data_dir.glob(_KEPT_JOURNALS)))
    coming = await asyncio.to_thread(lambda: sorted(data_dir.glob(f"{_ARRIVING}*")))
    return Found(
        (*_loading(databases, name), *(one.name for one in folders)),
        (
            *(one for one in databases if one.startswith(f"{name}_before_")),
            *(one.name for one in kept),
        ),
        tuple(one.name for one in coming),
    )


def arriving(data_dir: Path, tenant: str) -> Path:
    """Where the journals of a tenant lie while a move brings them, before they are encrypted."""
    return data_dir / f"{_ARRIVING}{tenant}"


def remove_arriving(data_dir: Path, tenant: str) -> tuple[str, ...]:
    """Remove what a move that was cut off has left of a tenant's journals; the name, if any."""
    folder = arriving(data_dir, tenant)
    if not folder.exists():
        return ()
    shutil.rmtree(folder)
    return (folder.name,)


async def remove_unfinished(
    data_dir: Path, admin_dsn: str, name: str, *, before: float = math.inf
) -> tuple[str, ...]:
    """Remove what a process that is gone has left; the names. What cannot be removed is logged.

    Folders that changed at `before` (seconds) or later stay: on a shared data directory they may be
    those of another host's process.
    """
    from memory_butler.store import dump

    maintenance = dump.with_database(admin_dsn, "postgres")  # ours may not have been made yet
    removed = []
    try:
        databases = _loading(await dump.databases(maintenance), name)
    except (Conflict, Unavailable) as error:
        databases = []
        log.warning("could not look for databases that were left", reason=str(error))
    for database in databases:
        try:
            await dump.drop_unused(maintenance, database)
            removed.append(database)
        except (Conflict, Unavailable) as error:
            log.warning(f"could not remove {database}", reason=str(error))
    for folder in await asyncio.to_thread(_unfinished, data_dir):
        try:
            if folder.stat().st_mtime < before:
                await asyncio.to_thread(shutil.rmtree, folder)
                removed.append(folder.name)
        except OSError as error:
            log.warning(f"could not remove {folder}", reason=error.strerror)
    return tuple(removed)


async def kept(data_dir: Path, admin_dsn: str) -> Kept:
    """What restores have put out of the way."""
    from memory_butler.store import dump
    from memory_butler.store.schema import database_of

    name = database_of(admin_dsn)
    databases = await dump.databases(dump.with_database(admin_dsn, "postgres"))
    former = f"{name}_before_"
    kept_ones = (
        one
        for one in databases
        if one.startswith(former) and _MOMENT.fullmatch(one.removeprefix(former))
    )
    folders = await asyncio.to_thread(lambda: sorted(data_dir.glob(_KEPT_JOURNALS)))
    return Kept(tuple(kept_ones), tuple(folders))


async def delete_kept(found: Kept, admin_dsn: str) -> None:
    """Delete it for good."""
    from memory_butler.store import dump

    for database in found.databases:
        await dump.drop(dump.with_database(admin_dsn, "postgres"), database)
    for folder in found.folders:
        await asyncio.to_thread(shutil.rmtree, folder)


async def remove_after_crash(data_dir: Path, admin_dsn: str, name: str) -> tuple[str, ...]:
    """Remove it when a server starts; the names. Where nothing is left, this lists a folder."""
    if not await asyncio.to_thread(_unfinished, data_dir):
        return ()
    return await remove_unfinished(data_dir, admin_dsn, name)


def _loading(databases: list[str], name: str) -> list[str]:
    """The databases into which processes that are gone loaded a dump."""
    prefix = f"{name}_loading_"
    return [
        one for one in databases if one.startswith(prefix) and not _runs(one.removeprefix(prefix))
    ]


def _runs(pid: str) -> bool:
    """Whether a process of this machine has the id."""
    if not pid.isdigit():
        return False
    try:
        os.kill(int(pid), 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _unfinished(data_dir: Path) -> list[Path]:
    found = []
    for folder in sorted(data_dir.glob(f"{UNFINISHED}*")):
        pid = folder.name.removeprefix(UNFINISHED).partition("-")[0]
        if not _runs(pid):
            found.append(folder)
    return found
