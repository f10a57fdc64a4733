"""Looking at the rows behind a memory, past row-level security, for the tests of this folder."""

from typing import Any
from uuid import UUID

from conftest import Connection


async def row(admin: Connection, table: str, id: UUID) -> dict[str, Any]:
    """One row, all columns."""
    found = await admin.fetchrow(f"SELECT * FROM {table} WHERE id = $1", id)
    assert found is not None
    return dict(found)


async def count(admin: Connection, table: str) -> int:
    """How many rows a table has, of all tenants."""
    counted: int = await admin.fetchval(f"SELECT count(*) FROM {table}")
    return counted


async def event_types(admin: Connection) -> list[str]:
    """The types of all events, sorted: events of one moment have no order."""
    return sorted(row[0] for row in await admin.fetch("SELECT event_type FROM memory_events"))


async def states(admin: Connection, kind: str, id: UUID) -> list[dict[str, Any]]:
    """The past states of one item, the oldest first."""
    found = await admin.fetch(
        "SELECT known_from, known_until, state FROM memory_versions"
        " WHERE kind = $1 AND id = $2 ORDER BY known_from",
        kind,
        id,
    )
    return [dict(one) for one in found]
