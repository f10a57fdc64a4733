"""Facts: validity, the key that one active fact may hold, and the period in which it was true."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from hashlib import blake2b
from typing import Any, Final, Literal, Self, get_args
from uuid import UUID

from memory_butler.domain.elapsed import by_this_clock, require_aware
from memory_butler.domain.errors import InvalidInput
from memory_butler.domain.text import lowered, storable
from memory_butler.domain.transitions import START, Transition

Validity = Literal["active", "superseded", "expired", "retracted", "waiting"]
VALIDITIES: Final[tuple[Validity, ...]] = get_args(Validity)

# Of 1 to 10, where nobody says how important it is.
DEFAULT_IMPORTANCE: Final = 5.0

LifecycleState = Literal["active", "fading", "superseded", "expired", "retracted", "waiting"]
LIFECYCLE_STATES: Final[tuple[LifecycleState, ...]] = get_args(LifecycleState)

# Fading is `validity = 'active'` with `metadata.status = 'fading'` in the store (LIFE-01, C-15).
# Confirming a fact that is no longer active moves its clock, never its state (C-29).
VALIDITY_TRANSITIONS: Final = (
    Transition(START, "store", "active", "LIFE-03", "not yet ended"),
    Transition(START, "store_ended", "superseded", "C-109", "valid_until has passed"),
    Transition(START, "hold", "waiting", "C-117", "its evidence is in doubt"),
    Transition("waiting", "accept", "active", "C-117", "a person says that it holds"),
    Transition("waiting", "witness", "superseded", "C-117", "a second witness said the same"),
    Transition("waiting", "outdate", "superseded", "C-117", "a later word took its target's place"),
    Transition("waiting", "forget", "retracted", "C-117"),
    Transition("retracted", "restore_as_waiting", "waiting", "C-24", "it was so before"),
    Transition("active", "fade", "fading", "LIFE-06", "0.05 <= effective confidence < 0.2"),
    Transition("fading", "recover", "active", "DEC-07", "effective confidence >= 0.2"),
    Transition("active", "confirm", "active", "STO-10"),
    Transition("fading", "confirm", "active", "C-25"),
    Transition("active", "expire", "expired", "LIFE-05", "effective confidence < 0.05"),
    Transition("fading", "expire", "expired", "LIFE-05", "effective confidence < 0.05"),
    Transition("active", "supersede", "superseded", "LIFE-04", "a new fact has the same key"),
    Transition("fading", "supersede", "superseded", "LIFE-04", "a new fact has the same key"),
    Transition("active", "lose_merge", "superseded", "MRG-03", "the other fact's confidence wins"),
    Transition("fading", "lose_merge", "superseded", "MRG-03", "the other fact's confidence wins"),
    Transition("active", "set_aside", "waiting", "C-351", "a later word came by an exchange"),
    Transition("fading", "set_aside", "waiting", "C-351", "a later word came by an exchange"),
    Transition("active", "forget", "retracted", "STO-13"),
    Transition("fading", "forget", "retracted", "STO-13"),
    Transition("superseded", "forget", "retracted", "STO-13"),
    Transition("expired", "forget", "retracted", "STO-13"),
    Transition("retracted", "restore", "active", "C-24", "no active fact holds its key"),
    Transition("retracted", "restore_as_superseded", "superseded", "C-24", "it was so before"),
    Transition("retracted", "restore_as_expired", "expired", "C-24", "it was so before"),
)


@dataclass(frozen=True, slots=True)
class FactKey:
    """What at most one active fact of a tenant may hold (C-21).

    Keyed by subject where the fact names no entity, else by entity: exactly one of the two is set.
    Subjects and predicates are compared without case and superfluous spaces. Make one with `of`.
    """

    scope: str
    predicate: str
    subject: str | None
    entity_id: UUID | None
    # Subject and predicate as they were given: which letters are one, a database knows by its own
    # locale, and only it can find what it has stored.
    spelt: tuple[str, str] = field(default=("", ""), compare=False, repr=False)

    def __post_init__(self) -> None:
        if (self.subject is None) == (self.entity_id is None):
            raise InvalidInput("a fact is keyed by its subject or by its entity; give exactly one")

    @classmethod
    def of(cls, scope: str, predicate: str, subject: str, entity_id: UUID | None = None) -> Self:
        """The key of a fact with these columns, in the form in which they are stored."""
        return cls(
            scope=storable(scope),
            predicate=key_of(storable(predicate)),
            subject=key_of(storable(subject)) if entity_id is None else None,
            entity_id=entity_id,
            spelt=(storable(subject), storable(predicate)),
        )

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> Self:
        """The key of a stored fact."""
        return cls.of(row["scope"], row["predicate"], row["subject"], row["entity_id"])

    def lock_id(self, tenant: str) -> int:
        """A signed 64-bit id for `pg_advisory_xact_lock`, the same in every process.

        Two keys that share an id only wait for each other. JSON keeps the parts apart, whatever
        characters they hold.
        """
        entity = None if self.entity_id is None else str(self.entity_id)
        parts = json.dumps([tenant, self.scope, self.predicate, self.subject, entity])
        digest = blake2b(parts.encode(), digest_size=8, person=b"fact-key").digest()
        return int.from_bytes(digest, "big", signed=True)


def key_of(text: str) -> str:
    """A subject or predicate as it is compared: "User", "user" and " user " are one."""
    return lowered(" ".join(text.split()))


@dataclass(frozen=True, slots=True)
class FactPeriod:
    """When a fact was true, half open, and the validity that it is born with."""

    valid_from: datetime
    valid_until: datetime | None
    validity: Validity


def has_ended(valid_until: datetime | None, now: datetime) -> bool:
    """Whether what a fact says is over, by the end that it was given."""
    return valid_until is not None and valid_until <= now


def end_of_day(text: str) -> datetime | None:
    """When a date that stands alone is over: what holds until the 12th holds on it (C-503).

    Returns:
        in UTC, by the time zone of this machine (C-527); None for what is no date alone, such as a
        moment.

    Raises:
        OverflowError: it is the last day of all.
    """
    try:
        day = date.fromisoformat(text.strip())
    except ValueError:
        return None
    return datetime.combine(day + timedelta(days=1), time()).astimezone(UTC)


def last_day(end: datetime) -> date:
    """The last day before an end, by the time zone of this machine.

    Of a midnight in UTC that of UTC: so dates were stored as ends before C-527.
    """
    last = end.astimezone(UTC) - timedelta(microseconds=1)
    if last.time() == time.max:
        return last.date()
    try:
        return last.astimezone().date()
    except OverflowError:
        return last.date()


def lifecycle_state(validity: Validity, metadata: Mapping[str, object]) -> LifecycleState:
    """The state to show: an active fact marked as fading is fading (LIFE-01, C-15)."""
    if validity == "active" and metadata.get("status") == "fading":
        return "fading"
    return validity


def search_text(subject: str, predicate: str, content: str) -> str:
    """What of a fact is embedded, and indexed with its tags: all three parts (C-20)."""
    return f"{subject} {predicate} {content}"


def validity_period(
    valid_from: datetime | None, valid_until: datetime | None, now: datetime
) -> FactPeriod:
    """The period of a fact stored at `now` (C-109).

    It begins now unless told otherwise, and never in the future. One that has ended already is born
    superseded, and so touches no active fact. An end in the future leaves it active.
    """
    begin = now
    if valid_from is not None:
        begin = by_this_clock(require_aware(valid_from, "valid_from"), now)
    if begin > now:
        raise InvalidInput(
            f"valid_from {begin.isoformat()} lies in the future (now is {now.isoformat()}); "
            "store the fact once it holds, or say in its content when it will"
        )
    if valid_until is None:
        return FactPeriod(begin, None, "active")
    end = require_aware(valid_until, "valid_until")
    if end <= begin:
        hint = "; give the valid_from of a fact that has ended" if valid_from is None else ""
        raise InvalidInput(
            f"valid_until {end.isoformat()} must be later than valid_from {begin.isoformat()}{hint}"
        )
    return FactPeriod(begin, end, "superseded" if end <= now else "active")
