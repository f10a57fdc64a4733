"""The store of LangGraph, held to what its own tests ask of a store, and the example."""

import asyncio

import pytest
from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)

from conftest import Clock
from example_programs import example
from memory_butler.client import MemoryClient
from memory_butler.domain.errors import InvalidInput
from memory_butler.domain.principals import Principal
from memory_butler.engine.memory import Memory
from memory_butler.integrations.langgraph import MemoryStore
from surfaces.serving import Served

pytestmark = pytest.mark.anyio

PLACES = [
    ("a", "b", "c"),
    ("a", "b", "d", "e"),
    ("a", "b", "d", "i"),
    ("a", "b", "f"),
    ("a", "c", "f"),
    ("b", "a", "f"),
    ("users", "1"),
    ("users", "2", "settings"),
]


@pytest.fixture
async def store(memory: Memory) -> MemoryStore:
    return MemoryStore(MemoryClient.of(memory))


@pytest.fixture
async def peopled(store: MemoryStore) -> MemoryStore:
    """A store with one item in each place."""
    await store.abatch([PutOp(place, "k", {}, index=False) for place in PLACES])
    return store


async def keys(store: MemoryStore, *place: str, **wanted: object) -> list[str]:
    found = await store.asearch(place, **wanted)  # type: ignore[arg-type]
    return [item.key for item in found]


async def test_an_item_is_put_read_replaced_and_deleted(store: MemoryStore, clock: Clock) -> None:
    place, value = ("docs", "ana"), {"title": "One", "nested": {"n": [1, 2.5, None, True]}}
    assert await store.aget(place, "k") is None
    await store.aput(place, "k", value)
    first = await store.aget(place, "k")
    assert first is not None
    assert (first.namespace, first.key, first.value) == (place, "k", value)
    assert first.created_at == first.updated_at == clock.now
    later = clock.advance(minutes=1)
    await store.aput(place, "k", {"title": "Two"})
    second = await store.aget(place, "k")
    assert second is not None
    assert second.value == {"title": "Two"}  # replaced, not merged
    assert (second.created_at, second.updated_at) == (first.created_at, later)
    await store.adelete(place, "k")
    assert await store.aget(place, "k") is None
    await store.adelete(place, "k")  # what is not there is no error


@pytest.mark.parametrize(
    "place", [(), ("the", "thing.about"), ("some", ""), ("langgraph", "x")], ids=str
)
async def test_a_namespace_that_langgraph_forbids(
    store: MemoryStore, place: tuple[str, ...]
) -> None:
    with pytest.raises(InvalidNamespaceError):
        await store.aput(place, "k", {})


async def test_a_batch_answers_in_order_and_reads_before_it_writes(store: MemoryStore) -> None:
    await store.aput(("a",), "old", {"n": 1})
    results = await store.abatch(
        [
            PutOp(("a",), "new", {"n": 2}),
            GetOp(("a",), "old"),
            GetOp(("a",), "new", refresh_ttl=False),
            SearchOp(("a",)),
            ListNamespacesOp(),
            PutOp(("a",), "old", None),
            PutOp(("a",), "new", {"n": 3}),
        ]
    )
    written, old, new, found, named, *rest = results
    assert old is not None
    assert old.value == {"n": 1}  # type: ignore[union-attr]
    assert [item.key for item in found] == ["old"]  # type: ignore[union-attr]
    assert (written, new, named, rest) == (None, None, [("a",)], [None, None])
    after = await store.asearch(("a",))
    assert [(item.key, item.value) for item in after] == [("new", {"n": 3})]


async def test_more_than_one_request_holds_goes_in_several(store: MemoryStore) -> None:
    many = [PutOp((f"n{n:03}",), "k", {"n": n}, index=False) for n in range(250)]
    await store.abatch(many)
    found = await store.abatch([GetOp(one.namespace, one.key) for one in many])
    assert [one.value["n"] for one in found] == list(range(250))  # type: ignore[union-attr]
    assert len(await store.asearch((), limit=240)) == 240
    assert len(await store.asearch((), limit=300)) == 250
    assert await store.alist_namespaces(limit=240) == [one.namespace for one in many[:240]]
    assert len(await store.alist_namespaces(limit=300)) == 250


