"""A cluster for all tests of this folder, and a database on it for each."""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field

import pytest

from cli.installation import Installation
from cluster.citus import DATABASE, SOURCE, Cluster, Node, running
from conftest import Database
from memory_butler.store import schema


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    if not SOURCE.is_dir() and "CI" not in os.environ:
        pytest.skip("needs the source of Citus in ../shared/citus")
    with running() as nodes:
        yield nodes


@dataclass(frozen=True, slots=True)
class Prepared:
    """A database of today's schema on joined nodes; no table is distributed yet."""

    coordinator: Node
    workers: tuple[Node, ...]
    runtime_dsn: str = field(repr=False)


@pytest.fixture
async def prepared(cluster: Cluster) -> AsyncIterator[Prepared]:
    try:
        yield Prepared(cluster.coordinator, cluster.workers, await cluster.prepare())
    finally:
        await cluster.drop()


@pytest.fixture(scope="module")
async def distributed(
    cluster: Cluster, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Database]:
    """A distributed database, of all tests of a file."""
    try:
        dsn = await cluster.prepare()
        place = Installation(tmp_path_factory.mktemp("distributed"))
        admin_dsn = cluster.coordinator.dsn()
        await asyncio.to_thread(place.apart, "distribute", "--admin-dsn", admin_dsn)
        yield Database(DATABASE, schema.Roles.of(DATABASE), admin_dsn, dsn)
    finally:
        await cluster.drop()
