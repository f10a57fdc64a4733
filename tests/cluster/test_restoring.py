"""A backup of one machine becomes a cluster; no backup takes a cluster's place."""

import asyncio
from collections.abc import Iterator

import pytest

from cli.installation import Installation
from cluster.citus import Cluster
from folders import open_folder
from memory_butler.store import dump
from memory_butler.store.schema import DATABASE

pytestmark = pytest.mark.anyio


@pytest.fixture
def one() -> Iterator[Installation]:
    """An installation on one machine, whose database's user can reach it."""
    with open_folder() as folder:
        yield Installation(folder)


@pytest.mark.nightly
async def test_a_backup_becomes_a_cluster_and_takes_no_clusters_place(
    cluster: Cluster, one: Installation
) -> None:
    admin_dsn, backup = cluster.coordinator.dsn(DATABASE), str(one.folder / "backup.tar")
    before = await dump.databases(cluster.coordinator.dsn("postgres"))

    async def run(*words: str, code: int = 0) -> str:
        answer = await asyncio.to_thread(one.apart, *words, code=code)
        return answer.out + answer.err

    await run("store-fact", "user", "likes", "green tea", "--tenant", "acme")
    await run("backup", backup)
    try:
        await run("restore-backup", backup, "--admin-dsn", admin_dsn)
        runtime_dsn = await cluster.prepare(DATABASE)
        await run("distribute", "--admin-dsn", admin_dsn)
        assert "green tea" in await run("recall", "tea", "--tenant", "acme", "--dsn", runtime_dsn)
        for more in ([], ["--replace"]):
            said = await run("restore-backup", backup, "--admin-dsn", admin_dsn, *more, code=8)
            assert "is a Citus cluster, whose place no restored database can take" in said
            assert "memory-butler move" in said
        assert await dump.databases(admin_dsn) == sorted([*before, DATABASE])
        assert "green tea" in await run("recall", "tea", "--tenant", "acme", "--dsn", runtime_dsn)
    finally:
        await cluster.drop(DATABASE)
