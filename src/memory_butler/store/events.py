"""The append-only audit stream in the database."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from memory_butler.domain.events import EventType
from memory_butler.store.queries import load
from memory_butler.store.rows import Row, rows
from memory_butler.store.transaction import Transaction

SQL = load("events")

Event = tuple[EventType, dict[str, Any]]


async def record(
    tx: Transaction, actor: str | None, happened: Sequence[Event], now: datetime
) -> None:
    """Tell what the transaction did, in the same transaction (MEV-01)."""
    if happened:
        types = [event_type for event_type, _ in happened]
        payloads = [payload for _, payload in happened]
        await tx.connection.execute(SQL["insert"], tx.tenant, actor, types, payloads, now)


async def newest(tx: Transaction, types: Sequence[EventType] | None, limit: int) -> list[Row]:
    """The latest events, newest first; all types when `types` is None."""
    wanted = None if types is None else list(types)
    return rows(await tx.connection.fetch(SQL["newest"], tx.tenant, wanted, limit))
