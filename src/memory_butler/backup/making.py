"""Making a backup while everything serves."""

import asyncio
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from memory_butler import __version__
from memory_butler.backup.archive import (
    DATABASE,
    JOURNALS,
    MANIFEST,
    Manifest,
    checksums,
    pack,
)
from memory_butler.config import Settings
from memory_butler.domain.errors import IntegrityViolation
from memory_butler.engine.opening import open_database
from memory_butler.journal import snapshots
from memory_butler.store import dump

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Made:
    """A backup that was written."""

    path: Path
    manifest: Manifest
    checked: bool


async def back_up(
    settings: Settings,
    target: Path,
    now: datetime,
    *,
    admin_dsn: str | None = None,
    check: bool = True,
    tell: Tell = lambda _: None,
) -> Made:
    """Write database and journals to a file; a folder gets one named for the moment.

    With `check` the dump is loaded into a scratch database of the same server and compared, tenant
    by tenant, before the file appears. Interrupted, it leaves nothing.

    Raises:
        ConfigurationError: the login may not act as the owner, or not make the scratch database.
        IntegrityViolation: what was loaded is not what was dumped, or a journal is damaged.
        Unavailable: the database is away.
    """
    if await asyncio.to_thread(target.is_dir):
        target = target / f"memory-butler-{now:%Y%m%d-%H%M%S}.tar"
    # Beside the file: a temporary directory may be small, and in memory.
    with tempfile.TemporaryDirectory(
        prefix=".memory-butler-", dir=target.absolute().parent
    ) as made:
        folder = Path(made)
        async with open_database(settings) as database:
            admin = admin_dsn or database.admin_dsn or database.runtime_dsn
            name = dump.database_of(admin)
            tell("dumping the database")
            revision, counts = await dump.dump(admin, folder / DATABASE)
            if check:
                tell("restoring it into a scratch database, to compare")
                async with dump.loaded(admin, folder / DATABASE, roles_of=name) as (_, found):
                    refuse_difference(counts, found)
        tell("copying the journals")
        await asyncio.to_thread(snapshots.copy_all, settings.data_dir, folder / JOURNALS)
        manifest = Manifest(
            version=__version__,
            made_at=now,
            database=name,
            revision=revision,
            counts=dict(counts),
            sha256=await asyncio.to_thread(checksums, folder),
        )
        (folder / MANIFEST).write_text(manifest.model_dump_json(indent=1), encoding="utf-8")
        await asyncio.to_thread(pack, folder, target)
    return Made(target, manifest, check)


def refuse_difference(wanted: dump.Counts, found: dump.Counts) -> None:
    """Raise IntegrityViolation where a loaded database is not the dumped one."""
    different = sorted(
        name for name in wanted.keys() | found.keys() if wanted.get(name) != found.get(name)
    )
    if different:
        raise IntegrityViolation(
            f"what was restored differs from what was backed up, in {', '.join(different[:10])}"
        )
