"""What a step did, read from the events that record it; a step is all that a transaction wrote."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal
from uuid import UUID

from memory_butler.domain.events import EventType

ItemKind = Literal["episode", "fact", "rule", "entity"]
ITEM_KINDS: Final[tuple[ItemKind, ...]] = ("episode", "fact", "rule", "entity")
Item = tuple[ItemKind, UUID]

_CREATING: Final[Mapping[EventType, ItemKind]] = {
    "episode_created": "episode",
    "fact_created": "fact",
    "rule_created": "rule",
    "entity_created": "entity",
}


@dataclass(frozen=True, slots=True)
class StepDone:
    """What its events say that a step made, and what else it touched."""

    created: frozenset[Item]
    changed: frozenset[Item]
    run_id: UUID | None


def done_by(told: Iterable[tuple[EventType, Mapping[str, Any]]]) -> StepDone:
    """Read the events of one step: (event type, payload) each."""
    created: set[Item] = set()
    named: set[Item] = set()
    run_id: UUID | None = None
    for event_type, payload in told:
        items = set(_items(payload))
        named |= items
        if event_type in _CREATING:
            created |= items
        if isinstance(payload.get("run_id"), str):
            run_id = UUID(payload["run_id"])
    return StepDone(frozenset(created), frozenset(named - created), run_id)


def _items(payload: Mapping[str, Any]) -> Iterable[Item]:
    kind, id = payload.get("memory_type"), payload.get("memory_id")
    for known in ITEM_KINDS:
        if kind == known and isinstance(id, str):
            yield known, UUID(id)
    for name in ("entity_id", "source_entity_id", "target_entity_id"):
        if isinstance(payload.get(name), str):
            yield "entity", UUID(payload[name])
