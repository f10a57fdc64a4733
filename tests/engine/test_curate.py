"""Looking at one memory, confirming it, forgetting it, bringing it back."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from conftest import NOW, Clock, Connection
from memory_butler.domain.errors import Conflict, InvalidInput, NotFound
from memory_butler.domain.links import MemoryType
from memory_butler.domain.principals import Principal
from memory_butler.engine.curate import confirm_memory, forget_memory, get_memory, restore_memory
from memory_butler.engine.edits import move_rule, why_inactive
from memory_butler.engine.lifecycle import sweep
from memory_butler.engine.memory import Memory, utc_now
from memory_butler.engine.remember import store_episode, store_fact, store_rule
from memory_butler.engine.undo import undo_change

from .store_views import count, event_types, row, states

pytestmark = pytest.mark.anyio

KINDS = ("episode", "fact", "rule")
Act = Callable[[Memory, Principal, str, UUID | str], Awaitable[Any]]


@pytest.fixture
async def stored(memory: Memory, principal: Principal) -> dict[str, UUID]:
    """One memory of each type."""
    return {
        "episode": await store_episode(memory, principal, "we had tea", "general"),
        "fact": (await store_fact(memory, principal, "user", "drink", "tea"))[0],
        "rule": await store_rule(memory, principal, "offer tea"),
    }


@pytest.mark.requirement("STO-09", "SRCH-08", "JSON-03")
@pytest.mark.parametrize("kind", KINDS)
async def test_getting_counts_a_reference(
    memory: Memory, principal: Principal, stored: dict[str, UUID], clock: Clock, kind: str
) -> None:
    now = clock.advance(hours=1)
    found = await get_memory(memory, principal, kind, str(stored[kind]))
    assert found is not None
    assert found["id"] == stored[kind]
    assert (found["reference_count"], found["last_referenced_at"]) == (1, now)
    assert not {"embedding", "search_vector"} & found.keys()
    assert await get_memory(memory, principal, kind, uuid4()) is None


@pytest.mark.requirement("STO-09")
async def test_simultaneous_gets_are_all_counted(
    memory: Memory, principal: Principal, stored: dict[str, UUID], admin: Connection
) -> None:
    await asyncio.gather(
        *(get_memory(memory, principal, "fact", stored["fact"]) for _ in range(20))
    )
    assert (await row(admin, "facts", stored["fact"]))["reference_count"] == 20


@pytest.mark.requirement("STO-10", "DEC-12", "MEV-01")
@pytest.mark.parametrize("kind", ["fact", "rule"])
async def test_confirming_restarts_the_decay_and_clears_the_fading_mark(
    memory: Memory,
    principal: Principal,
    stored: dict[str, UUID],
    admin: Connection,
    clock: Clock,
    kind: str,
) -> None:
    id = stored[kind]
    fading = {"status": "fading", "kept": 1}
    await admin.execute(f"UPDATE {kind}s SET metadata = $2 WHERE id = $1", id, fading)
    now = clock.advance(days=20)
    confirmed = await confirm_memory(memory, principal, kind, id)
    assert confirmed["last_confirmed_at"] == now
    assert confirmed["metadata"] == {"kept": 1}
    assert "memory_confirmed" in await event_types(admin)
    (before,) = await states(admin, kind, id)
    assert (before["known_from"], before["known_until"]) == (NOW, now)
    assert before["state"]["metadata"] == fading


@pytest.mark.requirement("LIFE-01")
async def test_a_fading_fact_says_so(
    memory: Memory, principal: Principal, stored: dict[str, UUID], admin: Connection
) -> None:
    await admin.execute("UPDATE facts SET metadata = $1", {"status": "fading"})
    found = await get_memory(memory, principal, "fact", stored["fact"])
    assert found is not None
    assert (found["lifecycle_state"], found["validity"]) == ("fading", "active")


@pytest.mark.requirement("STO-10")
async def test_confirming_a_forgotten_fact_does_not_bring_it_back(
    memory: Memory, principal: Principal, stored: dict[str, UUID], clock: Clock
) -> None:
    await forget_memory(memory, principal, "fact", stored["fact"])
    now = clock.advance(days=1)
    confirmed = await confirm_memory(memory, principal, "fact", stored["fact"])
    assert (confirmed["validity"], confirmed["last_confirmed_at"]) == ("retracted", now)


@pytest.mark.requirement("STO-12", "STO-13", "STO-14", "MEV-01", "MEV-03")
async def test_forgetting_marks_each_type_in_its_way(
    memory: Memory,
    principal: Principal,
    stored: dict[str, UUID],
    admin: Connection,
    clock: Clock,
) -> None:
    now = clock.advance(hours=1)
    for kind in KINDS:
        assert await forget_memory(memory, principal, kind, stored[kind])
    assert (await row(admin, "episodes", stored["episode"]))["expires_at"] == now
    fact = await row(admin, "facts", stored["fact"])
    assert (fact["validity"], fact["retired_at"]) == ("retracted", now)
    assert fact["metadata"] == {"forgotten": True}
    assert (await row(admin, "rules", stored["rule"]))["metadata"] == {"forgotten": True}
    types = await event_types(admin)
    assert {"episode_forgotten", "fact_retracted", "rule_forgotten"} <= set(types)
    for kind in KINDS:
        assert len(await states(admin, kind, stored[kind])) == 1


async def test_forgetting_twice_changes_nothing_more(
    memory: Memory, principal: Principal, stored: dict[str, UUID], admin: Connection, clock: Clock
) -> None:
    clock.advance(hours=1)
    for kind in KINDS:
        await forget_memory(memory, principal, kind, stored[kind])
    events, versions = await count(admin, "memory_events"), await count(admin, "memory_versions")
    clock.advance(hours=1)
    for kind in KINDS:
        assert not await forget_memory(memory, principal, kind, stored[kind])
    assert await count(admin, "memory_events") == events
    assert await count(admin, "memory_versions") == versions


@pytest.mark.requirement("STO-13", "STO-14", "STO-12")
async def test_what_was_forgotten_can_be_restored(
    memory: Memory, principal: Principal, stored: dict[str, UUID], admin: Connection, clock: Clock
) -> None:
    clock.advance(hours=1)
    for kind in KINDS:
        await forget_memory(memory, principal, kind, stored[kind])
    now = clock.advance(hours=1)
    for kind in KINDS:
        await restore_memory(memory, principal, kind, stored[kind])
    assert (await row(admin, "episodes", stored["episode"]))["expires_at"] > now
    fact = await row(admin, "facts", stored["fact"])
    assert (fact["validity"], fact["retired_at"], fact["metadata"]) == ("active", None, {})
    assert (await row(admin, "rules", stored["rule"]))["metadata"] == {}
    assert (await event_types(admin)).count("memory_restored") == 3


@pytest.mark.requirement("FAIL-02")
async def test_what_is_not_forgotten_cannot_be_restored(
    memory: Memory, principal: Principal, stored: dict[str, UUID], admin: Connection
) -> None:
    with pytest.raises(Conflict, match="is active, not retracted"):
        await restore_memory(memory, principal, "fact", stored["fact"])
    with pytest.raises(Conflict, match="is not forgotten"):
        await restore_memory(memory, principal, "rule", stored["rule"])
    with pytest.raises(Conflict, match="nothing to restore"):
        await restore_memory(memory, principal, "episode", stored["episode"])
    assert "memory_restored" not in await event_types(admin)


@pytest.mark.requirement("FACT-29", "FAIL-02")
async def test_a_fact_whose_key_is_taken_cannot_be_restored(
    memory: Memory, principal: Principal, stored: dict[str, UUID], admin: Connection
) -> None:
    await forget_memory(memory, principal, "fact", stored["fact"])
    holder, _ = await store_fact(memory, principal, "user", "drink", "coffee")
    with pytest.raises(Conflict, match=f"fact {holder} is active under the same"):
        await restore_memory(memory, principal, "fact", stored["fact"])
    assert (await row(admin, "facts", stored["fact"]))["validity"] == "retracted"


@pytest.mark.requirement("FACT-29")
async def test_restoring_and_storing_at_once_leave_one_active_fact(
    memory: Memory, principal: Principal, stored: dict[str, UUID], admin: Connection
) -> None:
    await forget_memory(memory, principal, "fact", stored["fact"])
    await asyncio.gather(
        *(store_fact(memory, principal, "user", "drink", f"tea {n}") for n in range(5)),
        restore_memory(memory, principal, "fact", stored["fact"]),
        return_exceptions=True,
    )
    assert await admin.fetchval("SELECT count(*) FROM facts WHERE validity = 'active'") == 1


@pytest.mark.parametrize("act", [confirm_memory, forget_memory, restore_memory])
@pytest.mark.parametrize("kind", ["fact", "rule"])
async def test_what_does_not_exist_is_not_found(
    memory: Memory, principal: Principal, admin: Connection, act: Act, kind: str
) -> None:
    with pytest.raises(NotFound, match=f"there is no {kind}"):
        await act(memory, principal, kind, uuid4())
    assert await count(admin, "memory_events") == 0


@pytest.mark.parametrize("act", [get_memory, confirm_memory, forget_memory, restore_memory])
async def test_bad_types_and_ids_are_refused(
    memory: Memory, principal: Principal, act: Act
) -> None:
    with pytest.raises(InvalidInput, match="use one of: episode, fact, rule"):
        await act(memory, principal, "dream", uuid4())
    with pytest.raises(InvalidInput, match="is not a UUID"):
        await act(memory, principal, "fact", "42")


@pytest.mark.requirement("MEV-01")
async def test_a_change_that_cannot_be_told_is_not_made(
    memory: Memory, principal: Principal, stored: dict[str, UUID], admin: Connection
) -> None:
    await admin.execute(
        "ALTER TABLE memory_events ADD CONSTRAINT no_room CHECK (event_type = 'none') NOT VALID"
    )
    acts: list[tuple[Act, str]] = [(forget_memory, kind) for kind in KINDS]
    for act, kind in [*acts, (confirm_memory, "fact"), (confirm_memory, "rule")]:
        with pytest.raises(Exception, match="the store refused the change"):
            await act(memory, principal, kind, stored[kind])
    assert (await row(admin, "facts", stored["fact"]))["validity"] == "active"
    assert (await row(admin, "rules", stored["rule"]))["metadata"] == {}
    assert await count(admin, "memory_versions") == 0


@pytest.mark.requirement("STO-10")
async def test_many_confirm_one_fact_at_once(memory: Memory, principal: Principal) -> None:
    id, _ = await store_fact(memory, principal, "user", "city", "Lives in Lisbon")
    running = replace(memory, clock=utc_now)
    rows = await asyncio.gather(*(confirm_memory(running, principal, "fact", id) for _ in range(8)))
    assert all(row["validity"] == "active" for row in rows)


async def test_a_superseded_fact_is_restored_as_what_it_was(
    memory: Memory, principal: Principal, clock: Clock, admin: Connection
) -> None:
    old, _ = await store_fact(memory, principal, "zed", "city", "Rome")
    clock.advance(hours=1)
    new, _ = await store_fact(memory, principal, "zed", "city", "Oslo")
    for id in (old, new):
        clock.advance(hours=1)
        await forget_memory(memory, principal, "fact", id)
    clock.advance(hours=1)
    await restore_memory(memory, principal, "fact", old)
    restored = await row(admin, "facts", old)
    assert restored["validity"] == "superseded"
    assert restored["retired_at"] is not None
    await restore_memory(memory, principal, "fact", new)
    assert (await row(admin, "facts", new))["validity"] == "active"


@pytest.mark.parametrize("kind", ["fact", "rule"])
async def test_what_is_restored_outlives_the_next_sweep(
    memory: Memory, principal: Principal, admin: Connection, clock: Clock, kind: str
) -> None:
    """What decayed while it was forgotten, or was forgotten because it had, is wanted back."""
    if kind == "fact":
        id, _ = await store_fact(memory, principal, "user", "mood", "sad", permanence="volatile")
        clock.advance(days=1)
        await forget_memory(memory, principal, kind, id)
    else:
        id = await store_rule(memory, principal, "offer tea")
        clock.advance(days=300)
        await sweep.run(memory, principal)
        assert (await row(admin, "rules", id))["metadata"] == {"forgotten": True, "swept": True}
    clock.advance(days=300)
    await restore_memory(memory, principal, kind, id)
    restored = await row(admin, f"{kind}s", id)
    assert restored["last_confirmed_at"] == clock.now
    assert (await event_types(admin)).count("memory_confirmed") == 1
    clock.advance(days=1)
    await sweep.run(memory, principal)
    assert await row(admin, f"{kind}s", id) == restored
    event = await admin.fetchval(
        "SELECT id FROM memory_events WHERE event_type = 'memory_restored'"
    )
    await undo_change(memory, principal, event_id=event)
    assert (await row(admin, f"{kind}s", id))["last_confirmed_at"] == NOW


async def test_what_is_restored_soon_keeps_its_age(
    memory: Memory, principal: Principal, stored: dict[str, UUID], admin: Connection, clock: Clock
) -> None:
    for kind in ("fact", "rule"):
        await forget_memory(memory, principal, kind, stored[kind])
        clock.advance(days=1)
        await restore_memory(memory, principal, kind, stored[kind])
        assert (await row(admin, f"{kind}s", stored[kind]))["last_confirmed_at"] == NOW


async def test_confirming_what_is_over_or_switched_off_says_so(
    memory: Memory, principal: Principal, stored: dict[str, UUID], clock: Clock
) -> None:
    async def told(kind: MemoryType, id: UUID) -> str | None:
        row = await confirm_memory(memory, principal, kind, id)
        return (await why_inactive(memory, principal, kind, row))[0]

    until = clock.now + timedelta(days=1)
    away, _ = await store_fact(memory, principal, "user", "away", "in Porto", valid_until=until)
    assert await told("fact", away) is None
    clock.advance(days=1)
    said = f"fact {away} ended at 2026-03-02 12:00 UTC; give it a later valid_until if it holds on"
    assert await told("fact", away) == said
    assert await told("rule", stored["rule"]) is None
    await move_rule(memory, principal, stored["rule"], "disable")
    assert await told("rule", stored["rule"]) == f"rule {stored['rule']} is switched off"
