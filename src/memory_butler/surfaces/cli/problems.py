"""What a person is told when a command fails, and the exit code."""

import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from memory_butler import __version__
from memory_butler.domain.errors import DISK_ERRORS, MemoryButlerError
from memory_butler.surfaces.errors import BY_CODE, mapping

# After a signal, as shells have it: 128 and the signal's number.
INTERRUPTED = 130
TERMINATED = 143

# Of an import.
GOES_ON = "Interrupted. The same command again goes on where it stopped, and stores nothing twice."


@contextmanager
def reporting(*, debug: bool) -> Iterator[None]:
    """One line on standard error and the exit code of the error; a traceback with `debug`."""
    try:
        yield
    except (typer.Exit, typer.Abort, typer.TyperException, BrokenPipeError):
        raise  # Typer's own, which it shows itself; and a reader that has seen enough
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
        if debug:
            traceback.print_exc()
        if isinstance(error, OSError) and error.errno in DISK_ERRORS:
            where = f"{error.filename}: " if error.filename else ""
            complain(f"error: {where}{error.strerror}")
            raise SystemExit(BY_CODE["unavailable"].exit_code) from None
        told = "" if debug else " with what the same command says with --debug"
        complain(
            f"bug: {type(error).__name__} in memory-butler {__version__}; please report it{told}"
        )
        code = BY_CODE["internal"].exit_code
    else:
        return
    sys.stdout.flush()
    raise SystemExit(code)


def complain(message: str) -> None:
    """One line on standard error."""
    print(" ".join(message.split()), file=sys.stderr)


def exit_codes() -> list[tuple[int, str]]:
    """Every exit code and what it means, in order."""
    known = {one.exit_code: one.title for one in BY_CODE.values()}
    signals = {INTERRUPTED: "Interrupted (Ctrl-C)", TERMINATED: "Terminated (SIGTERM)"}
    return sorted(({0: "Done", 2: "Wrong usage"} | known | signals).items())
