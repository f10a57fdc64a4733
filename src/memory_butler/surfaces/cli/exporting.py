"""Taking everything out."""

import gzip
import io
import os
import sys
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TextIO, cast

import typer

from memory_butler.domain.errors import InvalidInput, unwritable
from memory_butler.surfaces.cli.counting import counted
from memory_butler.surfaces.cli.examples import epilog
from memory_butler.surfaces.cli.place import Place, complete, tell_unknown_tenant
from memory_butler.surfaces.cli.problems import complain
from memory_butler.surfaces.cli.progress import progress

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator
    from uuid import UUID

    from memory_butler.domain.principals import Principal
    from memory_butler.engine.export import Output
    from memory_butler.engine.memory import Memory
    from memory_butler.vault.keyring import Keyring

EXAMPLES = epilog(
    "memory-butler export backup.jsonl.gz",
    "memory-butler import backup.jsonl.gz --trust user_said --data-dir elsewhere",
    "memory-butler export - --without-vectors | wc -l",
    "memory-butler export ana.jsonl --entity Ana --mentions --without-vectors",
)

# By its second name a shell's redirection would look like a file that is there already.
STANDARD_OUTPUT: Final = ("-", "/dev/stdout")

Force = Annotated[bool, typer.Option("--force", help="Replace a file that is there already.")]


def export(
    place: Place,
    path: Annotated[
        str,
        typer.Argument(
            metavar="FILE|FOLDER",
            help="Where to; .gz compresses it, - writes to standard output.",
        ),
    ],
    without_vectors: Annotated[
        bool,
        typer.Option(
            "--without-vectors", help="A fifth of the size; whoever imports it embeds anew."
        ),
    ] = False,
    force: Force = False,
    plain: Annotated[
        bool, typer.Option("--plain", help="Do not encrypt it, although keys are set up.")
    ] = False,
    entity: Annotated[
        str | None,
        typer.Option(
            metavar="ID", help="Only an entity, by its id or name, and the facts about it."
        ),
    ] = None,
    writer: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Only what a butler stored, or a token: token:laptop."),
    ] = None,
    sources: Annotated[
        bool, typer.Option("--sources", help="The episodes that these were drawn from, too.")
    ] = False,
    mentions: Annotated[
        bool,
        typer.Option("--mentions", help="What else names the entity, by a name or alias, too."),
    ] = False,
) -> None:
    """Write everything of a tenant as JSON Lines: each row as it is, as of one moment.

    With `--entity` or `--writer` it is what `erase` would take, for a person who asks what memory
    has of them. What was served to whom is not in it.

    `import` reads it back, here or elsewhere, and makes the same of it. Tokens are not part of it,
    and neither are journals, which are files of their own. Where keys are set up the file is
    encrypted with that of the tenant; elsewhere it needs the same keyring.
    """
    from memory_butler.engine.keys import keys_of
    from memory_butler.files import beside, is_stream, remove_killed

    part = _Part(entity, writer, sources, mentions)
    part.check()
    keys = None if plain else keys_of(place.settings())
    if path in STANDARD_OUTPUT:
        if keys is not None:
            raise InvalidInput("standard output is not encrypted: name a file, or add --plain")
        if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.encoding != "utf-8":
            sys.stdout.reconfigure(encoding="utf-8")
        written = complete(_export(place, sys.stdout, part, vectors=not without_vectors))
        sys.stdout.flush()
    else:
        target = _target(Path(path), place, "jsonl" if keys is None else "jsonl.sealed")
        refuse_existing(target, force=force)
        try:
            with ExitStack() as stack:
                into = target
                # Whole or not at all: a file that stopped half way must not look like a backup.
                if not is_stream(target):
                    for left in remove_killed(target):
                        complain(f"Removed {left}, which a killed backup or export had left.")
                    into = stack.enter_context(beside(target)) / target.name
                with _opened(into, place, keys, compressed=target.suffix == ".gz") as file:
                    written = complete(_export(place, file, part, vectors=not without_vectors))
                if into is not target:
                    into.replace(target)
        except OSError as error:
            raise unwritable(target, error) from None
        how = "" if keys is None else ", encrypted"
        complain(f"{part.told(place.principal().tenant)} is in {target}{how}:")
    for table, rows in sorted(written.items()):
        complain(counted(rows, _one_of(table)))


# Of tables that are not named after what their rows are.
_ROWS: Final = {"memory_versions": "former state", "served": "served memory"}


def _one_of(table: str) -> str:
    """What a row of a table is: an entity, an event."""
    if table in _ROWS:
        return _ROWS[table]
    noun = table.removeprefix("memory_").replace("_", " ")
    return f"{noun[:-3]}y" if noun.endswith("ies") else noun.removesuffix("s")


