"""What a context was made of, so that it can be made again and explained (context receipts).

A receipt names memories and holds every number that decided their place. It holds no text of a
memory: that is what memory keeps anyway, and what erasure must be able to take away. The beginning
of the prompt may be in it, for a list of contexts; every erasure of the tenant takes it.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final, Literal, Self
from uuid import UUID

from memory_butler.domain.context import (
    AssembledContext,
    ContextEpisode,
    ContextFact,
    ContextLayout,
    ContextRule,
    assemble,
)
from memory_butler.domain.links import MemoryType
from memory_butler.domain.quotas import Quotas
from memory_butler.domain.trust import Trust

# Raised when `assemble` makes other bytes of the same input: a receipt of another edition cannot be
# replayed, and says so.
EDITION: Final = 1

# in: a line of the block; no_room: the budget was spent before it; repeats: a better one says the
# same; missed: just below the limit.
Place = Literal["in", "no_room", "repeats", "missed"]


@dataclass(frozen=True, slots=True)
class Weighed:
    """One memory that was weighed: in which state (`revision`), with what result.

    `shown` is what the block says of it besides its text; `parts` is every part of its score;
    `repeats` is the better one that says the same, where there is one.
    """

    memory_type: MemoryType
    id: UUID
    revision: str
    place: Place
    score: float
    created_at: datetime
    shown: Mapping[str, Any]
    parts: Mapping[str, float | int | bool | None]
    repeats: UUID | None = None


@dataclass(frozen=True, slots=True)
class Receipt:
    """Everything that `assemble` was given, but for the texts.

    `taken_at` is the moment of the snapshot; `as_of` the moment that was asked about, where it was
    another. Moments are UTC. `prompt` is the beginning of what was asked, where that is kept.
    """

    taken_at: datetime
    as_of: datetime | None
    token_budget: int
    layout: ContextLayout
    quotas: Quotas
    weights: Mapping[str, float]
    items: Sequence[Weighed]
    edition: int = EDITION
    prompt: str | None = None

    def to_json(self) -> dict[str, Any]:
        """As JSON can hold it; floats keep every bit."""
        return {
            "edition": self.edition,
            "taken_at": self.taken_at.isoformat(),
            "as_of": None if self.as_of is None else self.as_of.isoformat(),
            "token_budget": self.token_budget,
            "layout": self.layout,
            "quotas": asdict(self.quotas),
            "weights": dict(self.weights),
            "items": [
                {
                    "memory_type": one.memory_type,
                    "id": str(one.id),
                    "revision": one.revision,
                    "place": one.place,
                    "score": one.score,
                    "created_at": one.created_at.isoformat(),
                    "shown": dict(one.shown),
                    "parts": dict(one.parts),
                    "repeats": None if one.repeats is None else str(one.repeats),
                }
                for one in self.items
            ],
            **({} if self.prompt is None else {"prompt": self.prompt}),
        }

    @classmethod
    def of_json(cls, given: Mapping[str, Any]) -> Self:
        """What `to_json` made."""
        as_of = given["as_of"]
        return cls(
            edition=given["edition"],
            taken_at=datetime.fromisoformat(given["taken_at"]),
            as_of=None if as_of is None else datetime.fromisoformat(as_of),
            token_budget=given["token_budget"],
            layout=given["layout"],
            quotas=Quotas(**given["quotas"]),
            weights=given["weights"],
            prompt=given.get("prompt"),
            items=[
                Weighed(
                    memory_type=one["memory_type"],
                    id=UUID(one["id"]),
                    revision=one["revision"],
                    place=one["place"],
                    score=one["score"],
                    created_at=datetime.fromisoformat(one["created_at"]),
                    shown=one["shown"],
                    parts=one["parts"],
                    repeats=UUID(one["repeats"]) if one.get("repeats") else None,
                )
                for one in given["items"]
            ],
        )

    @property
    def in_play(self) -> list[Weighed]:
        """What `assemble` was given: without what repeats a better one, or was just missed."""
        return [one for one in self.items if one.place in ("in", "no_room")]


# What a memory said, by the names of its columns, and how far it was trusted.
Text = Mapping[str, Any]


def replayed(receipt: Receipt, texts: Mapping[UUID, Text]) -> AssembledContext:
    """The block again.

    `texts` has, by id, `content` and `trust`, and of a fact `subject` and `predicate`.
    """
    facts, rules, episodes = [], [], []
    for one in receipt.in_play:
        text, shown = texts[one.id], one.shown
        trust = Trust(text["trust"])
        shared = (one.id, text["content"], one.created_at, one.score, trust)
        match one.memory_type:
            case "fact":
                confirmed = shown["last_confirmed_at"]
                facts.append(
                    ContextFact(
                        *shared,
                        subject=text["subject"],
                        predicate=text["predicate"],
                        confidence=shown["confidence"],
                        permanence=shown["permanence"],
                        last_confirmed_at=confirmed and datetime.fromisoformat(confirmed),
                        outdated=shown.get("outdated", False),
                    )
                )
            case "rule":
                rules.append(
                    ContextRule(
                        *shared,
                        maturity=shown["maturity"],
                        scope=shown["scope"],
                        effectiveness=shown["effectiveness"],
                        harmful=shown.get("harmful", 0),
                    )
                )
            case "episode":
                episodes.append(ContextEpisode(*shared))
    return assemble(
        facts,
        rules,
        episodes,
        token_budget=receipt.token_budget,
        quotas=receipt.quotas,
        layout=receipt.layout,
        now=receipt.taken_at,
    )


def digest(text: str) -> bytes:
    """SHA-256 of a block, as UTF-8."""
    return hashlib.sha256(text.encode()).digest()
