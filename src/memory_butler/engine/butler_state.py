"""The state store: what a butler keeps exactly, by key, until it deletes it (GEN-10).

It is not memory: nothing here decays, is searched, embedded or shared between butlers.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import asyncpg

from memory_butler.domain.errors import InvalidInput
from memory_butler.domain.principals import Principal
from memory_butler.engine import inputs
from memory_butler.engine.memory import utc_now
from memory_butler.store import butler_state
from memory_butler.store.transaction import transaction

MAX_VALUE_BYTES: Final = 256 * 1024
MAX_LISTED: Final = 200


@dataclass(frozen=True, slots=True)
class Entry:
    """A key, its JSON value, and when that was set."""

    key: str
    value: Any
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class StateStore:
    """The keys of one butler, on a pool of the runtime role; each caller sees its tenant's."""

    pool: asyncpg.Pool
    butler: str

    async def get(self, principal: Principal, key: str) -> Entry | None:
        """The value of a key; None if it has none."""
        key = inputs.key("key", key)
        async with transaction(self.pool, principal.tenant) as tx:
            found = await butler_state.get(tx, self.butler, key)
        return None if found is None else Entry(key=key, **found)

    async def set(self, principal: Principal, key: str, value: Any) -> Entry:
        """Set a key to a JSON value other than null, in place of what it was.

        Raises:
            InvalidInput: the value is null, too large or not JSON.
        """
        key = inputs.key("key", key)
        clean = inputs.kept_value(value, MAX_VALUE_BYTES)
        if clean is None:
            raise InvalidInput("value is null; delete the key instead")
        entry = Entry(key, clean, utc_now())
        async with transaction(self.pool, principal.tenant) as tx:
            await butler_state.set_value(tx, self.butler, key, clean, entry.updated_at)
        return entry

    async def list(
        self, principal: Principal, prefix: str = "", after: str = "", limit: int = MAX_LISTED
    ) -> list[Entry]:
        """Up to `limit` keys that begin with `prefix`, in order, those after `after`."""
        if not 1 <= limit <= MAX_LISTED:
            raise InvalidInput(f"limit must be between 1 and {MAX_LISTED}, not {limit}")
        async with transaction(self.pool, principal.tenant) as tx:
            found = await butler_state.list_keys(tx, self.butler, prefix, after, limit)
        return [Entry(**row) for row in found]

    async def delete(self, principal: Principal, key: str) -> bool:
        """Delete a key; whether there was one."""
        async with transaction(self.pool, principal.tenant) as tx:
            return await butler_state.delete(tx, self.butler, inputs.key("key", key))
