"""A household's memory over four months, told through the engine: what tests and pictures show.

The clock of the memory is moved from day to day, so that confidence decays, facts fade and expire,
and rules earn their maturity by the same code as in a real one.
"""

import asyncio
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar
from uuid import UUID, uuid5

from dashboard import demo_journal
from memory_butler.companions.opening import DEFAULT_COMPANION, opened
from memory_butler.domain.principals import Principal, Scope
from memory_butler.engine.consolidation import host
from memory_butler.engine.consolidation.claims import fail
from memory_butler.engine.context import build_context
from memory_butler.engine.curate import confirm_memory, forget_memory
from memory_butler.engine.entities import create_entity
from memory_butler.engine.feedback import rule_harmed, rule_helped
from memory_butler.engine.lifecycle import sweep
from memory_butler.engine.linking import create_link
from memory_butler.engine.memory import Memory
from memory_butler.engine.remember import store_episode, store_fact, store_rule
from memory_butler.engine.tokens import create_token
from memory_butler.store.consolidation import RunOutcome

# How many days before the present the story begins.
DAYS = 120
# Before episodes expire, after a week; the last one leaves the newest waiting.
_CONSOLIDATIONS = frozenset(range(4, 115, 5))
# On these, consolidating the finance butler's newest episode fails, once more than is allowed.
_FAILURES = frozenset({115, 116, 117, 118})
_FAILURE = "the answer is not JSON: the model described the picture instead of reading it"
# The prompts of sessions that asked for a block, by day.
_PROMPTS = (
    (75, "work", "Prepare the release notes"),
    (119, "home", "Plan a dinner for the family"),
)
_SESSIONS = UUID("6f1f7d1c-3f0c-4c59-9d7e-0d5f0c9a1b2e")


@dataclass(frozen=True, slots=True)
class _Fact:
    """Told on a day; `confirmed` and `forgotten` are days as well."""

    day: int
    subject: str
    predicate: str
    content: str
    butler: str
    permanence: str = "standard"
    scope: str = "global"
    importance: float = 5.0
    confirmed: tuple[int, ...] = ()
    forgotten: int | None = None
    entity: str | None = None
    # The day of the same butler's episode that it was told in.
    told: int | None = None


@dataclass(frozen=True, slots=True)
class _Rule:
    """Told on a day, and how it fared: +1 helped, -1 did harm, one a day from the next day on."""

    day: int
    content: str
    butler: str
    marks: tuple[int, ...] = ()
    scope: str = "global"
    reason: str = "it annoyed everybody"
    confirmed: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class _Episode:
    """What happened on a day, and what a consolidation drew from it; None: it still waits."""

    day: int
    butler: str
    content: str
    learned: tuple[tuple[str, str, str], ...] | None = ()
    importance: float = 5.0


_Told = TypeVar("_Told", _Fact, _Rule, _Episode)

# Who was let in on the first day, what for, and for how many days.
_TOKENS: tuple[tuple[str, tuple[Scope, ...], int], ...] = (
    ("phone", ("read",), 365),
    ("claude-code", ("read", "write"), 365),
    ("old laptop", ("read", "write", "admin"), 30),
)

