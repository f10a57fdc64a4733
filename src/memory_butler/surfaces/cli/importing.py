"""Importing memories, ours or another program's, with its progress."""

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from memory_butler.domain.errors import InvalidInput
from memory_butler.surfaces.cli.examples import epilog
from memory_butler.surfaces.cli.place import AsJson, Place, complete
from memory_butler.surfaces.cli.problems import complain
from memory_butler.surfaces.errors import BY_CODE

if TYPE_CHECKING:
    from memory_butler.engine.import_format import Candidate
    from memory_butler.engine.imports import ImportReport
    from memory_butler.engine.memory import Memory

EXAMPLES = epilog(
    "memory-butler import memories.jsonl",
    "memory-butler import ~/.claude/projects",
    "memory-butler import chatgpt-export.zip --keep 180",
    "zcat memories.jsonl.gz | memory-butler import - --strict",
)
# Standard input is kept so that the lines are counted before they are stored; in memory up to this.
_IN_MEMORY_BYTES = 64 * 1024 * 1024
# Without a terminal: a line for the first batch, and then so seldom that a log stays readable.
_PLAIN_SECONDS = 2.0
# How often to ask how far a server is with embedding.
_LOOK_SECONDS = 1.0
_OWN = "jsonl"


def import_(
    place: Place,
    path: Annotated[
        str,
        typer.Argument(
            metavar="FILE|FOLDER",
            help="What to import; - reads JSON Lines from standard input.",
        ),
    ],
    format: Annotated[
        str | None,
        typer.Option(
            metavar="FORMAT",
            help="jsonl (our own), claude-code, chatgpt, claude, mem0 or basic-memory; "
            "found out when left out.",
        ),
    ] = None,
    butler: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Whose memories they become; the format's name when left out."
        ),
    ] = None,
    keep: Annotated[
        int,
        typer.Option(metavar="DAYS", help="Days until imported episodes expire, from now on."),
    ] = 90,
    strict: Annotated[
        bool, typer.Option("--strict", help="Stop at the first bad line, with what stands before.")
    ] = False,
    wait: Annotated[
        bool,
        typer.Option(
            "--wait/--no-wait",
            help="Whether to wait until everything is found by meaning too; "
            "a running server sees to it otherwise.",
            show_default=False,
        ),
    ] = True,
    as_json: AsJson = False,
) -> None:
    """Store memories from a file of our own format, or from what another program exported.

    Interrupted, run the same command again: it goes on where it stopped and stores nothing twice.
    A bad line is left out and told; mend it and run the command again, and only it is stored.
    """
    with _opened(path, format, butler, place) as source:
        report = complete(_import(place, source, strict=strict, keep=keep, wait=wait))
    for line in report.bad_lines:
        at = f"{line.file}, line {line.number}" if line.file else f"line {line.number}"
        complain(f"{at}: {line.reason}")
    if report.bad > len(report.bad_lines):
        complain(f"and {report.bad - len(report.bad_lines)} more bad lines")
    _summarise(report, as_json)
    if report.bad:
        raise typer.Exit(BY_CODE["invalid_input"].exit_code)


@dataclass(frozen=True, slots=True)
class _Source:
    """What is imported; `size` in `unit`s, in which its reading is told."""

    candidates: "Iterator[Candidate]"
    size: int
    unit: str


@contextmanager
def _opened(path: str, format: str | None, butler: str | None, place: Place) -> Iterator[_Source]:
    from memory_butler.engine.foreign.formats import detect, format_named, open_export
    from memory_butler.engine.import_format import read_lines

    tenant = place.principal().tenant
    foreign = None
    if format is not None and format != _OWN:
        foreign = format_named(format, _OWN)
    elif format is None and path != "-":
        foreign = detect(Path(path))
    if foreign is not None:
        export = open_export(Path(path), foreign)
        yield _Source(export.candidates(tenant, butler), export.size, "byte")
        return
    if butler is not None:
        raise InvalidInput(
            "--butler is for other programs' formats; each line of ours names its own"
        )
    with _twice(path) as file:
        total = sum(1 for _ in file)
        file.seek(0)
        yield _Source(read_lines(file, tenant), total, "line")


@contextmanager
def _twice(path: str) -> Iterator[BinaryIO]:
    """A file that can be read twice: its lines are counted before they are stored."""
    if path == "-":
        with tempfile.SpooledTemporaryFile(_IN_MEMORY_BYTES) as kept:
            for line in sys.stdin.buffer:
                kept.write(line)
            kept.seek(0)
            yield kept  # type: ignore[misc]
        return
    try:
        with Path(path).open("rb") as source:
            if not source.seekable():
                raise InvalidInput(f"{path} cannot be read twice; pipe it into `import -`")
            yield source
    except (FileNotFoundError, IsADirectoryError, PermissionError) as error:
        said = error.strerror
        if isinstance(error, IsADirectoryError):
            said = "it is a folder that holds nothing of a known format; name one with --format"
        raise InvalidInput(f"{path} cannot be read: {said}") from None


async def _import(
    place: Place, source: _Source, *, strict: bool, keep: int, wait: bool
) -> "ImportReport":
    from memory_butler.engine.imports import import_all
    from memory_butler.engine.opening import open_memory

    async with open_memory(place.settings()) as memory:
        with _progress("Importing", source.size, source.unit) as progress:
            report = await import_all(
                memory,
                place.principal(),
                source.candidates,
                strict=strict,
                keep_days=keep,
                progress=lambda _, reached: progress(reached),
            )
        if wait:
            await _embed(memory)
    return report


async def _embed(memory: "Memory") -> None:
    """Wait until everything that was imported is embedded, by us or by a running server."""
    from memory_butler.engine.reembed import embed_imported, unembedded

    total = sum((await unembedded(memory)).values())
    if not total:
        return
    left = total
    with _progress("Embedding (Ctrl-C loses nothing)", total, "memory") as progress:

        def done(count: int) -> None:
            nonlocal left
            left -= count
            progress(total - left)

        while await embed_imported(memory, done) is None:
            left = sum((await unembedded(memory)).values())
            progress(total - left)
            if not left:
                return
            await asyncio.sleep(_LOOK_SECONDS)


@contextmanager
def _progress(task: str, total: int, unit: str) -> "Iterator[Callable[[int], None]]":
    """A bar on a terminal, else now and then a line; on standard error either way."""
    if not sys.stderr.isatty():
        yield _plain(total, unit)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    columns = (task, BarColumn(), MofNCompleteColumn(), f"{unit}s", TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        id = bar.add_task(task, total=total)
        yield lambda reached: bar.update(id, completed=reached)


def _plain(total: int, unit: str) -> "Callable[[int], None]":
    said = 0.0

    def say(reached: int) -> None:
        nonlocal said
        if time.monotonic() - said >= _PLAIN_SECONDS:
            said = time.monotonic()
            print(f"{unit} {reached} of {total}", file=sys.stderr, flush=True)

    return say


def _summarise(report: "ImportReport", as_json: bool) -> None:
    if as_json:
        answer = {
            "stored": dict(sorted(report.stored.items())),
            "superseded": report.superseded,
            "already_there": report.already_there,
            "bad": report.bad,
            "bad_lines": [
                {"line": line.number, "reason": line.reason}
                | ({"file": line.file} if line.file else {})
                for line in report.bad_lines
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
