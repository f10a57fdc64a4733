"""Telling the household to a memory, through the engine and day by day.

The memory's clock is moved from day to day, so that confidence decays, facts fade and expire, and
rules earn their maturity by the same code as in a real one.
"""

import asyncio
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar
from uuid import UUID, uuid5

from memory_butler.companions.opening import DEFAULT_COMPANION, opened
from memory_butler.demo import conversation
from memory_butler.demo.household import (
    CONSOLIDATIONS,
    DAYS,
    ENTITIES,
    EPISODES,
    FACTS,
    MERGES,
    PROMPTS,
    RULES,
    SESSIONS,
    SUPPORTED,
    TOKENS,
    Episode,
    Fact,
    Rule,
)
from memory_butler.domain.principals import DEFAULT_TENANT, Principal
from memory_butler.engine.consolidation import host
from memory_butler.engine.context import build_context
from memory_butler.engine.curate import confirm_memory, forget_memory
from memory_butler.engine.entities import create_entity, merge_entities
from memory_butler.engine.feedback import rule_harmed, rule_helped
from memory_butler.engine.lifecycle import sweep
from memory_butler.engine.linking import create_link
from memory_butler.engine.memory import Memory
from memory_butler.engine.remember import store_episode, store_fact, store_rule
from memory_butler.engine.tokens import create_token

# Told how many days are done, and how many there are.
Progress = Callable[[int, int], None]

_SWEEP_EVERY_DAYS = 10
# Rules are marked so seldom that the last marks come close to the present.
_MARK_EVERY_DAYS = 5
_CONTEXT_TOKENS = 250

_Told = TypeVar("_Told", Fact, Rule, Episode)


async def tell(memory: Memory, progress: Progress = lambda _done, _total: None) -> None:
    """Fill an empty memory with the household's story, which ends at the present."""
    teller = _Teller(memory, datetime.now(UTC))
    teller.memory = replace(memory, clock=teller.clock)
    await teller.tell(progress)
    if memory.data_dir is not None:
        await asyncio.to_thread(_tell_journal, memory, memory.data_dir)


def _tell_journal(memory: Memory, data_dir: Path) -> None:
    clock = conversation.StoryClock(datetime.now(UTC))
    config = memory.config.journal
    with opened(
        data_dir, DEFAULT_TENANT, DEFAULT_COMPANION, config, memory.keys, create=True, now=clock
    ) as companion:
        conversation.tell(companion, clock)


