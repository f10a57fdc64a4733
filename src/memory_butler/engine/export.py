"""Everything of a tenant as JSON Lines, and back: every row as it is, with its ids and times.

The first line says what the file is; then a line a row, each table after those that it refers to;
the last line says that nothing is missing. docs/import.md has the format.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice
from typing import Any, BinaryIO, Final, Protocol
from uuid import UUID

import asyncpg
from pydantic import BaseModel, ValidationError

from memory_butler import __version__
from memory_butler.domain.errors import InvalidInput
from memory_butler.domain.mistakes import named
from memory_butler.domain.principals import Principal
from memory_butler.domain.trust import Trust, TrustName, parse_trust
from memory_butler.engine.complaints import complaints
from memory_butler.engine.import_format import MAX_LINE_BYTES, BadLine
from memory_butler.engine.memory import Memory
from memory_butler.store import imports, seals, transfer
from memory_butler.store.transaction import Transaction, one_bulk_writer, transaction

KIND: Final = "memory-butler-export"
# As a sealed file calls it.
SEALED_KIND: Final = "export"
# Raised when a file of before can no longer be read as it stands.
FORMAT: Final = 1
# Rows with a vector are some 9 kB; a batch stays a few megabytes.
BATCH: Final = 256
# Columns that it does not know are told up to this many.
_MOST_NAMED: Final = 5
_VECTORS: Final = ("embedding", "embedding_version_id")

Progress = Callable[[int, int], None]


class Output(Protocol):
    """What takes the lines of an export; a text file is one."""

    def write(self, text: str, /) -> object:
        """Take more of the text."""
        ...


async def export_all(
    memory: Memory,
    principal: Principal,
    file: Output,
    *,
    vectors: bool = True,
    only: Sequence[UUID] | None = None,
    progress: Progress = lambda _done, _total: None,
) -> Counter[str]:
    """Write everything that the tenant has, as of one moment; how many rows of each table.

    Args:
        only: the memories and entities to write, with their links among each other, former states
            and events; what they name besides is left out of their rows.
        vectors: without them the file is a fifth of the size, and whoever imports it embeds anew.
        progress: told how many rows are written, and how many there are.
    """
    written: Counter[str] = Counter()
    kept = frozenset(map(str, only or ()))
    async with memory.reading(principal.tenant, on_primary=True) as tx:
        tables = [
            table
            for table in await transfer.tables(tx)
            if only is None or transfer.is_of_items(table)
        ]
        counts = {table.name: await transfer.count(tx, table, only) for table in tables}
        leave_out = () if vectors else _VECTORS
        header = {
            "kind": KIND,
            "format": FORMAT,
            "version": __version__,
            "tenant": principal.tenant,
            "exported_at": memory.clock().isoformat(),
            "rows": counts,
            "columns": {
                table.name: [column for column in table.columns if column not in leave_out]
                for table in tables
            },
            "embedding_models": await transfer.models(tx),
        }
        file.write(json.dumps(header, ensure_ascii=False) + "\n")
        total = sum(counts.values())
        for table in tables:
            async for row in transfer.dump(tx, table, leave_out, only):
                whole = row if only is None else _NAMED.sub(lambda one: _inside(one, kept), row)
                file.write(f'{{"table": "{table.name}", "row": {whole}}}\n')
                written[table.name] += 1
                if written.total() % BATCH == 0:
                    progress(written.total(), total)
    file.write(json.dumps({"kind": "end", "rows": written.total()}) + "\n")
    progress(written.total(), total)
    return written


# What a row, or the former state in it, names besides itself. In a text the quotes are escaped.
_NAMED: Final = re.compile(r'("(?:source_episode_id|supersedes_id|entity_id)": )"([0-9a-f-]{36})"')


def _inside(named: re.Match[str], kept: Collection[str]) -> str:
    return named[0] if named[2] in kept else f"{named[1]}null"


@dataclass(slots=True)
class RestoreReport:
    """What became of the rows of an export; only what is committed counts.

    `erased`: rows of what was erased here, or that speak of it.
    """

    restored: Counter[str] = field(default_factory=Counter)
    already_there: int = 0
    erased: int = 0
    bad_lines: list[BadLine] = field(default_factory=list)


class Header(BaseModel):
    """What the first line of an export says."""

    rows: dict[str, int]
    columns: dict[str, list[str]]
    embedding_models: list[dict[str, Any]]


def read_header(line: bytes) -> Header | None:
    """The header, None if this is no export.

    Raises:
        InvalidInput: it is one of a format that this version does not know, or damaged.
    """
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or found.get("kind") != KIND:
        return None
    if found.get("format") != FORMAT:
        raise InvalidInput(
            f"the export has format {named(found.get('format'))}, this version reads {FORMAT}; "
            f"it was made by memory-butler {named(found.get('version'))}"
        )
    try:
        return Header.model_validate(found)
    except ValidationError as error:
        raise InvalidInput(
            f"the first line of the export is damaged: {complaints(error, 'it')}"
        ) from None


async def restore_all(
    memory: Memory,
    principal: Principal,
    file: BinaryIO,
    *,
    trust: TrustName = "imported",
    progress: Callable[[int], None] = lambda _: None,
) -> RestoreReport:
    """Store every row of an export that is not there yet, as it was; safe to repeat.

    What was erased here does not come back with it.

    Args:
        trust: the most that anything in it is trusted; user_said keeps its levels (C-211).
        progress: told the number of the line reached, after every commit.

    Raises:
        InvalidInput: it is no export, or has tables or columns that this version does not know.
        Unavailable: the database went away; what was reported is stored. Run it again.
    """
    header = read_header(file.readline(MAX_LINE_BYTES))
    if header is None:
        raise InvalidInput("this is not a memory-butler export")
    report, most = RestoreReport(), parse_trust(trust)
    async with transaction(memory.pool, principal.tenant) as tx:
        known = {table.name: table for table in await transfer.tables(tx)}
        models = await transfer.model_ids(tx, header.embedding_models)
    _check(header, known)
    lines, ended = _lines(file, header, report), False
    while batch := list(islice(lines, BATCH)):
        async with transaction(memory.pool, principal.tenant) as tx:
            await one_bulk_writer(tx)
            erased = {str(id) for id in await imports.erased(tx)}
            kept = [line for line in batch if not (erased and _speaks_of(line, erased))]
            report.erased += len(batch) - len(kept)
            for name, group in groupby(kept, key=lambda line: line.table):
                if name is None:
                    ended = True
                    continue
                columns = header.columns[name]
                rows = _Rows(tx, known[name], columns, models, most)
                await rows.restore(list(group), report)
        progress(batch[-1].number)
    if not ended:
        said = "the file ends before its end: what stands in it is stored, the rest is missing"
        report.bad_lines.append(BadLine(sum(header.rows.values()) + 2, said))
    return report


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of an export; no table: the end."""

    number: int
    table: str | None
    text: str


