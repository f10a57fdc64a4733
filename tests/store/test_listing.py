"""Lists with words in them: the same rows by ids and row by row, and totals that do not lie."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from conftest import NOW, Clock, Connection
from memory_butler.domain.principals import Principal
from memory_butler.engine.browse.lists import list_memories
from memory_butler.engine.memory import Memory
from memory_butler.engine.remember import store_episode, store_fact, store_rule
from memory_butler.store import episodes, facts, listing, rules
from memory_butler.store.episodes import EpisodeFilter
from memory_butler.store.facts import FactFilter
from memory_butler.store.listing import FactOrder, Listed, Part
from memory_butler.store.rules import RuleFilter
from memory_butler.store.transaction import reading

pytestmark = pytest.mark.anyio

Bound = Callable[[int, int], None]

ROSES = FactFilter(text="roses")


@pytest.fixture
def bounds(monkeypatch: pytest.MonkeyPatch) -> Bound:
    """Set how many rows are taken by their ids, and how far the others are counted."""

    def set_to(by_id: int, counted: int) -> None:
        monkeypatch.setattr(listing, "MOST_BY_ID", by_id)
        monkeypatch.setattr(listing, "MOST_COUNTED", counted)

    return set_to


@pytest.fixture
async def garden(memory: Memory, principal: Principal, clock: Clock) -> None:
    """Seven facts with one word, every other with a tag; three rules and episodes with another."""
    for number in range(7):
        clock.advance(hours=1)
        await store_fact(
            memory,
            principal,
            f"bed {number}",
            "grows",
            f"Roses, {['red', 'white'][number % 2]}",
            importance=number % 3 + 1.0,
            tags=["old"] if number % 2 else ["new"],
        )
    for number in range(3):
        clock.advance(hours=1)
        await store_rule(memory, principal, f"Water the roses at {number + 6}")
        await store_episode(memory, principal, f"The roses had water at {number + 6}", "home")


async def _facts(
    memory: Memory,
    wanted: FactFilter,
    limit: int = 50,
    offset: int = 0,
    order: FactOrder = "created",
) -> Listed:
    async with reading(memory.pool, "default") as tx:
        return await facts.page(tx, wanted, memory.clock(), Part(limit, offset, order))


@pytest.mark.usefixtures("garden")
@pytest.mark.parametrize(
    "wanted",
    [
        FactFilter(text="ros"),
        FactFilter(text="roses whi"),
        FactFilter(tag="old"),
        FactFilter(text="roses", tag="new"),
        FactFilter(text="roses white", tag="new"),
        FactFilter(text="roses", subject="bed 3"),
        FactFilter(text="tulips"),
        FactFilter(text="tulips", tag="old"),
    ],
)
async def test_what_is_found_by_ids_is_found_row_by_row(
    memory: Memory, bounds: Bound, wanted: FactFilter
) -> None:
    orders: tuple[FactOrder, ...] = (
        "created",
        "confirmed",
        "confidence",
        "importance",
        "references",
        "subject",
    )
    by_ids = [await _facts(memory, wanted, order=order) for order in orders]
    assert all(one.exact and one.total == len(one.rows) for one in by_ids)
    bounds(0, 100)
    walked = [await _facts(memory, wanted, order=order) for order in orders]
    assert walked == by_ids


@pytest.fixture
async def orchard(admin: Connection) -> None:
    """Four hundred facts of five decay rates: old, new, of the future, never confirmed."""
    await admin.execute(
        "INSERT INTO facts (tenant_id, subject, predicate, content, confidence, decay_rate,"
        "                   last_confirmed_at, reference_count, source_butler, search_vector)"
        " SELECT 'default', 'tree ' || n, 'bears', 'apples', (n * 37 % 11) / 10.0,"
        "        (ARRAY[0, 0.002, 0.008, 0.03, 40])[n % 5 + 1],"
        "        CASE WHEN n % 17 > 0"
        "             THEN $1::timestamptz - (n * 53 % 97 - 5) * interval '1 day' END,"
        "        n * 7 % 13, 'b' || n % 3, to_tsvector('english', 'apples')"
        " FROM generate_series(1, 400) n",
        NOW,
    )


@pytest.mark.usefixtures("orchard")
@pytest.mark.parametrize("order", ["confidence", "references"])
@pytest.mark.parametrize(
    "wanted",
    [
        FactFilter(),
        FactFilter(source_butler="b1"),
        FactFilter(text="apples", min_confidence=0.4),
        FactFilter(min_confidence=0.95),
        FactFilter(min_confidence=0.0),
    ],
)
async def test_the_first_of_an_order_are_the_same_whether_all_are_looked_at_or_not(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, order: FactOrder, wanted: FactFilter
) -> None:
    async def parts() -> list[Listed]:
        return [await _facts(memory, wanted, 7, offset, order) for offset in (0, 7, 35, 390)]

    quickly = await parts()
    monkeypatch.setattr(facts, "MOST_FIRST", 0)
    assert await parts() == quickly
    # Nor does it matter whether those that are sure enough were found by an index.
    monkeypatch.setattr(listing, "MOST_BY_ID", 0)
    assert await parts() == quickly
    assert quickly[0].total >= 7


@pytest.mark.usefixtures("orchard")
async def test_the_most_referenced_are_found_by_the_pages_that_have_them(
    memory: Memory, admin: Connection
) -> None:
    await admin.execute("SELECT set_config('butler.tenant_id', 'default', false)")
    found = await admin.fetch("SELECT facts_referenced('default', 9, NULL, 50) AS id")
    first = await _facts(memory, FactFilter(), 50, order="references")
    assert [row["id"] for row in found] == [row["id"] for row in first.rows]
    assert await admin.fetch("SELECT facts_referenced('default', 9, '{retracted}', 50)") == []


@pytest.mark.usefixtures("orchard")
async def test_so_many_decay_rates_that_they_are_no_help(memory: Memory, admin: Connection) -> None:
    await admin.execute("UPDATE facts SET decay_rate = reference_count + length(subject) / 100.0")
    await admin.execute(
        "UPDATE facts SET decay_rate = substr(subject, 6)::integer / 1000.0 WHERE confidence > 0.2"
    )
    everything = await _facts(memory, FactFilter(), 400, order="confidence")
    part = await _facts(memory, FactFilter(), 9, 4, "confidence")
    assert part.rows == everything.rows[4:13]
    assert (await _facts(memory, FactFilter(min_confidence=0.1))).exact


@pytest.mark.parametrize("written", ["ana lima", "  Ana\n Lima", "ANA LIMA"])
async def test_a_subject_is_found_however_it_is_written(
    memory: Memory, principal: Principal, clock: Clock, written: str
) -> None:
    # As storing has it: the second fact supersedes the first.
    await store_fact(memory, principal, "Ana Lima", "city", "Lives in Faro")
    at = clock.advance(hours=1)
    await store_fact(memory, principal, "ana lima", "city", "Lives in Porto")
    past = memory.at(known_at=at - timedelta(minutes=1), as_of=None)
    for when, said in ((memory, "Lives in Porto"), (past, "Lives in Faro")):
        wanted = FactFilter(subject=written, validities=("active",))
        found = await list_memories(when, principal, wanted, Part(50, 0, "created"))
        assert [row["content"] for row in found.rows] == [said]


@pytest.mark.usefixtures("garden")
async def test_who_reads_on_until_the_total_comes_to_the_end(memory: Memory, bounds: Bound) -> None:
    everything = await _facts(memory, ROSES)
    assert (everything.total, everything.exact) == (7, True)
    for by_id, counted in ((7, 0), (6, 7), (6, 6), (3, 2), (0, 0)):
        bounds(by_id, counted)
        for limit in (1, 2, 3, 7, 8):
            seen: list[object] = []
            while True:
                part = await _facts(memory, ROSES, limit, len(seen))
                seen += [row["id"] for row in part.rows]
                assert len(part.rows) <= limit
                assert len(seen) <= part.total <= 7
                assert part.total == 7 or not part.exact
                if len(seen) >= part.total:
                    break
            assert seen == [row["id"] for row in everything.rows], (by_id, counted, limit)
            assert part.exact


@pytest.mark.usefixtures("garden")
async def test_beyond_the_end_nothing_is_made_up(memory: Memory, bounds: Bound) -> None:
    bounds(3, 4)
    part = await _facts(memory, ROSES, 5, 100)
    assert part == Listed(5, [], exact=False)


@pytest.mark.usefixtures("garden")
async def test_rules_and_episodes_are_found_by_words_in_the_same_two_ways(
    memory: Memory, clock: Clock, bounds: Bound
) -> None:
    async def both(text: str) -> list[Listed]:
        recent = EpisodeFilter(text=text, since=clock.now - timedelta(days=1))
        async with reading(memory.pool, "default") as tx:
            return [
                await rules.page(tx, RuleFilter(text=text), clock.now, Part(2)),
                await episodes.page(tx, recent, clock.now, Part(2, order="occurred")),
            ]

    by_ids = await both("water rose")
    assert [(one.total, one.exact, len(one.rows)) for one in by_ids] == [(3, True, 2)] * 2
    assert [(one.total, one.exact) for one in await both("at 7")] == [(1, True)] * 2
    bounds(2, 1)
    walked = await both("water rose")
    assert [(one.total, one.exact) for one in walked] == [(3, False)] * 2
    assert [one.rows for one in walked] == [one.rows for one in by_ids]
