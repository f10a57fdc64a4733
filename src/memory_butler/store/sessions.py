"""Sessions, which are known by what they left: episodes, and what memory served to them."""

from uuid import UUID

from memory_butler.store.listing import Listed, Part
from memory_butler.store.queries import load
from memory_butler.store.rows import rows
from memory_butler.store.transaction import Transaction

SQL = load("sessions")


async def page(
    tx: Transaction,
    part: Part,
    *,
    session_id: UUID | None = None,
    butler: str | None = None,
) -> Listed:
    """One part of the sessions, the latest first."""
    criteria = (session_id, butler)
    total: int = await tx.fetchval(SQL["count"], *criteria)
    return Listed(total, rows(await tx.fetch(SQL["page"], *criteria, part.limit, part.offset)))
