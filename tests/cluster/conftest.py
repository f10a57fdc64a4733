"""A cluster for all tests of this folder, and a database on it for each."""

import os
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field

import pytest

from cluster.citus import SOURCE, Cluster, Node, running


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
