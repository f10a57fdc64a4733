"""What the search promises beyond its scores: order, bounds, and how durable its traces are."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg
import pytest

from conftest import Connection
from memory_butler.domain.principals import Principal
from memory_butler.engine import recall as recalling
from memory_butler.engine.context import build_context
from memory_butler.engine.curate import confirm_memory
from memory_butler.engine.matching import Match
from memory_butler.engine.memory import Memory
from memory_butler.engine.recall import recall, search
from memory_butler.engine.remember import store_fact, store_rule
from memory_butler.store.transaction import Transaction, transaction

pytestmark = pytest.mark.anyio


@pytest.mark.requirement("SRCH-04")
async def test_in_keyword_mode_every_word_beats_one_word_often(
    memory: Memory, principal: Principal
) -> None:
    padding = " ".join(f"filler{n}" for n in range(200))
    every = await store_rule(memory, principal, f"zebra lasso rodeo {padding}")
    often = await store_rule(memory, principal, "zebra rodeo " * 20)
    hits = await search(memory, principal, "zebra lasso rodeo", mode="keyword")
    assert [hit.row["id"] for hit in hits] == [every, often]
    assert [hit.match.found.matches_all for hit in hits] == [True, False]
    assert hits[0].place < hits[1].place  # by the rank alone it would be the other way round


@pytest.mark.requirement("RRF-04")
async def test_equal_fused_scores_go_by_the_semantic_rank(
    memory: Memory, principal: Principal
) -> None:
    await store_fact(memory, principal, "user", "drink", "tea")
    (hit,) = await search(memory, principal, "tea")

    def match(semantic: int, keyword: int) -> Match:
        found = hit.match.found
        return Match("fact", found, 0.03, semantic, keyword)

    nearer, farther = match(1, 3), match(3, 1)
    order = recalling._search_order
    assert sorted([farther, nearer], key=lambda one: order(one, "hybrid")) == [nearer, farther]


async def test_the_hot_searches_never_share_a_plan_between_tenants(admin: Connection) -> None:
    rows = await admin.fetch(
        "SELECT proname, proconfig FROM pg_proc"
        " WHERE proname ~ '^(find|worded|nearest|pointed)_(episodes|facts|rules)$'"
    )
    assert len(rows) == 3 + 3 + 1 + 1 + 3  # the last are those of the past
    for row in rows:
        assert "plan_cache_mode=force_custom_plan" in row["proconfig"]
        assert any(one.startswith("search_path=") for one in row["proconfig"])
        if not row["proname"].startswith("worded"):
            assert "ivfflat.probes=20" in row["proconfig"]


async def test_more_keyword_matches_than_are_asked_for_are_ranked(
    memory: Memory, principal: Principal
) -> None:
    for place in range(45):
        await store_rule(memory, principal, f"tea {place} " + "filler " * 30)
    best = await store_rule(memory, principal, "tea tea tea")
    hits = await search(memory, principal, "tea", mode="keyword", limit=5)
    assert hits[0].row["id"] == best


@pytest.fixture
def commits(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """How durable each transaction of the retrieval and of a write was when it ended."""
    seen: list[str] = []

    @asynccontextmanager
    async def watched(
        pool: asyncpg.Pool, tenant: str, *, durable: bool = True
    ) -> AsyncIterator[Transaction]:
        async with transaction(pool, tenant, durable=durable) as tx:
            yield tx
            seen.append(
                await tx.connection.fetchval(
                    "SELECT source FROM pg_settings WHERE name = 'synchronous_commit'"
                )
            )

    for module in ("recall", "curate", "remember"):
        monkeypatch.setattr(f"memory_butler.engine.{module}.transaction", watched)
    return seen


async def test_only_what_a_read_leaves_behind_may_be_lost_in_a_crash(
    memory: Memory, principal: Principal, commits: list[str]
) -> None:
    id, _ = await store_fact(memory, principal, "user", "drink", "tea")
    await confirm_memory(memory, principal, "fact", id)
    assert "session" not in commits  # nothing set it for a write
    commits.clear()
    await recall(memory, principal, "tea")
    await build_context(memory, principal, "tea", "general")
    assert set(commits) == {"session"}


async def test_a_reader_does_not_wait_long_for_a_lock(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    async with transaction(memory.pool, principal.tenant, durable=False) as tx:
        assert await tx.connection.fetchval("SHOW lock_timeout") == "3s"
        assert await tx.connection.fetchval("SHOW statement_timeout") == "20s"
