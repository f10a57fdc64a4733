"""A disk that is full, and one that may only be read: told in words, nothing lost, and on again."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import UUID

import pytest

from conftest import NOW, Clock
from memory_butler.config import MemoryModuleConfig
from memory_butler.domain.errors import ConfigurationError, Unavailable
from memory_butler.domain.principals import Principal
from memory_butler.engine.memory import Memory
from memory_butler.engine.remember import store_episode
from memory_butler.inference.batching import BatchingEmbedder
from memory_butler.journal.file import JournalFile
from memory_butler.journal.live import LiveJournal
from memory_butler.journal.policy import JournalPolicy
from memory_butler.store import embedded, embeddings, schema
from memory_butler.store.transaction import open_pool

MountOf = Callable[[int], Path]


def _mount(*words: str) -> bool:
    return subprocess.run(["mount", *words], capture_output=True, check=False).returncode == 0


@pytest.fixture
def disk() -> Iterator[MountOf]:
    """A file system of so many megabytes in memory, gone at the end."""
    folder = Path(tempfile.mkdtemp(prefix="mb-disk-"))
    folder.chmod(0o755)
    made: list[Path] = []

    def make(megabytes: int) -> Path:
        if not _mount("-t", "tmpfs", "-o", f"size={megabytes}m,mode=755", "tmpfs", str(folder)):
            pytest.skip("no file system can be mounted here: that takes root's rights")
        made.append(folder)
        return folder

    try:
        yield make
    finally:
        for one in made:
            subprocess.run(["umount", one], check=True)
        shutil.rmtree(folder)


def _fill(folder: Path) -> Path:
    """Take every byte that is left."""
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as file:
        for size in (1 << 20, 1 << 12, 1):
            while True:
                try:
                    file.write(b"\0" * size)
                except OSError:
                    break
    return filler


def _said(folder: Path) -> list[str]:
    with JournalFile(folder / "ada.sqlite") as file, file.reading() as connection:
        (whole,) = connection.execute("PRAGMA integrity_check").fetchone()
        assert whole == "ok"
        return [row[0] for row in connection.execute("SELECT content FROM events ORDER BY id")]


def _tell(folder: Path, text: str) -> None:
    with JournalFile(folder / "ada.sqlite") as file:
        LiveJournal(file, JournalPolicy(), lambda: NOW).log(text, "user")


def test_a_journal_outlives_a_full_disk_and_a_read_only_one(disk: MountOf) -> None:
    folder = disk(4)
    _tell(folder, "before")
    filler = _fill(folder)
    with pytest.raises(Unavailable, match="disk is full"):
        _tell(folder, "x" * 100_000)
    filler.unlink()
    _tell(folder, "between")
    assert _mount("-o", "remount,ro", str(folder))
    with pytest.raises(Unavailable, match="disk is read-only"):
        _tell(folder, "in vain")
    assert _mount("-o", "remount,rw", str(folder))
    _tell(folder, "after")
    assert _said(folder) == ["before", "between", "after"]


async def _until_refused(memory: Memory, principal: Principal, acknowledged: set[UUID]) -> None:
    """Store until the pages that are there are used up."""
    for number in range(200):
        text = f"{number} " + os.urandom(2_000).hex()
        acknowledged.add(await store_episode(memory, principal, text, "b"))


@pytest.mark.anyio
async def test_a_database_outlives_a_full_disk_and_a_read_only_one(
    disk: MountOf, embedder: BatchingEmbedder, clock: Clock, principal: Principal
) -> None:
    folder = disk(400)

    def start() -> embedded.Lease:
        return embedded.acquire(folder / "data", cluster_root=folder / "clusters")

    lease = start()
    await schema.ensure_database(lease.endpoint.dsn("postgres"), "memory")
    pool = await open_pool(await schema.prepare(lease.endpoint.dsn("memory")))
    engine = embedder.engine
    version = await embeddings.register(
        pool, engine.model_name, engine.model_version, engine.dimensions, clock.now
    )
    memory = Memory(pool, embedder, version, MemoryModuleConfig(), clock)
    acknowledged = {await store_episode(memory, principal, "before", "b")}
    filler = _fill(folder)
    with pytest.raises(Unavailable, match="its disk is full; make room there"):
        await _until_refused(memory, principal, acknowledged)
    filler.unlink()
    acknowledged.add(await store_episode(memory, principal, "after", "b"))  # by itself
    await pool.close()
    lease.release()

    assert _mount("-o", "remount,ro", str(folder))
    with pytest.raises((Unavailable, ConfigurationError), match=r"[Rr]ead-only|not writable"):
        start()
    assert _mount("-o", "remount,rw", str(folder))
    lease = start()
    pool = await open_pool(lease.endpoint.dsn("memory"))
    kept = {row["id"] for row in await pool.fetch("SELECT id FROM episodes")}
    assert acknowledged == kept
    await pool.close()
    lease.release()