@dataclass(slots=True)
class _Teller:
    """Tells the story to a memory, day by day."""

    memory: Memory
    present: datetime
    day: int = 0
    second: int = 0
    facts: dict[Fact, UUID] = field(default_factory=dict)
    rules: dict[Rule, UUID] = field(default_factory=dict)
    episodes: dict[UUID, Episode] = field(default_factory=dict)
    entities: dict[str, UUID] = field(default_factory=dict)

    def clock(self) -> datetime:
        """A second later at each look, so that no two things happen at once."""
        self.second += 1
        return self.present - timedelta(days=DAYS - self.day, hours=3, seconds=-self.second)

    async def tell(self, progress: Progress) -> None:
        for name, kind, aliases in ENTITIES:
            row = await create_entity(self.memory, _by("home"), name, kind, aliases=aliases)
            self.entities[name] = row["id"]
        for name, scopes, days in TOKENS:
            await create_token(self.memory, DEFAULT_TENANT, name, scopes, timedelta(days=days))
        for self.day in range(DAYS):
            await self._remember()
            await self._judge()
            await self._merge()
            if self.day in CONSOLIDATIONS:
                await self._consolidate()
            if self.day % _SWEEP_EVERY_DAYS == _SWEEP_EVERY_DAYS - 1:
                await sweep.run(self.memory, _by("schedule"))
            await self._ask()
            progress(self.day + 1, DAYS)
        await self._link()

    async def _remember(self) -> None:
        for turn, episode in enumerate(_of_day(EPISODES, self.day)):
            id = await store_episode(
                self.memory,
                _by(episode.butler),
                episode.content,
                episode.butler,
                session_id=uuid5(SESSIONS, f"{episode.day} {episode.butler}"),
                importance=episode.importance,
                speaker="user",
                turn=turn,
            )
            self.episodes[id] = episode
        for fact in _of_day(FACTS, self.day):
            self.facts[fact], _ = await store_fact(
                self.memory,
                _by(fact.butler),
                fact.subject,
                fact.predicate,
                fact.content,
                permanence=fact.permanence,
                scope=fact.scope,
                importance=fact.importance,
                source_butler=fact.butler,
                tags=[fact.butler],
                entity_id=self.entities.get(fact.entity or ""),
                source_episode_id=self._source_of(fact),
            )
        for rule in _of_day(RULES, self.day):
            self.rules[rule] = await store_rule(
                self.memory,
                _by(rule.butler),
                rule.content,
                scope=rule.scope,
                source_butler=rule.butler,
            )

    def _source_of(self, fact: Fact) -> UUID | None:
        told = (fact.told, fact.butler)
        return next(
            (id for id, one in self.episodes.items() if (one.day, one.butler) == told), None
        )

    async def _judge(self) -> None:
        for fact, id in self.facts.items():
            if self.day in fact.confirmed:
                await confirm_memory(self.memory, _by(fact.butler), "fact", id)
            if self.day == fact.forgotten:
                await forget_memory(self.memory, _by(fact.butler), "fact", id)
        for rule, rule_id in self.rules.items():
            if self.day in rule.confirmed:
                await confirm_memory(self.memory, _by(rule.butler), "rule", rule_id)
            which, due = divmod(self.day - rule.day - 1, _MARK_EVERY_DAYS)
            if due == 0 and which < len(rule.marks):
                if rule.marks[which] > 0:
                    await rule_helped(self.memory, _by(rule.butler), rule_id)
                else:
                    await rule_harmed(self.memory, _by(rule.butler), rule_id, rule.reason)

    async def _merge(self) -> None:
        for day, source, target in MERGES:
            if day == self.day:
                ids = self.entities[source], self.entities[target]
                await merge_entities(self.memory, _by("home"), *ids)

    async def _consolidate(self) -> None:
        """By the story's own answers, over the tools by which an agent's model consolidates."""
        for butler in sorted({one.butler for one in self.episodes.values()}):
            begun = await host.begin(self.memory, _by(butler), butler)
            if begun is None:
                continue
            learned = [
                {
                    "subject": subject,
                    "predicate": predicate,
                    "content": content,
                    "source_episode_ids": [str(one.id)],
                }
                for one in begun.episodes
                for subject, predicate, content in self.episodes[one.id].learned or ()
            ]
            answer = json.dumps({"new_facts": learned})
            await host.submit(self.memory, _by(butler), begun.run_id, answer)

    async def _ask(self) -> None:
        for day, butler, prompt in PROMPTS:
            if day == self.day:
                await build_context(
                    self.memory,
                    _by(butler),
                    prompt,
                    butler,
                    token_budget=_CONTEXT_TOKENS,
                    session_id=uuid5(SESSIONS, f"{day} {butler}"),
                )

    async def _link(self) -> None:
        for fact, fact_id in self.facts.items():
            for rule, rule_id in self.rules.items():
                if any(
                    (fact.subject, fact.predicate) == told[:2] and rule.content.startswith(told[2])
                    for told in SUPPORTED
                ):
                    await create_link(
                        self.memory, _by("home"), "fact", fact_id, "rule", rule_id, "supports"
                    )


def _by(butler: str) -> Principal:
    return Principal(tenant=DEFAULT_TENANT, actor=butler)


def _of_day(told: Iterable[_Told], day: int) -> Iterator[_Told]:
    return (one for one in told if one.day == day)
