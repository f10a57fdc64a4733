"""Memory as it stood: what was known at a moment, and what was true at one."""

from dataclasses import replace
from datetime import datetime, timedelta
from uuid import uuid4

import pytest

from conftest import Clock, Connection
from memory_butler.domain.difference import Fate
from memory_butler.domain.errors import InvalidInput, NotFound
from memory_butler.domain.principals import Principal
from memory_butler.domain.standpoint import Standpoint
from memory_butler.engine.browse.entities import list_entities
from memory_butler.engine.browse.events import list_events
from memory_butler.engine.browse.lists import list_memories
from memory_butler.engine.browse.looks import look_at_episode, look_at_fact, look_at_rule
from memory_butler.engine.context import build_context
from memory_butler.engine.curate import confirm_memory, forget_memory, get_memory, restore_memory
from memory_butler.engine.edits import edit_rule, move_rule
from memory_butler.engine.entities import (
    create_entity,
    get_entity,
    merge_entities,
    resolve_entity,
    update_entity,
)
from memory_butler.engine.history import compare, deleted_episode, deleted_since
from memory_butler.engine.lifecycle import cleanup, sweep
from memory_butler.engine.linking import create_link, get_links
from memory_butler.engine.memory import Memory
from memory_butler.engine.recall import recall, search
from memory_butler.engine.remember import store_episode, store_fact, store_rule
from memory_butler.engine.stats import memory_statistics
from memory_butler.engine.undo import undo_change
from memory_butler.store.events import EventFilter
from memory_butler.store.facts import FactFilter
from memory_butler.store.listing import Part

from .store_views import count

pytestmark = pytest.mark.anyio


async def _told(memory: Memory, principal: Principal, topic: str) -> list[str]:
    return [hit.row["content"] for hit in await recall(memory, principal, topic)]


