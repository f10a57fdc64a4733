"""A cluster for all tests of this folder, and a database on it for each or for each file.

Such a database is a copy of one that was made once: to spread its tables over the nodes takes six
seconds of processor time.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from cli.installation import Installation
from cluster.citus import DATABASE, SOURCE, Cluster, Node, running
from conftest import Database
from memory_butler.store import schema

_JOINED, _SPREAD = "memory_joined", "memory_spread"


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    if not SOURCE.is_dir() and "CI" not in os.environ:
        pytest.skip("needs the source of Citus in ../shared/citus")
    with running() as nodes:
        yield nodes


@dataclass(frozen=True, slots=True)
class Prepared:
    """A database of today's schema on joined nodes."""

    coordinator: Node
    workers: tuple[Node, ...]
    runtime_dsn: str = field(repr=False)


@pytest.fixture(scope="session")
async def _joined(cluster: Cluster) -> str:
    """Puts the prepared database aside, to be copied; the runtime's login to its copies."""
    runtime_dsn = await cluster.prepare()
    await cluster.keep(_JOINED)
    return runtime_dsn


@pytest.fixture(scope="session")
async def _spread(cluster: Cluster, _joined: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The same of a distributed one."""
    await cluster.copy(_JOINED)
    place = Installation(tmp_path_factory.mktemp("distributed"))
    admin_dsn = cluster.coordinator.dsn()
    await asyncio.to_thread(place.apart, "distribute", "--admin-dsn", admin_dsn)
    await cluster.keep(_SPREAD)
    return _joined


@asynccontextmanager
async def _copied(cluster: Cluster, kept: str) -> AsyncIterator[None]:
    """A copy of a database that was put aside, until the end of the block."""
    try:
        await cluster.copy(kept)
        yield
    finally:
        await cluster.drop()


@pytest.fixture
async def prepared(cluster: Cluster, _joined: str) -> AsyncIterator[Prepared]:
    """One of a test's own; no table is distributed yet."""
    async with _copied(cluster, _JOINED):
        yield Prepared(cluster.coordinator, cluster.workers, _joined)


@pytest.fixture
async def spread(cluster: Cluster, _spread: str) -> AsyncIterator[Prepared]:
    """One of a test's own, whose tables are distributed."""
    async with _copied(cluster, _SPREAD):
        yield Prepared(cluster.coordinator, cluster.workers, _spread)


@pytest.fixture(scope="module")
async def distributed(cluster: Cluster, _spread: str) -> AsyncIterator[Database]:
    """A distributed database, of all tests of a file."""
    async with _copied(cluster, _SPREAD):
        yield Database(DATABASE, schema.Roles.of(DATABASE), cluster.coordinator.dsn(), _spread)
