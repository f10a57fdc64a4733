"""What waits for a decision: every kind once, the worthiest first."""

from datetime import timedelta
from uuid import UUID

import pytest

from conftest import Clock, Connection
from dashboard.dead_letter import bury
from memory_butler.domain.errors import Conflict
from memory_butler.domain.principals import Principal
from memory_butler.domain.trust import TrustName
from memory_butler.engine.browse.inbox import inbox
from memory_butler.engine.conflicts import settle
from memory_butler.engine.curate import accept_fact, confirm_memory
from memory_butler.engine.memory import Memory
from memory_butler.engine.remember import store_fact
from memory_butler.engine.undo import undo_change

pytestmark = pytest.mark.anyio


async def _fact(
    memory: Memory, principal: Principal, predicate: str, content: str, importance: float = 5
) -> UUID:
    id, _ = await store_fact(memory, principal, "car", predicate, content, importance=importance)
    return id


async def test_every_kind_is_listed_once_and_the_worthiest_first(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    trivial = await _fact(memory, principal, "wash", "The car is washed in spring", 1)
    vital = await _fact(memory, principal, "brake", "The brake fluid is due in May", 9)
    doubted = await _fact(memory, principal, "colour", "Wants a green car")
    for id in (trivial, vital):
        await admin.execute(
            "UPDATE facts SET confidence = 0.15, metadata = $2 WHERE id = $1",
            id,
            {"status": "fading"},
        )
    await admin.execute(
        "UPDATE facts SET validity = 'waiting', confidence = 0.5 WHERE id = $1", doubted
    )
    left, _ = await store_fact(memory, principal, "Berengar", "hand", "left-handed")
    right, _ = await store_fact(memory, principal, "Berengar", "handedness", "right-handed")
    found = await inbox(memory, principal, 50)
    assert found.waiting == {"contradiction": 1, "waiting": 1, "fading": 2}
    kinds = [one.kind for one in found.items]
    assert kinds[-1] == "fading"
    assert [one.fact["id"] for one in found.items if one.fact and one.kind == "fading"] == [
        vital,
        trivial,
    ]
    worths = [one.worth for one in found.items]
    assert worths == sorted(worths, reverse=True)
    assert (await inbox(memory, principal, 1)).items == found.items[:1]
    alone = await inbox(memory, principal, 1, "waiting")
    assert [one.kind for one in alone.items] == ["waiting"]
    assert alone.waiting == found.waiting

    await settle(memory, principal, left, right, "keep_both")
    await confirm_memory(memory, principal, "fact", vital)
    left_over = await inbox(memory, principal, 50)
    assert left_over.waiting == {"waiting": 1, "fading": 1}


async def test_what_is_served_more_is_worth_more(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    ids = [await _fact(memory, principal, name, f"The {name} is due") for name in ("oil", "tax")]
    for id, references in zip(ids, (0, 9), strict=True):
        await admin.execute(
            "UPDATE facts SET confidence = 0.15, metadata = $2, reference_count = $3 WHERE id = $1",
            id,
            {"status": "fading"},
            references,
        )
    found = await inbox(memory, principal, 50)
    assert [one.id for one in found.items] == ids[::-1]


async def test_what_is_over_takes_nobody_elses_place(
    memory: Memory, principal: Principal, admin: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory_butler.engine.browse.inbox.WEIGHED", 2)
    over = [await _fact(memory, principal, f"trip{n}", f"Flies to city {n}", 9) for n in range(5)]
    holds = [await _fact(memory, principal, name, f"The {name} is due") for name in ("oil", "tax")]
    await admin.execute("UPDATE facts SET confidence = 0.15, metadata = $1", {"status": "fading"})
    await admin.execute(
        "UPDATE facts SET valid_from = $2::timestamptz - interval '1 day', valid_until = $2"
        " WHERE id = ANY($1)",
        over,
        memory.clock(),
    )
    found = await inbox(memory, principal, 50)
    assert {one.id for one in found.items} == set(holds)
    assert found.waiting == {"fading": 2}


async def test_a_dead_letter_waits(memory: Memory, principal: Principal) -> None:
    await bury(memory)
    found = await inbox(memory, principal, 50)
    (one,) = found.items
    assert (one.kind, one.episode is not None) == ("dead_letter", True)
    assert found.waiting == {"dead_letter": 1}


async def test_what_waited_for_a_fact_ends_with_it(
    memory: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    async def bank(content: str, trust: TrustName) -> UUID:
        clock.advance(minutes=1)
        return (await store_fact(memory, principal, "user", "bank", content, trust=trust))[0]

    first = await bank("At Good", "user_said")
    waits = await bank("At Evil", "untrusted_web")
    assert (await inbox(memory, principal, 50)).waiting == {"contradiction": 1}
    later = await bank("At Better", "user_said")
    assert (await inbox(memory, principal, 50)).waiting == {}
    states = "SELECT id, validity FROM facts"
    assert dict(await admin.fetch(states)) == {
        first: "superseded",
        waits: "superseded",
        later: "active",
    }
    # One undo brings back what the later word ended.
    clock.advance(minutes=1)
    await undo_change(memory, principal)
    assert (await inbox(memory, principal, 50)).waiting == {"contradiction": 1}


async def test_what_waits_ends_when_another_that_waits_is_accepted(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    ids = []
    for content, trust in (("Rome", "user_said"), ("Bonn", "imported"), ("Oslo", "imported")):
        clock.advance(minutes=1)
        id, _ = await store_fact(memory, principal, "user", "city", content, trust=trust)
        ids.append(id)
    assert (await inbox(memory, principal, 50)).waiting == {"contradiction": 2}
    clock.advance(minutes=1)
    await accept_fact(memory, principal, ids[1])
    assert (await inbox(memory, principal, 50)).waiting == {}


async def test_what_waits_outlives_a_later_word_that_is_trusted_less(
    memory: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    first = await _fact(memory, principal, "colour", "The car is green")
    clock.advance(minutes=1)
    doubted = await _fact(memory, principal, "tint", "The car is blue")
    await admin.execute(
        "UPDATE facts SET validity = 'waiting', predicate = 'colour', trust = 5, metadata = $2"
        " WHERE id = $1",
        doubted,
        {"waiting": {"reason": "weak", "target": str(first)}},
    )
    await admin.execute("UPDATE facts SET trust = 1 WHERE id = $1", first)
    clock.advance(minutes=1)
    await store_fact(memory, principal, "car", "colour", "The car is red", trust="untrusted_web")
    assert (await inbox(memory, principal, 50)).waiting == {"waiting": 1}


async def test_pairs_of_one_kind_leave_room_for_those_of_the_other(
    memory: Memory,
    principal: Principal,
    admin: Connection,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("memory_butler.engine.browse.inbox.WEIGHED", 1)
    for predicate, content in (
        ("hand", "left-handed"),
        ("handedness", "right-handed"),
        ("pet", "Has a grey cat called Mimi"),
        ("animal", "Has a grey cat called Mimi"),
    ):
        clock.advance(minutes=1)
        await store_fact(memory, principal, "Berengar", predicate, content)
    await _fact(memory, principal, "brake", "The brake fluid is due in May", 1)
    await admin.execute("UPDATE facts SET metadata = metadata || $1", {"status": "fading"})
    found = await inbox(memory, principal, 50)
    assert found.waiting == {"contradiction": 1, "duplicate": 1, "fading": 1}


async def test_nobody_decides_about_what_is_over(
    memory: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    """Half a year after an appointment it fades; whether it holds is no question then."""
    over = clock.now + timedelta(days=1)
    fades, _ = await store_fact(
        memory, principal, "car", "service", "Service on 2 March at 10:00", valid_until=over
    )
    doubted, _ = await store_fact(
        memory, principal, "car", "loan", "Lent to Ida until 2 March", valid_until=over
    )
    await admin.execute("UPDATE facts SET validity = 'waiting' WHERE id = $1", doubted)
    await admin.execute("UPDATE facts SET metadata = $2 WHERE id = $1", fades, {"status": "fading"})
    assert (await inbox(memory, principal, 10)).waiting == {"waiting": 1, "fading": 1}
    clock.advance(days=1)
    assert (await inbox(memory, principal, 10)).waiting == {}
    with pytest.raises(Conflict, match=r"held until 2026-03-02 12:00 UTC, which is over"):
        await accept_fact(memory, principal, doubted)
