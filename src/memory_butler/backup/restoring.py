"""Putting a backup in an installation's place."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from memory_butler.backup import sealing
from memory_butler.backup.archive import DATABASE, JOURNALS, Manifest, Opened, unpack
from memory_butler.backup.making import Tell, refuse_difference
from memory_butler.config import Settings
from memory_butler.domain.errors import ConfigurationError, Conflict
from memory_butler.engine.keys import keys_to_read
from memory_butler.engine.leftovers import remove_unfinished
from memory_butler.engine.opening import derived_password, started
from memory_butler.journal import snapshots
from memory_butler.store import dump, loading, schema


@dataclass(frozen=True, slots=True)
class Restored:
    """What was restored, and where what was there before is kept.

    `left_out`: tenants whose key was destroyed, so that nothing they had could be read.
    `still_revoked`: tokens that were revoked after the backup. `moved`: tenants that moved after
    it, and are here again, with where to.
    """

    manifest: Manifest
    runtime_dsn: str
    kept_database: str | None
    kept_journals: Path | None
    left_out: tuple[str, ...]
    counts: dump.Counts
    still_revoked: tuple[str, ...]
    moved: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class _Server:
    admin_dsn: str
    runtime_password: str | None


async def restore(
    settings: Settings,
    source: Path,
    now: datetime,
    *,
    admin_dsn: str | None = None,
    replace: bool = False,
    tell: Tell = lambda _: None,
) -> Restored:
    """Load a backup aside, compare it with its manifest, and only then put it in place.

    What was there is kept under another name. Interrupted before the last step, everything is as it
    was; an older backup is migrated to this version's schema.

    Raises:
        InvalidInput: the file is no backup, cut off, or damaged.
        Conflict: there are memories or journals already and `replace` was not said; something is
            connected; the dump does not load.
        ConfigurationError: it is encrypted and a key is missing; it was made by a later version or
            too old a one, or of a database of another name; or the database is a cluster.
        IntegrityViolation: what was loaded is not what was backed up.
    """
    data_dir = settings.data_dir.expanduser().resolve()
    data_dir.mkdir(parents=True, exist_ok=True)
    # In the data directory: the journals are moved into place from here.
    with sealing.aside(data_dir) as folder, ExitStack() as stack:
        tell("reading the backup")
        backup = await asyncio.to_thread(_opened, stack, settings, source, folder)
        manifest = backup.manifest
        schema.refuse_ancient(manifest.revision, "this backup", "restore it, and back up anew,")
        if manifest.revision > schema.HEAD:
            raise ConfigurationError(
                f"this backup is of the schema {manifest.revision}, made by memory-butler "
                f"{manifest.version}: install that version or a later one"
            )
        journals = folder / JOURNALS
        async with _server(settings, admin_dsn) as server:
            name = schema.database_of(server.admin_dsn)
            if await dump.is_cluster(server.admin_dsn):
                raise ConfigurationError(
                    f"the database {name} is a Citus cluster, whose place no restored database can "
                    "take: restore into a database of one machine, then make that a cluster "
                    "(docs/scaling.md), or move its tenants with `memory-butler move`"
                )
            await remove_unfinished(data_dir, server.admin_dsn, name)
            if name != manifest.database:
                raise ConfigurationError(
                    f"this backup is of a database named {manifest.database}, which its roles are "
                    f"named after; {name} cannot take it"
                )
            there = data_dir / JOURNALS
            if not replace:
                await _refuse_full(server.admin_dsn, there)
            # Asked before the load, which takes minutes; the last step is refused as well.
            await loading.refuse_in_use(server.admin_dsn, name)
            tell("loading the database")
            kept = f"{name}_before_{now:%Y%m%d_%H%M%S}"
            async with loading.loaded(
                server.admin_dsn,
                backup.dump,
                roles_of=name,
                runtime_password=server.runtime_password,
                rows=backup.rows,
            ) as (scratch, found):
                refuse_difference(backup.counts(), found)
                for path in journals.rglob("*.sqlite"):
                    snapshots.check(path)
                still_revoked, moved = await loading.keep_revoked(scratch, name)
                tell("putting it in place")
                was_there = await loading.take_the_place(scratch, name, kept)
            kept_journals = _swap(journals, there, now)
            runtime = await schema.prepare(
                server.admin_dsn, runtime_password=server.runtime_password
            )
    kept_database = kept if was_there else None
    here = {count.rpartition(" ")[0] for count in found}
    return Restored(
        manifest,
        runtime,
        kept_database,
        kept_journals,
        backup.left_out,
        found,
        still_revoked,
        tuple(one for one in moved if one[0] in here),
    )


def _opened(stack: ExitStack, settings: Settings, source: Path, folder: Path) -> Opened:
    if not sealing.is_sealed(source):
        return Opened(unpack(source, folder), folder / DATABASE)
    keys = keys_to_read(settings, source)
    return stack.enter_context(sealing.opened(source, keys, folder))


@asynccontextmanager
async def _server(settings: Settings, admin_dsn: str | None) -> AsyncIterator[_Server]:
    """The administrator's login; the embedded server is started, its database not yet made."""
    if admin_dsn is not None:
        yield _Server(admin_dsn, None)
        return
    if settings.dsn is not None:
        raise ConfigurationError(
            "restoring into your own server needs a login that may create databases: --admin-dsn"
        )
    async with started(settings) as endpoint:
        password = derived_password(endpoint.admin_password)
        yield _Server(endpoint.dsn(settings.database), password)


async def _refuse_full(admin_dsn: str, journals: Path) -> None:
    full = []
    if not await dump.is_empty(admin_dsn):
        full.append("memories")
    if await asyncio.to_thread(lambda: any(journals.rglob("*.sqlite"))):
        full.append("journals")
    if full:
        raise Conflict(
            f"there are {' and '.join(full)} already. With --replace the backup takes their place, "
            "and what is there now is kept under another name"
        )


def _swap(restored: Path, there: Path, now: datetime) -> Path | None:
    """Put the journals in place; where the old ones are kept, if there were any."""
    kept = None
    if there.exists():
        kept = there.with_name(f"{there.name}-before-{now:%Y%m%d-%H%M%S}")
        os.rename(there, kept)
    if restored.exists():
        for path in (restored, *restored.rglob("*")):
            path.chmod(0o700 if path.is_dir() else 0o600)
            shutil.chown(path, *_owner(there.parent))
        os.rename(restored, there)
    return kept


def _owner(folder: Path) -> tuple[int, int]:
    info = folder.stat()
    return info.st_uid, info.st_gid