async def test_searching_stays_below_its_namespace(store: MemoryStore) -> None:
    for place in (("a",), ("a", "b"), ("ab",), ("b", "a")):
        await store.aput(place, "-".join(place), {})
    assert sorted(await keys(store, "a")) == ["a", "a-b"]
    assert await keys(store, "a", "b") == ["a-b"]
    assert len(await keys(store)) == 4
    assert await keys(store, "nobody") == []


async def test_searching_by_filters(store: MemoryStore) -> None:
    values: dict[str, dict[str, object]] = {
        "one": {"colour": "red", "size": 1, "tags": ["x"], "at": {"city": "Porto", "floor": 2}},
        "two": {"colour": "red", "size": 10, "tags": ["x", "y"], "at": {"city": "Lisbon"}},
        "three": {"colour": "blue", "size": 2.5, "on": "2026-03-01"},
    }
    await store.abatch([PutOp(("f",), key, value) for key, value in values.items()])

    async def found(**wanted: object) -> set[str]:
        return set(await keys(store, "f", filter=wanted))

    assert await found() == set(values)
    assert await found(colour="red") == {"one", "two"}
    assert await found(colour={"$eq": "red"}, size={"$gt": 1}) == {"two"}
    assert await found(colour={"$ne": "red"}) == {"three"}
    assert await found(size={"$gte": 1, "$lt": 10}) == {"one", "three"}  # 10 is above 2.5
    assert await found(size={"$lte": 2.5}) == {"one", "three"}
    assert await found(size={"$gt": "0"}) == set()  # a text is no number
    assert await found(on={"$gte": "2026-01-01"}) == {"three"}
    assert await found(tags=["x"]) == {"one"}
    assert await found(at={"city": "Porto"}) == {"one"}
    assert await found(at={"floor": {"$gt": 1}}) == {"one"}
    assert await found(missing=None) == set(values)
    assert await found(**{"at.city": "Porto"}) == set()  # a name, not a path
    with pytest.raises(InvalidInput, match="like"):
        await found(colour={"$like": "r"})


async def test_pages_of_a_search_are_parts_of_one_order(store: MemoryStore, clock: Clock) -> None:
    for n in range(6):
        clock.advance(seconds=1)
        await store.aput(("p",), str(n), {})
    assert await keys(store, "p") == ["5", "4", "3", "2", "1", "0"]  # the latest first
    assert await keys(store, "p", limit=2, offset=3) == ["2", "1"]
    assert await keys(store, "p", limit=2, offset=6) == []


async def test_searching_by_meaning(store: MemoryStore) -> None:
    await store.aput(("m",), "tea", {"text": "She drinks green tea in the morning"})
    await store.aput(("m",), "car", {"text": "The engine of the car needs new oil"})
    await store.aput(("m",), "hidden", {"text": "Tea, tea, tea"}, index=False)
    first, second, third = await store.asearch(("m",), query="hot beverages")
    assert (first.key, second.key, third.key) == ("tea", "car", "hidden")
    assert first.score is not None
    assert second.score is not None
    assert 1 >= first.score > second.score
    assert third.score is None
    await store.aput(("m",), "car", {"text": "Hot beverages"})  # found by what it is now
    assert (await keys(store, "m", query="hot beverages"))[0] == "car"
    (only,) = await store.asearch(
        ("m",), query="hot beverages", filter={"text": {"$ne": "Hot beverages"}}, limit=1
    )
    assert only.key == "tea"


async def test_an_item_is_found_by_the_fields_that_are_named(memory: Memory) -> None:
    store = MemoryStore(MemoryClient.of(memory), index=["title", "parts[*].text"])
    about = {"title": "The harbour", "note": "drinks", "parts": [{"text": "ships"}]}
    await store.aput(("i",), "default", about)
    await store.aput(("i",), "note", about, index=["note"])
    await store.aput(("i",), "nothing", about, index=["absent"])
    found = await store.asearch(("i",), query="drinks")
    assert [item.key for item in found] == ["note", "default", "nothing"]
    assert found[2].score is None
    assert (await keys(store, "i", query="The harbour\nships"))[0] == "default"


