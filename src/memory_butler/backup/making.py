"""Making a backup while everything serves."""

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from memory_butler import __version__
from memory_butler.backup import sealing
from memory_butler.backup.archive import (
    DATABASE,
    JOURNALS,
    MANIFEST,
    Manifest,
    Opened,
    checksums,
    pack,
)
from memory_butler.config import Settings
from memory_butler.domain.errors import IntegrityViolation, NotFound
from memory_butler.engine.keys import keys_of
from memory_butler.engine.leftovers import remove_unfinished
from memory_butler.engine.opening import open_database
from memory_butler.files import beside, keep_names, remove_killed
from memory_butler.journal import snapshots
from memory_butler.store import dump, embedded, loading
from memory_butler.store.schema import database_of
from memory_butler.vault import keyring
from memory_butler.vault.keyring import Keyring

Tell = Callable[[str], None]

# A folder this old is no longer that of another host's backup or restore.
_LEFT_FOR: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Made:
    """A backup that was written.

    `keys_exported`: the keyring has not changed since its last export, or the backup needs none.
    """

    path: Path
    manifest: Manifest
    checked: bool
    sealed: bool
    keys_exported: bool


async def back_up(
    settings: Settings,
    target: Path,
    now: datetime,
    *,
    admin_dsn: str | None = None,
    check: bool = True,
    plain: bool = False,
    tell: Tell = lambda _: None,
) -> Made:
    """Write database and journals to a file; a folder gets one named for the moment.

    Where keys are set up it is sealed with them, unless it shall be `plain`. With `check` the dump
    is loaded into a scratch database of the same server and compared, tenant by tenant, before the
    file appears. Interrupted, it leaves nothing.

    Raises:
        ConfigurationError: the login may not act as the owner, or not make the scratch database;
            the keys cannot be used.
        NotFound: there is no database and no journal in the data directory.
        Conflict: a tenant was erased meanwhile; make it again.
        IntegrityViolation: what was loaded is not what was dumped, or a journal is damaged.
        Unavailable: the database is away.
    """
    await asyncio.to_thread(_refuse_nothing, settings)
    keys = None if plain else await asyncio.to_thread(keys_of, settings)
    if await asyncio.to_thread(target.is_dir):
        suffix = "tar" if keys is None else "sealed"
        target = target / f"memory-butler-{now:%Y%m%d-%H%M%S}.{suffix}"
    for left in await asyncio.to_thread(remove_killed, target):
        tell(f"removed {left}, which a killed backup or export had left")
    async with open_database(settings) as database:
        admin = admin_dsn or database.admin_dsn or database.runtime_dsn
        # Each is a copy of everything, which no erasure reaches; a server may run for a year.
        left_before = (now - _LEFT_FOR).timestamp()
        for one in await remove_unfinished(
            settings.data_dir, admin, database_of(admin), before=left_before
        ):
            tell(f"removed {one}, which a killed backup or restore had left")
        making = _Making(target, admin, settings.data_dir, now, check, tell)
        manifest = await (making.plain() if keys is None else making.sealed(keys))
    exported = keys is None or (await asyncio.to_thread(keyring.read, keys.folder)).exported
    return Made(target, manifest, check, keys is not None, exported)


@dataclass(frozen=True, slots=True)
class _Making:
    """A backup on its way into its file."""

    target: Path
    admin: str
    data_dir: Path
    now: datetime
    check: bool
    tell: Tell

    async def plain(self) -> Manifest:
        with beside(self.target) as made:
            folder = made / "content"
            folder.mkdir()
            self.tell("dumping the database")
            async with dump.one_moment(self.admin) as moment:
                await moment.archive(folder / DATABASE)
                counts = await moment.counts()
            manifest = Manifest(
                version=__version__,
                made_at=self.now,
                database=database_of(self.admin),
                revision=moment.revision,
                counts=dict(counts),
            )
            await self._compare(Opened(manifest, folder / DATABASE))
            self.tell("copying the journals")
            await asyncio.to_thread(snapshots.copy_all, self.data_dir, folder / JOURNALS)
            manifest.sha256 = await asyncio.to_thread(checksums, folder)
            (folder / MANIFEST).write_text(manifest.model_dump_json(indent=1), encoding="utf-8")
            await asyncio.to_thread(pack, folder, self.target)
        return manifest

    async def sealed(self, keys: Keyring) -> Manifest:
        with beside(self.target) as made:
            part = made / self.target.name
            self.tell("dumping the database and the journals, encrypted")
            manifest = await sealing.write(part, self.admin, self.data_dir, keys, self.now)
            with sealing.aside(self.data_dir) as folder, sealing.opened(part, keys, folder) as read:
                await self._compare(read)
            os.replace(part, self.target)
            keep_names(self.target.parent)
        return manifest

    async def _compare(self, made: Opened) -> None:
        if not self.check:
            return
        self.tell("restoring it into a scratch database, to compare")
        async with loading.loaded(
            self.admin, made.dump, roles_of=made.manifest.database, rows=made.rows
        ) as (_, found):
            refuse_difference(made.counts(), found)


def _refuse_nothing(settings: Settings) -> None:
    """To open a database makes it: an empty backup of a mistyped folder would look like one."""
    if settings.dsn is not None or embedded.status(settings.data_dir).cluster_version is not None:
        return
    if not snapshots.tenants(settings.data_dir):
        raise NotFound(
            f"nothing to back up: there is no database in {settings.data_dir}. Name the folder "
            "with --data-dir or MEMORY_BUTLER_DATA_DIR"
        )


def refuse_difference(wanted: dump.Counts, found: dump.Counts) -> None:
    """Raise IntegrityViolation where a loaded database is not the dumped one."""
    different = sorted(
        name for name in wanted.keys() | found.keys() if wanted.get(name) != found.get(name)
    )
    if different:
        raise IntegrityViolation(
            f"what was restored differs from what was backed up, in {', '.join(different[:10])}"
        )
