"""Moving a store to another embedding model."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

import numpy as np
import pytest

from conftest import Connection
from memory_butler.domain.principals import Principal
from memory_butler.engine import reembed as reembed_module
from memory_butler.engine.memory import Memory
from memory_butler.engine.recall import search
from memory_butler.engine.reembed import reembed, waiting
from memory_butler.engine.remember import store_episode, store_fact, store_rule
from memory_butler.inference.batching import BatchingEmbedder
from memory_butler.inference.embedder import Embedder, Vectors
from memory_butler.store import embeddings

pytestmark = pytest.mark.anyio


class Mirrored:
    """Another model of the same size: the real one, its vectors written backwards.

    Near texts stay near, and a vector of the one means nothing among those of the other.
    """

    model_name = "mirrored"
    model_version = "1"
    dimensions = 384

    def __init__(self, engine: Embedder) -> None:
        self._engine = engine

    def embed_arrays(self, texts: Sequence[str | None]) -> Vectors:
        return np.ascontiguousarray(self._engine.embed_arrays(texts)[:, ::-1])


@pytest.fixture
async def moved(memory: Memory) -> AsyncIterator[Memory]:
    """The same store, opened with another model."""
    engine = Mirrored(memory.embedder.engine)
    embedder = BatchingEmbedder(engine)
    version_id = await embeddings.register(
        memory.pool, engine.model_name, engine.model_version, engine.dimensions, memory.clock()
    )
    yield replace(memory, embedder=embedder, embedding_version_id=version_id)
    await embedder.aclose()


async def _fill(memory: Memory, principal: Principal) -> None:
    await store_fact(memory, principal, "user", "drink", "Prefers tea with milk")
    await store_rule(memory, principal, "Offer a hot drink to every guest")
    await store_episode(memory, principal, "The user bought a blue bicycle", "home")


async def _found(memory: Memory, principal: Principal, query: str) -> list[str]:
    hits = await search(memory, principal, query, mode="semantic", min_confidence=0)
    return [hit.row["content"] for hit in hits]


@pytest.mark.requirement("EMV-02", "MNT-05")
async def test_every_memory_of_every_tenant_moves_to_the_new_model(
    memory: Memory,
    moved: Memory,
    principal: Principal,
    other_tenant: Principal,
    admin: Connection,
) -> None:
    await _fill(memory, principal)
    await _fill(memory, other_tenant)
    assert await waiting(moved) == {principal.tenant: 3, other_tenant.tenant: 3}
    told: list[int] = []
    assert await reembed(moved, told.append) == 6
    assert sum(told) == 6
    assert await waiting(moved) == {}
    assert await reembed(moved) == 0
    found = await _found(moved, principal, "a warm beverage")
    assert found[0] in {"Prefers tea with milk", "Offer a hot drink to every guest"}
    current = await admin.fetch("SELECT model_name FROM embedding_versions WHERE is_current")
    assert [row["model_name"] for row in current] == ["mirrored"]


@pytest.mark.requirement("EMV-02")
async def test_vectors_of_two_models_are_never_compared(
    memory: Memory, moved: Memory, principal: Principal
) -> None:
    await _fill(memory, principal)
    assert await _found(moved, principal, "Prefers tea with milk") == []
    # Until it is moved, a memory is found by its words.
    hits = await search(moved, principal, "tea with milk", mode="hybrid")
    assert hits[0].row["content"] == "Prefers tea with milk"
    await reembed(moved)
    assert await _found(memory, principal, "Prefers tea with milk") == []


@pytest.mark.requirement("EMV-02")
async def test_an_interrupted_run_is_taken_up_where_it_stopped(
    memory: Memory, moved: Memory, principal: Principal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory_butler.engine.reembed.BATCH", 16)
    for place in range(40):  # more than two batches
        await store_rule(memory, principal, f"Rule number {place}")

    class Killed(Exception):
        pass

    def kill(_: int) -> None:
        raise Killed

    with pytest.raises(Killed):
        await reembed(moved, kill)
    left = (await waiting(moved))[principal.tenant]
    assert left == 40 - 16
    assert await reembed(moved) == left


async def test_one_machine_is_looked_at_as_often_however_long_nothing_was_imported(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = 0
    enough = asyncio.Event()
    look = reembed_module.unembedded

    async def counted(memory: Memory) -> dict[str, int]:
        nonlocal looks
        looks += 1
        if looks == 20:  # after one second; after ten, were they ever further apart
            enough.set()
        return await look(memory)

    monkeypatch.setattr(reembed_module, "unembedded", counted)
    async with reembed_module.embedding_imported(memory, look_seconds=0.05), asyncio.timeout(6):
        await enough.wait()
