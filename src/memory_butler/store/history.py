"""What is asked of the past alone; all other queries read its views by themselves (mem_015)."""

from datetime import datetime
from uuid import UUID

from memory_butler.store.queries import load
from memory_butler.store.rows import Row, rows
from memory_butler.store.transaction import Transaction

SQL = load("history")


async def deleted_episodes(
    tx: Transaction, known_at: datetime, *, butler: str | None, id: UUID | None, limit: int
) -> tuple[int, list[Row]]:
    """How many episodes were known at a moment and are gone since; the newest of them."""
    given = (tx.tenant, known_at, butler, None if id is None else str(id))
    total: int = await tx.connection.fetchval(SQL["count_deleted"], *given)
    found = await tx.connection.fetch(SQL["deleted"], *given, limit) if total else []
    return total, rows(found)
