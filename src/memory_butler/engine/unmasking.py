"""Restoring what was masked, within its hour and with its key (C-423)."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final
from uuid import UUID

from pydantic import Field

from memory_butler.domain.errors import Conflict, InvalidInput, NotFound
from memory_butler.domain.links import Item, MemoryType
from memory_butler.domain.principals import Principal
from memory_butler.domain.trust import Trust
from memory_butler.engine.edits import edit_fact
from memory_butler.engine.indexing import shortened, text_of_row
from memory_butler.engine.memory import Memory
from memory_butler.engine.screening import NOTE, Sieve, said_of, sieved
from memory_butler.engine.unmask_keys import UnmaskKey, Words
from memory_butler.store import episodes, events, facts, masking, rules
from memory_butler.store.embeddings import Embedded
from memory_butler.store.rows import Row
from memory_butler.store.transaction import Transaction, transaction

_LOOK: Final[Mapping[MemoryType, Callable[[Transaction, UUID], Awaitable[Row | None]]]] = {
    "episode": episodes.look,
    "fact": facts.look,
    "rule": rules.look,
}


@dataclass(frozen=True, slots=True)
class Unmasked:
    """A memory that says again what was masked."""

    memory_type: MemoryType
    id: UUID
    masked_id: Annotated[
        UUID, Field(description="The masked memory; a fact is superseded by a new one.")
    ]


@dataclass(frozen=True, slots=True)
class LeftMasked:
    """A memory that stays masked."""

    memory_type: MemoryType
    id: UUID
    why: str


async def unmask(
    memory: Memory, principal: Principal, key: str
) -> tuple[list[Unmasked], list[LeftMasked]]:
    """Restore whatever was masked under a key; what cannot be restored is left.

    A memory that was changed since stays as it is.

    Raises:
        InvalidInput: it is no key; or nothing could be restored, as secrets are refused.
        NotFound: nothing is kept under this key, or no longer.
        Conflict: nothing could be restored, as it was changed since.
        Unavailable: the database went away; what was restored stays so. Do it again.
    """
    opened = UnmaskKey.of(key)
    async with memory.reading(principal.tenant, on_primary=True) as tx:
        rows = await masking.kept(tx, opened.id, memory.clock())
    if not rows:
        raise NotFound(
            "nothing is kept under this key: it is another one, what was masked is restored "
            "already, or its hour is over"
        )
    done: list[Unmasked] = []
    left: list[LeftMasked] = []
    for row in rows:
        item: Item = (row["memory_type"], row["memory_id"])
        try:
            words = opened.words(principal.tenant, item, row["sealed"])
            id = await _restore(memory, principal, opened, item, words)
            done.append(Unmasked(item[0], id, item[1]))
        except (Conflict, InvalidInput, NotFound) as error:
            if len(rows) == 1:
                raise
            left.append(LeftMasked(*item, str(error)))
    return done, left


async def _restore(
    memory: Memory, principal: Principal, key: UnmaskKey, item: Item, words: Words
) -> UUID:
    kind, id = item
    async with memory.reading(principal.tenant, on_primary=True) as tx:
        row = await _LOOK[kind](tx, id)
    if row is None:
        raise NotFound(f"there is no {kind} {id} any more")
    if any(_of(row, name, one) != one for name, one in words.masked.items()):
        raise Conflict(f"{kind} {id} was changed since it was masked: correct it by hand")
    if kind == "fact" and not words.in_place:
        changes = dict(words.given) | {"trust": Trust(row["trust"]).label}
        made: UUID = (await edit_fact(memory, principal, id, changes, allow_secrets=True))["id"]
        async with transaction(memory.pool, principal.tenant) as tx:
            await masking.drop(tx, key.id, id)
        return made
    await _write_over(memory, principal, key, kind, row, words)
    return id


def _of(row: Row, name: str, like: Any) -> Any:
    """A field of a row; of the metadata the members that are in `like`."""
    if name != "metadata":
        return row[name]
    return {member: row["metadata"].get(member) for member in like}


async def _write_over(
    memory: Memory,
    principal: Principal,
    key: UnmaskKey,
    kind: MemoryType,
    row: Row,
    words: Words,
) -> None:
    given = dict(words.given)
    given["metadata"] = row["metadata"] | given.get("metadata", {})
    sieve = Sieve(mask=False)
    mode = memory.config.trust.of(principal.tenant)
    before = said_of(row["subject"], row["predicate"]) if kind == "fact" else ""
    clean = sieved(sieve, row | given, before)
    if mode == "refuse":
        sieve.refuse()
    if mode != "off" and sieve.note:
        clean.metadata[NOTE] = sieve.note
    text = text_of_row(kind, row, clean.content)
    embedded = await memory.embedded(text, clean.tags)
    id: UUID = row["id"]

    async def write(fitting: Embedded) -> None:
        async with transaction(memory.pool, principal.tenant) as tx:
            if not await masking.write_over(tx, kind, row, clean, fitting):
                raise Conflict(f"{kind} {id} was changed a moment ago: try again")
            await masking.drop(tx, key.id, id)
            told = events.of_memory("memory_unmasked", kind, id)
            await events.record(tx, principal.actor, [told], memory.clock())

    await shortened(embedded, write)
