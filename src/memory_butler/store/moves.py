"""A tenant that moves to another installation, in the database: its mark, and its tokens."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg

from memory_butler.domain.moves import Move
from memory_butler.store.queries import load
from memory_butler.store.transaction import Transaction, untenanted

SQL = load("moves")


async def mark(tx: Transaction, was: Move | None, becomes: Move | None) -> bool:
    """Note where the move stands, if it stood at `was`; whether it did.

    It waits until all who write for the tenant have committed; who comes later sees the mark.
    """
    given = (None, None, None) if becomes is None else (becomes.id, becomes.state, becomes.place)
    before = (None, None) if was is None else (was.id, was.state)
    marked: bool = await tx.fetchval(SQL["mark"], *before, *given)
    return marked


async def has_tokens(tx: Transaction) -> bool:
    """Whether the tenant has any, revoked ones too."""
    found: bool = await tx.fetchval(SQL["has_tokens"])
    return found


async def tokens(tx: Transaction) -> list[dict[str, Any]]:
    """The tokens of a tenant that is leaving, without their secrets: the rows, with the hashes."""
    found: list[dict[str, Any]] = await tx.fetchval(SQL["tokens"])
    return found


async def take_tokens(tx: Transaction, given: list[dict[str, Any]]) -> int:
    """Take them for a tenant that is arriving; how many."""
    count: int = await tx.fetchval(SQL["take_tokens"], given)
    return count


@asynccontextmanager
async def turn(pool: asyncpg.Pool, tenant: str) -> AsyncIterator[bool]:
    """Whether it is our turn to move this tenant; no other process has it until the block ends.

    A lock of the session, so that it goes with a process that dies.
    """
    async with untenanted(pool) as connection:
        ours: bool = await connection.fetchval(SQL["try_turn"], tenant)
        try:
            yield ours
        finally:
            if ours and not connection.is_closed():
                await connection.fetchval(SQL["end_turn"], tenant)
