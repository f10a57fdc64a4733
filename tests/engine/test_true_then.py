"""Facts about other days, in any order: what was true at a moment is what their periods say.

The model keeps periods in the head, as a person would: what a fact says held from one day until
another, a change ends it, a correction says that it never held, what is forgotten is not told.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import rule, run_state_machine_as_test

from conftest import HISTORIES
from memory_butler.engine.browse.lists import list_memories
from memory_butler.engine.curate import forget_memory, restore_memory
from memory_butler.engine.edits import edit_fact
from memory_butler.engine.memory import Memory
from memory_butler.engine.remember import store_fact
from memory_butler.store.facts import FactFilter
from memory_butler.store.listing import Part

from .worlds import TEXTS, History, World

texts, places = st.sampled_from(TEXTS), st.integers(min_value=0, max_value=50)


@dataclass(slots=True)
class Told:
    """A fact as a person would keep it in mind: it held from one day until another."""

    key: str
    began: datetime
    ends: datetime | None
    active: bool
    corrected: bool = False
    forgotten: bool = False

    def held(self, at: datetime) -> bool:
        """Whether it was true at a moment, as far as is known."""
        told = not (self.forgotten or self.corrected)
        return told and self.began <= at and (self.ends is None or at < self.ends)


class Periods(History):
    """Facts about other days: told late, ending, replaced by a change or by a correction."""

    def __init__(self) -> None:
        super().__init__()
        self.told: dict[UUID, Told] = {}
        self.looks: list[tuple[datetime, datetime, set[UUID]]] = []

    def do(self, change: Callable[..., Awaitable[Any]], *given: Any, **named: Any) -> Any:
        self.world.clock.advance(hours=1)
        return self.world.runner.run(change(self.memory, self.principal, *given, **named))  # type: ignore[arg-type]

    def one(self, place: int, *, forgotten: bool = False, active: bool = False) -> UUID | None:
        found = [
            id
            for id, one in self.told.items()
            if one.forgotten == forgotten and (one.active or not active)
        ]
        return found[place % len(found)] if found else None

    def replace(self, old: Told, began: datetime) -> None:
        """What begins later ends a fact; what does not says that it never held (C-109)."""
        old.active = False
        if began > old.began:
            old.ends = began if old.ends is None else min(old.ends, began)
        else:
            old.corrected = True

    @rule(
        text=texts,
        key=st.sampled_from("ab"),
        days=st.integers(1, 40),
        lasts=st.none() | st.integers(1, 60),
    )
    def tell(self, text: str, key: str, days: int, lasts: int | None) -> None:
        began = _midnight(self.world.clock.now) - timedelta(days=days)
        ends = None if lasts is None else began + timedelta(days=lasts)
        id, _ = self.do(store_fact, "user", key, text, valid_from=began, valid_until=ends)
        over = ends is not None and ends <= self.world.clock.now
        for old in self.told.values():
            if not over and old.key == key and old.active and not old.forgotten:
                self.replace(old, began)
        self.told[id] = Told(key, began, ends, active=not over)

    @rule(place=places, text=texts)
    def correct(self, place: int, text: str) -> None:
        if id := self.one(place, active=True):
            old = self.told[id]
            if old.ends is None or old.ends > self.world.clock.now + timedelta(hours=1):
                new = self.do(edit_fact, id, {"content": text})
                self.told[new["id"]] = Told(old.key, old.began, old.ends, active=True)
                self.replace(old, old.began)

    @rule(place=places)
    def forget(self, place: int) -> None:
        if id := self.one(place):
            self.do(forget_memory, "fact", id)
            self.told[id].forgotten = True

    @rule(place=places)
    def restore(self, place: int) -> None:
        if id := self.one(place, forgotten=True):
            one = self.told[id]
            rivals = [
                other
                for other in self.told.values()
                if other.key == one.key and other.active and not other.forgotten
            ]
            if not (one.active and rivals):
                self.do(restore_memory, "fact", id)
                one.forgotten = False

    @rule(days=st.integers(1, 20))
    def let_days_pass(self, days: int) -> None:
        self.world.clock.advance(days=days)

    @rule(days=st.integers(0, 50))
    def look(self, days: int) -> None:
        at = _midnight(self.world.clock.now) - timedelta(days=days)
        expected = {id for id, one in self.told.items() if one.held(at)}
        assert self.true_then(self.memory.at(None, at)) == expected
        self.looks.append((self.world.clock.now, at, expected))

    def true_then(self, memory: Memory) -> set[UUID]:
        wanted = FactFilter(validities=("active",))
        listed = list_memories(memory, self.principal, wanted, Part())
        return {one["id"] for one in self.world.runner.run(listed).rows}

    def teardown(self) -> None:
        self.world.clock.advance(hours=1)
        ends = {one.ends for one in self.told.values() if one.ends is not None}
        for at in {one.began for one in self.told.values()} | ends:
            expected = {id for id, one in self.told.items() if one.held(at)}
            assert self.true_then(self.memory.at(None, at)) == expected
        for known_at, at, expected in self.looks:
            assert self.true_then(self.memory.at(known_at, at)) == expected


def _midnight(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def test_what_was_true_is_what_the_periods_say(world: World) -> None:
    class InThisWorld(Periods):
        pass

    InThisWorld.world = world
    run_state_machine_as_test(
        InThisWorld, settings=settings(max_examples=HISTORIES, stateful_step_count=8)
    )
