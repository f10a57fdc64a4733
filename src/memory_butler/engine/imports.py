"""Importing a file of memories: in batches, resumable, nothing stored twice.

There is no note of how far an import came that could disagree with the database: the id of every
memory follows from its line, and each batch asks, in the transaction that writes it, which of its
ids are there already. While one batch is written the next is embedded.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, BinaryIO, Final
from uuid import UUID

import asyncpg

from memory_butler.domain.errors import InvalidInput, NotFound
from memory_butler.domain.principals import Principal
from memory_butler.engine import inputs, writing
from memory_butler.engine.entities import NewEntity, insert_entity, new_entity
from memory_butler.engine.import_format import (
    AnyLine,
    EntityLine,
    EpisodeLine,
    FactLine,
    LinkLine,
    RawLine,
    RuleLine,
    parse,
    read_lines,
)
from memory_butler.engine.linking import insert_link
from memory_butler.engine.memory import Memory
from memory_butler.store import entities
from memory_butler.store import imports as store
from memory_butler.store.embeddings import Embedded
from memory_butler.store.transaction import Transaction, one_bulk_writer, transaction

# Enough for the embedder to sort by length, and for one commit to weigh nothing; little enough that
# Ctrl-C loses a moment's work.
BATCH: Final = 64
# A file of another format is wrong on every line; nobody reads more complaints than this.
MAX_REPORTED: Final = 1000


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that was left out, counted from 1."""

    number: int
    reason: str


@dataclass(slots=True)
class ImportReport:
    """What became of the lines so far; only what is committed counts."""

    stored: Counter[str] = field(default_factory=Counter)
    superseded: int = 0
    already_there: int = 0
    bad: int = 0
    bad_lines: list[BadLine] = field(default_factory=list)

    @property
    def lines(self) -> int:
        """How many lines were dealt with."""
        return self.stored.total() + self.already_there + self.bad

    def _refuse(self, number: int, reason: str) -> None:
        self.bad += 1
        if len(self.bad_lines) < MAX_REPORTED:
            self.bad_lines.append(BadLine(number, reason))

    def _add(self, other: "ImportReport") -> None:
        self.stored += other.stored
        self.superseded += other.superseded
        self.already_there += other.already_there
        for line in other.bad_lines:
            self._refuse(line.number, line.reason)


async def import_file(
    memory: Memory,
    principal: Principal,
    file: BinaryIO,
    *,
    strict: bool = False,
    progress: Callable[[ImportReport, int], None] | None = None,
) -> ImportReport:
    """Store every line of a file that is not stored yet, in order.

    Args:
        strict: stop at the first bad line; what stands before it is stored.
        progress: told the report so far, and the number of the line reached, after every commit.

    Raises:
        Unavailable: the database went away; what the report told of is stored. Run it again.
    """
    running = _Import(memory, principal, strict)
    lines = read_lines(file, principal.tenant)
    ahead = asyncio.create_task(running.prepare(_next(lines)))
    try:
        while (batch := await ahead) is not None:
            ahead = asyncio.create_task(running.prepare([] if batch.last else _next(lines)))
            goes_on = await running.write(batch)
            if progress is not None:
                progress(running.report, batch.reached)
            if not goes_on:
                break
    finally:
        ahead.cancel()
    running.report.bad_lines.sort(key=lambda line: line.number)
    return running.report


def _next(lines: Iterator[RawLine]) -> list[RawLine]:
    return list(islice(lines, BATCH))


@dataclass(frozen=True, slots=True)
class _Item:
    """A line that can be stored; what is to be embedded of it is embedded."""

    number: int
    id: UUID
    line: AnyLine
    embedded: Embedded | None


@dataclass(frozen=True, slots=True)
class _Batch:
    items: list[_Item]
    refused: list[BadLine]
    reached: int
    last: bool


