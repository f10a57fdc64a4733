"""What this installation tells others: the digests of its facts, and those that they ask for."""

import asyncio
import json
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from memory_butler.domain.errors import InvalidInput
from memory_butler.domain.exchange import Scopes, common
from memory_butler.domain.principals import Principal
from memory_butler.engine.exchange import peers
from memory_butler.engine.exchange.packs import (
    PACK_BYTES,
    PACK_FACTS,
    PARTS,
    Signed,
    as_sent,
    signed,
)
from memory_butler.engine.memory import Memory
from memory_butler.store import exchange as store
from memory_butler.store.rows import Row


async def state(
    memory: Memory,
    principal: Principal,
    scopes: Collection[str] | None = None,
    to: str | None = None,
) -> Signed:
    """Digests of the parts of the facts, by their numbers, and the facts that are gone for good.

    Args:
        scopes: of facts of these alone, as far as the caller may have them; none: of all such.
        to: the key of whoever asks, so that nobody else can pass the statement off as its own.

    Raises:
        PermissionDenied: the caller may have none of these.
    """
    caller = peers.of_caller(memory.data_dir, principal)
    may_have = _may_have(caller, scopes)
    async with memory.reading(principal.tenant, on_primary=True) as tx:
        parts = await store.digests(tx, may_have)
        gone = await store.taken_away(tx)
    said = {
        "kind": "state",
        "parts": {str(part): digest for part, digest in parts.items()},
        "gone": [str(id) for id in gone],
        "scopes": may_have,
        "to": to if caller is None else caller.key,
    }
    return signed(memory, principal.tenant, said)


async def facts(
    memory: Memory,
    principal: Principal,
    parts: Sequence[int],
    after: str | None = None,
    scopes: Collection[str] | None = None,
) -> tuple[Signed, str | None]:
    """Facts of some parts, and where to go on; None: these were the last.

    Args:
        scopes: as for the state.

    Raises:
        InvalidInput: a part that is not 0 to 255, or a place that no answer named.
        PermissionDenied: the caller may have none of these scopes.
    """
    if any(not 0 <= part < PARTS for part in parts):
        raise InvalidInput(f"parts are numbered 0 to {PARTS - 1}")
    place = None if after is None else _place(after)
    may_have = _may_have(peers.of_caller(memory.data_dir, principal), scopes)
    async with memory.reading(principal.tenant, on_primary=True) as tx:
        found = await store.page(tx, parts, may_have, place, PACK_FACTS + 1)
    # In a thread: two megabytes of JSON take tens of milliseconds.
    # Names and aliases are learned in every scope: whoever gets some scopes alone gets none.
    return await asyncio.to_thread(_page, memory, principal, found, with_entities=may_have is None)


def _may_have(caller: peers.Peer | None, asked: Collection[str] | None) -> Scopes:
    return common(peers.chosen(asked), None if caller is None else caller.scopes)


def _page(
    memory: Memory, principal: Principal, found: list[Row], *, with_entities: bool
) -> tuple[Signed, str | None]:
    sent: list[dict[str, Any]] = []
    size = 0
    for row in found[:PACK_FACTS]:
        sent.append(as_sent(row, with_entity=with_entities))
        size += len(json.dumps(sent[-1], ensure_ascii=False).encode())
        if size > PACK_BYTES:
            break
    on = None
    if len(sent) < len(found):
        last = found[len(sent) - 1]
        on = f"{last['place'].hex()} {last['made'].isoformat()} {last['id']}"
    return signed(memory, principal.tenant, {"kind": "facts", "facts": sent}), on


def _place(after: str) -> store.Place:
    try:
        hash, made, id = after.split(" ")
        return store.Place(bytes.fromhex(hash), datetime.fromisoformat(made), UUID(id))
    except ValueError as error:
        raise InvalidInput("after takes what the answer before named as next") from error
