"""Any history at all: what is known at a moment is what memory answered at that moment.

The model is a log of what memory said after every third change; in the end the past is asked for
the same. Each history belongs to a tenant of its own, so that all of them share one database.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from conftest import HISTORIES
from memory_butler.domain.errors import Conflict, InvalidInput, NotFound
from memory_butler.domain.principals import Principal
from memory_butler.engine.browse.entities import list_entities
from memory_butler.engine.curate import confirm_memory, forget_memory, restore_memory
from memory_butler.engine.edits import edit_fact, edit_rule, move_rule
from memory_butler.engine.entities import create_entity, merge_entities, update_entity
from memory_butler.engine.feedback import rule_harmed, rule_helped
from memory_butler.engine.history import deleted_since
from memory_butler.engine.lifecycle import cleanup, inversion, sweep
from memory_butler.engine.linking import create_link, get_links
from memory_butler.engine.memory import Memory
from memory_butler.engine.recall import Hit, recall, search
from memory_butler.engine.remember import store_episode, store_fact, store_rule
from memory_butler.store.listing import Part
from memory_butler.store.rows import Row

from .worlds import TEXTS, History, World

TOPICS = ("jasmine tea", "an old boat on the river", "Lisbon or Faro")
# Counted with every reference and never kept: see docs/trust.md.
UNKEPT = {"reference_count", "last_referenced_at"}
RECENCY = {"recency", "recency_contribution", "composite", "rank_score"}
texts, topics = st.sampled_from(TEXTS), st.sampled_from(TOPICS)
places = st.integers(min_value=0, max_value=50)


@dataclass(frozen=True, slots=True)
class Answer:
    """What memory said at one moment, of what is true or of what was true at another."""

    at: datetime
    as_of: datetime | None
    topic: str
    recalled: dict[UUID, Any]
    episodes: dict[UUID, Any]
    entities: list[Row]
    linked: list[UUID]
    links: list[Row]


class Histories(History):
    """Every way in which memory changes, in any order, with time going by."""

    def __init__(self) -> None:
        super().__init__()
        self.facts: list[UUID] = []
        self.lessons: list[UUID] = []
        self.episodes: list[UUID] = []
        self.entities: list[UUID] = []
        self.answers: list[Answer] = []
        self.steps = 0

    def do(self, change: Callable[..., Awaitable[Any]], *given: Any, **named: Any) -> Any:
        """Make one change; what memory refuses is no change."""
        self.world.clock.advance(seconds=1)
        try:
            return self.world.runner.run(change(self.memory, self.principal, *given, **named))  # type: ignore[arg-type]
        except (Conflict, InvalidInput, NotFound):
            return None

    def one_of(self, ids: list[UUID], place: int) -> UUID | None:
        return ids[place % len(ids)] if ids else None

    @initialize()
    def begin(self) -> None:
        """Something for the first change to be about."""
        self.register("Ana")
        self.register("Rui")
        self.store_a_fact(TEXTS[0], 0, 1, None, None, "standard")
        self.store_a_fact(TEXTS[1], 1, 1, None, 0, "standard")
        self.store_a_rule(TEXTS[2])
        self.store_an_episode(TEXTS[3])

    @rule(
        text=texts,
        key=st.integers(0, 2),
        days=st.integers(0, 40),
        ends=st.sampled_from((None, 1, 30)),
        entity=st.none() | places,
        permanence=st.sampled_from(("standard", "volatile")),
    )
    def store_a_fact(
        self, text: str, key: int, days: int, ends: int | None, entity: int | None, permanence: str
    ) -> None:
        now = self.world.clock.now
        stored = self.do(
            store_fact,
            "user",
            f"key{key}",
            text,
            valid_from=now - timedelta(days=days),
            valid_until=None if ends is None else now + timedelta(days=ends),
            entity_id=None if entity is None else self.one_of(self.entities, entity),
            permanence=permanence,
        )
        if stored is not None:
            self.facts.append(stored[0])

    @rule(text=texts)
    def store_a_rule(self, text: str) -> None:
        self.lessons.append(self.do(store_rule, text))

    @rule(text=texts)
    def store_an_episode(self, text: str) -> None:
        self.episodes.append(self.do(store_episode, text, "general"))

    @rule(name=st.sampled_from(("Ana", "Rui", "Eva")))
    def register(self, name: str) -> None:
        made = self.do(create_entity, name, "person")
        if made is not None:
            self.entities.append(made["id"])

    @rule(place=places, name=st.sampled_from(("Ana", "Bea")))
    def rename(self, place: int, name: str) -> None:
        if id := self.one_of(self.entities, place):
            self.do(update_entity, id, canonical_name=name, aliases=["Annie"])

    @rule(one=places, other=places)
    def merge(self, one: int, other: int) -> None:
        if self.entities:
            source, target = self.one_of(self.entities, one), self.one_of(self.entities, other)
            self.do(merge_entities, source, target)

    @rule(
        act=st.sampled_from((confirm_memory, forget_memory, restore_memory)),
        kind=st.sampled_from(("fact", "rule", "episode")),
        place=places,
    )
    def curate(self, act: Callable[..., Awaitable[Any]], kind: str, place: int) -> None:
        ids = {"fact": self.facts, "rule": self.lessons, "episode": self.episodes}[kind]
        if id := self.one_of(ids, place):
            self.do(act, kind, id)

    @rule(place=places, text=texts)
    def edit_a_fact(self, place: int, text: str) -> None:
        if id := self.one_of(self.facts, place):
            edited = self.do(edit_fact, id, {"content": text})
            if edited is not None:
                self.facts.append(edited["id"])

    @rule(place=places, text=texts)
    def edit_a_rule(self, place: int, text: str) -> None:
        if id := self.one_of(self.lessons, place):
            self.do(edit_rule, id, {"content": text, "tags": ["edited"]})

    @rule(place=places, act=st.sampled_from(("promote", "demote", "disable", "enable")))
    def move_a_rule(self, place: int, act: str) -> None:
        if id := self.one_of(self.lessons, place):
            self.do(move_rule, id, act)

    @rule(place=places, helped=st.booleans())
    def mark_a_rule(self, place: int, helped: bool) -> None:
        if id := self.one_of(self.lessons, place):
            self.do(rule_helped, id) if helped else self.do(rule_harmed, id, "It was rude")

    @rule(place=places)
    def turn_a_rule_around(self, place: int) -> None:
        if id := self.one_of(self.lessons, place):
            for _ in range(3):
                self.do(rule_harmed, id, "It was rude")
            self.do(inversion.invert_rule, id)

    @rule(one=places, other=places)
    def link(self, one: int, other: int) -> None:
        if self.facts and self.lessons:
            fact, rule = self.one_of(self.facts, one), self.one_of(self.lessons, other)
            self.do(create_link, "fact", fact, "rule", rule, "supports")

    @rule(topic=topics)
    def refer(self, topic: str) -> None:
        self.do(recall, topic)

    @rule(days=st.integers(1, 60))
    def let_time_pass(self, days: int) -> None:
        self.world.clock.advance(days=days)
        self.do(sweep.run)

    @rule(days=st.integers(0, 10), most=st.integers(0, 2))
    def clean_up(self, days: int, most: int) -> None:
        self.world.clock.advance(days=days)
        self.do(cleanup.clean_up, most)

    @invariant()
    def ask(self) -> None:
        self.steps += 1
        if self.steps % 3 != 1:
            return
        self.world.clock.advance(seconds=1)
        topic = TOPICS[self.steps % len(TOPICS)]
        # Every other question is about another moment: weeks ago, where the steps lead there.
        days = (self.steps * 11) % 40
        as_of = self.world.clock.now - timedelta(days=days) if len(self.answers) % 2 else None
        asked = self.memory.at(None, as_of)
        self.answers.append(self.answered(asked, topic, list(self.facts)))

    def answered(self, memory: Memory, topic: str, facts: list[UUID]) -> Answer:
        return self.world.runner.run(_answer(memory, self.principal, topic, facts))

    def teardown(self) -> None:
        for then in self.answers:
            past = self.memory.at(then.at, then.as_of)
            now = self.answered(past, then.topic, then.linked)
            assert now.recalled == then.recalled
            assert now.entities == then.entities
            assert now.links == then.links
            gone = self.world.runner.run(deleted_since(past, self.principal, None))
            assert gone is not None
            deleted = {one["id"] for one in gone.episodes}
            assert now.episodes.keys() == then.episodes.keys() - deleted
            if deleted.isdisjoint(then.episodes):  # the ranks of the others are as they were
                assert now.episodes == then.episodes


async def _answer(memory: Memory, principal: Principal, topic: str, facts: list[UUID]) -> Answer:
    recalled = await recall(memory, principal, topic, limit=200, quiet=True)
    episodes = await search(
        memory, principal, topic, types=["episode"], limit=200, min_confidence=0.0, quiet=True
    )
    entities = await list_entities(memory, principal, Part(), entity_type=None, merged=None, q=None)
    links = [one for id in facts for one in await get_links(memory, principal, "fact", id)]
    return Answer(
        at=memory.clock(),
        as_of=memory.standpoint.as_of if memory.standpoint else None,
        topic=topic,
        recalled={hit.row["id"]: _kept(hit) for hit in recalled},
        episodes={hit.row["id"]: _kept(hit) for hit in episodes},
        entities=entities.rows,
        linked=facts,
        links=links,
    )


def _kept(hit: Hit) -> tuple[Row, dict[str, Any]]:
    """An answer without what counts references."""
    row = {name: value for name, value in hit.row.items() if name not in UNKEPT}
    return row, {name: value for name, value in hit.explain().items() if name not in RECENCY}


def test_the_past_is_what_memory_said_then(world: World) -> None:
    class InThisWorld(Histories):
        pass

    InThisWorld.world = world
    run_state_machine_as_test(
        InThisWorld, settings=settings(max_examples=HISTORIES, stateful_step_count=7)
    )
