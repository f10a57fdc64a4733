"""What a tenant's memories say, to tell which languages they are in."""

from typing import Final

from memory_butler.store.queries import load
from memory_butler.store.transaction import Transaction

SQL = load("languages")

SAMPLED: Final = 64  # memories
_READ: Final = 200  # characters of each


async def sampled(tx: Transaction) -> list[str]:
    """The beginnings of at most `SAMPLED` memories; the same ones while the store is unchanged."""
    return [said for (said,) in await tx.fetch(SQL["sampled"], _READ, SAMPLED)]
