"""Importing memories, ours or another program's, with its progress."""

import asyncio
import gzip
import io
import json
import sys
import tempfile
import zlib
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO, cast

import typer

from memory_butler.domain.errors import InvalidInput
from memory_butler.domain.trust import TrustName
from memory_butler.surfaces.cli.counting import all_counted, counted
from memory_butler.surfaces.cli.examples import epilog
from memory_butler.surfaces.cli.place import (
    AsJson,
    Place,
    complete,
    is_unknown_tenant,
    tell_new_tenant,
)
from memory_butler.surfaces.cli.problems import GOES_ON, complain
from memory_butler.surfaces.cli.progress import progress
from memory_butler.surfaces.errors import BY_CODE

if TYPE_CHECKING:
    from memory_butler.engine.export import RestoreReport
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
# How often to ask how far a server is with embedding.
_LOOK_SECONDS = 0.5
_OWN = "jsonl"
_SAID = "a file of our own JSON Lines"
# So named, a file is ours however much of it is wrong.
_OWN_SUFFIXES = {".jsonl", ".gz"}


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
        typer.Option(
            metavar="DAYS",
            min=1,
            max=36_500,
            help="Days until imported episodes expire, from now on; what is there already keeps "
            "its date.",
        ),
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
    allow_secrets: Annotated[
        bool, typer.Option("--allow-secrets", help="Store keys and passwords as they are.")
    ] = False,
    trust: Annotated[
        TrustName | None,
        typer.Option(
            metavar="LEVEL",
            help="The most that anything in it is trusted, whatever it says of itself; imported "
            "when left out. An export of your own keeps its levels with user_said.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Store memories from our own format, an export, or what another program exported.

    Interrupted, run the same command again: it goes on where it stopped and stores nothing twice.
    A bad line is skipped and reported. Correct it and run the command again: only it is stored.
    """
    if format in (None, _OWN) and Path(path).is_file():
        _refuse_backup(Path(path))
    with ExitStack() as stack:
        own = None
        if format in (None, _OWN) and (path == "-" or Path(path).is_file()):
            own = stack.enter_context(_twice(path, place))
            if _is_export(own, path):
                if trust is None:
                    raise InvalidInput(
                        "say whose export this is: --trust user_said, if it is your own, keeps its "
                        "levels of trust; --trust imported trusts nothing in it further than that"
                    )
                _tell(
                    complete(_restore(place, own, _lines_in(own, path), trust, wait=wait)), as_json
                )
                return
        source = stack.enter_context(_opened(path, format, butler, place, own))
        work = _import(
            place,
            source,
            trust or "imported",
            strict=strict,
            keep=keep,
            allow_secrets=allow_secrets,
            wait=wait,
        )
        try:
            report = complete(work)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(GOES_ON) from None
    for line in report.bad_lines:
        at = f"{line.file}, line {line.number}" if line.file else f"line {line.number}"
        complain(f"{at}: {line.reason}")
    if report.bad > len(report.bad_lines):
        complain(f"and {report.bad - len(report.bad_lines)} more bad lines")
    _summarise(report, keep, as_json)
    if report.bad:
        raise typer.Exit(BY_CODE["invalid_input"].exit_code)


@dataclass(frozen=True, slots=True)
class _Source:
    """What is imported; `size` in `unit`s, in which its reading is told."""

    candidates: "Iterator[Candidate]"
    size: int
    unit: str


@contextmanager
def _opened(
    path: str, format: str | None, butler: str | None, place: Place, own: BinaryIO | None
) -> Iterator[_Source]:
    """What is imported; `own` is the file where it is open already."""
    from memory_butler.engine.import_format import begins_as_ours, read_lines
    from memory_butler.engine.importers.formats import (
        detect,
        format_named,
        open_export,
        why_not,
        why_unknown,
    )

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
            "--butler is for other programs' formats; each line of our own format names its butler"
        )
    if format == _OWN and Path(path).is_dir():
        raise why_not(Path(path), _OWN, _SAID)
    with nullcontext(own) if own is not None else _twice(path, place) as file:
        if path != "-" and (format == _OWN or Path(path).suffix not in _OWN_SUFFIXES):
            with _unpacked(path):
                is_ours = begins_as_ours(file)
            if not is_ours and format is None:
                raise why_unknown(Path(path))
            if not is_ours and detect(Path(path)):
                raise why_not(Path(path), _OWN, _SAID)
        yield _Source(read_lines(file, tenant), _lines_in(file, path), "line")


def _refuse_backup(path: Path) -> None:
    """Every line of one would be a bad one."""
    from memory_butler.backup.archive import is_plain

    if is_plain(path):
        raise InvalidInput(f"{path} is a backup: `memory-butler restore-backup` reads it")


def _is_export(file: BinaryIO, path: str) -> bool:
    from memory_butler.engine.export import read_header
    from memory_butler.engine.import_format import MAX_LINE_BYTES

    with _unpacked(path):
        is_export = read_header(file.readline(MAX_LINE_BYTES)) is not None
    file.seek(0)
    return is_export


def _lines_in(file: BinaryIO, path: str) -> int:
    with _unpacked(path):
        total = sum(1 for _ in file)
    file.seek(0)
    return total


@contextmanager
def _unpacked(path: str) -> Iterator[None]:
    """Raise `InvalidInput` where a packed file, whose name ends in .gz, cannot be read."""
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise InvalidInput(f"{path} is no gzip file, or it is damaged or cut off") from None


@asynccontextmanager
async def _memory_to_fill(place: Place) -> AsyncIterator["Memory"]:
    """The memory that is imported into; where that begins a tenant, it is said first."""
    from memory_butler.engine.opening import open_memory

    async with open_memory(place.settings(), with_model=False) as memory:
        if await is_unknown_tenant(memory, place):
            await tell_new_tenant(memory, place)
        yield memory


async def _restore(
    place: Place, file: BinaryIO, total: int, trust: TrustName, *, wait: bool
) -> "RestoreReport":
    from memory_butler.engine.export import restore_all

    async with _memory_to_fill(place) as memory:
        with progress("Restoring", "line") as told:
            report = await restore_all(
                memory,
                place.principal(),
                file,
                trust=trust,
                progress=lambda reached: told(reached, total),
            )
        if wait:
            await embed(memory)
    return report


def _tell(report: "RestoreReport", as_json: bool) -> None:
    for line in report.bad_lines:
        complain(f"line {line.number}: {line.reason}")
    if as_json:
        answer = {
            "restored": dict(sorted(report.restored.items())),
            "already_there": report.already_there,
            "erased": report.erased,
            "bad_lines": [
                {"line": line.number, "reason": line.reason} for line in report.bad_lines
            ],
        }
        print(json.dumps(answer, indent=2))
    else:
        print(f"Restored {counted(report.restored.total(), 'row')}.")
        if report.already_there:
            print(f"{counted(report.already_there, 'row', 'were')} there already.")
        if report.erased:
            print(f"{counted(report.erased, 'row')} left out: erased here.")
    if report.bad_lines:
        raise typer.Exit(BY_CODE["invalid_input"].exit_code)


@contextmanager
def _twice(path: str, place: Place) -> Iterator[BinaryIO]:
    """A file that can be read twice: its lines are counted before they are stored."""
    if path == "-":
        with tempfile.SpooledTemporaryFile(_IN_MEMORY_BYTES) as kept:
            for line in sys.stdin.buffer:
                kept.write(line)
            kept.seek(0)
            yield kept  # type: ignore[misc]
        return
    if (there := Path(path)).exists() and not there.is_file() and not there.is_dir():
        raise InvalidInput(
            f"{path} is not a regular file: a device or pipe may never end; pipe it into `-`"
        )
    try:
        source = _read(Path(path), place)
    except (FileNotFoundError, IsADirectoryError, PermissionError) as error:
        said = error.strerror
        if isinstance(error, IsADirectoryError):
            said = "it is a folder that holds nothing of a known format; name one with --format"
        raise InvalidInput(f"{path} cannot be read: {said}") from None
    with source:
        if not source.seekable():
            raise InvalidInput(f"{path} cannot be read twice; pipe it into `import -`")
        yield source


def _read(path: Path, place: Place) -> BinaryIO:
    from memory_butler.engine.export import SEALED_KIND
    from memory_butler.engine.keys import keys_to_read
    from memory_butler.vault.sealed import SealedFile, is_sealed

    with path.open("rb") as file:
        start = file.read(100) if file.seekable() else b""
    if is_sealed(start):
        keys = keys_to_read(place.settings(), path)
        return io.BufferedReader(SealedFile(path.open("rb"), SEALED_KIND, keys))
    return cast(BinaryIO, gzip.open(path) if path.suffix == ".gz" else path.open("rb"))


async def _import(
    place: Place,
    source: _Source,
    trust: TrustName,
    *,
    strict: bool,
    keep: int,
    allow_secrets: bool,
    wait: bool,
) -> "ImportReport":
    from memory_butler.engine.imports import import_all
    from memory_butler.engine.reembed import embedding_imported

    async with _memory_to_fill(place) as memory:
        # Storing keeps the database busy, and embedding the processor: one need not wait for the
        # other to end.
        meanwhile = (
            embedding_imported(memory, look_seconds=_LOOK_SECONDS) if wait else nullcontext()
        )
        with progress("Importing", source.unit) as told:
            async with meanwhile:
                report = await import_all(
                    memory,
                    place.principal(),
                    source.candidates,
                    strict=strict,
                    keep_days=keep,
                    allow_secrets=allow_secrets,
                    trust=trust,
                    progress=lambda _, reached: told(reached, source.size),
                )
        if wait:
            await embed(memory)
    return report


async def embed(memory: "Memory") -> None:
    """Wait until everything that was imported is embedded, by us or by a running server."""
    from memory_butler.engine.reembed import embed_imported, unembedded

    total = sum((await unembedded(memory)).values())
    if not total:
        return
    left = total
    with progress("Embedding (Ctrl-C loses nothing)", "memory") as told:

        def done(count: int) -> None:
            nonlocal left
            left -= count
            told(total - left, total)

        while await embed_imported(memory, done) is None:
            left = sum((await unembedded(memory)).values())
            told(total - left, total)
            if not left:
                return
            await asyncio.sleep(_LOOK_SECONDS)


def _summarise(report: "ImportReport", keep: int, as_json: bool) -> None:
    if as_json:
        answer = {
            "stored": dict(sorted(report.stored.items())),
            "superseded": report.superseded,
            "already_there": report.already_there,
            "erased": report.erased,
            "masked": report.masked,
            "left_out": dict(sorted(report.left_out.items())),
            "bad": report.bad,
            "bad_lines": [
                {"line": line.number, "reason": line.reason}
                | ({"file": line.file} if line.file else {})
                for line in report.bad_lines
            ],
        }
        print(json.dumps(answer, indent=2))
        return
    kinds = ("episode", "fact", "rule", "entity", "link")
    counts = [counted(report.stored[kind], kind) for kind in kinds if report.stored[kind]]
    print(f"Stored {', '.join(counts) or 'nothing new'}.")
    if report.stored["episode"]:
        until = datetime.now().astimezone() + timedelta(days=keep)
        print(
            f"Episodes are kept until {until:%Y-%m-%d} (--keep DAYS); what a model draws from them "
            "by then stays."
        )
    if report.superseded:
        print(f"{counted(report.superseded, 'fact')} superseded an earlier one.")
    if report.already_there:
        print(f"{counted(report.already_there, 'line', 'were')} there already.")
    if report.erased:
        print(f"{counted(report.erased, 'line')} left out: erased here.")
    if report.masked:
        print(f"{report.masked} had a secret, which was masked; --allow-secrets keeps it.")
    if report.left_out:
        print(f"Left out: {all_counted(report.left_out)}.")
    if report.bad:
        print(f"{counted(report.bad, 'bad line', 'were')} left out.")
