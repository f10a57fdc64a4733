"""What this installation tells others: digests of its facts and rules, and what they ask for."""

import asyncio
import json
from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Final
from uuid import UUID

from memory_butler.domain.errors import InvalidInput
from memory_butler.domain.exchange import Scopes, common
from memory_butler.domain.principals import Principal
from memory_butler.engine.exchange import peers, rules
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

# What `next` begins with once the facts are through; the id of the last rule follows.
_RULES: Final = "rules "
_NO_PLACE: Final = "after takes what the answer before named as next"


async def state(
    memory: Memory,
    principal: Principal,
    scopes: Collection[str] | None = None,
    to: str | None = None,
) -> Signed:
    """Digests of the parts of facts and rules, by their numbers, and the ids of what is gone.

    Args:
        scopes: of these alone, as far as the caller may have them; none: of all such.
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
    """Facts of some parts, then their rules, and where to go on; None: these were the last.

    Args:
        scopes: as for the state.

    Raises:
        InvalidInput: a part that is not 0 to 255, or a place that no answer named.
        PermissionDenied: the caller may have none of these scopes.
    """
    if any(not 0 <= part < PARTS for part in parts):
        raise InvalidInput(f"parts are numbered 0 to {PARTS - 1}")
    in_rules = after is not None and after.startswith(_RULES)
    place = None if after is None or in_rules else _place(after)
    may_have = _may_have(peers.of_caller(memory.data_dir, principal), scopes)
    found: list[Row] = []
    async with memory.reading(principal.tenant, on_primary=True) as tx:
        if not in_rules:
            found = await store.page(tx, parts, may_have, place, PACK_FACTS + 1)
        # A page has either; the last one of facts says whether rules follow.
        last = None if not in_rules else _id(str(after))
        count = PACK_FACTS + 1 if in_rules else 1
        found_rules = await store.rules_page(tx, parts, may_have, last, count)
    # In a thread: two megabytes of JSON take tens of milliseconds.
    if in_rules:
        return await asyncio.to_thread(_page_of_rules, memory, principal, found_rules)
    # Names and aliases are learned in every scope: whoever gets some scopes alone gets none.
    alone = may_have is None
    said, on = await asyncio.to_thread(_page, memory, principal, found, with_entities=alone)
    return said, on or (_RULES if found_rules else None)


def _may_have(caller: peers.Peer | None, asked: Collection[str] | None) -> Scopes:
    return common(peers.chosen(asked), None if caller is None else caller.scopes)


def _page(
    memory: Memory, principal: Principal, found: list[Row], *, with_entities: bool
) -> tuple[Signed, str | None]:
    sent = _fitting(found, partial(as_sent, with_entity=with_entities))
    on = None
    if len(sent) < len(found):
        last = found[len(sent) - 1]
        on = f"{last['place'].hex()} {last['made'].isoformat()} {last['id']}"
    return signed(memory, principal.tenant, {"kind": "facts", "facts": sent}), on


def _page_of_rules(
    memory: Memory, principal: Principal, found: list[Row]
) -> tuple[Signed, str | None]:
    sent = _fitting(found, rules.as_sent)
    on = f"{_RULES}{found[len(sent) - 1]['id']}" if len(sent) < len(found) else None
    said = {"kind": "facts", "facts": [], "rules": sent}
    return signed(memory, principal.tenant, said), on


def _fitting(found: list[Row], as_said: Callable[[Row], dict[str, Any]]) -> list[dict[str, Any]]:
    """As much of it as one page takes."""
    sent: list[dict[str, Any]] = []
    size = 0
    for row in found[:PACK_FACTS]:
        sent.append(as_said(row))
        size += len(json.dumps(sent[-1], ensure_ascii=False).encode())
        if size > PACK_BYTES:
            break
    return sent


def _id(after: str) -> UUID | None:
    try:
        return UUID(after.removeprefix(_RULES)) if after != _RULES else None
    except ValueError as error:
        raise InvalidInput(_NO_PLACE) from error


def _place(after: str) -> store.Place:
    try:
        hash, made, id = after.split(" ")
        return store.Place(bytes.fromhex(hash), datetime.fromisoformat(made), UUID(id))
    except ValueError as error:
        raise InvalidInput(_NO_PLACE) from error
