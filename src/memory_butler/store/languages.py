"""What a tenant's memories say, to tell which languages they are in."""

from typing import Final

from memory_butler.store.queries import load
from memory_butler.store.transaction import Transaction

SQL = load("languages")

SAMPLED: Final = 64  # memories
_READ: Final = 200  # characters of each


async def sampled(tx: Transaction) -> list[str]:
    """How some memories begin, `SAMPLED` at most: of the same store the same."""
    return [said for (said,) in await tx.fetch(SQL["sampled"], _READ, SAMPLED)]
