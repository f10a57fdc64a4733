"""The approximate index: many are searched by it, few exactly, and nearly everything is found."""

from collections.abc import AsyncIterator, Iterator

import asyncpg
import numpy as np
import pytest

from conftest import NOW, Connection, Template, cloned, stocked
from memory_butler.store import nearest_index
from memory_butler.store.search import Wanted, nearest
from memory_butler.store.transaction import Transaction, prepare_connection

from .test_query_plans import NEAREST, plans_inside, unit_vectors

pytestmark = pytest.mark.anyio

MANY, FEW = 4_000, 40
OF_MANY, OF_FEW = (NEAREST.replace("'default'", f"'{tenant}'") for tenant in ("many", "few"))

FILL = """
INSERT INTO facts (tenant_id, subject, predicate, content, embedding, search_vector)
SELECT $2, 's' || n, 'p', 'note ' || n, e::vector, to_tsvector('english', 'note')
FROM unnest($1::text[]) WITH ORDINALITY AS t (e, n)
"""


def _texts(count: int, *, seed: int) -> np.ndarray:
    """Directions as texts have them: some hundred subjects, and what each says of its own."""
    subjects = unit_vectors(100, seed=0)
    vectors = subjects[np.arange(count) % 100] + 0.8 * unit_vectors(count, seed=seed)
    lengths: np.ndarray = np.linalg.norm(vectors, axis=1, keepdims=True)
    found: np.ndarray = vectors / lengths
    return found


async def _fill(admin: Connection) -> None:
    """A tenant of many facts and one of few, with an index over both."""
    rows = [str(row.round(4).tolist()) for row in _texts(MANY + FEW, seed=1)]
    await admin.execute(FILL, rows[:MANY], "many")
    await admin.execute(FILL, rows[MANY:], "few")
    await nearest_index.count_anew(admin)
    await nearest_index.build(admin, "facts", MANY)


@pytest.fixture(scope="module")
def indexed(template: Template) -> Iterator[str]:
    with stocked(template, _fill) as name:
        yield name


@pytest.fixture
async def filled(template: Template, indexed: str) -> AsyncIterator[Connection]:
    """A superuser's connection to a database of a test's own, with many, few and the index."""
    async with cloned(template, indexed) as database:
        connection = await asyncpg.connect(database.admin_dsn)
        await prepare_connection(connection)
        await connection.execute("LOAD 'vector'")  # its settings are known from then on
        yield connection
        await connection.close()


async def _exactly(admin: Connection, tenant: str, vector: np.ndarray) -> list[object]:
    rows = await admin.fetch(
        "SELECT id FROM facts WHERE tenant_id = $2 ORDER BY (embedding <=> $1) + 0, id LIMIT 20",
        vector,
        tenant,
    )
    return [row["id"] for row in rows]


async def test_the_index_serves_many_and_few_are_read_exactly(
    filled: Connection,
) -> None:
    vector = unit_vectors(1, seed=2)[0]
    plan = await plans_inside(filled, OF_MANY, vector, NOW, tenant="many")
    assert "Index Scan using idx_facts_nearest on facts" in plan
    plan = await plans_inside(filled, OF_FEW, vector, NOW, tenant="few")
    assert "idx_facts_nearest" not in plan
    assert " on facts" in plan


@pytest.mark.nightly
async def test_doubtful_facts_do_not_stand_in_the_way_of_others(filled: Connection) -> None:
    # The walk in the graph has to get past the thousand nearest, and then past all but five.
    vector = unit_vectors(1, seed=5)[0]
    doubt = (
        "UPDATE facts SET confidence = 0 WHERE tenant_id = 'many' AND id IN (SELECT id FROM facts"
        " WHERE tenant_id = 'many' ORDER BY (embedding <=> $1) + 0 LIMIT $2)"
    )
    sure = (
        "SELECT id FROM facts WHERE tenant_id = 'many' AND confidence > 0"
        " ORDER BY (embedding <=> $1) + 0, id LIMIT 10"
    )
    await filled.execute("SET butler.tenant_id = 'many'")
    for doubtful, at_least in ((1000, 9), (MANY - 5, 5)):
        await filled.execute(doubt, vector, doubtful)
        found = {row["id"] for row in await filled.fetch(OF_MANY, vector, NOW)}
        assert len(found & {row["id"] for row in await filled.fetch(sure, vector)}) >= at_least


