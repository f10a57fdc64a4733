"""One of the two installations between which a tenant moves, and what is done at it alone."""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Final, get_args

from memory_butler.companions import opening
from memory_butler.domain.errors import Conflict
from memory_butler.domain.moves import Move, State
from memory_butler.engine import leftovers, sealing
from memory_butler.engine.exchange import peers
from memory_butler.engine.memory import Memory
from memory_butler.moving import journals
from memory_butler.store import erasure, moves
from memory_butler.store.transaction import Transaction, move_of, transaction

CHANGED: Final = "this move was changed by another process: look again"
_ANY: Final[frozenset[State]] = frozenset(get_args(State))


@dataclass(frozen=True, slots=True)
class Side:
    """An installation and the tenant that moves; `place` is how people name the installation.

    Its pool may write for a tenant that moves, from `let_in` on: use it for nothing else.
    """

    memory: Memory
    place: str
    tenant: str

    @property
    def data_dir(self) -> Path:
        return opening.data_dir(self.memory)

    def let_in(self) -> None:
        self.memory.pool.let_in = _ANY

    async def mark(self) -> Move | None:
        """Where the move stands, as this installation knows it."""
        async with self.memory.reading(self.tenant, on_primary=True) as tx:
            return await move_of(tx)

    async def set(self, was: Move | None, becomes: Move | None) -> None:
        async with transaction(self.memory.pool, self.tenant) as tx:
            await self.set_in(tx, was, becomes)

    async def set_in(self, tx: Transaction, was: Move | None, becomes: Move | None) -> None:
        if not await moves.mark(tx, was, becomes):
            raise Conflict(CHANGED)

    async def freeze(self, move: Move) -> None:
        """Let nobody write to its journals."""
        said = move.refusal(self.tenant)
        await asyncio.to_thread(journals.freeze, self.data_dir, self.tenant, said)

    async def thaw(self, left: Move | None = None) -> None:
        """Let its journals be written to; one that was `left` before stays closed."""
        if left is not None:
            await self.freeze(left)
        else:
            await asyncio.to_thread(journals.thaw, self.data_dir, self.tenant)

    async def settle(self) -> None:
        """After the switch at the target: let the journals be written, and seal what came."""
        await asyncio.to_thread(leftovers.remove_arriving, self.data_dir, self.tenant)
        await self.thaw()
        if self.memory.audit is not None:
            await sealing.seal(self.memory, self.tenant)

    async def take_back(self, there: Move, before: Move | None) -> None:
        """Take away what came to the target, which takes no writes as long as that lasts.

        `before` is the mark that it has then: that of a tenant that `left` earlier, or none.
        """
        await asyncio.to_thread(journals.remove, self.data_dir, self.tenant)
        await asyncio.to_thread(peers.forget, self.data_dir, self.tenant)
        await self.thaw(before)
        async with transaction(self.memory.pool, self.tenant) as tx:
            chained = await sealing.before_erasing(self.memory, tx)
            await erasure.erase_tenant(tx)
            signed = await sealing.erased_everything(self.memory, tx, there.id, chained)
            await self.set_in(tx, there, before)
        if self.memory.audit is not None and signed is not None:
            await asyncio.to_thread(self.memory.audit.keep, self.tenant, signed)
