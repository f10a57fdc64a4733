"""Files that are there whole or not at all, and for their owner alone."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def replaced(path: Path) -> Iterator[BinaryIO]:
    """A file that takes the place of `path` when the block ends, on disk then; 0600.

    A reader meets the old one or the new one. Where the block fails, the old one stays and nothing
    is left beside it.

    Raises:
        OSError: the folder is not there, or cannot be written.
    """
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with open(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    keep_names(path.parent)


def keep_names(folder: Path) -> None:
    """Keep the names in a folder, too, over a loss of power."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