# fmt: off
_FACTS = (
    _Fact(0, "Ana", "birthday", "Ana's birthday is on 14 March", "home", "permanent", importance=9,
          entity="Ana"),
    _Fact(0, "user", "home_city", "Lives in Lisbon, near Graça", "home", "stable", importance=8),
    _Fact(1, "user", "diet", "Is vegetarian, and eats fish when travelling", "health", "stable"),
    _Fact(1, "user", "allergy", "Is allergic to penicillin", "health", "permanent", importance=10),
    _Fact(2, "Ana", "school", "Goes to the primary school in Rua da Voz do Operário", "home",
          entity="Ana"),
    _Fact(3, "user", "coffee", "Drinks espresso, no sugar", "home", confirmed=(60, 110), told=3),
    _Fact(5, "house", "wifi_name", "The guests' network is called Azulejo", "home", "stable"),
    _Fact(6, "user", "seat", "Prefers an aisle seat near the front", "travel", "stable", "travel"),
    _Fact(8, "Rui", "profession", "Rui is a structural engineer", "work", "stable",
          confirmed=(80,), entity="Rui Tavares"),
    _Fact(9, "user", "bank", "Uses Banco Montepio for daily payments", "finance", "stable"),
    _Fact(10, "house", "heating", "The boiler was serviced by Sr. Matos", "home", "standard"),
    _Fact(12, "user", "running_goal", "Wants to run 10 km in under an hour", "health", "volatile"),
    _Fact(14, "car", "inspection", "The car's inspection is due in May", "home", "volatile"),
    _Fact(
        15, "user", "project", "Works on the tender for the Tagus footbridge", "work", "volatile"
    ),
    _Fact(20, "Ana", "favourite_book", "Loves the Moomin books", "home", confirmed=(95,),
          entity="Ana"),
    _Fact(22, "user", "budget", "Keeps groceries below 420 euros a month", "finance", "volatile"),
    _Fact(25, "user", "headache", "Had a headache after the dentist", "health", "ephemeral"),
    _Fact(30, "user", "editor", "Writes drawings' notes in Markdown", "work", "standard", "work"),
    _Fact(33, "parking", "spot", "Parked on level -2, row F", "home", "ephemeral"),
    _Fact(40, "user", "home_city", "Moved to Porto, Rua do Almada", "home", "stable", importance=8,
          told=40),
    _Fact(41, "Ana", "school", "Goes to the Escola da Vitória in Porto", "home", "stable",
          entity="Ana", told=40),
    _Fact(48, "user", "airline", "Collects miles with TAP", "travel", "stable", "travel"),
    _Fact(
        52, "mother", "phone_day", "Calls on Sunday evenings", "home", "standard", confirmed=(100,)
    ),
    _Fact(55, "user", "medication", "Takes vitamin D in winter", "health", "volatile"),
    _Fact(58, "user", "standing_desk", "Stands in the morning, sits after lunch", "work"),
    _Fact(
        60, "user", "coffee_machine", "The grinder needs cleaning on Fridays", "home", "volatile"
    ),
    _Fact(64, "Porto flat", "landlord", "The landlady is Dona Celeste", "home", "stable"),
    _Fact(70, "user", "gym", "Swims at the Constituição pool", "health", forgotten=96),
    _Fact(74, "user", "project", "Leads the footbridge's foundation design", "work", importance=7),
    _Fact(80, "user", "passport", "The passport expires in October", "travel", "stable", "travel"),
    _Fact(85, "dentist", "next_visit", "The next visit is in June", "health", "volatile"),
    _Fact(90, "user", "tone", "Wants short answers, and the reasons after them", "work", "stable"),
    _Fact(94, "user", "savings", "Puts 300 euros aside on the first of a month", "finance"),
    _Fact(98, "Ana", "piano", "Began piano lessons with Teresa", "home", importance=6,
          entity="Ana"),
    _Fact(
        101, "user", "travel_plan", "Flies to Berlin in two weeks", "travel", "ephemeral", "travel"
    ),
    _Fact(
        104, "user", "electricity", "Pays 0.19 euros a kWh, at night 0.11", "finance", "standard"
    ),
    _Fact(108, "weather", "storm", "A storm is forecast for the weekend", "home", "ephemeral"),
    _Fact(112, "user", "coffee_beans", "Buys beans at Combi", "home"),
    _Fact(100, "R. Tavares", "profession", "Is an engineer at the city council", "finance",
          entity="R. Tavares"),
    _Fact(106, "R. Tavares", "phone", "Answers on the office number before noon", "finance",
          "standard", entity="R. Tavares"),
    _Fact(116, "Rui", "email_style", "Rui reads mail only in the morning", "work", "standard",
          "work", entity="Rui Tavares"),
    _Fact(118, "user", "mood", "Is tired after the deadline", "health", "ephemeral"),
)
# fmt: on

