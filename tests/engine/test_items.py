"""Programs' own records: what is refused, what expires, and who sees what."""

from dataclasses import replace
from math import inf
from typing import Any

import pytest

from conftest import Clock, Connection
from memory_butler.domain.errors import InvalidInput
from memory_butler.domain.items import MAX_CONDITIONS, Condition, conditions
from memory_butler.domain.principals import Principal
from memory_butler.engine.items import (
    MAX_ITEMS,
    Change,
    append_items,
    clear_items,
    count_expired_items,
    expire_items,
    get_items,
    list_namespaces,
    pop_item,
    put_items,
    search_items,
    tail_items,
)
from memory_butler.engine.jobs.catalogue import BY_NAME
from memory_butler.engine.memory import Memory
from memory_butler.engine.recall import recall

pytestmark = pytest.mark.anyio

PLACE = ["users", "ana"]


def test_a_filter_becomes_conditions_that_must_all_hold() -> None:
    wanted = {"colour": "red", "size": {"$gte": 3, "$lt": 9}, "at": {"city": "Porto"}, "tags": []}
    assert conditions(wanted) == (
        Condition(("colour",), "eq", "red"),
        Condition(("size",), "gte", 3),
        Condition(("size",), "lt", 9),
        Condition(("at", "city"), "eq", "Porto"),
        Condition(("tags",), "eq", []),
    )


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"a": {"$like": "x"}}, r"'\$like'.*\$eq, \$ne, \$gt"),
        ({"$eq": 1}, "inside a member"),
        ({"a": {"$gt": [1]}}, "compares with a number or a text, not list"),
        ({"a": {"$lte": True}}, "not bool"),
        ({str(n): n for n in range(MAX_CONDITIONS + 1)}, "at most 50"),
    ],
)
def test_a_filter_that_cannot_be_applied_is_refused(wanted: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        conditions(wanted)


async def test_what_cannot_be_kept_is_refused_and_nothing_of_its_batch_is_written(
    memory: Memory, principal: Principal
) -> None:
    for change, said in (
        (Change([], "k", {}), "1 to 20 labels, not 0"),
        (Change(["a"] * 21, "k", {}), "not 21"),
        (Change(["a", " "], "k", {}), "a label of the namespace is empty"),
        (Change(["a" * 400, "b" * 400, "c" * 400], "k", {}), "1,200 bytes, at most 1,000"),
        (Change(PLACE, "", {}), "key is empty"),
        (Change(PLACE, "k" * 501, {}), "at most 500"),
        (Change(PLACE, "k", {"a": "x" * 2**20}), "at most 1,048,576"),
        (Change(PLACE, "k", {"a": float("nan")}), "finite"),
        (Change(PLACE, "k", {}, ttl_minutes=0), "ttl_minutes must be above 0"),
        (Change(PLACE, "k", {}, ttl_minutes=1e9), "at most 52,596,000"),
    ):
        with pytest.raises(InvalidInput, match=said):
            await put_items(memory, principal, [Change(PLACE, "fine", {}), change])
        assert await get_items(memory, principal, [(PLACE, "fine")]) == [None], said


async def test_too_many_at_once_are_refused(memory: Memory, principal: Principal) -> None:
    with pytest.raises(InvalidInput, match="201 changes are given, at most 200"):
        await put_items(memory, principal, [Change(PLACE, "k", {})] * (MAX_ITEMS + 1))


async def test_the_longest_name_that_is_allowed_fits_the_index(
    memory: Memory, admin: Connection
) -> None:
    # Random enough not to be compressed: an index entry holds 2,704 bytes.
    import random

    letters = random.Random(1)  # noqa: S311 -- text, no secret

    def text(size: int) -> str:
        return "".join(chr(letters.randrange(33, 127)) for _ in range(size))

    owner = Principal(tenant=text(500))
    place = [text(50) for _ in range(20)]
    await put_items(memory, owner, [Change(place, text(500), {"a": 1})])
    assert await admin.fetchval("SELECT count(*) FROM items") == 1


async def test_a_tenant_sees_and_changes_its_own_records_alone(memory: Memory) -> None:
    ana, bob = Principal(tenant="ana"), Principal(tenant="bob")
    await put_items(memory, ana, [Change(PLACE, "tea", {"of": "ana"}, "tea")])
    await put_items(memory, bob, [Change(PLACE, "tea", {"of": "bob"}, "tea")])
    (found,) = await search_items(memory, bob, [], "tea")
    assert found["value"] == {"of": "bob"}
    await put_items(memory, bob, [Change(PLACE, "tea", None)])
    assert await search_items(memory, bob, []) == []
    assert await list_namespaces(memory, bob) == []
    (kept,) = await get_items(memory, ana, [(PLACE, "tea")])
    assert kept is not None
    assert kept["value"] == {"of": "ana"}


async def test_records_are_no_memories(memory: Memory, principal: Principal) -> None:
    await put_items(memory, principal, [Change(PLACE, "k", {"a": "likes tea"}, "likes tea")])
    assert await recall(memory, principal, "tea") == []


async def test_the_time_to_live_counts_from_the_last_use(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    names = [(PLACE, "k")]
    await put_items(memory, principal, [Change(PLACE, "k", {}, ttl_minutes=10)])
    clock.advance(minutes=9)
    assert await get_items(memory, principal, names) != [None]
    clock.advance(minutes=9)
    assert len(await search_items(memory, principal, PLACE)) == 1
    clock.advance(minutes=9)
    assert await get_items(memory, principal, names, refresh=False) != [None]
    assert len(await search_items(memory, principal, PLACE, refresh=False)) == 1
    clock.advance(minutes=1)
    # Over, and not brought back by being asked for.
    assert await get_items(memory, principal, names) == [None]
    assert await search_items(memory, principal, PLACE) == []
    assert await list_namespaces(memory, principal) == []
    # A record of the same name is another one.
    await put_items(memory, principal, [Change(PLACE, "k", {})])
    (again,) = await get_items(memory, principal, names)
    assert again is not None
    assert again["created_at"] == clock.now


async def test_what_expired_is_removed_by_the_next_write_and_by_the_nightly_cleanup(
    memory: Memory, principal: Principal, clock: Clock, admin: Connection
) -> None:
    async def rows() -> int:
        counted: int = await admin.fetchval("SELECT count(*) FROM items")
        return counted

    for n in range(3):
        await put_items(memory, principal, [Change(PLACE, str(n), {}, ttl_minutes=1)])
    await put_items(memory, principal, [Change(PLACE, "stays", {})])
    clock.advance(minutes=1)
    assert await rows() == 4
    assert await count_expired_items(memory, principal) == 3
    other = Principal(tenant="other")
    assert await expire_items(memory, other) == 0
    cleanup = BY_NAME["episode_cleanup"]
    assert (await cleanup.plan(memory, principal))["items_expired"] == 3
    assert (await cleanup.run(memory, principal))["items_expired"] == 3
    assert await rows() == 1
    await put_items(memory, principal, [Change(PLACE, "again", {}, ttl_minutes=1)])
    clock.advance(minutes=1)
    await put_items(memory, principal, [Change(PLACE, "write", {})])
    assert await rows() == 2


async def test_a_vector_of_another_model_is_not_compared(
    memory: Memory, principal: Principal
) -> None:
    await put_items(memory, principal, [Change(PLACE, "k", {}, "tea")])
    moved = replace(memory, embedding_version_id=memory.embedding_version_id + 1)
    (found,) = await search_items(moved, principal, PLACE, "tea")
    assert found["score"] is None


async def test_appended_records_count_on_and_are_taken_from_the_end(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    below, other = [*PLACE, "below"], Principal(tenant="other")
    await append_items(memory, principal, below, [{"n": "below"}])
    await append_items(memory, other, PLACE, [{"n": "theirs"}])
    await put_items(memory, principal, [Change(PLACE, "!named", {}, ttl_minutes=1)])
    clock.advance(minutes=2)
    keys = await append_items(memory, principal, PLACE, [{"n": n} for n in range(12)])
    assert [int(key) for key in keys] == list(range(1, 13))
    assert keys == sorted(keys)
    assert await append_items(memory, principal, PLACE, []) == []

    async def tail(**wanted: Any) -> list[int]:
        return [row["value"]["n"] for row in await tail_items(memory, principal, PLACE, **wanted)]

    assert await tail() == list(range(2, 12))
    assert await tail(before=keys[4], limit=2) == [2, 3]
    popped = await pop_item(memory, principal, PLACE)
    assert popped is not None
    assert (popped["key"], popped["value"]) == (keys[-1], {"n": 11})
    assert await append_items(memory, principal, PLACE, [{"n": 99}]) == [keys[-1]]
    assert await clear_items(memory, principal, PLACE) == 13  # with the one whose time was over
    assert await pop_item(memory, principal, PLACE) is None
    assert [row["value"]["n"] for row in await tail_items(memory, other, PLACE)] == ["theirs"]
    assert len(await tail_items(memory, principal, below)) == 1


async def test_appending_is_all_or_nothing(memory: Memory, principal: Principal) -> None:
    for values, told in (([{}] * (MAX_ITEMS + 1), "at most 200"), ([{}, {"n": inf}], "number")):
        with pytest.raises(InvalidInput, match=told):
            await append_items(memory, principal, PLACE, values)
    with pytest.raises(InvalidInput, match="1 to 20 labels"):
        await append_items(memory, principal, [], [{}])
    assert await tail_items(memory, principal, PLACE) == []


async def test_a_depth_that_no_namespace_has_cuts_nothing(
    memory: Memory, principal: Principal
) -> None:
    await put_items(memory, principal, [Change(["users", "ana"], "k", {})])
    assert await list_namespaces(memory, principal, max_depth=2**70) == [["users", "ana"]]
