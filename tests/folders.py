"""Folders for servers that a test starts."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def open_folder() -> Iterator[Path]:
    """An empty folder that the database's user can reach, gone at the end.

    Pytest's own folders are root's alone where root runs the tests, and PostgreSQL does not run as
    root.
    """
    folder = Path(tempfile.mkdtemp(prefix="mb-"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)
