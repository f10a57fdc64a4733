"""What memory learned, changed and let go of between two moments."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal
from uuid import UUID

Kind = Literal["fact", "rule", "episode", "entity"]
Fate = Literal["learned", "changed", "forgotten"]
# What is compared of a memory at one moment; `gone` says why it is not there for whoever asks.
State = Mapping[str, Any]
States = Mapping[tuple[Kind, UUID], State]

# What a change is called where the column does not say it by itself.
_SAID: Final = {"last_confirmed_at": "confirmed", "entity_id": "entity", "canonical_name": "name"}
# Told with both values; the others are a date, an id, or told by the texts themselves.
_WITH_VALUES: Final = frozenset(
    ("valid_until", "maturity", "scope", "tags", "applied_count", "consolidation_status", "aliases")
)
# The columns that are compared, in the order in which they are told.
_COMPARED: Final[Mapping[Kind, tuple[str, ...]]] = {
    "fact": ("last_confirmed_at", "entity_id", "valid_until"),
    "rule": ("content", "maturity", "scope", "tags", "last_confirmed_at", "applied_count"),
    "episode": ("consolidation_status",),
    "entity": ("canonical_name", "aliases"),
}


@dataclass(frozen=True, slots=True)
class Difference:
    """What became of one memory; `what` names each change ("maturity: candidate → established"), or
    why it is gone.

    `before` is the memory to be read at the first moment, `after` at the second. Of a fact that
    replaced another, `before` is that one.
    """

    kind: Kind
    id: UUID
    fate: Fate
    before: UUID | None
    after: UUID | None
    what: tuple[str, ...]

    @property
    def how(self) -> Literal["came", "came back", "changed", "went", "ended"]:
        """Whether it came, came back, was changed, was taken away, or ran out of its time."""
        if self.fate == "learned" or self.what == ("replaced",):
            return "came"
        if self.what == ("restored",):
            return "came back"
        if self.what == ("ended",) or (self.kind == "episode" and self.what == ("expired",)):
            return "ended"
        return "went" if self.fate == "forgotten" else "changed"

    @property
    def gone(self) -> str | None:
        """Why it is not there at the second moment."""
        return self.what[0] if self.fate == "forgotten" else None


def differences(before: States, after: States) -> list[Difference]:
    """Every memory that is not what it was. What came and went in between leaves no trace.

    What is new and took no other's place is not among them: it has no two states to compare.
    """
    replaced: set[UUID] = set()
    found: list[Difference] = []
    for (kind, id), new in after.items():
        if new["gone"] is not None or _held(before, kind, id) is not None:
            continue
        old = _replaced_by(new, before, after, replaced) if kind == "fact" else None
        if (kind, id) in before:
            found.append(Difference(kind, id, "changed", old, id, ("restored",)))
        elif old is not None:
            found.append(Difference(kind, id, "changed", old, id, ("replaced",)))
        elif kind == "fact" and new["supersedes_id"] is not None:
            found.append(Difference(kind, id, "learned", None, id, ()))
    for kind, id in before:
        held = _held(before, kind, id)
        if held is None or id in replaced:
            continue
        state = after.get((kind, id))
        why = "deleted" if state is None else state["gone"]
        if why is not None:
            found.append(Difference(kind, id, "forgotten", id, None, (why,)))
        elif state is not None and (what := _changes(kind, held, state)):
            found.append(Difference(kind, id, "changed", id, id, what))
    return found


def _held(states: States, kind: Kind, id: UUID) -> State | None:
    """Its state, if it was there for whoever asked."""
    state = states.get((kind, id))
    return state if state is not None and state["gone"] is None else None


def _replaced_by(new: State, before: States, after: States, replaced: set[UUID]) -> UUID | None:
    """The fact that held before and that this one replaced, directly or through others."""
    passed: list[UUID] = []
    older: UUID | None = new["supersedes_id"]
    while older is not None and older not in passed:
        passed.append(older)
        if _held(before, "fact", older) is not None:
            replaced.add(older)
            return older
        between = after.get(("fact", older))
        older = None if between is None else between["supersedes_id"]
    return None


def _changes(kind: Kind, old: State, new: State) -> tuple[str, ...]:
    named = [
        f"{name}: {_value(old[name])} → {_value(new[name])}"
        if name in _WITH_VALUES
        else _SAID.get(name, name)
        for name in _COMPARED[kind]
        if old[name] != new[name]
    ]
    fading = [bool(state.get("fading")) for state in (old, new)]
    if fading[0] != fading[1]:
        named.append("fading" if fading[1] else "recovered")
    return tuple(named)


def _value(value: object) -> str:
    if isinstance(value, datetime):
        return value.date().isoformat()
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return "none" if value is None else str(value)
