"""Sessions, which are known by what they left: episodes, and what memory served to them."""

from uuid import UUID

from memory_butler.store.queries import load
from memory_butler.store.rows import Row, rows
from memory_butler.store.transaction import Transaction

SQL = load("sessions")


async def page(
    tx: Transaction,
    *,
    session_id: UUID | None = None,
    butler: str | None = None,
    limit: int,
    offset: int,
) -> tuple[int, list[Row]]:
    """How many sessions there are, and one part of them, the latest first."""
    criteria = (tx.tenant, session_id, butler)
    total: int = await tx.connection.fetchval(SQL["count"], *criteria)
    return total, rows(await tx.connection.fetch(SQL["page"], *criteria, limit, offset))
