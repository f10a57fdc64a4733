"""Installations that are apart, change what they have and meet in any order come to the same."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import TypeAlias
from uuid import UUID

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from conftest import HISTORIES, Clock, Connection
from memory_butler.domain.errors import MemoryButlerError
from memory_butler.domain.exchange import RuleText
from memory_butler.domain.trust import Trust
from memory_butler.engine.conflicts import list_conflicts, settle
from memory_butler.engine.curate import accept_fact, confirm_memory, forget_memory, restore_memory
from memory_butler.engine.edits import edit_fact, edit_rule, move_rule
from memory_butler.engine.exchange import giving, packs, taking
from memory_butler.engine.exchange.taken import Taken
from memory_butler.engine.feedback import rule_helped
from memory_butler.engine.memory import Memory
from memory_butler.engine.remember import store_fact, store_rule

from .replicas import ALL, Replica, replicas

PLACES = 3
SUBJECTS = ("Ana", "Ben")
SAID = ("Lives in Porto", "Lives in Faro", "lives in porto.", "Rows a boat")
RULES = ("Ask before booking", "Ask before booking a flight", "Never ask", "Answer in French")
SCOPES = ("global", "work")
TRUSTS = ("user_said", "agent_inferred", "imported")
_worlds = count()

Act: TypeAlias = "Callable[[_Apart, Replica, int, int], Awaitable[None]]"


class _Apart:
    """Three installations, and every fact and rule that was ever stored."""

    def __init__(self, places: list[Replica], admin: Connection) -> None:
        self.places = places
        self.admin = admin
        self.stored: dict[UUID, str] = {}
        self.rules: set[UUID] = set()
        self.scopes: dict[UUID, str] = {}
        self.begun: dict[UUID, Replica] = {}
        self.confirmed: dict[UUID, datetime] = {}

    async def note(self, place: Replica, id: UUID, said: str) -> None:
        """A fact that was stored at a place, or known there already."""
        self.stored[id] = said
        self.begun.setdefault(id, place)
        self.scopes |= await place.scopes(self.admin)

    async def note_rule(self, place: Replica, id: UUID) -> None:
        """A rule that was stored at a place."""
        self.rules.add(id)
        self.begun[id] = place
        self.scopes |= await place.scopes(self.admin)

    async def any_rule(self, place: Replica, choice: int) -> UUID | None:
        """One of the rules that a place has."""
        known = sorted(await place.rules(self.admin))
        return known[choice % len(known)] if known else None

    async def any(self, place: Replica, choice: int) -> UUID | None:
        """One of the facts that a place has."""
        known = sorted(await place.facts(self.admin))
        return known[choice % len(known)] if known else None


async def _store(world: _Apart, place: Replica, a: int, b: int) -> None:
    said, trust = SAID[a % len(SAID)], TRUSTS[b % len(TRUSTS)]
    id, _ = await store_fact(
        place.memory,
        place.principal,
        SUBJECTS[b % len(SUBJECTS)],
        "note",
        said,
        trust=trust,
        scope=SCOPES[(a + b) // 4 % len(SCOPES)],
    )
    await world.note(place, id, said)


async def _edit(world: _Apart, place: Replica, a: int, b: int) -> None:
    id = await world.any(place, a)
    if id is not None:
        said = SAID[b % len(SAID)]
        row = await edit_fact(place.memory, place.principal, id, {"content": said})
        await world.note(place, row["id"], said)


async def _forget(world: _Apart, place: Replica, a: int, _b: int) -> None:
    id = await world.any(place, a)
    if id is not None:
        await forget_memory(place.memory, place.principal, "fact", id)


async def _restore(world: _Apart, place: Replica, a: int, _b: int) -> None:
    id = await world.any(place, a)
    if id is not None:
        await restore_memory(place.memory, place.principal, "fact", id)


async def _confirm(world: _Apart, place: Replica, a: int, _b: int) -> None:
    id = await world.any(place, a)
    if id is not None:
        row = await confirm_memory(place.memory, place.principal, "fact", id)
        world.confirmed[id] = row["last_confirmed_at"]


async def _accept(world: _Apart, place: Replica, a: int, _b: int) -> None:
    id = await world.any(place, a)
    if id is not None:
        await accept_fact(place.memory, place.principal, id)


async def _settle(world: _Apart, place: Replica, a: int, b: int) -> None:
    _, pairs = await list_conflicts(place.memory, place.principal, 10, 0)
    if pairs:
        pair = pairs[a % len(pairs)]
        choice = ("keep_earlier", "keep_later", "keep_both")[b % 3]
        ids = pair.earlier["id"], pair.later["id"]
        await settle(place.memory, place.principal, *ids, choice)  # type: ignore[arg-type]


async def _store_rule(world: _Apart, place: Replica, a: int, b: int) -> None:
    scope, trust = SCOPES[a % len(SCOPES)], TRUSTS[b % len(TRUSTS)]
    said = RULES[a % len(RULES)]
    id = await store_rule(place.memory, place.principal, said, scope=scope, trust=trust)
    await world.note_rule(place, id)


async def _edit_rule(world: _Apart, place: Replica, a: int, b: int) -> None:
    id = await world.any_rule(place, a)
    if id is not None:
        said = {"content": RULES[b % len(RULES)]}
        await edit_rule(place.memory, place.principal, id, said)


async def _change_rule(world: _Apart, place: Replica, a: int, b: int) -> None:
    id = await world.any_rule(place, a)
    if id is None:
        return
    match b % 5:
        case 0:
            await forget_memory(place.memory, place.principal, "rule", id)
        case 1:
            await restore_memory(place.memory, place.principal, "rule", id)
        case 2:
            await move_rule(place.memory, place.principal, id, "disable")
        case 3:
            await move_rule(place.memory, place.principal, id, "enable")
        case _:
            row = await rule_helped(place.memory, place.principal, id)
            world.confirmed[id] = row["last_confirmed_at"]


async def _meet(world: _Apart, place: Replica, a: int, _b: int) -> None:
    other = world.places[a % PLACES]
    if other is not place:
        await place.pull(other)


async def _hear_late(world: _Apart, place: Replica, a: int, b: int) -> None:
    """Take a part of what another has, twice."""
    other = world.places[a % PLACES]
    if other is not place:
        caller = place.as_seen_by(other)
        half, after = [*ALL][b % 2 :: 2], None
        for _ in range(2):  # of a history there is a page of facts, and one of rules
            said, after = await giving.facts(other.memory, caller, half, after)
            await taking.take(place.memory, place.principal, said)
            await taking.take(place.memory, place.principal, said)
            if after is None:
                break


ACTS: tuple[Act, ...] = (
    _store,
    _store,
    _edit,
    _forget,
    _restore,
    _confirm,
    _accept,
    _settle,
    _meet,
    _hear_late,
    _store_rule,
    _edit_rule,
    _edit_rule,
    _change_rule,
)
small = st.integers(0, 11)
partitions = st.lists(
    st.tuples(st.integers(0, PLACES - 1), st.sampled_from(ACTS), small, small),
    min_size=4,
    max_size=18,
)


async def _no_text_is_lost(world: _Apart, texts: list[set[tuple[UUID, str, str]]]) -> None:
    """A text that a rule had before they met stands, be it beside the rule and switched off, or was
    replaced by somebody who had read it: then all know so.
    """
    former = [await _former(place) for place in world.places]
    for place, had in zip(world.places, texts, strict=True):
        standing = {(row[0], row[1]) for row in (await place.rules(world.admin)).values()}
        for id, content, scope in had:
            text = RuleText(content, scope, (), False, Trust.USER_SAID, datetime.now(UTC))
            known = [text.words in one[id] for one in former if id in one]
            assert (content, scope) in standing or all(known)


async def _former(place: Replica) -> dict[UUID, set[str]]:
    """The digests of what each rule of a place said before, as it tells others."""
    said, after = await giving.facts(place.memory, place.principal, ALL)
    if after is None:
        return {}
    said, _ = await giving.facts(place.memory, place.principal, ALL, after)
    return {UUID(one["id"]): set(one["former"]) for one in packs.opened(said)["rules"]}


# A thousand by night.
@settings(
    max_examples=2 * HISTORIES if HISTORIES > 100 else 15,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    history=partitions,
    meetings=st.permutations([(a, b) for a in range(3) for b in range(3)]),
    agreed=st.sampled_from([None, ("work",), ("global", "work")]),
)
@pytest.mark.anyio
async def test_partitions_converge_and_nothing_is_lost(
    memory: Memory,
    admin: Connection,
    clock: Clock,
    tmp_path: Path,
    history: list[tuple[int, Act, int, int]],
    meetings: list[tuple[int, int]],
    agreed: tuple[str, ...] | None,
) -> None:
    """The last of three exchanges with the others what was `agreed`; they exchange all."""
    number = next(_worlds)
    world = _Apart(replicas(memory, tmp_path / str(number), PLACES, f"apart-{number}"), admin)
    *others, last = world.places
    for one in others:
        one.accept(last, scopes=agreed)
        last.accept(one, scopes=agreed)
    for where, act, a, b in history:
        clock.advance(minutes=1)
        try:
            await act(world, world.places[where], a, b)
        except MemoryButlerError:
            continue  # there was nothing to do it to
        event(act.__name__)
    texts = [
        {(id, row[0], row[1]) for id, row in (await one.rules(admin)).items()}
        for one in world.places
    ]
    for rounds in range(1, 6):
        for here, there in meetings:
            if here != there:
                clock.advance(minutes=1)
                await world.places[here].pull(world.places[there])
        states = [await one.facts(admin) | await one.rules(admin) for one in world.places]
        scopes = world.scopes | await world.places[0].scopes(admin) | await last.scopes(admin)
        shared = [
            {id: row for id, row in known.items() if agreed is None or scopes[id] in agreed}
            for known in states
        ]
        if states[0] == states[1] and shared[0] == shared[2]:
            event(f"rounds: {rounds}")
            break
    assert states[0] == states[1]
    assert shared[0] == shared[1] == shared[2]
    parts = [await one.parts(agreed) for one in world.places]
    assert parts[0] == parts[1] == parts[2]
    # Nothing is lost: each fact is with all who may have it, with its words and its latest
    # confirmation, and with nobody else.
    for place, known in zip(world.places, states, strict=True):
        expected = {
            id: said
            for id, said in world.stored.items()
            if agreed is None
            or world.scopes[id] in agreed
            or (place is last) is (world.begun[id] is last)
        }
        facts = await place.facts(admin)
        assert {id: row[2] for id, row in facts.items()} == expected
        assert all(known[id][5] >= moment for id, moment in world.confirmed.items() if id in known)
        assert known.keys() - facts.keys() >= {
            id
            for id in world.rules
            if agreed is None
            or world.scopes[id] in agreed
            or (place is last) is (world.begun[id] is last)
        }
    await _no_text_is_lost(world, texts)
    # And nothing more happens.
    for here, there in meetings:
        if here != there:
            clock.advance(minutes=1)
            assert await world.places[here].pull(world.places[there]) == Taken()
