"""What another program exported: a file, a folder, or a zip as it was downloaded."""

import json
import lzma
import os
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, Final, cast
from uuid import UUID

from memory_butler.domain.errors import InvalidInput
from memory_butler.engine.import_format import AnyLine, BadLine, LeftOut
from memory_butler.engine.inputs import whole_day

# An export of one JSON document is read whole; Python needs some five times its size for it.
MAX_DOCUMENT_BYTES: Final = 2 * 1024**3
# More than that is somebody's whole disk, named by mistake.
MAX_FILES: Final = 100_000


# What zipfile and zlib make of bytes that are no archive, or one of a kind that they do not know.
_DAMAGED: Final = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    NotImplementedError,
    UnicodeDecodeError,
)


@dataclass(frozen=True, slots=True)
class Document:
    """One file of an export; `member` where it lies in a zip."""

    path: Path
    name: str
    size: int
    member: str | None = None

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Its bytes.

        Raises:
            InvalidInput: the archive that it lies in is damaged or encrypted, however late one
                comes upon it.
        """
        if self.member is None:
            with self.path.open("rb") as file:
                yield file
            return
        try:
            with _unpacked(self.path, self.member) as file:
                yield file
        except _DAMAGED as error:
            raise InvalidInput(
                f"{self.name} cannot be unpacked: {error or 'it ends early'}"
            ) from None


@dataclass(frozen=True, slots=True)
class Found:
    """What a reader found, what is wrong there, or what it leaves out.

    Attributes:
        number: the line, or in a file without lines the place in its list, counted from 1.
        key: its name in the export, which makes the id; the same in every export of it.
        reached: how many bytes of the document are read with it.
    """

    number: int
    key: str
    line: AnyLine | BadLine | LeftOut
    reached: int


@contextmanager
def _unpacked(path: Path, member: str) -> Iterator[BinaryIO]:
    with zipfile.ZipFile(path) as archive:
        if archive.getinfo(member).flag_bits & 1:
            raise zipfile.BadZipFile("it is encrypted; unpack it first")
        with archive.open(member) as file:
            yield cast(BinaryIO, file)


def documents(path: Path, *suffixes: str) -> Iterator[Document]:
    """The files at `path` with these suffixes, in the order of their names.

    Raises:
        InvalidInput: there is nothing at the path, or it cannot be read.
    """
    try:
        if path.is_dir():
            for one in sorted(_files(path, suffixes)):
                yield Document(one, one.relative_to(path).as_posix(), one.stat().st_size)
        elif path.exists() and not path.is_file():
            # Before anything is read of it: even the look for an archive would not end.
            raise InvalidInput(f"{path} is not a regular file: a device or pipe may never end")
        elif zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                for info in sorted(archive.infolist(), key=lambda info: info.filename):
                    if Path(info.filename).suffix in suffixes:
                        yield Document(path, info.filename, info.file_size, info.filename)
        elif path.suffix.lower() == ".zip" or _begins_as_zip(path):
            raise InvalidInput(
                f"{path.name} is a damaged zip, or only the beginning of one: download it again"
            )
        else:
            yield Document(path, path.name, path.stat().st_size)
    except (OSError, *_DAMAGED) as error:
        said = getattr(error, "strerror", None) or str(error)
        raise InvalidInput(f"{path} cannot be read: {said}") from None


def _begins_as_zip(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"PK\x03\x04"


def _files(folder: Path, suffixes: tuple[str, ...]) -> Iterator[Path]:
    seen = 0
    for parent, _, names in os.walk(folder):  # follows no links
        seen += len(names)
        if seen > MAX_FILES:
            raise InvalidInput(
                f"{folder} cannot be read: it holds more than {MAX_FILES:,} files; "
                "name the folder of the export itself"
            )
        for name in names:
            one = Path(parent, name)
            # A link may lead out of what was named, to files that nobody meant.
            if name.endswith(suffixes) and not one.is_symlink() and one.is_file():
                yield one


def read_json(document: Document) -> Any:
    """A document that is one JSON value.

    Raises:
        InvalidInput: it is none, or too large to be read whole.
    """
    if document.size > MAX_DOCUMENT_BYTES:
        raise InvalidInput(f"{document.name} is larger than {MAX_DOCUMENT_BYTES:,} bytes")
    with document.open() as file:
        try:
            return json.load(file)
        except (ValueError, RecursionError) as error:
            raise InvalidInput(f"{document.name} is not JSON: {error}") from None


def moment(value: Any) -> datetime | None:
    """A time as exports write it: ISO 8601, or seconds since 1970; None for anything else."""
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, UTC)
        if isinstance(value, str):
            read = datetime.fromisoformat(value)
            # A date in a note, or a time without a zone, is taken as UTC: the best that is known.
            return read if read.tzinfo is not None else read.replace(tzinfo=UTC)
    except (ValueError, OverflowError, OSError):
        pass
    return None


def end(value: Any) -> datetime | None:
    """When something ends: as `moment`, and a date alone is that whole day."""
    day = whole_day(value)
    return day if isinstance(day, datetime) else moment(day)


def own_id(value: Any) -> str:
    """The name that another program has for something, as a text that can be stored.

    Raises:
        ValueError: it has none, so that it would not be known again.
    """
    if value is None or value == "":
        raise ValueError("it has no id")
    # Half a surrogate pair, as of an emoji that was cut in two, has no UTF-8.
    return str(value).encode("utf-8", "backslashreplace").decode()


def session(value: Any) -> UUID | None:
    """An id of a conversation, where it is a UUID."""
    try:
        return UUID(value)
    except (ValueError, AttributeError, TypeError):
        return None


def present(**given: Any) -> dict[str, Any]:
    """What has a value."""
    return {name: value for name, value in given.items() if value is not None}