def refuse_existing(target: Path, *, force: bool) -> None:
    """Raise `InvalidInput` where a file is there that nobody asked to replace.

    A pipe or a device, such as /dev/null, is not replaced but written to.
    """
    if target.is_file() and not force:
        raise InvalidInput(f"{target} already exists; --force replaces it")


def _target(path: Path, place: Place, suffix: str) -> Path:
    if path.is_dir():
        return path / f"memory-butler-{place.principal().tenant}.{suffix}"
    return path


def _opened(path: Path, place: Place, keys: "Keyring | None", *, compressed: bool) -> TextIO:
    from memory_butler.files import is_stream

    # Made before it is filled, so that nobody else can read it at any time. A pipe's reader would
    # take that for the end.
    if not is_stream(path):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
    if keys is not None:
        from memory_butler.engine.export import SEALED_KIND
        from memory_butler.engine.memory import utc_now
        from memory_butler.vault.sealed import SealedOutput

        tenant = place.principal().tenant
        sealed = SealedOutput(path.open("wb"), SEALED_KIND, keys, utc_now(), tenant=tenant)
        # It is compressed in any case.
        return io.TextIOWrapper(io.BufferedWriter(sealed), encoding="utf-8")
    if compressed:
        return cast(TextIO, gzip.open(path, "wt", encoding="utf-8"))
    return path.open("w", encoding="utf-8")


class _NotWritten(Exception):
    def __init__(self, error: OSError) -> None:
        super().__init__()
        self.error = error


class _Output:
    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, text: str) -> None:
        try:
            self._file.write(text)
        except OSError as error:
            raise _NotWritten(error) from error


@dataclass(frozen=True, slots=True)
class _Part:
    """What of a tenant is exported: all, or what is of an entity or a writer."""

    entity: str | None
    writer: str | None
    sources: bool
    mentions: bool

    @property
    def is_all(self) -> bool:
        return self.entity is None and self.writer is None

    def check(self) -> None:
        """Raise `InvalidInput` for options that do not go together."""
        if self.entity is not None and self.writer is not None:
            raise InvalidInput("give --entity or --writer, not both")
        if self.mentions and self.entity is None:
            raise InvalidInput("--mentions goes with --entity")
        if self.sources and self.is_all:
            raise InvalidInput("--sources goes with --entity or --writer")

    def told(self, tenant: str) -> str:
        """What it is, for a person."""
        if self.is_all:
            return f"Everything of tenant {tenant}"
        what = f"entity {self.entity}" if self.entity is not None else f"writer {self.writer}"
        return f"What memory has of {what}, of tenant {tenant},"

    async def ids(self, memory: "Memory", who: "Principal") -> "list[UUID] | None":
        """The memories and entities that are exported; None: all."""
        from uuid import UUID

        from memory_butler.erasure.scope import Target, scope_of
        from memory_butler.surfaces.cli import ids

        if self.is_all:
            return None
        entity = self.entity
        if entity is not None:
            entity = (await ids.completed(memory, who, {"entity_id": entity})).get(
                "entity_id", entity
            )
        target = Target(
            entity_id=None if entity is None else UUID(entity),
            writer=self.writer,
            sources=self.sources,
            mentions=self.mentions,
        )
        async with memory.reading(who.tenant, on_primary=True) as tx:
            scope = await scope_of(tx, target)
        if scope.kept:
            complain(
                f"Not in it: {counted(len(scope.kept), 'memory')} that may say the same; "
                "`memory-butler erase` with the same options and --preview lists them."
            )
        doomed = scope.doomed
        return [*doomed.episodes, *doomed.facts, *doomed.rules, *doomed.entities]


async def _export(place: Place, file: TextIO, part: _Part, *, vectors: bool) -> "Counter[str]":
    from memory_butler.engine.export import export_all
    from memory_butler.engine.opening import open_memory

    async with open_memory(place.settings(), with_model=False, create=False) as memory:
        await tell_unknown_tenant(memory, place)
        only = await part.ids(memory, place.principal())
        with progress("Exporting", "row") as told, apart_from_the_database(file) as output:
            return await export_all(
                memory, place.principal(), output, vectors=vectors, only=only, progress=told
            )


@contextmanager
def apart_from_the_database(file: TextIO) -> "Iterator[Output]":
    """A file that is filled in a transaction of the database, and whose errors are not its own."""
    try:
        yield _Output(file)
    except _NotWritten as failed:
        raise failed.error from None
