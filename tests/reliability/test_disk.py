"""A disk that is full, and one that may only be read: told in words, nothing lost, and on again."""

import contextlib
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import asyncpg
import psutil
import pytest

from cli.installation import Installation
from conftest import NOW, Clock
from folders import open_folder
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
from memory_butler.store.transaction import connected, open_pool

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


@dataclass(frozen=True, slots=True)
class FailingDisk:
    """A file system on a file, which turns read-only when it finds an error, under whoever writes.

    (One in memory cannot be turned so while a file is open for writing.)
    """

    image: Path
    folder: Path

    def mount(self) -> bool:
        return _mount("-o", "loop,errors=remount-ro", str(self.image), str(self.folder))

    def fail(self) -> None:
        found = subprocess.run(
            ["findmnt", "-no", "SOURCE", self.folder], capture_output=True, text=True, check=True
        )
        trigger = Path("/sys/fs/ext4", Path(found.stdout.strip()).name, "trigger_fs_error")
        with contextlib.suppress(OSError):  # to ask for it is answered with the error
            trigger.write_text("1")

    def repair(self) -> None:
        """As its owner would, after an error of the hardware."""
        self.unmount()
        done = subprocess.run(["e2fsck", "-fy", self.image], capture_output=True, check=False)
        assert done.returncode in (0, 1), done.stdout
        assert self.mount()

    def unmount(self) -> None:
        subprocess.run(["umount", self.folder], check=True)


@pytest.fixture
def failing_disk() -> Iterator[FailingDisk]:
    # In memory where there is such a place: PostgreSQL waits for every write to be on the disk.
    fast = Path("/dev/shm")  # noqa: S108 -- a folder of its own in it
    folder = Path(tempfile.mkdtemp(prefix="mb-disk-", dir=fast if fast.is_dir() else None))
    folder.chmod(0o755)
    disk = FailingDisk(folder / "image", folder / "disk")
    disk.folder.mkdir()
    try:
        with disk.image.open("wb") as image:
            image.truncate(400 << 20)
        subprocess.run(["mkfs.ext4", "-q", "-F", disk.image], check=True)
        if not disk.mount():
            pytest.skip("no file can be mounted here: that takes root's rights and a loop device")
        disk.folder.chmod(0o755)
        yield disk
        disk.unmount()
    finally:
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


def test_a_backup_onto_a_full_disk_names_it(disk: MountOf) -> None:
    folder = disk(1)
    _fill(folder)
    with open_folder() as own:
        made = Installation(own / "full")
        made.folder.mkdir(mode=0o755)
        made.apart("store-fact", "user", "likes", "tea")
        assert "the disk is full: free some space" in made.apart("backup", str(folder), code=7).err
        made.inside("keys", "init")
        said = made.apart("backup", str(folder), code=7).err
        assert f"No space left on device: a backup needs room in {folder} and in " in said


async def _until_refused(memory: Memory, principal: Principal, acknowledged: set[UUID]) -> None:
    """Store until the pages that are there are used up."""
    for number in range(200):
        text = f"{number} " + os.urandom(2_000).hex()
        acknowledged.add(await store_episode(memory, principal, text, "b"))


async def _opened(
    lease: embedded.Lease, embedder: BatchingEmbedder, clock: Clock
) -> tuple[asyncpg.Pool, Memory]:
    """A memory on the database that was started."""
    await schema.ensure_database(lease.endpoint.dsn("postgres"), "memory")
    pool = await open_pool(await schema.prepare(lease.endpoint.dsn("memory")))
    engine = embedder.engine
    version = await embeddings.register(
        pool, engine.model_name, engine.model_version, engine.dimensions, clock.now
    )
    return pool, Memory(pool, embedder, version, MemoryModuleConfig(), clock)


async def _kept(lease: embedded.Lease) -> set[UUID]:
    """The ids of the episodes that the database holds."""
    async with connected(lease.endpoint.dsn("memory")) as connection:
        return {row["id"] for row in await connection.fetch("SELECT id FROM episodes")}


def _end(pid_file: Path) -> None:
    """End a server that has not ended by itself yet."""
    with contextlib.suppress(psutil.NoSuchProcess):
        server = psutil.Process(int(pid_file.read_text().split()[0]))
        server.kill()
        while server.status() != psutil.STATUS_ZOMBIE:
            time.sleep(0.02)


@pytest.mark.anyio
async def test_a_database_outlives_a_disk_that_turns_read_only_under_it(
    failing_disk: FailingDisk, embedder: BatchingEmbedder, clock: Clock, principal: Principal
) -> None:
    def start() -> embedded.Lease:
        folder = failing_disk.folder
        return embedded.acquire(folder / "data", cluster_root=folder / "clusters")

    lease = start()
    pool, memory = await _opened(lease, embedder, clock)
    acknowledged = {await store_episode(memory, principal, f"{n} before", "b") for n in range(5)}
    failing_disk.fail()
    # PostgreSQL ends at the first write, or it refuses that one and ends at the next it cannot do.
    for _ in range(2):
        with pytest.raises(Unavailable, match=r"the database (did not answer|refused)"):
            await store_episode(memory, principal, "in vain", "b")
    await pool.close()
    _end(next(failing_disk.folder.rglob("postmaster.pid")))
    with pytest.raises(ConfigurationError, match="Read-only file system"):
        start()
    with pytest.raises(ConfigurationError, match="Read-only file system"):
        lease.release()  # it is given up all the same: the disk can be taken away

    failing_disk.repair()
    lease = start()
    assert await _kept(lease) == acknowledged
    lease.release()


@pytest.mark.anyio
async def test_a_database_outlives_a_full_disk_and_a_read_only_one(
    disk: MountOf, embedder: BatchingEmbedder, clock: Clock, principal: Principal
) -> None:
    folder = disk(400)

    def start() -> embedded.Lease:
        return embedded.acquire(folder / "data", cluster_root=folder / "clusters")

    lease = start()
    pool, memory = await _opened(lease, embedder, clock)
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
    assert await _kept(lease) == acknowledged
    lease.release()