_RULES = (
    _Rule(2, "Confirm dates by naming the weekday as well", "home", (1,) * 19,
          confirmed=(61, 108)),
    _Rule(4, "Ask about allergies before suggesting a restaurant", "health", (*(1,) * 17, -1, 1),
          reason="the restaurant was closed", confirmed=(112,)),
    _Rule(10, "Put the reasons after the answer, never before it", "work", (1,) * 12, "work",
          confirmed=(99,)),
    _Rule(15, "Offer the train first for journeys under four hours", "travel", (*(1,) * 8, -1),
          reason="the train was on strike", confirmed=(84,)),
    _Rule(20, "Remind of bills three days before they are due", "finance", (1,) * 7),
    _Rule(30, "Round amounts below five euros in summaries", "finance", (1, 1, -1, 1), "finance"),
    _Rule(42, "Suggest a morning slot for calls with Rui", "work", (1, 1, 1), "work"),
    _Rule(45, "Book the earliest flight to save money", "travel", (1, -1, -1, -1), "travel",
          "the airport cannot be reached at that hour"),
    _Rule(50, "Add an emoji to every message for Ana", "home", (-1, -1, -1)),
    _Rule(88, "Check the weather before planning a weekend outside", "home", (1, 1)),
    _Rule(102, "Write shopping lists in the order of the shop's aisles", "home"),
    _Rule(111, "Prefer vegetarian recipes with fewer than ten ingredients", "health", (1,)),
)  # fmt: skip

_EPISODES = (
    _Episode(3, "home", "The user asked for an espresso again and said that sugar ruins it."),
    _Episode(26, "health", "Dentist visit. The user asked what helps against a headache."),
    _Episode(40, "home", "We moved boxes all day. The new address is Rua do Almada in Porto."),
    _Episode(
        88,
        "home",
        "The user and Ana baked a lemon cake; Ana measured everything by herself.",
        (("Ana", "baking", "Measures ingredients by herself when baking"),),
        6.0,
    ),
    _Episode(
        96,
        "work",
        "Review of the foundation drawings with Rui. He wants load cases in a table, not in prose.",
        (("Rui", "review_style", "Wants load cases in a table"),),
        7.0,
    ),
    _Episode(
        103,
        "travel",
        "Planned the trip to Berlin. The user wants a hotel close to a station, with breakfast.",
        (("user", "hotel", "Wants hotels close to a station, with breakfast"),),
        6.0,
    ),
    _Episode(
        109,
        "finance",
        "Compared electricity tariffs. The washing machine now runs at night.",
        (("house", "washing_machine", "Runs at night, when electricity is cheaper"),),
    ),
    _Episode(113, "health", "Ran eight kilometres along the river in 51 minutes.", ()),
    _Episode(
        114,
        "work",
        "Site visit. Rui wants the minutes on the same day, as a list of decisions.",
        (("Rui", "minutes", "Wants minutes on the same day, as a list of decisions"),),
        6.0,
    ),
    _Episode(115, "finance", "Statement of the bank, as a scan: ▒▒▒ 1?.?0 EUR ▒▒▒▒", None),
    _Episode(115, "home", "Ana's piano teacher moved the lesson to Thursday at five.", None, 7.0),
    _Episode(116, "work", "Rui asked for the soil report twice before noon.", None),
    _Episode(117, "travel", "Checked in for the flight to Berlin; aisle seat 4C.", None, 6.0),
    _Episode(118, "work", "The tender was handed in two hours before the deadline.", None, 8.0),
    _Episode(119, "home", "The storm broke a branch off the lemon tree.", None),
)

# Which facts, by subject and predicate, support which rule, by its first words.
_SUPPORTED = (
    ("user", "allergy", "Ask about allergies"),
    ("user", "diet", "Ask about allergies"),
    ("user", "diet", "Prefer vegetarian recipes"),
    ("user", "tone", "Put the reasons after"),
    ("Rui", "email_style", "Suggest a morning slot"),
    ("user", "home_city", "Offer the train first"),
    ("user", "budget", "Remind of bills"),
)

_ENTITIES = (
    ("Ana", "person", ("Aninhas",)),
    ("Rui Tavares", "person", ("Rui",)),
    # The same person, as the finance butler met him: there for somebody to merge.
    ("R. Tavares", "person", ("Eng. Tavares",)),
    ("Porto", "place", ()),
    ("Câmara Municipal do Porto", "organization", ("CMP",)),
)