async def test_what_was_known_is_what_had_been_stored_by_then(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    await store_fact(memory, principal, "user", "city", "Lives in Lisbon")
    lisbon = clock.now
    clock.advance(days=30)
    await store_fact(memory, principal, "user", "city", "Lives in Porto")
    porto = clock.now
    clock.advance(days=30)
    assert await _told(memory, principal, "city") == ["Lives in Porto"]
    assert await _told(memory.at(lisbon), principal, "city") == ["Lives in Lisbon"]
    assert await _told(memory.at(porto), principal, "city") == ["Lives in Porto"]
    assert await _told(memory.at(lisbon - timedelta(seconds=1)), principal, "city") == []
    block = await build_context(memory.at(lisbon), principal, "city", "general")
    assert "Lives in Lisbon" in block.text
    assert "confidence: 1.00" in block.text


async def test_what_was_true_goes_by_the_periods_as_they_are_known_now(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    """A change ends a period; a correction says that the fact never held (C-109)."""
    began = clock.now - timedelta(days=400)
    await store_fact(memory, principal, "user", "city", "Lives in Lisbon", valid_from=began)
    await store_fact(memory, principal, "user", "pet", "Has a cat", valid_from=began)
    clock.advance(days=30)
    moved = clock.now - timedelta(days=10)
    await store_fact(memory, principal, "user", "city", "Lives in Porto", valid_from=moved)
    await store_fact(memory, principal, "user", "pet", "Has a dog", valid_from=began)
    clock.advance(days=30)
    before = moved - timedelta(days=1)
    assert set(await _told(memory.at(None, before), principal, "user")) == {
        "Lives in Lisbon",
        "Has a dog",
    }
    assert "Lives in Porto" in await _told(memory.at(None, moved), principal, "user")
    assert await _told(memory.at(None, began - timedelta(days=1)), principal, "user") == []
    # What was true then, as far as it was known before the move was told of.
    known = began + timedelta(days=401)
    assert set(await _told(memory.at(known, moved), principal, "user")) == {
        "Lives in Lisbon",
        "Has a cat",
    }


async def test_the_past_counts_nothing_but_notes_what_it_told(
    memory: Memory, principal: Principal, clock: Clock, admin: Connection
) -> None:
    id, _ = await store_fact(memory, principal, "user", "hot_drink", "Jasmine tea")
    then = clock.now
    clock.advance(days=1)
    hits = await search(memory.at(then), principal, "jasmine tea", session_id=uuid4())
    assert [hit.row["id"] for hit in hits] == [id]
    assert await get_memory(memory.at(then), principal, "fact", id) is not None
    assert await admin.fetchval("SELECT sum(reference_count) FROM facts") == 0
    assert await admin.fetchval("SELECT served_at FROM served") == clock.now


async def test_a_rule_is_found_by_the_text_that_it_had(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    id = await store_rule(memory, principal, "Offer jasmine tea to guests")
    clock.advance(days=1)
    await confirm_memory(memory, principal, "rule", id)  # a version without its vector comes first
    then = clock.now - timedelta(hours=1)
    clock.advance(days=1)
    await edit_rule(memory, principal, id, {"content": "Book flights early in the year"})
    for mode in ("semantic", "keyword"):
        found = await search(memory.at(then), principal, "jasmine tea", mode=mode, types=["rule"])
        assert [hit.row["content"] for hit in found] == ["Offer jasmine tea to guests"]
        similar = found[0].match.found.similarity
        assert mode == "keyword" or (similar is not None and similar > 0.5)
    assert await search(memory, principal, "jasmine", mode="keyword", types=["rule"]) == []
    looked = await look_at_rule(memory.at(then), principal, id)
    assert looked.row["content"] == "Offer jasmine tea to guests"


async def test_what_was_forgotten_or_faded_since_is_as_it_was(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    gone, _ = await store_fact(memory, principal, "user", "hot_drink", "Jasmine tea")
    fades, _ = await store_fact(memory, principal, "user", "mood", "Cheery", permanence="volatile")
    then = clock.now
    clock.advance(days=1)
    await forget_memory(memory, principal, "fact", gone)
    clock.advance(days=60)
    await sweep.run(memory, principal)
    assert await _told(memory, principal, "user drink mood") == []
    assert len(await _told(memory.at(then), principal, "user drink mood")) == 2
    row = (await look_at_fact(memory.at(then), principal, gone)).row
    assert (row["validity"], row["retired_at"], row["metadata"]) == ("active", None, {})
    found = await list_memories(
        memory.at(then), principal, FactFilter(validities=("active",)), Part()
    )
    assert (found.total, {one["id"] for one in found.rows}) == (2, {gone, fades})
    stats = await memory_statistics(memory.at(then), principal)
    assert stats["facts"]["active"] == 2
    assert (await memory_statistics(memory, principal))["facts"]["active"] == 0


async def test_entities_and_links_are_those_of_then(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    ana = await create_entity(memory, principal, "Ana Silva", "person")
    anna = await create_entity(memory, principal, "Anna", "person")
    id, _ = await store_fact(
        memory, principal, "Anna", "city", "Lives in Faro", entity_id=anna["id"]
    )
    other, _ = await store_fact(memory, principal, "Ana", "job", "Sails")
    then = clock.now
    clock.advance(days=1)
    await create_link(memory, principal, "fact", id, "fact", other, "related_to")
    await merge_entities(memory, principal, anna["id"], ana["id"])
    past = memory.at(then)
    tombstone = await get_entity(memory, principal, anna["id"])
    assert tombstone is not None
    assert "merged_into" in tombstone["metadata"]
    assert await get_entity(past, principal, anna["id"]) == anna
    resolved = await resolve_entity(past, principal, "anna")
    assert resolved[0].entity_id == anna["id"]
    assert (await look_at_fact(past, principal, id)).row["entity_id"] == anna["id"]
    assert (await look_at_fact(memory, principal, id)).row["entity_id"] == ana["id"]
    named = await list_entities(past, principal, Part(), entity_type=None, merged=False, q=None)
    assert named.total == 2
    assert await get_links(past, principal, "fact", id) == []
    assert len(await get_links(memory, principal, "fact", id)) == 1


async def test_deleted_episodes_are_told_of(
    memory: Memory, principal: Principal, clock: Clock, admin: Connection
) -> None:
    id = await store_episode(memory, principal, "We drank jasmine tea", "general")
    then = clock.now
    clock.advance(days=91)
    await cleanup.clean_up(memory, principal)
    assert await count(admin, "episodes") == 0
    past = memory.at(then)
    assert await search(past, principal, "jasmine tea", types=["episode"]) == []
    gone = await deleted_since(past, principal, "general")
    assert gone is not None
    assert [(one["id"], one["deleted_at"], one["reason"]) for one in gone.episodes] == [
        (id, clock.now, "expired")
    ]
    other = await deleted_since(past, principal, "other")
    assert other is not None
    assert other.total == 0
    assert await deleted_since(memory, principal, None) is None
    assert await get_memory(past, principal, "episode", id) is None
    left = await deleted_episode(past, principal, id)
    assert left is not None
    with pytest.raises(NotFound, match=r"was known then, and was deleted at .* \(expired\)"):
        await look_at_episode(past, principal, id)


async def test_the_future_is_not_known(memory: Memory, clock: Clock) -> None:
    with pytest.raises(InvalidInput, match="lies in the future"):
        memory.at(clock.now + timedelta(minutes=1, seconds=1))
    with pytest.raises(InvalidInput, match="time zone"):
        memory.at(clock.now.replace(tzinfo=None))
    assert memory.at(None) is memory


async def test_what_a_clock_that_is_ahead_calls_now_is_now(memory: Memory, clock: Clock) -> None:
    """A client that reads a long list takes its own clock's time for all parts."""
    seen = memory.at(clock.now + timedelta(seconds=30))
    assert seen.standpoint == Standpoint(clock.now)


async def test_the_views_have_every_column_of_their_tables(admin: Connection) -> None:
    """A revision that adds a column ends with `history_views()`."""
    columns = await admin.fetch(
        "SELECT table_schema, table_name, array_agg(column_name::text ORDER BY ordinal_position)"
        " AS names FROM information_schema.columns"
        " WHERE table_schema IN ('public', 'memory_history') GROUP BY 1, 2"
    )
    by = {(row["table_schema"], row["table_name"]): row["names"] for row in columns}
    views = [name for schema, name in by if schema == "memory_history"]
    assert len(views) == 7
    for name in views:
        assert by["memory_history", name] == by["public", name]


async def _compared(
    memory: Memory, principal: Principal, since: datetime, until: datetime | None = None
) -> dict[Fate, set[tuple[str | None, str | None, tuple[str, ...]]]]:
    found = await compare(memory, principal, since, until, limit=50)
    assert found.totals == {fate: len(some) for fate, some in found.told.items()}
    return {
        fate: {(one.before, one.after, one.difference.what) for one in some}
        for fate, some in found.told.items()
    }


async def test_what_was_learned_changed_and_forgotten_between_two_moments(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    await store_fact(memory, principal, "Ana", "city", "Lisbon")
    lost, _ = await store_fact(memory, principal, "Ana", "pet", "A cat")
    held, _ = await store_fact(memory, principal, "Ana", "job", "Sails")
    rule = await store_rule(memory, principal, "Write to Ana")
    ana = await create_entity(memory, principal, "Ana", "person")
    start = clock.now
    clock.advance(days=1)
    await store_fact(memory, principal, "Ana", "city", "Porto")
    clock.advance(days=1)
    middle = clock.now
    clock.advance(days=1)
    await store_fact(memory, principal, "Ana", "city", "Faro")
    await store_fact(memory, principal, "Ana", "hot_drink", "Jasmine tea")
    passing, _ = await store_fact(memory, principal, "Ana", "mood", "Cheery")
    await forget_memory(memory, principal, "fact", lost)
    await confirm_memory(memory, principal, "fact", held)
    await edit_rule(memory, principal, rule, {"content": "Call Ana"})
    await update_entity(memory, principal, ana["id"], canonical_name="Ana Silva")
    clock.advance(days=1)
    await forget_memory(memory, principal, "fact", passing)
    assert await _compared(memory, principal, start, middle) == {
        "learned": set(),
        "changed": {("Ana · city: Lisbon", "Ana · city: Porto", ("replaced",))},
        "forgotten": set(),
    }
    assert await _compared(memory, principal, start) == {
        "learned": {(None, "Ana · hot drink: Jasmine tea", ())},
        "changed": {
            ("Ana · city: Lisbon", "Ana · city: Faro", ("replaced",)),
            ("Ana · job: Sails", "Ana · job: Sails", ("confirmed",)),
            ("Write to Ana", "Call Ana", ("content", "confirmed")),
            ("Ana", "Ana Silva", ("name",)),
        },
        "forgotten": {("Ana · pet: A cat", None, ("forgotten",))},
    }
    clock.advance(days=30)
    await restore_memory(memory, principal, "fact", lost)
    assert (await _compared(memory, principal, clock.now - timedelta(days=1)))["changed"] == {
        (None, "Ana · pet: A cat", ("restored",))
    }
    with pytest.raises(InvalidInput, match="must be earlier"):
        await compare(memory, principal, middle, start, limit=50)


async def _authors(
    memory: Memory, principal: Principal, since: datetime
) -> dict[str | None, tuple[str | None, datetime | None, tuple[str, ...]]]:
    """By what was said: who changed it, when, and what the change is called."""
    found = await compare(memory, principal, since, None, limit=50)
    return {
        (one.before or one.after): (one.actor, one.at, one.difference.what)
        for some in found.told.values()
        for one in some
    }


async def test_a_comparison_names_who_changed_what_and_when(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    home = replace(principal, actor="home")
    await store_fact(memory, principal, "Ana", "city", "Lisbon")
    lost, _ = await store_fact(memory, principal, "Ana", "pet", "A cat")
    rule = await store_rule(memory, principal, "Write to Ana")
    ana = await create_entity(memory, principal, "Ana", "person")
    await store_episode(memory, principal, "We drank tea", "general")
    start = clock.now
    made = {}
    for name, step in {
        "moved": store_fact(memory, home, "Ana", "city", "Porto"),
        "edited": edit_rule(memory, home, rule, {"scope": "home", "tags": ["ana"]}),
        "renamed": update_entity(memory, principal, ana["id"], canonical_name="Ana Silva"),
        "forgotten": forget_memory(memory, home, "fact", lost),
    }.items():
        clock.advance(days=3)
        await step
        made[name] = clock.now
    clock.advance(days=1)
    assert await _authors(memory, principal, start) == {
        "Ana · city: Lisbon": ("home", made["moved"], ("replaced",)),
        "Write to Ana": (
            "home",
            made["edited"],
            ("scope: global → home", "tags: none → ana", "confirmed"),
        ),
        "Ana": (principal.actor, made["renamed"], ("name",)),
        "Ana · pet: A cat": ("home", made["forgotten"], ("forgotten",)),
        "We drank tea": (None, None, ("expired",)),
    }


async def test_a_comparison_names_whoever_ended_it_not_who_changed_it_before(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    home = replace(principal, actor="home")
    soon = clock.now + timedelta(days=5)
    trip, _ = await store_fact(memory, principal, "Ana", "trip", "Faro", valid_until=soon)
    await store_fact(memory, principal, "Ana", "city", "Lisbon")
    lost, _ = await store_fact(memory, principal, "Ana", "pet", "A cat")
    await forget_memory(memory, principal, "fact", lost)
    clock.advance(days=1)
    await store_fact(memory, principal, "Ana", "city", "Porto")
    start = clock.now
    clock.advance(days=1)
    await confirm_memory(memory, home, "fact", trip)
    clock.advance(days=1)
    await undo_change(memory, home)
    await undo_change(memory, home, anybody=True)  # the new city, which brings the old one back
    undone = clock.now
    clock.advance(days=1)
    await restore_memory(memory, principal, "fact", lost)
    restored = clock.now
    clock.advance(days=1)
    await confirm_memory(memory, home, "fact", trip)
    await confirm_memory(memory, home, "fact", lost)
    clock.advance(days=5)
    assert await _authors(memory, principal, start) == {
        "Ana · trip: Faro": (None, None, ("ended",)),
        "Ana · city: Lisbon": ("home", undone, ("restored",)),
        "Ana · pet: A cat": (principal.actor, restored, ("restored",)),
    }


async def test_a_comparison_names_whoever_forgot_it_not_who_changed_it_before_or_later(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    home = replace(principal, actor="home")
    ana = await create_entity(memory, principal, "Ana", "person")
    double = await create_entity(memory, principal, "Anna", "person")
    lost, _ = await store_fact(memory, principal, "Anna", "pet", "A cat", entity_id=double["id"])
    rule = await store_rule(memory, principal, "Write to Ana")
    start = clock.now
    clock.advance(days=1)
    await move_rule(memory, principal, rule, "disable")
    clock.advance(days=1)
    await forget_memory(memory, home, "fact", lost)
    await forget_memory(memory, home, "rule", rule)
    forgotten = clock.now
    clock.advance(days=1)
    await merge_entities(memory, principal, double["id"], ana["id"])
    merged = clock.now
    clock.advance(days=1)
    found = await compare(memory, principal, start, None, limit=50)
    assert {
        one.before: (one.actor, one.at, one.difference.what) for one in found.told["forgotten"]
    } == {
        "Anna · pet: A cat": ("home", forgotten, ("forgotten",)),
        "Write to Ana": ("home", forgotten, ("forgotten",)),
        "Anna": (principal.actor, merged, ("merged",)),
    }


async def test_an_event_that_put_another_text_in_place_has_both(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    await store_fact(memory, principal, "Ana", "city", "Lisbon")
    rule = await store_rule(memory, principal, "Write to Ana")
    ann, ana = [
        (await create_entity(memory, principal, name, "person"))["id"] for name in ("Ann", "Ana")
    ]
    for step in (
        store_fact(memory, principal, "Ana", "city", "Porto"),
        edit_rule(memory, principal, rule, {"content": "Call Ana"}),
        edit_rule(memory, principal, rule, {"tags": ["ana"]}),
        edit_rule(memory, principal, rule, {"content": "Visit Ana"}),
        merge_entities(memory, principal, ann, ana),
    ):
        clock.advance(days=1)
        await step
    told = (await list_events(memory, principal, EventFilter(), Part())).rows
    assert [
        (one["event_type"], one["before"], one["after"])
        for one in told
        if one["before"] is not None or one["event_type"] == "rule_edited"
    ] == [
        ("entity_merge", "Ann", "Ana"),
        ("rule_edited", "Call Ana", "Visit Ana"),
        ("rule_edited", None, None),
        ("rule_edited", "Write to Ana", "Call Ana"),
        ("fact_superseded", "Ana · city: Lisbon", "Ana · city: Porto"),
    ]


async def test_episodes_run_out_of_time_between_two_moments(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    await store_episode(memory, principal, "We drank tea", "general")
    start = clock.now
    clock.advance(days=10)
    assert (await _compared(memory, principal, start))["forgotten"] == {
        ("We drank tea", None, ("expired",))
    }
    clock.advance(days=81)  # what waits for consolidation is kept for 90
    await cleanup.clean_up(memory, principal)
    assert (await compare(memory, principal, start, None, limit=50)).deleted == 1


async def test_the_report_of_a_sweep_is_neither_learned_nor_forgotten(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    start = clock.now
    clock.advance(days=1)
    await sweep.run(memory, principal)
    await store_episode(memory, principal, "Sweeps the yard", "memory")
    assert await _compared(memory, principal, start) == {
        "learned": {(None, "Sweeps the yard", ())},
        "changed": set(),
        "forgotten": set(),
    }
    since = clock.now
    clock.advance(days=30)
    assert await _compared(memory, principal, since) == {
        "learned": set(),
        "changed": set(),
        "forgotten": {("Sweeps the yard", None, ("expired",))},
    }


async def test_a_comparison_counts_all_and_tells_so_many(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    start = clock.now
    clock.advance(days=1)
    for seen in range(3):
        stored, _ = await store_fact(memory, principal, "Ana", f"saw_{seen}", "A whale")
    clock.advance(days=1)
    await confirm_memory(memory, principal, "fact", stored)
    found = await compare(memory, principal, start, None, limit=2)
    assert found.totals == {"learned": 3, "changed": 0, "forgotten": 0}
    assert len(found.told["learned"]) == 2