async def test_a_call_leaves_the_settings_of_the_transaction_alone(filled: Connection) -> None:
    names = ("enable_seqscan", "enable_sort", "enable_bitmapscan", "hnsw.ef_search")
    async with filled.transaction():
        await filled.execute("SET LOCAL butler.tenant_id = 'many'")
        before = [await filled.fetchval("SELECT current_setting($1)", name) for name in names]
        await filled.fetch(OF_MANY, unit_vectors(1, seed=6)[0], NOW)
        after = [await filled.fetchval("SELECT current_setting($1)", name) for name in names]
    assert after == before


async def test_one_process_at_a_time_builds(admin: Connection, admin_dsn: str) -> None:
    other = await asyncpg.connect(admin_dsn)
    assert await nearest_index.turn(other)
    assert not await nearest_index.turn(admin)
    await other.close()
    assert await nearest_index.turn(admin)


async def test_of_the_true_nearest_99_of_100_are_found(filled: Connection) -> None:
    wanted = Wanted(("fact",), None, 0.2, NOW, 20, None)
    found, true = 0, 0
    for vector in _texts(20, seed=3):
        for tenant in ("many", "few"):
            await filled.execute(f"SET butler.tenant_id = '{tenant}'")
            exact = await _exactly(filled, tenant, vector)
            got = await nearest(Transaction(filled, tenant), wanted, vector)
            assert [row["rank"] for row in got] == list(range(1, 21))
            similarities = [row["similarity"] for row in got]
            assert similarities == sorted(similarities, reverse=True)
            found += len({row["id"] for row in got} & set(exact))
            true += len(exact)
    assert found / true >= 0.99


async def test_a_dropped_index_leaves_searches_exact(filled: Connection) -> None:
    before = {one.table: one for one in await nearest_index.states(filled)}
    assert before["facts"].built
    assert before["facts"].bytes > 0
    assert before["facts"].memories == MANY + FEW
    assert not before["episodes"].built
    await nearest_index.drop(filled, "facts")
    assert not any(one.built or one.unfinished for one in await nearest_index.states(filled))
    vector = unit_vectors(1, seed=4)[0]
    await filled.execute("SET butler.tenant_id = 'many'")
    rows = await filled.fetch(OF_MANY, vector, NOW)
    assert [row["id"] for row in rows] == (await _exactly(filled, "many", vector))[:10]


async def test_what_an_interrupted_build_leaves_is_told_and_built_anew(filled: Connection) -> None:
    # As a killed server leaves it: an index under the name of one that is being built.
    await nearest_index.drop(filled, "facts")
    await filled.execute("CREATE INDEX idx_facts_nearest_building ON facts (id)")
    (left,) = [one for one in await nearest_index.states(filled) if one.unfinished]
    assert (left.table, left.built, left.building) == ("facts", False, False)
    await nearest_index.build(filled, "facts", MANY)
    (built,) = [one for one in await nearest_index.states(filled) if one.built]
    assert (built.table, built.unfinished) == ("facts", False)


@pytest.mark.nightly
async def test_an_index_that_was_built_for_few_is_outgrown_by_many(
    filled: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not any(one.outgrown for one in await nearest_index.states(filled))
    monkeypatch.setattr(nearest_index, "_MANY", MANY)
    assert [one.table for one in await nearest_index.states(filled) if one.outgrown] == ["facts"]
    await nearest_index.build(filled, "facts", MANY + FEW)
    (built,) = [one for one in await nearest_index.states(filled) if one.built]
    assert not built.outgrown


@pytest.mark.parametrize("table", nearest_index.TABLES)
async def test_every_table_can_have_one(admin: Connection, table: nearest_index.Table) -> None:
    await nearest_index.build(admin, table, 0)
    await nearest_index.build(admin, table, 0)  # again, in place of the former
    assert [one.table for one in await nearest_index.states(admin) if one.built] == [table]
