"""What happened: the event log, as a whole, as a feed, and of one memory."""

from dataclasses import replace
from typing import Any
from uuid import UUID

from pydantic import Field

from memory_butler.domain.difference import Kind
from memory_butler.domain.events import EVENT_TYPES, EventType
from memory_butler.domain.json_values import Moment
from memory_butler.domain.links import MemoryType
from memory_butler.domain.principals import Principal
from memory_butler.engine.browse.events import ACTIVITY, list_events
from memory_butler.engine.history import Told, compare
from memory_butler.engine.inputs import MAX_LIMIT
from memory_butler.engine.memory import Memory
from memory_butler.operations.operation import Route, operation, routes_of
from memory_butler.operations.views import GivenMoment, Input, Listing, Output, Period
from memory_butler.store.events import EventFilter
from memory_butler.store.rows import Row


class Event(Output):
    """Something that happened to a memory."""

    id: UUID
    event_type: EventType
    said: str = Field(description="The event type in words.")
    actor: str | None = Field(description="Who did it: a token, the schedule, local.")
    created_at: Moment
    memory_type: MemoryType | None
    memory_id: UUID | None
    entity_id: UUID | None
    about: str | None = Field(description="A line of what it is about, if that is still there.")
    before: str | None = Field(
        description="What it said before, where the event put another text or name in its place."
    )
    after: str | None = Field(description="What it said from then on.")
    undone: bool = Field(description="Whether the change that it is of was undone.")
    payload: dict[str, Any]


class EventList(Listing):
    """Newest first."""

    items: list[Event]


class EventsInput(Period):
    """What to list, newest first."""

    kind: list[EventType] | None = Field(None, description="Of one of these event types.")
    butler: str | None = Field(None, description="By this butler, or about what it knows.")


async def _listed(
    memory: Memory, principal: Principal, wanted: EventFilter, given: Period
) -> EventList:
    found = await list_events(memory, principal, wanted, given.part())
    return EventList.of(replace(found, rows=[_named(row) for row in found.rows]), given)


def _named(row: Row) -> Row:
    return row | {"said": EVENT_TYPES[row["event_type"]]}


@operation("The timeline", Route("GET", "/api/memory/events"), needs="read")
async def events_list(memory: Memory, principal: Principal, given: EventsInput) -> EventList:
    """List every event in memory, newest first."""
    wanted = EventFilter(
        types=None if given.kind is None else tuple(given.kind),
        butler=given.butler,
        since=given.since,
        until=given.until,
    )
    return await _listed(memory, principal, wanted, given)


class ActivityInput(Period):
    """Whose activity to list."""

    butler: str | None = Field(None, description="By this butler, or about what it knows.")


@operation("Consolidation activity", Route("GET", "/api/memory/activity"), needs="read")
async def memory_activity(memory: Memory, principal: Principal, given: ActivityInput) -> EventList:
    """What was learned, changed, faded or given up: facts stored, superseded and expired, rules
    promoted, demoted and inverted, episodes consolidated; newest first."""
    wanted = EventFilter(types=ACTIVITY, butler=given.butler, since=given.since, until=given.until)
    return await _listed(memory, principal, wanted, given)


class DiffInput(Input):
    """Two moments."""

    since: GivenMoment | None = Field(
        None, alias="from", description="The earlier moment; a day before the later when left out."
    )
    until: GivenMoment | None = Field(
        None, alias="to", description="The later moment; now when left out."
    )
    limit: int = Field(50, ge=1, le=MAX_LIMIT, description="How many of each to show.")


class Changed(Output):
    """What became of one memory."""

    memory_type: Kind
    id: UUID
    before: str | None = Field(
        description="What it said before; of a fact that replaced another, what that one said."
    )
    after: str | None = Field(description="What it says after.")
    what: list[str] = Field(
        description="What changed, with the values before and after, or why it is gone."
    )
    at: Moment | None = Field(description="When; null where it only ran out of time.")
    actor: str | None = Field(description="Who did it: a butler, a token, the schedule, local.")


class Diff(Output):
    """What memory learned, changed and forgot; each list shows so many, the totals count all."""

    since: Moment
    until: Moment
    learned_total: int
    changed_total: int
    forgotten_total: int
    learned: list[Changed]
    changed: list[Changed]
    forgotten: list[Changed]
    deleted_episodes: int = Field(description="Known at the first moment, deleted in between.")


def _changed(told: Told) -> Changed:
    return Changed.copy_of(told, told.difference, memory_type=told.difference.kind)


@operation("Compare two moments", Route("GET", "/api/memory/diff"), needs="read")
async def memory_diff(memory: Memory, principal: Principal, given: DiffInput) -> Diff:
    """What memory learned, changed and forgot between two moments."""
    compared = await compare(memory, principal, given.since, given.until, given.limit)
    return Diff.model_validate(
        {
            "since": compared.since,
            "until": compared.until,
            "deleted_episodes": compared.deleted,
            **{fate: [_changed(one) for one in some] for fate, some in compared.told.items()},
            **{f"{fate}_total": total for fate, total in compared.totals.items()},
        }
    )


class HistoryInput(Period):
    """Whose events."""

    memory_type: MemoryType
    memory_id: UUID


@operation(
    "The events of one memory",
    *routes_of("GET", "events", "The events of one {kind}", "fact", "rule", "episode"),
    needs="read",
)
async def memory_history(memory: Memory, principal: Principal, given: HistoryInput) -> EventList:
    """What happened to one memory, newest first."""
    wanted = EventFilter(memory_id=given.memory_id, since=given.since, until=given.until)
    return await _listed(memory, principal, wanted, given)