class _Import:
    """One run over one file."""

    def __init__(self, memory: Memory, principal: Principal, strict: bool) -> None:
        self.report = ImportReport()
        self._memory = memory
        self._principal = principal
        self._strict = strict
        # What the file calls it -> what the store does; a file may use one id for two kinds.
        self._known: dict[tuple[str, str], UUID] = {}

    async def prepare(self, raw: list[RawLine]) -> _Batch | None:
        """Check and embed; None when there is nothing more."""
        if not raw:
            return None
        checked: list[tuple[RawLine, AnyLine, tuple[str, str] | None]] = []
        refused: list[BadLine] = []
        for one in raw:
            try:
                line = parse(one)
                checked.append((one, line, self._check(line)))
            except InvalidInput as error:
                refused.append(BadLine(one.number, str(error)))
                if self._strict:
                    break
        vectors = await self._embed(checked)
        items = [_Item(one.number, one.id, line, vectors.get(one.id)) for one, line, _ in checked]
        last = len(raw) < BATCH or (self._strict and bool(refused))
        return _Batch(items, refused, raw[-1].number, last)

    async def _embed(
        self, checked: list[tuple[RawLine, AnyLine, tuple[str, str] | None]]
    ) -> dict[UUID, Embedded]:
        """What the lines need that are not stored yet: a resumed import embeds nothing twice."""
        async with transaction(self._memory.pool, self._principal.tenant) as tx:
            there = await store.existing(tx, [one.id for one, _, _ in checked])
        wanted = {
            one.id: texts for one, _, texts in checked if texts is not None and one.id not in there
        }
        vectors = await self._memory.embedder.embed_many([text for text, _ in wanted.values()])
        version = self._memory.embedding_version_id
        return {
            id: Embedded(vector, words, version)
            for (id, (_, words)), vector in zip(wanted.items(), vectors, strict=True)
        }

    def _check(self, line: AnyLine) -> tuple[str, str] | None:
        """Everything but the references; what is to be embedded of the line."""
        made = self._make(line, line.parameters() | _without_references(line), None)
        return None if made is None or isinstance(made, NewEntity) else writing.searchable(made)

    def _make(
        self, line: AnyLine, given: dict[str, Any], id: UUID | None
    ) -> writing.NewMemory | NewEntity | None:
        match line:
            case EpisodeLine():
                return writing.new_episode(self._memory, id=id, **given)
            case FactLine():
                return writing.new_fact(self._memory, id=id, **given)
            case RuleLine():
                return writing.new_rule(self._memory, id=id, **given)
            case EntityLine():
                return new_entity(id=id, **given)
            case LinkLine():
                return None

    async def write(self, batch: _Batch) -> bool:
        """Store a batch in one transaction; whether the import goes on."""
        done = ImportReport(bad_lines=list(batch.refused))
        goes_on = True
        async with transaction(self._memory.pool, self._principal.tenant) as tx:
            await one_bulk_writer(tx)
            there = await store.existing(tx, [item.id for item in batch.items])
            for item in batch.items:
                if item.id in there:
                    self._learn(item.line, item.id)
                    done.already_there += 1
                    continue
                try:
                    async with tx.connection.transaction():
                        await self._store(tx, item, done)
                except _REFUSALS as error:
                    done.bad_lines.append(BadLine(item.number, _reason(error)))
                    if self._strict:
                        goes_on = False
                        break
        self.report._add(done)
        return goes_on and not batch.last

    async def _store(self, tx: Transaction, item: _Item, done: ImportReport) -> None:
        line = item.line
        if isinstance(line, LinkLine):
            source = (line.source_type, self._resolve(line.source_type, line.source_id))
            target = (line.target_type, self._resolve(line.target_type, line.target_id))
            now = self._memory.clock()
            made = await insert_link(tx, self._principal, source, target, line.relation, now)
            _count(done, line.kind, new=made)
            return
        # Made anew: its moment is that of the writing, so that facts supersede in file order.
        new = self._make(line, line.parameters() | self._references(line), item.id)
        if isinstance(new, NewEntity):
            row = await insert_entity(tx, self._principal, new, self._memory.clock())
            self._learn(line, item.id if row is not None else await _holder(tx, new))
            _count(done, line.kind, new=row is not None)
            return
        assert new is not None  # noqa: S101 -- links went above
        assert item.embedded is not None  # noqa: S101 -- what is no link and no entity is embedded

        async def write(fitting: Embedded) -> UUID | None:
            async with tx.connection.transaction():
                return await writing.insert(tx, self._principal, new, fitting)

        if await writing.shortened(item.embedded, write) is not None:
            done.superseded += 1
        self._learn(line, item.id)
        _count(done, line.kind, new=True)

    def _references(self, line: AnyLine) -> dict[str, Any]:
        found: dict[str, Any] = {}
        if isinstance(line, FactLine) and line.entity_id is not None:
            found["entity_id"] = self._resolve("entity", line.entity_id)
        if isinstance(line, FactLine | RuleLine) and line.source_episode_id is not None:
            found["source_episode_id"] = self._resolve("episode", line.source_episode_id)
        return found

    def _resolve(self, kind: str, own_id: str) -> UUID:
        known = self._known.get((kind, own_id))
        if known is not None:
            return known
        try:
            return inputs.uuid(f"{kind} id", own_id)
        except InvalidInput:
            said = f"no earlier line stored the {kind} {own_id[:60]!r} that it names"
            raise InvalidInput(said) from None

    def _learn(self, line: AnyLine, id: UUID) -> None:
        if line.id is not None:
            self._known[line.kind, line.id] = id


def _without_references(line: AnyLine) -> dict[str, Any]:
    """Overrides for a check before the lines that are referred to are stored."""
    if isinstance(line, FactLine):
        return {"entity_id": None, "source_episode_id": None}
    return {"source_episode_id": None} if isinstance(line, RuleLine) else {}


async def _holder(tx: Transaction, new: NewEntity) -> UUID:
    """The entity that has the name already; if it was merged away, the one that it became."""
    row = await entities.named(tx, new.canonical_name, new.entity_type)
    assert row is not None  # noqa: S101 -- its name was found taken
    merged_into = (row["metadata"] or {}).get("merged_into")
    id: UUID = row["id"]
    return id if merged_into is None else UUID(merged_into)


def _count(done: ImportReport, kind: str, *, new: bool) -> None:
    if new:
        done.stored[kind] += 1
    else:
        done.already_there += 1


# What is the fault of one line. A value that only PostgreSQL finds too large is a DataError.
_REFUSALS = (InvalidInput, NotFound, asyncpg.DataError, asyncpg.IntegrityConstraintViolationError)


def _reason(error: Exception) -> str:
    if isinstance(error, InvalidInput | NotFound):
        return str(error)
    return f"the store refused it: {type(error).__name__}"