async def test_listing_namespaces(peopled: MemoryStore) -> None:
    listed = peopled.alist_namespaces
    assert await listed() == sorted(PLACES)
    assert await listed(prefix=("a", "b")) == PLACES[:4]
    assert await listed(suffix=("f",)) == [("a", "b", "f"), ("a", "c", "f"), ("b", "a", "f")]
    assert await listed(prefix=("a",), suffix=("f",)) == [("a", "b", "f"), ("a", "c", "f")]
    assert await listed(prefix=("a", "*", "f")) == [("a", "b", "f"), ("a", "c", "f")]
    assert await listed(suffix=("*", "settings")) == [("users", "2", "settings")]
    assert await listed(suffix=("users", "*", "*", "*")) == []
    assert await listed(prefix=("langgraph",)) == []  # what all lies under is not theirs
    assert await listed(prefix=("a", "b"), max_depth=3) == [
        ("a", "b", "c"),
        ("a", "b", "d"),
        ("a", "b", "f"),
    ]
    assert await listed(max_depth=1) == [("a",), ("b",), ("users",)]
    assert await listed(limit=2, offset=1) == sorted(PLACES)[1:3]
    assert await listed(prefix=("nobody",)) == []


async def test_all_conditions_of_a_listing_must_hold(peopled: MemoryStore) -> None:
    both = (MatchCondition("prefix", ("a", "b")), MatchCondition("prefix", ("*", "*", "d")))
    (found,) = await peopled.abatch([ListNamespacesOp(match_conditions=both)])
    assert found == [("a", "b", "d", "e"), ("a", "b", "d", "i")]


async def test_a_namespace_ends_with_its_last_item(peopled: MemoryStore) -> None:
    await peopled.adelete(("users", "1"), "k")
    assert await peopled.alist_namespaces(prefix=("users",)) == [("users", "2", "settings")]


async def test_the_time_to_live(memory: Memory, clock: Clock) -> None:
    store = MemoryStore(MemoryClient.of(memory), ttl={"default_ttl": 10, "refresh_on_read": False})
    await store.aput(("t",), "default", {})
    await store.aput(("t",), "short", {}, ttl=1)
    await store.aput(("t",), "stays", {}, ttl=None)
    clock.advance(seconds=30)
    assert await store.aget(("t",), "short", refresh_ttl=True) is not None
    clock.advance(seconds=40)
    assert sorted(await keys(store, "t")) == ["default", "short", "stays"]
    clock.advance(minutes=1)
    assert sorted(await keys(store, "t")) == ["default", "stays"]
    clock.advance(minutes=10)
    assert await store.aget(("t",), "default") is None
    assert await keys(store, "t") == ["stays"]


async def test_tenants_and_roots_know_nothing_of_each_other(
    memory: Memory, store: MemoryStore
) -> None:
    other = MemoryStore(MemoryClient.of(memory, Principal(tenant="other")))
    beside = MemoryStore(MemoryClient.of(memory), root="beside")
    for one, said in ((store, "mine"), (other, "other"), (beside, "beside")):
        await one.aput(("n",), "k", {"said": said})
    for one, said in ((store, "mine"), (other, "other"), (beside, "beside")):
        assert [item.value["said"] for item in await one.asearch((), query="said")] == [said]
        assert await one.alist_namespaces() == [("n",)]
    await other.adelete(("n",), "k")
    assert await store.aget(("n",), "k") is not None


async def test_other_threads_may_ask_synchronously_and_the_loop_may_not(
    store: MemoryStore,
) -> None:
    def work() -> object:
        store.put(("s",), "k", {"n": 1})
        item = store.get(("s",), "k")
        return item and item.value

    assert await asyncio.to_thread(work) == {"n": 1}
    with pytest.raises(RuntimeError, match="await aget"):
        store.get(("s",), "k")


async def test_writers_of_the_same_items_do_not_lock_each_other_out(store: MemoryStore) -> None:
    names = [str(n) for n in range(20)]
    await asyncio.gather(
        *(
            store.abatch([PutOp(("c",), name, {"by": by}) for name in order])
            for by, order in enumerate([names, names[::-1]] * 4)
        )
    )
    found = await store.asearch(("c",), limit=50)
    assert len(found) == 20
    assert len({item.value["by"] for item in found}) == 1  # the batch of one writer, whole


async def test_the_example_recalls_over_http(served: Served) -> None:
    known = await example("langgraph_store").main(served.url)
    assert known[0] == "I take my tea without milk."
    assert len(known) == 2