def _lines(file: BinaryIO, header: Header, report: RestoreReport) -> Iterator[_Line]:
    number = 1
    while data := file.readline(MAX_LINE_BYTES):
        number += 1
        try:
            text = data.decode()
            found = json.loads(text)
            if found.get("kind") == "end":
                yield _Line(number, None, "")
            elif not isinstance(found["row"], dict):
                report.bad_lines.append(BadLine(number, "its row is no object"))
            elif found["table"] in header.columns:
                yield _Line(number, found["table"], text)
            else:
                report.bad_lines.append(BadLine(number, "the first line does not name its table"))
        except (ValueError, KeyError, AttributeError, TypeError) as error:
            report.bad_lines.append(BadLine(number, f"it is no row: {type(error).__name__}"))


# Where a row names what it is, or is about. What else names a memory is there already, emptied.
_NAMING: Final = ("id", "source_id", "target_id", "rule_id")


def _speaks_of(line: _Line, erased: set[str]) -> bool:
    """Whether a row is of what was erased, or links, counts or lists it."""
    if line.table is None:
        return False
    row = json.loads(line.text)["row"]
    if any(row.get(column) in erased for column in _NAMING):
        return True
    return not erased.isdisjoint(row.get("item_ids") or ())


def _check(header: Header, known: dict[str, transfer.Table]) -> None:
    for name, columns in header.columns.items():
        missing = (
            [column for column in columns if column not in known[name].columns]
            if (name in known)
            else ["the table"]
        )
        if missing:
            told = ", ".join(map(named, missing[:_MOST_NAMED]))
            raise InvalidInput(
                f"the export has {named(name)} with {told}, which this version does not know; "
                "update memory-butler first"
            )


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows of one table on their way in."""

    tx: Transaction
    table: transfer.Table
    columns: list[str]
    models: dict[int, int]
    most: Trust

    async def restore(self, lines: list[_Line], report: RestoreReport) -> None:
        """At once, or where one of them is in the way, one by one."""
        try:
            async with self.tx.connection.transaction():
                new = await self._store([line.text for line in lines])
        except (asyncpg.IntegrityConstraintViolationError, asyncpg.DataError) as error:
            if len(lines) == 1:
                constraint = getattr(error, "constraint_name", None) or type(error).__name__
                said = f"a row of {self.table.name} does not fit what is there ({constraint})"
                report.bad_lines.append(BadLine(lines[0].number, said))
                return
            for line in lines:
                await self.restore([line], report)
            return
        report.restored[self.table.name] += new
        report.already_there += len(lines) - new

    async def _store(self, texts: list[str]) -> int:
        new = await transfer.restore(
            self.tx, self.table, self.columns, texts, self.models, self.most
        )
        if self.table.name == "memory_events" and self.tx.seal_key is not None:
            ids = [UUID(json.loads(text)["row"]["id"]) for text in texts]
            await seals.adopt(self.tx, self.tx.seal_key, ids)
        return new
