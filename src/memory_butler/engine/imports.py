"""Importing memories: in batches, resumable, nothing stored twice.

There is no note of how far an import came that could disagree with the database: the id of every
memory follows from its source, and each batch asks, in the transaction that writes it, which of its
ids are there already. Nothing is embedded here, which would take ten times as long as all the rest:
what is stored is found by its words at once, and by meaning once embedded (engine/reembed.py).
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import groupby, islice
from typing import Any, Final
from uuid import UUID

import asyncpg

from memory_butler.domain.errors import InvalidInput, NotFound
from memory_butler.domain.facts import FactPeriod
from memory_butler.domain.principals import Principal
from memory_butler.domain.trust import Trust, TrustName, parse_trust
from memory_butler.engine import inputs, writing
from memory_butler.engine.beside import one_of_several
from memory_butler.engine.entities import NewEntity, insert_entity, new_entity
from memory_butler.engine.import_format import (
    AnyLine,
    BadLine,
    Candidate,
    EntityLine,
    EpisodeLine,
    FactLine,
    LeftOut,
    LinkLine,
    RuleLine,
    memory_id,
)
from memory_butler.engine.indexing import NewMemory, indexed_text, shortened
from memory_butler.engine.linking import insert_link
from memory_butler.engine.memory import Memory
from memory_butler.engine.screening import is_masked, screened
from memory_butler.store import entities, facts
from memory_butler.store import imports as store
from memory_butler.store.embeddings import Embedded
from memory_butler.store.episodes import NewEpisode
from memory_butler.store.facts import NewFact
from memory_butler.store.transaction import Transaction, one_bulk_writer, transaction

# Enough for one commit to weigh nothing beside its rows; little enough that Ctrl-C loses a moment's
# work, and that a reader who waits for the bulk lock does not notice.
BATCH: Final = 512
# A file of another format is wrong on every line; nobody reads more complaints than this.
MAX_REPORTED: Final = 1000
# Days that imported episodes are kept, counted from the import: history is imported to be
# consolidated, which takes longer than the week that a fresh episode has.
KEEP_DAYS: Final = 90
MAX_KEEP_DAYS: Final = 36_500
# Clocks of two machines are seldom further apart, and history is by days.
_OTHERS_CLOCKS: Final = timedelta(minutes=5)


@dataclass(slots=True)
class ImportReport:
    """What became of the lines so far; only what is committed counts.

    `erased`: lines of what was erased here, or that link it. `masked`: memories of which a secret
    was masked. `left_out`: by kind, what no memory is made of.
    """

    stored: Counter[str] = field(default_factory=Counter)
    superseded: int = 0
    already_there: int = 0
    erased: int = 0
    masked: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    bad: int = 0
    bad_lines: list[BadLine] = field(default_factory=list)

    @property
    def lines(self) -> int:
        """How many lines were dealt with."""
        return self.stored.total() + self.already_there + self.erased + self.bad

    def _add(self, other: "ImportReport") -> None:
        self.stored += other.stored
        self.superseded += other.superseded
        self.already_there += other.already_there
        self.erased += other.erased
        self.masked += other.masked
        self.left_out += other.left_out
        self.bad += len(other.bad_lines)
        self.bad_lines += other.bad_lines[: MAX_REPORTED - len(self.bad_lines)]


Progress = Callable[[ImportReport, int], None]


async def import_all(
    memory: Memory,
    principal: Principal,
    candidates: Iterable[Candidate],
    *,
    strict: bool = False,
    keep_days: int = KEEP_DAYS,
    allow_secrets: bool = False,
    trust: TrustName = "imported",
    progress: Progress | None = None,
) -> ImportReport:
    """Store everything that is not stored yet, in order; but nothing that was erased here.

    Args:
        strict: stop at the first bad line; what stands before it is stored.
        keep_days: when episodes expire, counted from now.
        allow_secrets: secrets are stored as they are, unless the setting refuses them.
        trust: the most that anything in it is trusted, whatever it says of itself (C-211).
        progress: told the report so far, and how much of the source is read, after every commit.

    Raises:
        InvalidInput: `keep_days` is out of range.
        Unavailable: the database went away; what was reported is stored. Run it again.
    """
    if not 1 <= keep_days <= MAX_KEEP_DAYS:
        raise InvalidInput(f"keep takes 1 to {MAX_KEEP_DAYS} days, not {keep_days}")
    most = parse_trust(trust)
    running = _Import(memory, principal, strict, keep_days, most, allow_secrets=allow_secrets)
    rest = iter(candidates)
    while batch := list(islice(rest, BATCH)):
        goes_on = await running.write(batch)
        if progress is not None:
            progress(running.report, batch[-1].reached)
        if not goes_on:
            break
        _heed_interruption()
    running.report.bad_lines.sort(key=lambda bad: (bad.file, bad.number))
    return running.report


def _heed_interruption() -> None:
    """Stop where Ctrl-C was pressed while a batch was read.

    What waits for a connection of the pool with a time-out swallows a cancellation that meets it at
    once (python/cpython#86296); the task still knows of it.
    """
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


@dataclass(frozen=True, slots=True)
class _Item:
    """A line that can be stored; `new` is None for a link."""

    at: Candidate
    line: AnyLine
    new: NewMemory | NewEntity | None

    def refused(self, error: Exception) -> BadLine:
        """Why it was left out."""
        if isinstance(error, InvalidInput | NotFound):
            return BadLine(self.at.number, str(error), self.at.file)
        said = f"the store refused it: {type(error).__name__}"
        return BadLine(self.at.number, said, self.at.file)


class _Import:
    """One run over one source."""

    def __init__(
        self,
        memory: Memory,
        principal: Principal,
        strict: bool,
        keep_days: int,
        most: Trust,
        *,
        allow_secrets: bool,
    ) -> None:
        self.report = ImportReport()
        self._memory = memory
        self._principal = principal
        self._strict = strict
        self._keep_days = keep_days
        self._most = most
        self._allow_secrets = allow_secrets
        # What the file calls it -> what the store does; a file may use one id for two kinds.
        self._known: dict[tuple[str, str], UUID] = {}
        self._stored: set[UUID] = set()
        # What the file calls what was erased.
        self._gone: set[tuple[str, str]] = set()

    async def write(self, batch: list[Candidate]) -> bool:
        """Store a batch in one transaction; whether the import goes on."""
        done = ImportReport()
        items = self._checked(batch, done)
        goes_on = not (self._strict and done.bad_lines)
        async with transaction(self._memory.pool, self._principal.tenant) as tx:
            await one_bulk_writer(tx)
            there = await store.existing(tx, [item.at.id for item in items])
            items = self._said_again(items, await store.said_otherwise(tx, list(there)))
            erased = await store.erased(tx)
            wanted = []
            for item in items:
                if self._is_erased(item, erased):
                    done.erased += 1
                elif item.at.id in there:
                    self._learn(item.line, item.at.id)
                    done.already_there += 1
                else:
                    there.add(item.at.id)  # a source may name the same thing twice
                    wanted.append(item)
            for episodes, group in groupby(wanted, lambda item: isinstance(item.new, NewEpisode)):
                found = list(group)
                if episodes and await self._store_episodes(tx, found, done):
                    continue
                if not await self._store_each(tx, found, done):
                    goes_on = False
                    break
        self.report._add(done)
        return goes_on

    def _said_again(
        self, items: list[_Item], otherwise: dict[UUID, tuple[UUID, str]]
    ) -> list[_Item]:
        """The items, with an id of its own for what a note says again after it said otherwise.

        The fact of then stays superseded: what is over does not come back (C-518).
        """
        found = []
        for item in items:
            instead, content = otherwise.get(item.at.id, (None, None))
            if (
                instead is not None
                and isinstance(item.new, NewFact)
                and item.new.content != content
            ):
                id = memory_id(self._principal.tenant, f"{item.at.id}/{instead}")
                item = replace(item, at=replace(item.at, id=id), new=replace(item.new, id=id))
            found.append(item)
        return found

    def _is_erased(self, item: _Item, erased: frozenset[UUID]) -> bool:
        """Whether it was erased, or links what was."""
        line = item.line
        if isinstance(line, LinkLine):
            ends = ((line.source_type, line.source_id), (line.target_type, line.target_id))
            return any(end in self._gone for end in ends)
        if item.at.id not in erased:
            return False
        if line.id is not None:
            self._gone.add((line.kind, line.id))
        return True

    def _checked(self, batch: list[Candidate], done: ImportReport) -> list[_Item]:
        """What can be stored, but for its references, which earlier lines may have to make."""
        items = []
        for one in batch:
            if isinstance(one.line, BadLine):
                done.bad_lines.append(one.line)
            elif isinstance(one.line, LeftOut):
                done.left_out[one.line.what] += 1
            else:
                item = _Item(one, one.line, None)
                try:
                    new = self._make(one.line, _without_references(one.line), one.id)
                    items.append(replace(item, new=new))
                except InvalidInput as error:
                    done.bad_lines.append(item.refused(error))
            if self._strict and done.bad_lines:
                break
        return items

    def _make(
        self, line: AnyLine, instead: dict[str, Any], id: UUID
    ) -> NewMemory | NewEntity | None:
        given = line.parameters() | instead
        if "trust" in given:
            given["trust"] = min(parse_trust(given["trust"]), self._most).label
        new: NewMemory
        match line:
            case EpisodeLine():
                new = writing.new_episode(self._memory, id=id, keep_days=self._keep_days, **given)
                _refuse_future(new)
            case FactLine():
                new = writing.new_fact(self._memory, id=id, **given)
            case RuleLine():
                new = writing.new_rule(self._memory, id=id, **given)
            case EntityLine():
                return new_entity(id=id, **given)
            case LinkLine():
                return None
        return screened(self._memory, self._principal, new, allow_secrets=self._allow_secrets)

    async def _store_episodes(
        self, tx: Transaction, items: list[_Item], done: ImportReport
    ) -> bool:
        """Store episodes at once; False when one of them has to be looked at by itself."""
        found = [item.new for item in items if isinstance(item.new, NewEpisode)]
        try:
            async with tx.connection.transaction():
                await writing.insert_episodes(tx, self._principal, found)
        except (*_REFUSALS, asyncpg.ProgramLimitExceededError):
            return False
        for item in items:
            self._learn(item.line, item.at.id)
        done.stored["episode"] += len(items)
        done.masked += sum(is_masked(one.metadata) for one in found)
        return True

    async def _store_each(self, tx: Transaction, items: list[_Item], done: ImportReport) -> bool:
        """Store them one by one; False when a strict import ends here."""
        for item in items:
            try:
                async with tx.connection.transaction():
                    await self._store(tx, item, done)
            except _REFUSALS as error:
                done.bad_lines.append(item.refused(error))
                if self._strict:
                    return False
        return True

    async def _store(self, tx: Transaction, item: _Item, done: ImportReport) -> None:
        line = item.line
        if isinstance(line, LinkLine):
            source = (line.source_type, self._resolve(line.source_type, line.source_id))
            target = (line.target_type, self._resolve(line.target_type, line.target_id))
            now = self._memory.clock()
            made = await insert_link(
                tx, self._principal, source, target, line.relation, now, lowers=self._stored
            )
            _count(done, line.kind, new=made)
            return
        # Made anew: its moment is that of the writing, so that facts supersede in file order.
        new = self._make(line, self._references(line), item.at.id)
        if isinstance(new, NewEntity):
            registered = await insert_entity(tx, self._principal, new, self._memory.clock())
            self._learn(line, item.at.id if registered is not None else await _holder(tx, new))
            _count(done, line.kind, new=registered is not None)
            if registered is not None:
                done.superseded += len(registered[1].superseded)
            return
        assert new is not None  # noqa: S101 -- links went above
        if isinstance(new, NewFact):
            new = await _of_its_time(tx, await one_of_several(tx, new))

        async def write(fitting: Embedded) -> UUID | None:
            async with tx.connection.transaction():
                written = await writing.insert(tx, self._principal, new, fitting)
                return written.supersedes_id

        words = await indexed_text(new)
        if await shortened(Embedded.later(words), write) is not None:
            done.superseded += 1
        self._learn(line, item.at.id)
        done.masked += is_masked(new.metadata)
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
        self._stored.add(id)
        if line.id is not None:
            self._known[line.kind, line.id] = id


def _without_references(line: AnyLine) -> dict[str, Any]:
    """Overrides for a check before the lines that are referred to are stored."""
    if isinstance(line, FactLine):
        return {"entity_id": None, "source_episode_id": None}
    return {"source_episode_id": None} if isinstance(line, RuleLine) else {}


def _refuse_future(new: NewEpisode) -> None:
    """It would be the latest for as long as that takes, and count as new."""
    if new.occurred_at - new.created_at > _OTHERS_CLOCKS:
        raise InvalidInput(
            f"occurred_at {new.occurred_at.isoformat()} lies in the future; history does not"
        )


async def _of_its_time(tx: Transaction, new: NewFact) -> NewFact:
    """A fact of before the one of its key that holds now ended where that one begins (C-515)."""
    if new.period.validity != "active":
        return new
    about = await writing.about_entity(tx, new)
    await facts.lock_key(tx, about.key)
    holders = await facts.active_of(tx, about.key)
    begun = await store.begun(tx, [one.id for one in holders])
    later = [one for one in begun if one > new.period.valid_from]
    if not later:
        return new
    return replace(about, period=FactPeriod(new.period.valid_from, min(later), "superseded"))


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
