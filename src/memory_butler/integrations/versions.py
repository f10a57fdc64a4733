"""Which version of a connected program is on this machine, against the oldest that was tried."""

import os
import re
import shutil
import tempfile
from pathlib import Path
from typing import Final

from memory_butler.inference.language_models.bounded_process import OutputBoundPassed, run
from memory_butler.integrations.clients import Program

# A program for Node takes four on a busy machine; ten were too few once.
SECONDS: Final = 30
_MAX_BYTES: Final = 10_000
_VERSION: Final = re.compile(r"(?<!\d)\d{1,6}\.\d[.\d]*")


async def version_of(program: Program) -> str | None:
    """What the program on the PATH says of itself; None: it says no version, or not in time.

    Raises:
        FileNotFoundError: it is not on the PATH.
    """
    found = shutil.which(program.command)
    if found is None:
        raise FileNotFoundError(program.command)
    with tempfile.TemporaryDirectory() as nowhere:  # so that it reads no settings of a project
        try:
            ended = await run(
                [found, "--version"],
                stdin=b"",
                environment=os.environ,
                folder=Path(nowhere),
                timeout_seconds=SECONDS,
                max_output_bytes=_MAX_BYTES,
            )
        except (TimeoutError, OutputBoundPassed, OSError):
            return None
    told = _VERSION.search(ended.stdout.decode(errors="replace"))
    return None if told is None or ended.status else told.group()


def is_older(version: str, oldest: str) -> bool:
    """Whether a version comes before another; what follows its numbers does not count."""
    return _numbers(version) < _numbers(oldest)


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".") if part]
