"""Lists with words in them: the same rows by ids and row by row, and totals that do not lie."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from conftest import Clock
from memory_butler.domain.principals import Principal
from memory_butler.engine.memory import Memory
from memory_butler.engine.remember import store_episode, store_fact, store_rule
from memory_butler.store import episodes, facts, listing, rules
from memory_butler.store.episodes import EpisodeFilter
from memory_butler.store.facts import FactFilter, FactOrder
from memory_butler.store.listing import Listed
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
        return await facts.page(
            tx,
            wanted,
            memory.clock(),
            order=order,
            descending=True,
            limit=limit,
            offset=offset,
        )


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
    assert part == Listed(5, False, [])


@pytest.mark.usefixtures("garden")
async def test_rules_and_episodes_are_found_by_words_in_the_same_two_ways(
    memory: Memory, clock: Clock, bounds: Bound
) -> None:
    async def both(text: str) -> list[Listed]:
        async with reading(memory.pool, "default") as tx:
            return [
                await rules.page(
                    tx,
                    RuleFilter(text=text),
                    clock.now,
                    order="created",
                    descending=True,
                    limit=2,
                    offset=0,
                ),
                await episodes.page(
                    tx,
                    EpisodeFilter(text=text, since=clock.now - timedelta(days=1)),
                    clock.now,
                    order="occurred",
                    descending=True,
                    limit=2,
                    offset=0,
                ),
            ]

    by_ids = await both("water rose")
    assert [(one.total, one.exact, len(one.rows)) for one in by_ids] == [(3, True, 2)] * 2
    assert [(one.total, one.exact) for one in await both("at 7")] == [(1, True)] * 2
    bounds(2, 1)
    walked = await both("water rose")
    assert [(one.total, one.exact) for one in walked] == [(3, False)] * 2
    assert [one.rows for one in walked] == [one.rows for one in by_ids]
