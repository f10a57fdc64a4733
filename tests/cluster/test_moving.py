"""A tenant moves from one machine onto a cluster, and off it again."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from conftest import Database
from memory_butler.domain.errors import Frozen
from memory_butler.engine import sealing
from memory_butler.engine.memory import Memory
from memory_butler.erasure import erasing
from memory_butler.erasure.scope import Target
from memory_butler.inference.batching import BatchingEmbedder
from memory_butler.store import embeddings, transfer
from memory_butler.store.transaction import open_pool
from moving.places import ACME, Place, cancel, fill, move, mover, place_on

pytestmark = pytest.mark.anyio


@pytest.fixture
async def on_cluster(
    distributed: Database, embedder: BatchingEmbedder, memory: Memory, tmp_path: Path
) -> AsyncIterator[Place]:
    pool = await open_pool(distributed.runtime_dsn)
    model = embedder.engine.model_name, embedder.engine.model_version, embedder.engine.dimensions
    version_id = await embeddings.register(pool, *model, memory.clock())
    made = Memory(pool, embedder, version_id, memory.config)
    yield place_on(made, distributed, tmp_path / "cluster")
    await pool.close()


@pytest.fixture
def on_one_machine(memory: Memory, database: Database, tmp_path: Path) -> Place:
    return place_on(memory, database, tmp_path / "one")


async def _rows(place: Place) -> dict[str, tuple[int, str]]:
    async with place.memory.reading(ACME.tenant) as tx:
        tables = await transfer.tables(tx)
        return {
            one.name: await transfer.digest(tx, one) for one in tables if one.name != "erasures"
        }


async def test_onto_a_cluster_and_off_it_again(on_one_machine: Place, on_cluster: Place) -> None:
    tokens = await fill(on_one_machine)
    question = "what tea does the user like?"
    answers, before = await on_one_machine.recalls(question), await _rows(on_one_machine)
    before = await _rows(on_one_machine)
    # A move that is cut off and taken back leaves nothing on the cluster's machines.
    with pytest.raises(CutOff):
        await move(on_one_machine, on_cluster, progress=_cut_off)
    with pytest.raises(Frozen):
        await on_cluster.stores("was written meanwhile")
    await cancel(on_one_machine, on_cluster)
    assert {count for count, _ in (await _rows(on_cluster)).values()} == {0}

    async with mover(on_one_machine, on_cluster) as moving:
        preview = await moving.preview()
        moved = await moving.move()
    assert moved == preview
    assert await _rows(on_cluster) == before
    assert await on_cluster.recalls(question) == answers
    assert await on_cluster.admits(tokens["a"]) is not None
    assert await on_one_machine.admits(tokens["a"]) is None
    assert (await sealing.audit(on_cluster.memory, ACME)).breaks == []
    await erasing.erase(on_one_machine.memory, ACME, Target(everything=True))

    await on_cluster.stores("has a cat")
    await on_cluster.writes("a third message")
    before = await _rows(on_cluster)
    await move(on_cluster, on_one_machine)
    assert await _rows(on_one_machine) == before
    assert await on_one_machine.recalls("cat")
    assert len(await on_one_machine.messages()) == 3
    assert await on_one_machine.admits(tokens["a"]) is not None
    assert (await sealing.audit(on_one_machine.memory, ACME)).breaks == []
    with pytest.raises(Frozen, match="has moved to one"):
        await on_cluster.stores("has a dog")
    await erasing.erase(on_cluster.memory, ACME, Target(everything=True))
    assert {count for count, _ in (await _rows(on_cluster)).values()} == {0}


class CutOff(Exception):
    """Instead of the end of a move."""


def _cut_off(*_: int) -> None:
    raise CutOff
