"""What a person is told when a command fails, and the exit code."""

import os
import select
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

import typer

from memory_butler import __version__
from memory_butler.domain.errors import DISK_ERRORS, OUT_OF_REACH, MemoryButlerError
from memory_butler.surfaces.errors import BY_CODE, mapping

# After a signal, as shells have it: 128 and the signal's number.
INTERRUPTED = 130
CLOSED_PIPE = 141
TERMINATED = 143

# Of an import.
GOES_ON = "Interrupted. The same command again goes on where it stopped, and stores nothing twice."


@contextmanager
def reporting(*, debug: bool) -> Iterator[None]:
    """One line on standard error and the exit code of the error; a traceback with `debug`."""
    try:
        yield
    except (typer.Exit, typer.Abort, typer.TyperException):
        raise  # Typer's own, which it shows itself
    except MemoryButlerError as error:
        if debug:
            traceback.print_exc()
        complain(f"error: {error}")
        code = mapping(error).exit_code
    except KeyboardInterrupt as interrupted:
        if said := ". ".join(str(one) for one in interrupted.args):
            complain(said)
        code = INTERRUPTED
    except Exception as error:
        # Standard error may be the one, as by `2>&1 | head -1`. Otherwise the pipe is one of ours.
        if isinstance(error, BrokenPipeError) and (closed := _without_reader()):
            _discard(*closed)
            raise SystemExit(CLOSED_PIPE) from None
        if debug:
            traceback.print_exc()
        if (no_bug := _of_the_machine(error)) is not None:
            said, code = no_bug
            complain(f"error: {said}")
            raise SystemExit(code) from None
        told = "" if debug else " with what the same command says with --debug"
        complain(
            f"bug: {type(error).__name__} in memory-butler {__version__}; please report it{told}"
        )
        code = BY_CODE["internal"].exit_code
    else:
        return
    sys.stdout.flush()
    raise SystemExit(code)


def _of_the_machine(error: Exception) -> tuple[str, int] | None:
    """What to say, and the exit code, where the disk, its rights or the locale are in the way."""
    if isinstance(error, OSError):
        full, shut = error.errno in DISK_ERRORS, error.errno in OUT_OF_REACH
        if full or (shut and error.filename):
            where = f"{error.filename}: " if error.filename else ""
            code = BY_CODE["unavailable" if full else "configuration"].exit_code
            return f"{where}{error.strerror}", code
    encoding = sys.getfilesystemencoding()
    if isinstance(error, UnicodeEncodeError) and encoding != "utf-8":
        said = f"this locale ({encoding}) lacks a character of a path or a text: set PYTHONUTF8=1"
        return said, BY_CODE["configuration"].exit_code
    return None


@contextmanager
def written_out() -> Iterator[None]:
    """What the block printed is written out before it exits; where that fails, the code says so.

    A reader that has seen enough, as `head` has, ends it without a word.
    """
    given = sys.stdout, _output()
    try:
        yield
    except SystemExit as end:
        # Typer and rich put something else in the place of a pipe that was closed, and end with 1.
        if end.code == BY_CODE["internal"].exit_code and (sys.stdout, _output()) != given:
            raise SystemExit(CLOSED_PIPE) from None
        try:
            sys.stdout.flush()
        except BrokenPipeError:
            _discard(sys.stdout)
            raise SystemExit(CLOSED_PIPE) from None
        except OSError as error:
            _discard(sys.stdout)
            if not end.code:
                complain(f"error: {error.strerror}")
                raise SystemExit(BY_CODE["unavailable"].exit_code) from None
        raise


def _output() -> tuple[int, int] | None:
    """Which file standard output is; None where it is none of the system's."""
    try:
        found = os.fstat(sys.stdout.fileno())
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


def _without_reader() -> list[TextIO]:
    """The standard streams that lead into a pipe or a socket which nobody reads any more."""
    closed: list[TextIO] = []
    if not hasattr(select, "poll"):
        return closed  # on Windows, where such a write fails otherwise
    for stream in (sys.stdout, sys.stderr):
        poll = select.poll()
        try:
            poll.register(stream, 0)  # tells hang-ups and errors in any case
        except (OSError, ValueError):
            continue  # none of the system's
        if any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0)):
            closed.append(stream)
    return closed


def _discard(*streams: TextIO) -> None:
    """Print to nowhere from now on, so that Python's last flush has no error to tell."""
    null = os.open(os.devnull, os.O_WRONLY)
    for stream in streams:
        os.dup2(null, stream.fileno())
    os.close(null)


def complain(message: str) -> None:
    """One line on standard error."""
    print(" ".join(message.split()), file=sys.stderr)


def exit_codes() -> list[tuple[int, str]]:
    """Every exit code and what it means, in order."""
    known = {one.exit_code: one.title for one in BY_CODE.values()}
    signals = {
        INTERRUPTED: "Interrupted (Ctrl-C)",
        CLOSED_PIPE: "Standard output was closed (SIGPIPE)",
        TERMINATED: "Terminated (SIGTERM)",
    }
    failed = BY_CODE["internal"]
    known[failed.exit_code] = f"{failed.title} (or a check found something)"
    return sorted(({0: "Done", 2: "Wrong usage"} | known | signals).items())
