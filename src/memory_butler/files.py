"""Files that are there whole or not at all; those of our own are for their owner alone."""

import fcntl
import io
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, Final

# Removed when it is left over, so no name that anybody would give a folder.
_BESIDE: Final = ".memory-butler-unfinished-"
# The folders of a data directory that commands write into, besides the database.
_MADE_BY_COMMANDS: Final = ("audit", "connections", "erasures", "journal", "keys", "spool")


@contextmanager
def replaced(path: Path) -> Iterator[BinaryIO]:
    """A file that takes the place of `path` when the block ends, on disk then; 0600.

    A reader meets the old one or the new one. Where the block fails, the old one stays and nothing
    is left beside it.

    Raises:
        OSError: the folder is not there, or cannot be written; its filename is `path`. What the
            block raises itself stays as it is.
    """
    with _named(path):
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with io.BufferedWriter(_Unfinished(descriptor, path)) as file:
            yield file
            file.flush()
            with _named(path):
                os.fsync(file.fileno())
        with _named(path):
            Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    with _named(path):
        keep_names(path.parent)


class _Unfinished(io.FileIO):
    def __init__(self, descriptor: int, path: Path) -> None:
        super().__init__(descriptor, "wb")
        self._path = path

    def write(self, data: Any) -> int:
        with _named(self._path):
            return super().write(data)


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Errors name this file: the system names the unfinished one, or none for a descriptor."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def rewrite(path: Path, content: bytes, *, new_mode: int = 0o600) -> None:
    """Write a file of the user's own at once: a reader meets the old or the new one, whole.

    A link stays one, as people keep their settings elsewhere, and permissions stay; `new_mode` is
    for a file that was not there. Missing folders are made.

    Raises:
        OSError: it cannot be written; the old one stays.
    """
    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = path.stat().st_mode & 0o777 if path.exists() else new_mode
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        try:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            Path(file.name).chmod(mode)
            Path(file.name).replace(path)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise


@contextmanager
def beside(target: Path) -> Iterator[Path]:
    """A folder beside a file that is being made: a temporary directory may be small, and in memory.

    Locked, so that `remove_killed` tells what is under way from what a kill has left.
    """
    with tempfile.TemporaryDirectory(prefix=_BESIDE, dir=target.absolute().parent) as made:
        descriptor = os.open(made, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield Path(made)
        finally:
            os.close(descriptor)


def remove_killed(target: Path) -> list[Path]:
    """Remove folders that killed processes have left beside this file; which ones.

    One that cannot be locked or removed stays: it is under way, or another user's.
    """
    removed = []
    for one in sorted(target.absolute().parent.glob(f"{_BESIDE}*")):
        with suppress(OSError):
            descriptor = os.open(one, os.O_RDONLY | os.O_DIRECTORY)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(one)
                removed.append(one)
            finally:
                os.close(descriptor)
    return removed


def is_stream(path: Path) -> bool:
    """Whether it is a pipe or a device, whose place no file may take."""
    return path.exists() and not (path.is_file() or path.is_dir())


def keep_names(folder: Path) -> None:
    """Keep the names in a folder, too, over a loss of power."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_only(path: Path) -> str:
    """The URI by which SQLite opens a file for reading only, whatever characters its path has."""
    return f"{path.absolute().as_uri()}?mode=ro"


def give_to_owner(data_dir: Path) -> None:
    """Give what root has made in a user's data directory to that user, who could not read it.

    Not the database, which has its own user. No link is followed, and a file with a second name
    stays as it is: it may be one from elsewhere, put there to be given away.
    """
    owner = data_dir.stat()
    if os.geteuid() != 0 or owner.st_uid == 0:
        return
    for top, subfolders, files, descriptor in os.fwalk(data_dir):
        if Path(top) == data_dir:
            subfolders[:] = [name for name in subfolders if name in _MADE_BY_COMMANDS]
        for name in (*subfolders, *files):
            with suppress(OSError):
                _give(name, descriptor, owner)


def _give(name: str, folder: int, owner: os.stat_result) -> None:
    """Give a file or folder of root's to the owner; what was looked at is what is given."""
    opened = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    try:
        info = os.fstat(opened)
        plain = stat.S_ISDIR(info.st_mode) or (stat.S_ISREG(info.st_mode) and info.st_nlink == 1)
        if plain and info.st_uid == 0:
            os.fchown(opened, owner.st_uid, owner.st_gid)
    finally:
        os.close(opened)
