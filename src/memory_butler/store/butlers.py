"""Butlers, which are known by what they told and by what is kept for them."""

from datetime import datetime

from memory_butler.store.queries import load
from memory_butler.store.rows import Row, rows
from memory_butler.store.transaction import Transaction

SQL = load("butlers")


async def known(tx: Transaction, now: datetime, name: str | None = None) -> list[Row]:
    """Every butler, or the one of this name, by name, with its figures."""
    return rows(await tx.fetch(SQL["all"], name, now))
