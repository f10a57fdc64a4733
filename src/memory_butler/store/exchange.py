"""What an exchange between installations asks of the database."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from memory_butler.domain.exchange import State
from memory_butler.domain.trust import Trust
from memory_butler.store.queries import load
from memory_butler.store.rows import Row, rows
from memory_butler.store.transaction import Transaction

SQL = load("exchange")


class Place(NamedTuple):
    """Where a page of facts ends: the hash of the last one's key, when it was made, its id."""

    hash: bytes
    made: datetime
    id: UUID


async def digests(tx: Transaction, scopes: Sequence[str] | None) -> dict[int, str]:
    """A SHA-256 of each part, 0 to 255: of the ids, states and words of its facts and rules.

    Empty parts are left out. `scopes`: of these alone; None: of all.
    """
    found = await tx.fetch(SQL["digests"], _listed(scopes))
    return {row["part"]: row["digest"] for row in found}


async def page(
    tx: Transaction,
    parts: Sequence[int],
    scopes: Sequence[str] | None,
    after: Place | None,
    limit: int,
) -> list[Row]:
    """Facts of these parts of whatever state, with their entity; `place`, `made`, `id` to go on.

    `scopes`: facts of these alone; None: of all.
    """
    place = (None, None, None) if after is None else after
    return rows(await tx.fetch(SQL["page"], list(parts), *place, limit, _listed(scopes)))


async def rules_page(
    tx: Transaction,
    parts: Sequence[int],
    scopes: Sequence[str] | None,
    after: UUID | None,
    limit: int,
) -> list[Row]:
    """Rules of these parts of whatever state, by id; `former`: digests of what each said before.

    `scopes`: rules of these alone, and what they said in these; None: of all.
    """
    return rows(await tx.fetch(SQL["rules_page"], list(parts), after, limit, _listed(scopes)))


async def rules_there(tx: Transaction, ids: Sequence[UUID]) -> dict[UUID, Row]:
    """Like `there`, for rules; `text_since`: since when they have their text."""
    found = await tx.fetch(SQL["rules_there"], list(ids))
    return {row["id"]: dict(row) for row in found}


async def scopes_of_rules(tx: Transaction, ids: Sequence[UUID]) -> dict[UUID, str]:
    """The scopes of those of these rules that are stored here, forgotten or not, by id."""
    found = await tx.fetch(SQL["scopes_of_rules"], list(ids))
    return {row["id"]: row["scope"] for row in found}


async def set_rule(
    tx: Transaction,
    id: UUID,
    confirmed: datetime | None,
    metadata: dict[str, Any],
    trust: Trust,
    *,
    warning: bool = False,
) -> None:
    """Bring a rule into a state; `warning`: and make it one."""
    await tx.execute(SQL["set_rule"], id, confirmed, metadata, trust, warning)


async def there(tx: Transaction, ids: Sequence[UUID]) -> dict[UUID, Row]:
    """Those that are here, locked; `known_since` their state, `touched` when they changed last."""
    found = await tx.fetch(SQL["there"], list(ids))
    return {row["id"]: dict(row) for row in found}


async def ancestors(tx: Transaction, id: UUID) -> frozenset[UUID]:
    """All facts that this one replaced, directly or through others."""
    found = await tx.fetch(SQL["ancestors"], id)
    return frozenset(row["id"] for row in found)


async def set_state(
    tx: Transaction, id: UUID, state: State, metadata: dict[str, Any], now: datetime
) -> None:
    """Bring a fact into a state; for an active one the caller holds the lock of its key."""
    await tx.execute(
        SQL["set_state"], id, state.validity, state.valid_until, state.confirmed, metadata, now
    )


async def raise_trust(tx: Transaction, id: UUID, trust: Trust) -> None:
    """Raise the trust of a fact to that of somebody who said the same."""
    await tx.execute(SQL["raise_trust"], id, trust)


async def connect(tx: Transaction) -> None:
    """Name what each fact replaced, where that arrived after the fact."""
    await tx.execute(SQL["connect"])


async def taken_away(tx: Transaction) -> list[UUID]:
    """Facts and rules that were erased here, or stored here and undone, and are not here again."""
    return [row["id"] for row in await tx.fetch(SQL["taken_away"])]


async def emptied(tx: Transaction) -> datetime | None:
    """When all of the tenant was erased last; None: never."""
    found: datetime | None = await tx.fetchval(SQL["emptied"])
    return found


def _listed(scopes: Sequence[str] | None) -> list[str] | None:
    return None if scopes is None else list(scopes)
