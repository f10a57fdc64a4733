"""What waits for a decision: every kind once, the worthiest first."""

from uuid import UUID

import pytest

from conftest import Connection
from dashboard.dead_letter import bury
from memory_butler.domain.principals import Principal
from memory_butler.engine.browse.inbox import inbox
from memory_butler.engine.conflicts import settle
from memory_butler.engine.curate import confirm_memory
from memory_butler.engine.memory import Memory
from memory_butler.engine.remember import store_fact

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


async def test_a_dead_letter_waits(memory: Memory, principal: Principal) -> None:
    await bury(memory)
    found = await inbox(memory, principal, 50)
    (one,) = found.items
    assert (one.kind, one.episode is not None) == ("dead_letter", True)
    assert found.waiting == {"dead_letter": 1}
