"""How far a long command is."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

# Without a terminal: a line for the first batch, and then so seldom that a log stays readable.
_PLAIN_SECONDS = 2.0

Told = Callable[[int, int], None]


@contextmanager
def progress(task: str, unit: str) -> Iterator[Told]:
    """A bar on a terminal, else now and then a line; on standard error either way.

    What it yields is told how much is done, and how much there is.
    """
    if not sys.stderr.isatty():
        yield _plain(unit)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    columns = (task, BarColumn(), MofNCompleteColumn(), _plural(unit), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        id = bar.add_task(task, total=None)
        yield lambda done, total: bar.update(id, completed=done, total=total)


def summed(told: Told, total: int) -> Callable[[int], None]:
    """Adds up the sizes of batches, and passes the sum on to `told`."""
    done = 0

    def add(count: int) -> None:
        nonlocal done
        done += count
        told(done, total)

    return add


def _plural(unit: str) -> str:
    return f"{unit[:-1]}ies" if unit.endswith("y") else f"{unit}s"


def _plain(unit: str) -> Told:
    said, reached = 0.0, -1

    def say(done: int, total: int) -> None:
        nonlocal said, reached
        if done != reached and time.monotonic() - said >= _PLAIN_SECONDS:
            said, reached = time.monotonic(), done
            print(f"{unit} {done} of {total}", file=sys.stderr, flush=True)

    return say
