"""What memory learned, changed and let go of between two moments."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal, assert_never
from uuid import UUID

Kind = Literal["fact", "rule", "episode", "entity"]
Fate = Literal["learned", "changed", "forgotten"]
State = Mapping[str, Any]

# What a change is called where the column does not say it by itself.
_SAID: Final = {"last_confirmed_at": "confirmed", "entity_id": "entity", "canonical_name": "name"}
# The columns that are compared, in the order in which they are told.
_COMPARED: Final[Mapping[Kind, tuple[str, ...]]] = {
    "fact": ("last_confirmed_at", "entity_id", "valid_until"),
    "rule": ("content", "maturity", "scope", "tags", "last_confirmed_at", "applied_count"),
    "episode": ("consolidation_status",),
    "entity": ("canonical_name", "aliases"),
}


@dataclass(frozen=True, slots=True)
class Difference:
    """What became of one memory. Of a fact that replaced another, `before` is what that one said.

    `what` names each change, or why it is gone.
    """

    kind: Kind
    id: UUID
    fate: Fate
    before: str | None
    after: str | None
    what: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Seen:
    """The states of memories at one moment, by id."""

    at: datetime
    states: Mapping[tuple[Kind, UUID], State]

    def of(self, kind: Kind, id: UUID) -> State | None:
        return self.states.get((kind, id))

    def held(self, kind: Kind, id: UUID) -> State | None:
        """Its state, if it was there for whoever asked."""
        state = self.of(kind, id)
        return state if state is not None and _gone(kind, state, self.at) is None else None


def differences(before: Seen, after: Seen) -> list[Difference]:
    """Every memory that is not what it was. What came and went in between leaves no trace."""
    replaced: set[UUID] = set()
    found: list[Difference] = []
    for kind, id in after.states:
        new = after.held(kind, id)
        if new is None or before.held(kind, id) is not None:
            continue
        old = _replaced_by(new, before, after, replaced) if kind == "fact" else None
        known = before.of(kind, id) is not None
        fate: Fate = "changed" if known or old is not None else "learned"
        what: tuple[str, ...] = ("restored",) if known else ("replaced",) if old is not None else ()
        said = None if old is None else _text(kind, old)
        found.append(Difference(kind, id, fate, said, _text(kind, new), what))
    for kind, id in before.states:
        old = before.held(kind, id)
        if old is None or id in replaced:
            continue
        state = after.of(kind, id)
        why = "deleted" if state is None else _gone(kind, state, after.at)
        if why is not None:
            found.append(Difference(kind, id, "forgotten", _text(kind, old), None, (why,)))
        elif state is not None and (what := _changes(kind, old, state)):
            texts = _text(kind, old), _text(kind, state)
            found.append(Difference(kind, id, "changed", *texts, what))
    return found


def _replaced_by(new: State, before: Seen, after: Seen, replaced: set[UUID]) -> State | None:
    """The fact that held before and that this one replaced, directly or through others."""
    passed: list[UUID] = []
    older: UUID | None = new["supersedes_id"]
    while older is not None and older not in passed:
        passed.append(older)
        state = before.held("fact", older)
        if state is not None:
            replaced.add(older)
            return state
        between = after.of("fact", older)
        older = None if between is None else between["supersedes_id"]
    return None


def _gone(kind: Kind, state: State, at: datetime) -> str | None:
    """Why it is not there for whoever asks; None where it is."""
    match kind:
        case "fact":
            if state["validity"] != "active":
                said: str = state["validity"]
                return "forgotten" if said == "retracted" else said
            return "ended" if state["valid_until"] and state["valid_until"] <= at else None
        case "rule":
            metadata = state["metadata"]
            names = ("forgotten", "disabled")
            return next((name for name in names if metadata.get(name) is True), None)
        case "episode":
            return "expired" if state["expires_at"] <= at else None
        case "entity":
            return "merged" if "merged_into" in (state["metadata"] or {}) else None
        case _:
            assert_never(kind)


def _changes(kind: Kind, old: State, new: State) -> tuple[str, ...]:
    named = [_SAID.get(name, name) for name in _COMPARED[kind] if old[name] != new[name]]
    fading = [(state.get("metadata") or {}).get("status") == "fading" for state in (old, new)]
    if fading[0] != fading[1]:
        named.append("fading" if fading[1] else "recovered")
    return tuple(named)


def _text(kind: Kind, state: State) -> str:
    parts: Mapping[Kind, Sequence[str]] = {
        "fact": ("subject", "predicate", "content"),
        "rule": ("content",),
        "episode": ("content",),
        "entity": ("canonical_name",),
    }
    return " ".join(state[name] for name in parts[kind])
