"""Receipts of contexts: taken when one is built, replayed and explained later."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID, uuid4

from memory_butler.domain.context import AssembledContext, ContextFact, ContextRule, InBlock
from memory_butler.domain.errors import Conflict, NotFound
from memory_butler.domain.links import MEMORY_TYPES
from memory_butler.domain.principals import Principal
from memory_butler.domain.receipts import (
    EDITION,
    Place,
    Receipt,
    Text,
    Weighed,
    digest,
    replayed,
)
from memory_butler.domain.revisions import revision_of
from memory_butler.domain.text import one_line
from memory_butler.engine import inputs
from memory_butler.engine.memory import Memory
from memory_butler.engine.recall import Hit
from memory_butler.engine.screening import Sieve
from memory_butler.engine.served import Audience, note
from memory_butler.store import receipts
from memory_butler.store.receipts import Kept
from memory_butler.store.rows import Row
from memory_butler.store.transaction import Transaction, transaction

# More of a prompt than is kept: a secret that its beginning cuts in two is still known for one.
_SEARCHED: Final = 500


@dataclass(frozen=True, slots=True)
class Drawn:
    """A block within a budget of tokens, everything that was weighed for it, what was not because
    better ones say the same, and what just missed being weighed.
    """

    token_budget: int
    block: AssembledContext
    weighed: list[tuple[Hit, InBlock]]
    repeats: list[tuple[Hit, UUID]]
    missed: list[Hit]
    now: datetime


def take(
    memory: Memory,
    principal: Principal,
    prompt: str,
    butler: str,
    session_id: UUID | None,
    drawn: Drawn,
) -> Kept:
    """The receipt of a block just assembled; nothing is written yet."""
    retrieval = memory.config.retrieval
    included = set(drawn.block.included)
    receipt = Receipt(
        taken_at=drawn.now,
        as_of=None if memory.standpoint is None else memory.standpoint.as_of,
        token_budget=drawn.token_budget,
        layout=retrieval.context_format,
        quotas=retrieval.context_quotas,
        weights=_weights(memory),
        items=[
            *(
                _weighed(hit, "in" if one.id in included else "no_room", one)
                for hit, one in drawn.weighed
            ),
            *(_weighed(hit, "repeats", None, better) for hit, better in drawn.repeats),
            *(_weighed(hit, "missed", None) for hit in drawn.missed),
        ],
        prompt=_beginning(memory, principal, prompt),
    )
    at = memory.present.clock()
    return Kept(uuid4(), butler, session_id, at, receipt, digest(drawn.block.text))


def _beginning(memory: Memory, principal: Principal, prompt: str) -> str | None:
    """The first characters of a prompt in one line, without secrets; None where none are kept."""
    most = memory.config.retrieval.receipt_prompt_characters
    if not most:
        return None
    head = prompt[: most + _SEARCHED]
    if memory.config.trust.of(principal.tenant) != "off":
        head = Sieve(mask=True).text(head)
    line = one_line(head)
    return line if len(line) <= most else f"{line[:most].rstrip()}…"


def _weights(memory: Memory) -> dict[str, float]:
    weights = memory.config.retrieval.weights()
    named = ("relevance", "importance", "recency", "confidence")
    return {name: getattr(weights, name) for name in named}


def _weighed(hit: Hit, place: Place, one: InBlock | None, better: UUID | None = None) -> Weighed:
    shown: dict[str, Any] = {}
    match one:
        case ContextFact():
            confirmed = one.last_confirmed_at
            shown = {
                "confidence": one.confidence,
                "permanence": one.permanence,
                "last_confirmed_at": None if confirmed is None else confirmed.isoformat(),
            }
            if one.outdated:
                shown["outdated"] = True
        case ContextRule():
            shown = {
                "maturity": one.maturity,
                "scope": one.scope,
                "effectiveness": one.effectiveness,
            }
            if one.harmful:
                shown["harmful"] = one.harmful
    return Weighed(
        memory_type=hit.memory_type,
        id=hit.row["id"],
        revision=_revision(hit.row),
        place=place,
        score=hit.place,
        created_at=hit.row["created_at"],
        shown=shown,
        parts=hit.explain(),
        repeats=better,
    )


def _revision(row: Row) -> str:
    return revision_of({name: row[name] for name in row if name != "lifecycle_state"})


@dataclass(frozen=True, slots=True)
class Replay:
    """A context made again, and whether it is the same to the byte."""

    kept: Kept
    text: str
    identical: bool


@dataclass(frozen=True, slots=True)
class Explained:
    """Why one memory is in a context, or is not; `text` is None where it is gone."""

    weighed: Weighed
    text: Text | None


async def replay(memory: Memory, principal: Principal, receipt_id: UUID | str) -> Replay:
    """Make a context again, from its receipt and from what memory keeps.

    Raises:
        NotFound: there is no such receipt, or its time of keeping is over.
        Conflict: a memory that was weighed is gone, or the receipt is of another edition.
    """
    kept, texts = await _read(memory, principal, receipt_id)
    if kept.receipt.edition != EDITION:
        raise Conflict(
            f"receipt {kept.id} is of edition {kept.receipt.edition} of the block; this version "
            f"makes edition {EDITION}"
        )
    gone = [one for one in kept.receipt.in_play if one.id not in texts]
    if gone:
        named = ", ".join(f"{one.memory_type} {one.id}" for one in gone[:5])
        raise Conflict(
            f"the context cannot be made again: {named} "
            f"{'is' if len(gone) == 1 else 'and others are' if len(gone) > 5 else 'are'} gone"
        )
    text = replayed(kept.receipt, texts).text
    return Replay(kept, text, digest(text) == kept.sha256)


async def explain(
    memory: Memory, principal: Principal, receipt_id: UUID | str
) -> tuple[Kept, list[Explained]]:
    """Everything that was weighed for a context, what is in it first, then what just missed.

    Raises:
        NotFound: there is no such receipt, or its time of keeping is over.
    """
    kept, texts = await _read(memory, principal, receipt_id)
    return kept, [Explained(one, texts.get(one.id)) for one in kept.receipt.items]


async def list_receipts(
    memory: Memory, principal: Principal, butler: str | None, limit: int
) -> list[Row]:
    """The newest receipts, with the `prompt` but without what else is in them."""
    of = inputs.optional_name("butler", butler)
    async with memory.reading(principal.tenant, on_primary=True) as tx:
        return await receipts.latest(tx, butler=of, limit=inputs.limit(limit))


async def _read(
    memory: Memory, principal: Principal, receipt_id: UUID | str
) -> tuple[Kept, dict[UUID, Text]]:
    id = inputs.uuid("receipt_id", receipt_id)
    async with memory.reading(principal.tenant, on_primary=True) as tx:
        kept = await receipts.get(tx, id)
    if kept is None:
        days = memory.config.retrieval.receipt_retention_days
        raise NotFound(f"there is no receipt {id}; receipts are kept for {days:g} days")
    async with memory.at(kept.receipt.taken_at).reading(principal.tenant) as tx:
        texts = await _texts(tx, kept.receipt.items)
    told = [
        (one.memory_type, {"id": one.id, **texts[one.id]})
        for one in kept.receipt.items
        if one.id in texts
    ]
    async with transaction(memory.pool, principal.tenant, durable=False) as tx:
        await note(tx, Audience("receipt"), told, memory.present.clock())
    return kept, texts


async def _texts(tx: Transaction, items: Sequence[Weighed]) -> dict[UUID, Text]:
    """What the memories said at the standpoint of the transaction, in whatever state."""
    found: dict[UUID, Text] = {}
    for kind in MEMORY_TYPES:
        ids = [one.id for one in items if one.memory_type == kind]
        found |= await receipts.texts(tx, kind, ids) if ids else {}
    return found
