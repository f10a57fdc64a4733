"""Importing a file of memories, with its progress."""

import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from memory_butler.domain.errors import InvalidInput
from memory_butler.surfaces.cli.examples import epilog
from memory_butler.surfaces.cli.place import AsJson, Place, complete
from memory_butler.surfaces.cli.problems import complain
from memory_butler.surfaces.errors import BY_CODE

if TYPE_CHECKING:
    from memory_butler.engine.imports import ImportReport

    Progress = Callable[[ImportReport, int], None]

EXAMPLES = epilog(
    "memory-butler import memories.jsonl",
    "zcat memories.jsonl.gz | memory-butler import - --strict",
)
# Standard input is kept so that the lines are counted before they are stored; in memory up to this.
_IN_MEMORY_BYTES = 64 * 1024 * 1024
# Without a terminal: a line for the first batch, and then so seldom that a log stays readable.
_PLAIN_SECONDS = 2.0


def import_(
    place: Place,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="JSON Lines; - reads standard input.")
    ],
    strict: Annotated[
        bool, typer.Option("--strict", help="Stop at the first bad line, with what stands before.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Store every line of a file of memories.

    Interrupted, run the same command again: it goes on where it stopped and stores nothing twice.
    A bad line is left out and told; mend it and run the command again, and only it is stored.
    """
    with _opened(file) as source:
        total = sum(1 for _ in source)
        source.seek(0)
        report = complete(_import(place, source, total, strict))
    for line in report.bad_lines:
        complain(f"line {line.number}: {line.reason}")
    if report.bad > len(report.bad_lines):
        complain(f"and {report.bad - len(report.bad_lines)} more bad lines")
    _summarise(report, as_json)
    if report.bad:
        raise typer.Exit(BY_CODE["invalid_input"].exit_code)


@contextmanager
def _opened(file: str) -> Iterator[BinaryIO]:
    """A file that can be read twice."""
    if file == "-":
        with tempfile.SpooledTemporaryFile(_IN_MEMORY_BYTES) as kept:
            for line in sys.stdin.buffer:
                kept.write(line)
            kept.seek(0)
            yield kept  # type: ignore[misc]
        return
    try:
        with Path(file).open("rb") as source:
            if not source.seekable():
                raise InvalidInput(f"{file} cannot be read twice; pipe it into `import -`")
            yield source
    except (FileNotFoundError, IsADirectoryError, PermissionError) as error:
        raise InvalidInput(f"{file} cannot be read: {error.strerror}") from None


async def _import(place: Place, source: BinaryIO, total: int, strict: bool) -> "ImportReport":
    from memory_butler.engine.imports import import_file
    from memory_butler.engine.opening import open_memory

    async with open_memory(place.settings()) as memory:
        with _progress(total) as progress:
            return await import_file(
                memory, place.principal(), source, strict=strict, progress=progress
            )


@contextmanager
def _progress(total: int) -> "Iterator[Progress]":
    """A bar on a terminal, else now and then a line; on standard error either way."""
    if not sys.stderr.isatty():
        yield _plain(total)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    columns = ("Importing", BarColumn(), MofNCompleteColumn(), "lines", TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("import", total=total)
        yield lambda _, reached: bar.update(task, completed=reached)


def _plain(total: int) -> "Progress":
    said = 0.0

    def say(_: "ImportReport", reached: int) -> None:
        nonlocal said
        if time.monotonic() - said >= _PLAIN_SECONDS:
            said = time.monotonic()
            print(f"line {reached} of {total}", file=sys.stderr, flush=True)

    return say


def _summarise(report: "ImportReport", as_json: bool) -> None:
    if as_json:
        answer = {
            "stored": dict(sorted(report.stored.items())),
            "superseded": report.superseded,
            "already_there": report.already_there,
            "bad": report.bad,
            "bad_lines": [
                {"line": line.number, "reason": line.reason} for line in report.bad_lines
            ],
        }
        print(json.dumps(answer, indent=2))
        return
    kinds = {"episode": "episodes", "fact": "facts", "rule": "rules", "entity": "entities"}
    counts = [
        f"{report.stored[kind]} {kinds.get(kind, 'links')}"
        for kind in (*kinds, "link")
        if report.stored[kind]
    ]
    print(f"Stored {', '.join(counts) or 'nothing new'}.")
    if report.superseded:
        print(f"{report.superseded} facts superseded an earlier one.")
    if report.already_there:
        print(f"{report.already_there} lines were there already.")
    if report.bad:
        print(f"{report.bad} bad lines were left out.")