@dataclass(slots=True)
class _Teller:
    """Tells the story to a memory, day by day."""

    memory: Memory
    present: datetime
    day: int = 0
    second: int = 0
    facts: dict[_Fact, UUID] = field(default_factory=dict)
    rules: dict[_Rule, UUID] = field(default_factory=dict)
    episodes: dict[UUID, _Episode] = field(default_factory=dict)
    entities: dict[str, UUID] = field(default_factory=dict)

    def clock(self) -> datetime:
        """A second later at each look, so that no two things happen at once."""
        self.second += 1
        return self.present - timedelta(days=DAYS - self.day, hours=3, seconds=-self.second)

    async def tell(self) -> None:
        for name, kind, aliases in _ENTITIES:
            row = await create_entity(self.memory, _by("home"), name, kind, aliases=aliases)
            self.entities[name] = row["id"]
        for name, scopes, days in _TOKENS:
            await create_token(self.memory, "default", name, scopes, timedelta(days=days))
        for self.day in range(DAYS):
            await self._remember()
            await self._judge()
            if self.day in _CONSOLIDATIONS:
                await self._consolidate()
            if self.day in _FAILURES:
                await self._fail_to_consolidate()
            if self.day % 10 == 9:
                await sweep.run(self.memory, _by("schedule"))
            await self._ask()
        await self._link()

    async def _ask(self) -> None:
        for day, butler, prompt in _PROMPTS:
            if day == self.day:
                session = uuid5(_SESSIONS, f"{day} {butler}")
                await build_context(
                    self.memory, _by(butler), prompt, butler, token_budget=250, session_id=session
                )

    async def _link(self) -> None:
        for fact, fact_id in self.facts.items():
            for rule, rule_id in self.rules.items():
                if any(
                    (fact.subject, fact.predicate) == told[:2] and rule.content.startswith(told[2])
                    for told in _SUPPORTED
                ):
                    await create_link(
                        self.memory, _by("home"), "fact", fact_id, "rule", rule_id, "supports"
                    )

    async def _remember(self) -> None:
        for turn, episode in enumerate(_of_day(_EPISODES, self.day)):
            id = await store_episode(
                self.memory,
                _by(episode.butler),
                episode.content,
                episode.butler,
                session_id=uuid5(_SESSIONS, f"{episode.day} {episode.butler}"),
                importance=episode.importance,
                speaker="user",
                turn=turn,
            )
            self.episodes[id] = episode
        for fact in _of_day(_FACTS, self.day):
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
                source_episode_id=next(
                    (
                        id
                        for id, one in self.episodes.items()
                        if (one.day, one.butler) == (fact.told, fact.butler)
                    ),
                    None,
                ),
            )
        for rule in _of_day(_RULES, self.day):
            self.rules[rule] = await store_rule(
                self.memory,
                _by(rule.butler),
                rule.content,
                scope=rule.scope,
                source_butler=rule.butler,
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
            # Marks come every fifth day, the last ones as close to the present as there is room.
            which, due = divmod(self.day - rule.day - 1, 5)
            if due == 0 and which < len(rule.marks):
                if rule.marks[which] > 0:
                    await rule_helped(self.memory, _by(rule.butler), rule_id)
                else:
                    await rule_harmed(self.memory, _by(rule.butler), rule_id, rule.reason)

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

    async def _fail_to_consolidate(self) -> None:
        """As when a model gives an answer that nobody can use."""
        begun = await host.begin(self.memory, _by("finance"), "finance")
        assert begun is not None
        outcome = RunOutcome("retrying", {}, [_FAILURE])
        await fail(self.memory, _by("finance"), begun, outcome, error=_FAILURE, retryable=True)


async def tell(memory: Memory) -> None:
    """Fill an empty memory with the story, which ends at the present."""
    teller = _Teller(memory, datetime.now(UTC))
    teller.memory = replace(memory, clock=teller.clock)
    await teller.tell()
    if memory.data_dir is not None:
        await asyncio.to_thread(_tell_journal, memory, memory.data_dir)


def _tell_journal(memory: Memory, data_dir: Path) -> None:
    clock = demo_journal.StoryClock(datetime.now(UTC))
    with opened(
        data_dir, "default", DEFAULT_COMPANION, memory.config.journal, create=True, now=clock
    ) as companion:
        demo_journal.tell(companion, clock)


def _by(butler: str) -> Principal:
    return Principal(tenant="default", actor=butler)


def _of_day(told: Iterable[_Told], day: int) -> Iterator[_Told]:
    return (one for one in told if one.day == day)
