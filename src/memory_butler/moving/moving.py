"""Moving a tenant to another installation: freeze, copy, compare, switch; erasing comes after.

Both places keep a mark of the move, each in its own database. The source is frozen before the first
row is copied and never written to again; the target takes no writes before the switch, which is one
transaction there: the mark becomes `arrived` and the tokens come in. So never do both take writes.
Every step may be cut off and done again, and until the switch the move can be cancelled.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final
from uuid import uuid4

from memory_butler.audit import parsed
from memory_butler.background import to_its_end
from memory_butler.companions import opening
from memory_butler.domain.errors import (
    ConfigurationError,
    Conflict,
    IntegrityViolation,
    NotFound,
    Unavailable,
)
from memory_butler.domain.moves import Move, State
from memory_butler.domain.principals import Principal
from memory_butler.domain.trust import Trust
from memory_butler.engine import sealing, stats, tokens
from memory_butler.engine.exchange import peers
from memory_butler.moving import journals
from memory_butler.moving.sides import CHANGED, Side
from memory_butler.store import erasure, moves, seals, transfer
from memory_butler.store.transaction import Transaction, move_of, transaction, unbounded
from memory_butler.vault.keyring import KeySource

Tell = Callable[[str], None]
Progress = Callable[[int, int], None]

# Rows with a vector are some 9 kB; a batch stays a few megabytes.
_BATCH: Final = 256
# Its rows outlast an erasure of the whole tenant: the target may have some of an earlier stay.
_LASTING: Final = "erasures"
_COMING: Final[frozenset[State]] = frozenset({"arriving", "returning"})


@dataclass(frozen=True, slots=True)
class Content:
    """What moves: rows by table, the names of journals, how many tokens."""

    rows: Mapping[str, int]
    journals: tuple[str, ...]
    tokens: int


@dataclass(frozen=True, slots=True)
class Moving:
    """One tenant on its way from `source` to `target`.

    Both pools may write for a tenant that moves from now on: use them for nothing else.
    """

    source: Side
    target: Side
    principal: Principal
    tell: Tell = lambda _: None
    progress: Progress = lambda _done, _total: None

    def __post_init__(self) -> None:
        self.source.let_in()
        self.target.let_in()

    @property
    def _tenant(self) -> str:
        return self.principal.tenant

    async def preview(self) -> Content:
        """Look what would move, and whether it can; nothing is changed.

        Raises:
            Conflict, ConfigurationError: it cannot, and why.
        """
        async with self._alone():
            here = await self.source.mark()
            if here is None:
                await self._refuse_impossible(change=False)
            else:
                self._refuse_other(here)
            return await _content(self.source)

    async def move(self) -> Content:
        """Move the tenant, or go on with a move to this target that was cut off.

        Raises:
            Conflict, ConfigurationError: it cannot move, and why; nothing was changed.
            IntegrityViolation: what was copied differs. The tenant stays frozen: move again, or
                cancel.
            Unavailable: a database is away; move again.
        """
        async with self._alone():
            goes_on = await self.source.mark() is not None
            here = await self._frozen()
            there = await self.target.mark()
            arrived = Move(here.id, "arrived", self.source.place)
            # By its id, since people name a place in several ways.
            is_there = there is not None and (there.id, there.state) == (here.id, "arrived")
            if here.state == "leaving" and not is_there:
                arriving = await self._arriving(here, there, goes_on=goes_on)
                await self._copy_rows(arriving)
                await self._copy_files(arriving)
                await self._compare()
                await self._switch(arriving, arrived)
                is_there = True
            if is_there:
                await self._close(here, arrived)
            elif there is not None:
                raise Conflict(here.refusal(self._tenant))  # it has moved on from there
            return await _content(self.target)

    async def cancel(self) -> None:
        """Take back a move before its switch: the tenant stays where it is.

        Raises:
            Conflict: it has moved already, or to another target.
        """
        async with self._alone():
            here, there = await self.source.mark(), await self.target.mark()
            if here is not None:
                self._refuse_other(here)
                ours = there if there is not None and there.id == here.id else None
                if here.state == "left" or (ours is not None and ours.state == "arrived"):
                    raise Conflict(replace(here, state="left").refusal(self._tenant))
                if ours is not None:
                    await self._take_back(ours)
                await self.source.set(here, None)
            elif there is not None and there.state in _COMING and there.place == self.source.place:
                await self._take_back(there)  # it was given up at the source, and is back
            await self.source.thaw()

    async def _take_back(self, there: Move) -> None:
        before = replace(there, state="left") if there.state == "returning" else None
        await self.target.take_back(there, before)

    @asynccontextmanager
    async def _alone(self) -> AsyncIterator[None]:
        async with (
            moves.turn(self.source.memory.pool, self._tenant) as ours,
            moves.turn(self.target.memory.pool, self._tenant) as ours_too,
        ):
            if not (ours and ours_too):
                raise Conflict(
                    "another process moves this tenant just now, or both places are one database"
                )
            yield

    async def _frozen(self) -> Move:
        """The mark of the source, which takes no writes any more."""
        self.tell("freezing")
        here = await self.source.mark()
        if here is None:
            await self._refuse_impossible(change=True)
            leaving = Move(uuid4(), "leaving", self.target.place)
            await self.source.freeze(leaving)
            try:
                await self.source.set(None, leaving)
            except Unavailable as error:
                await self.source.thaw()
                raise Unavailable(
                    f"the tenant was not frozen, and nothing was moved: {error}; wait for the end "
                    "of an import or a consolidation, then try again"
                ) from error
            try:
                await _refuse_unfinished(self.source)  # one may have begun before the freeze
            except Conflict:
                await self.source.set(leaving, None)
                await self.source.thaw()
                raise
            here = leaving
        else:
            self._refuse_other(here)
            if here.state == "leaving":
                await self.source.freeze(here)
        if here.state == "leaving" and self.source.memory.audit is not None:
            await sealing.seal(self.source.memory, self._tenant)
        return here

    async def _refuse_impossible(self, *, change: bool) -> None:
        """Raise where the move cannot begin, or would not come to its end."""
        source, target = self.source.memory, self.target.memory
        await _refuse_leaving(
            self.source, self.principal, self.target.data_dir, target.keys, change=change
        )
        if source.audit and target.audit and source.audit.folder == target.audit.folder:
            raise ConfigurationError("both places have one audit folder: set audit_dir for each")
        await self._refuse_taken(await self.target.mark())

    async def _refuse_taken(self, there: Move | None) -> None:
        """Raise `Conflict` where the target has something of this tenant, or is getting it."""
        if there is not None and there.state != "left":
            raise Conflict(f"at {self.target.place} {there.refusal(self._tenant)}")
        async with self.target.memory.reading(self._tenant, on_primary=True) as tx:
            await self._refuse_rows(tx)
        await asyncio.to_thread(journals.refuse_there, self.target.data_dir, self._tenant)

    async def _refuse_rows(self, tx: Transaction) -> None:
        if await erasure.unfinished(tx):  # of an earlier stay; it would take what comes
            raise Conflict(
                f"at {self.target.place} an erasure was cut off: finish it there first, by erasing "
                "again"
            )
        held = [
            table.name
            for table in await transfer.tables(tx)
            if table.name != _LASTING and await transfer.count(tx, table)
        ]
        if held or await moves.has_tokens(tx):
            raise Conflict(
                f"{self.target.place} has a tenant {self._tenant} already "
                f"({', '.join(held) or 'tokens'}): a tenant moves to where there is none of its "
                "name. `memory-butler erase --everything` there makes room, if nobody needs that "
                "one"
            )

    def _refuse_other(self, here: Move) -> None:
        """Raise `Conflict` where the mark of the source is of another move than this one."""
        if here.state in _COMING | {"arrived"}:
            raise Conflict(here.refusal(self._tenant))
        if here.place != self.target.place:
            raise Conflict(f"{here.refusal(self._tenant)} (this is {self.target.place})")

    async def _arriving(self, here: Move, there: Move | None, *, goes_on: bool) -> Move:
        """The mark of the target, which takes no writes but ours from now on."""
        if there is not None and there.id == here.id and there.state in _COMING:
            await self.target.freeze(there)
            return there
        again = there is not None and there.state == "left"
        arriving = Move(here.id, "returning" if again else "arriving", self.source.place)
        try:
            await self._refuse_taken(there)
            # The journals first: what begins between the two would be taken for one that came.
            await self.target.freeze(arriving)
            try:
                await asyncio.to_thread(journals.refuse_there, self.target.data_dir, self._tenant)
                async with transaction(self.target.memory.pool, self._tenant) as tx:
                    await self.target.set_in(tx, there, arriving)
                    await self._refuse_rows(tx)
            except Conflict:
                await self.target.thaw(there)
                raise
        except Conflict as error:
            if goes_on:  # it may live there, where this place was given up and is in no mark
                raise Conflict(
                    f"{error}. It stays frozen here: if it was given up there, it lives there; "
                    "--cancel frees it here, to be erased"
                ) from None
            await self.source.set(here, None)
            await self.source.thaw()
            raise
        return arriving

    async def _copy_rows(self, arriving: Move) -> None:
        self.tell("copying the memories")
        target, done = self.target.memory, 0
        async with self.source.memory.reading(self._tenant, on_primary=True) as out:
            await unbounded(out)
            tables = await transfer.tables(out)
            total = sum([await transfer.count(out, table) for table in tables])
            async with transaction(target.pool, self._tenant) as tx:
                models = await transfer.model_ids(tx, await transfer.models(out))
            for table in tables:
                async for lines in _batches(transfer.dump(out, table, ())):
                    async with transaction(target.pool, self._tenant) as tx:
                        if await move_of(tx) != arriving:
                            raise Conflict(CHANGED)  # a lock that was lost let another go on
                        columns = table.columns
                        await transfer.restore(tx, table, columns, lines, models, Trust.USER_SAID)
                    done += len(lines)
                    self.progress(done, total)
        if target.audit is not None:
            await sealing.adopt(target, self._tenant)

    async def _copy_files(self, arriving: Move) -> None:
        self.tell("copying the journals")
        source, target, tenant = self.source, self.target, self._tenant
        await asyncio.to_thread(peers.copy, source.data_dir, target.data_dir, tenant)
        keys = source.memory.keys, target.memory.keys
        said = arriving.refusal(tenant)
        copying = asyncio.to_thread(
            journals.copy, source.data_dir, target.data_dir, tenant, *keys, said
        )
        await to_its_end(copying)  # until then nobody else may begin

    async def _compare(self) -> None:
        """Compare row by row, through sums of hashes; journals were compared when copied."""
        self.tell("comparing what is there with what was here")
        tenant, different = self._tenant, []
        async with (
            self.source.memory.reading(tenant, on_primary=True) as one,
            self.target.memory.reading(tenant, on_primary=True) as other,
        ):
            await unbounded(one)
            await unbounded(other)
            for table in await transfer.tables(one):
                ids = await transfer.ids(one, table) if table.name == _LASTING else None
                wanted = await transfer.digest(one, table, ids)
                found = await transfer.digest(other, table, ids)
                if wanted != found:
                    different.append(f"{table.name} ({found[0]} rows of {wanted[0]})")
        if different:
            raise IntegrityViolation(
                f"what came to {self.target.place} differs in {', '.join(different)}: move again, "
                "or take it back with --cancel"
            )

    async def _switch(self, arriving: Move, arrived: Move) -> None:
        """From here on the target takes writes. One transaction there decides."""
        self.tell("switching")
        target, signed = self.target.memory, None
        async with self.source.memory.reading(self._tenant, on_primary=True) as out:
            given, last = await moves.tokens(out), await seals.checkpoint(out)
        why = f"moved from {self.source.place}"
        if last is not None:
            said = parsed(last["statement"])
            why += f", where its log ended at seal {said['seq']} with link {said['link']}"
        async with transaction(target.pool, self._tenant) as tx:
            if await moves.take_tokens(tx, given) != len(given):
                raise IntegrityViolation(f"{self.target.place} did not take all tokens")
            if target.audit is not None:
                signed = await sealing.begin_moved(target, tx, why)
            await self.target.set_in(tx, arriving, arrived)
        if target.audit is not None and signed is not None:
            await asyncio.to_thread(target.audit.keep, self._tenant, signed)

    async def _close(self, here: Move, arrived: Move) -> None:
        """Let the target's journals be written; end the source's tokens, and then the move."""
        self.tell("closing the old place")
        await self.target.settle()
        left = replace(here, state="left")
        async with transaction(self.source.memory.pool, self._tenant) as tx:
            await erasure.erase_tokens(tx)
            await self.source.set_in(tx, here, left)
        await self.source.freeze(left)
        await self.target.set(arrived, None)


async def preview_to_new(
    source: Side, principal: Principal, data_dir: Path, keys: KeySource
) -> Content:
    """As `Moving.preview`, to a target whose database the move itself makes or upgrades.

    `data_dir` and `keys` are the target's.
    """
    here = await source.mark()
    if here is not None:
        raise Conflict(here.refusal(source.tenant))
    await _refuse_leaving(source, principal, data_dir, keys, change=False)
    await asyncio.to_thread(journals.refuse_there, data_dir, source.tenant)
    return await _content(source)


async def _refuse_leaving(
    source: Side, principal: Principal, data_dir: Path, keys: KeySource, *, change: bool
) -> None:
    """Raise where the source cannot be left for a target of this folder and these keys.

    `change`: seal events and bring journals to this version, which a move needs first.
    """
    _refuse_one_folder(source.data_dir, data_dir)
    await _refuse_unfinished(source)
    memory = source.memory
    begun = await stats.is_begun(memory, source.tenant)
    if not begun and not await asyncio.to_thread(opening.names, source.data_dir, source.tenant):
        raise NotFound(
            f"there is nothing of tenant {source.tenant} in {source.place}: is its name mistyped?"
        )
    if memory.audit and (await sealing.audit(memory, principal, seal_first=change)).breaks:
        raise Conflict(
            "the event log is not whole, which would not be seen after the move: look with "
            "`memory-butler audit` first"
        )
    await asyncio.to_thread(
        journals.refuse_unreadable,
        source.data_dir,
        source.tenant,
        memory.keys,
        keys,
        upgrade=change,
    )


def _refuse_one_folder(one: Path, other: Path) -> None:
    if one.resolve() == other.resolve():
        raise ConfigurationError(
            f"both places have the data folder {one}: name the folder of the other one with "
            "--to-data-dir"
        )


async def _refuse_unfinished(source: Side) -> None:
    async with source.memory.reading(source.tenant, on_primary=True) as tx:
        if await erasure.unfinished(tx):
            raise Conflict("an erasure was cut off: finish it first, by erasing again")


async def _content(side: Side) -> Content:
    async with side.memory.reading(side.tenant, on_primary=True) as tx:
        tables = await transfer.tables(tx)
        rows = Counter({table.name: await transfer.count(tx, table) for table in tables})
    names = await asyncio.to_thread(opening.names, side.data_dir, side.tenant)
    held = await tokens.list_tokens(side.memory, side.tenant)
    return Content(+rows, tuple(names), len(held))


async def _batches(rows: AsyncIterator[str]) -> AsyncIterator[list[str]]:
    """The rows as lines of an export, so many at a time."""
    lines: list[str] = []
    async for row in rows:
        lines.append(f'{{"row": {row}}}')
        if len(lines) == _BATCH:
            yield lines
            lines = []
    if lines:
        yield lines
