"""A backup as a sealed file: what is of a tenant under the key of that tenant, the rest under the
key of the installation.

Its sections are the manifest, the schema as `pg_dump` writes it, the rows of each table and tenant,
and the files of the journals. Only these are copied in clear on the way, into the data directory,
where they are in clear anyway.
"""

import asyncio
import os
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, Final

from memory_butler import __version__
from memory_butler.backup.archive import JOURNALS, Manifest, Opened
from memory_butler.domain.errors import Conflict, InvalidInput
from memory_butler.engine.leftovers import UNFINISHED
from memory_butler.journal import snapshots
from memory_butler.store import dump, sections
from memory_butler.store.schema import database_of
from memory_butler.store.sections import Rows
from memory_butler.vault import sealed
from memory_butler.vault.keyring import Keyring
from memory_butler.vault.sealed import PIECE_BYTES, Reader, Section, Writer

KIND: Final = "backup"
_SCHEMA: Final = "schema.dump"


def is_sealed(source: Path) -> bool:
    """Whether a file is a sealed one."""
    with source.open("rb") as file:
        return sealed.is_sealed(file.read(100))


@contextmanager
def aside(data_dir: Path) -> Iterator[Path]:
    """A folder for what is in clear for a while; the next start removes what a kill leaves."""
    data_dir = data_dir.expanduser().resolve()
    data_dir.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f"{UNFINISHED}{os.getpid()}-", dir=data_dir) as made:
        yield Path(made)


async def write(
    target: Path, admin_dsn: str, data_dir: Path, keys: Keyring, now: datetime
) -> Manifest:
    """Write a sealed backup to a new file, on disk when this returns.

    Raises:
        Conflict: a tenant was erased meanwhile, or began its first journal.
    """
    with _created(target) as file, aside(data_dir) as folder:
        async with dump.one_moment(admin_dsn) as moment:
            erased = await moment.erased()
            counts = await moment.counts()
            await moment.archive(folder / _SCHEMA, rows=False)
            tenants = _tenants(counts)
            # Fetched once, and before journals are copied: an erasure deletes a journal first and
            # its key then, so what is copied later had this key, and not one made for it anew.
            in_rows = {one for some in tenants.values() for one in some}
            in_journals = await asyncio.to_thread(snapshots.tenants, data_dir)
            held = await asyncio.to_thread(keys.held, {"", *in_rows, *in_journals}, now)
            writer = Writer(file, KIND, held, now)
            manifest = Manifest(
                version=__version__,
                made_at=now,
                database=database_of(admin_dsn),
                revision=moment.revision,
                counts=dict(counts),
                keys={tenant: held.by_tenant[tenant].id for tenant in sorted(in_rows)},
            )
            writer.begin("", {"part": "manifest"})
            writer.write(manifest.model_dump_json().encode())
            writer.begin("", {"part": "schema"})
            _copy(folder / _SCHEMA, writer)
            await sections.copy_out(moment.connection, tenants, _RowsSink(writer))
        for name in snapshots.copy_all(data_dir, folder / JOURNALS):
            # Journals lie in folders named after their tenants.
            writer.begin(name.partition("/")[0], {"part": "journal", "name": name})
            _copy(folder / JOURNALS / name, writer)
        writer.close()
    # What was read before may have been written after its key was destroyed, with a new one.
    async with dump.one_moment(admin_dsn) as moment:
        if await moment.erased() != erased:
            raise Conflict("a tenant was erased while the backup was made: make it again")
    return manifest


@contextmanager
def _created(path: Path) -> Iterator[BinaryIO]:
    """A new file for its owner alone, on disk when the block ends."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(descriptor, "wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def opened(source: Path, keys: Keyring, folder: Path) -> Iterator[Opened]:
    """A sealed backup; its schema is put into the folder now, its journals while rows are read.

    Raises:
        InvalidInput: it is damaged, cut off, or of a later format. Whether it is whole is known
            when all rows have been read.
        ConfigurationError: a key is not in the keyring, or the master key is another one.
    """
    with source.open("rb") as file:
        found = Reader(file, KIND, keys).sections()
        manifest = Manifest.model_validate_json(_part(found, "manifest").whole())
        left_out = tuple(
            tenant for tenant, id in sorted(manifest.keys.items()) if keys.key(id) is None
        )
        with (folder / _SCHEMA).open("wb") as schema:
            schema.writelines(_part(found, "schema").pieces)
        yield Opened(manifest, folder / _SCHEMA, _rows(found, folder / JOURNALS), left_out)


def _rows(found: Iterator[Section], journals: Path) -> Iterator[Rows]:
    for section in found:
        if section.head["part"] == "rows":
            yield Rows.of(section.head, section.pieces)
        elif section.head["part"] == "journal":
            path = (journals / section.head["name"]).resolve()
            if not path.is_relative_to(journals.resolve()):
                raise InvalidInput("the backup holds a journal with a path of its own")
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("wb") as file:
                file.writelines(section.pieces)


def _part(found: Iterator[Section], name: str) -> Section:
    section = next(found, None)
    if section is None or section.head.get("part") != name:
        raise InvalidInput(f"the backup has no {name} where it belongs")
    return section


@dataclass(frozen=True, slots=True)
class _RowsSink:
    """Sections of rows, marked as such."""

    writer: Writer

    def begin(self, tenant: str, head: Mapping[str, Any]) -> None:
        self.writer.begin(tenant, {"part": "rows", **head})

    def write(self, data: bytes) -> int:
        return self.writer.write(data)


def _tenants(counts: dump.Counts) -> Mapping[str, list[str]]:
    """By table, the tenants that have rows in it."""
    found: dict[str, list[str]] = defaultdict(list)
    for name in sorted(counts):
        tenant, _, table = name.rpartition(" ")
        found[table].append(tenant)
    return found


def _copy(source: Path, writer: Writer) -> None:
    with source.open("rb") as file:
        while data := file.read(PIECE_BYTES):
            writer.write(data)
