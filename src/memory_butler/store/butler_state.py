"""The state store in the database: JSON values by tenant, butler and key."""

from datetime import datetime
from typing import Any

from memory_butler.store.queries import load
from memory_butler.store.rows import Row, optional, rows
from memory_butler.store.transaction import Transaction

SQL = load("butler_state")


async def get(tx: Transaction, butler: str, key: str) -> Row | None:
    """`value` and `updated_at` of a key; None if it has none."""
    return optional(await tx.fetchrow(SQL["get"], butler, key))


async def set_value(tx: Transaction, butler: str, key: str, value: Any, now: datetime) -> None:
    """Put a value in place of whatever was there."""
    await tx.execute(SQL["set"], butler, key, value, now)


async def list_keys(tx: Transaction, butler: str, prefix: str, after: str, limit: int) -> list[Row]:
    """`key`, `value` and `updated_at` of up to `limit` keys after `after`, in their order."""
    return rows(await tx.fetch(SQL["list"], butler, prefix, after, limit))


async def delete(tx: Transaction, butler: str, key: str) -> bool:
    """Remove a key; whether there was one."""
    return bool(await tx.fetchval(SQL["delete"], butler, key))
