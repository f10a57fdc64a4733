"""The file of a backup: a tar with a manifest, the database's dump, and the journals.

Its parts can be used without this program: `database.dump` is for `pg_restore`, and a journal is an
SQLite file. Where keys are set up it is a sealed file instead (sealing.py).
"""

import hashlib
import os
import shutil
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from pydantic import AwareDatetime, BaseModel, ValidationError

from memory_butler.domain.errors import InvalidInput
from memory_butler.files import keep_names
from memory_butler.store.dump import Counts
from memory_butler.store.sections import Rows

MANIFEST: Final = "manifest.json"
DATABASE: Final = "database.dump"
JOURNALS: Final = "journal"


class Manifest(BaseModel):
    """What a backup says of itself."""

    format: Literal[1] = 1
    version: str
    made_at: AwareDatetime
    database: str
    revision: str
    counts: dict[str, tuple[int, str]]
    # Of the parts of a tar; a sealed file has no need of them.
    sha256: dict[str, str] = {}
    # Of a sealed file: by tenant, the id of the key of its rows.
    keys: dict[str, str] = {}

    def rows(self) -> int:
        return sum(rows for rows, _ in self.counts.values())

    def tenants(self) -> list[str]:
        return sorted({name.partition(" ")[0] for name in self.counts})


@dataclass(frozen=True, slots=True)
class Opened:
    """A backup that is being read: its manifest, and a dump in a folder, beside which the journals
    are, or will be when the rows have been read.

    `rows` are those that the dump does not hold itself; None: it holds them. `left_out`: tenants
    whose key was destroyed.
    """

    manifest: Manifest
    dump: Path
    rows: Iterator[Rows] | None = None
    left_out: tuple[str, ...] = ()

    def counts(self) -> Counts:
        """What is there when all of it is loaded."""
        return {
            name: found
            for name, found in self.manifest.counts.items()
            if name.rpartition(" ")[0] not in self.left_out
        }


def checksums(folder: Path) -> dict[str, str]:
    """sha256 of each file but the manifest, by its path in the folder."""
    return {
        str(path.relative_to(folder)): _sha256(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != MANIFEST
    }


def pack(folder: Path, target: Path) -> None:
    """Write the folder to the file, which is there whole or not at all; for its owner alone.

    Until then it is made beside the folder, on the same disk as the file.
    """
    part = folder.with_name(f".{target.name}.part")
    try:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(descriptor, "wb") as file:
            with tarfile.open(fileobj=file, mode="w") as tar:
                for path in sorted(folder.iterdir(), key=lambda one: one.name != MANIFEST):
                    tar.add(path, arcname=path.name)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, target)
        keep_names(target.parent)
    finally:
        part.unlink(missing_ok=True)


def unpack(source: Path, folder: Path) -> Manifest:
    """Read the file into the folder, and check that it is as it was written.

    Raises:
        InvalidInput: it is no backup, of a later format, or damaged.
    """
    folder.mkdir(mode=0o700, exist_ok=True)
    try:
        with tarfile.open(source) as tar:
            for member in tar:
                _extract(tar, member, folder)
        manifest = Manifest.model_validate_json((folder / MANIFEST).read_bytes())
    except ValidationError as error:
        raise InvalidInput(f"{source} is not a backup that this version reads") from error
    except (tarfile.TarError, FileNotFoundError, EOFError) as error:
        raise InvalidInput(f"{source} is cut off, damaged or not a backup") from error
    if checksums(folder) != manifest.sha256:
        raise InvalidInput(f"{source} is damaged: what it holds is not what was written")
    return manifest


def _extract(tar: tarfile.TarFile, member: tarfile.TarInfo, folder: Path) -> None:
    """Write a file or folder of the tar into the folder, for its owner alone.

    Not `extractall(filter="data")`: the Python 3.11.2 of Debian 12 does not have it.

    Raises:
        TarError: it is a link or a device, or outside of the folder: no backup has any.
    """
    target = folder / member.name
    if ".." in target.parts or not target.is_relative_to(folder):
        raise tarfile.TarError(f"{member.name} is outside of the folder")
    if member.isdir():
        target.mkdir(mode=0o700, exist_ok=True)
    elif member.isreg() and (content := tar.extractfile(member)):
        target.touch(mode=0o600)
        with target.open("wb") as file:
            shutil.copyfileobj(content, file)
    else:
        raise tarfile.TarError(f"{member.name} is neither a file nor a folder")


def is_plain(source: Path) -> bool:
    """Whether a file is a backup that is not encrypted, whole or cut off."""
    try:
        with tarfile.open(source, "r:") as tar:
            first = tar.next()
    except (tarfile.TarError, OSError):
        return False
    return first is not None and first.name == MANIFEST


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
