"""Starting and stopping real processes on one data directory."""

import asyncio
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import pytest

from cli.installation import Installation
from conftest import SAME_VECTORS
from folders import open_folder
from long_profile import NIGHTLY
from memory_butler.app import serve
from memory_butler.client import SyncMemoryClient
from memory_butler.config import Settings
from memory_butler.domain.errors import ConfigurationError, MemoryButlerError
from memory_butler.store import embedded, schema
from memory_butler.store.transaction import connected

_PROCESSES: Final = 4 if NIGHTLY else 2
_SECONDS = 180  # four starts compete for few cores

# Serves until SIGTERM, and dies at once when anything opens a connection over a network: there is
# nothing to fetch, neither the model nor anything else.
_SERVE: Final = """
import asyncio, os, sys

def refuse_networks(event, arguments):
    if event == "socket.connect" and isinstance(arguments[1], tuple):
        os._exit(97)
    if event == "socket.getaddrinfo" and arguments[0] not in ("127.0.0.1", None):
        os._exit(98)

sys.addaudithook(refuse_networks)
from memory_butler import app, config
from memory_butler.logs import configure
configure("info")
asyncio.run(app.serve(config.load(), lambda url: print(url, flush=True)))
print("closed", flush=True)
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    with open_folder() as folder:
        yield folder


def _start(folder: Path) -> "subprocess.Popen[str]":
    """A server that asks no network."""
    environment = {
        **{key: os.environ[key] for key in os.environ if not key.startswith("MEMORY_BUTLER_")},
        **SAME_VECTORS,
        "MEMORY_BUTLER_DATA_DIR": str(folder / "data"),
        "MEMORY_BUTLER_CLUSTER_ROOT": str(folder / "clusters"),
        "MEMORY_BUTLER_PORT": "0",
        "HF_HOME": str(folder / "none"),
    }
    return subprocess.Popen(
        [sys.executable, "-c", _SERVE],
        env=environment,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _announced(process: "subprocess.Popen[str]", deadline: float) -> str:
    """The URL that a process prints once it answers."""
    assert process.stdout is not None
    ready, _, _ = select.select([process.stdout], [], [], max(0.0, deadline - time.monotonic()))
    line = process.stdout.readline().strip() if ready else ""
    if not line:
        process.kill()
        pytest.fail(f"no server: {process.wait()} {(process.communicate()[1] or '')[-3000:]}")
    return line


@pytest.mark.requirement("GEN-04")
def test_servers_start_at_once_and_share_one_database(folder: Path) -> None:
    deadline = time.monotonic() + _SECONDS
    processes = [_start(folder) for _ in range(_PROCESSES)]
    try:
        urls = [_announced(process, deadline) for process in processes]
        assert len(set(urls)) == _PROCESSES
        assert _postmasters(folder) == 1
        _remembers_and_recalls(urls[0], urls[-1])
    finally:
        for process in processes:
            process.send_signal(signal.SIGTERM)
        ends = [process.communicate(timeout=_SECONDS) for process in processes]
    assert [process.returncode for process in processes] == [0] * _PROCESSES, ends
    assert [out for out, _ in ends] == ["closed\n"] * _PROCESSES
    assert not any("password" in err or "postgresql://" in err for _, err in ends)
    assert sum(err.count('"server_started"') for _, err in ends) == 1
    assert sum(err.count('"server_stopped"') for _, err in ends) == 1
    assert not embedded.status(folder / "data").running
    assert _postmasters(folder) == 0


def _remembers_and_recalls(one: str, other: str) -> None:
    """What one server stores another finds, by a model that nobody fetched."""
    stored = _call(one, "memory_store_rule", {"content": "Water the tomatoes at dusk"})
    found = _call(other, "memory_recall", {"topic": "when do vegetables get a drink"})
    assert [rule["id"] for rule in found["results"]] == [stored["id"]]


_WRITERS: Final = 4
_WRITES: Final[tuple[tuple[str, dict[str, str]], ...]] = (
    ("memory_store_fact", {"subject": "the well", "predicate": "is", "content": "deep"}),
    ("memory_store_rule", {"content": "Draw water before noon"}),
    ("memory_store_episode", {"content": "The rope broke", "butler": "garden"}),
    ("memory_run_consolidation", {}),
)


@pytest.mark.requirement("FAIL-01")
def test_a_database_killed_under_load_comes_back_for_every_write_and_the_server_stops(
    folder: Path,
) -> None:
    stop, log = threading.Event(), folder / "log"
    with (
        closing(Installation(folder).fork("serve", "--port", "0", log=log)) as process,
        ThreadPoolExecutor(_WRITERS) as threads,
    ):
        try:
            url = process.stdout.readline().split()[-1]
            stored: list[str] = []
            writing = [threads.submit(_keep_writing, url, stored, stop) for _ in range(_WRITERS)]
            _until(lambda: len(stored) > _WRITERS, 30)
            pid = embedded.status(folder / "data").pid
            assert pid is not None
            os.kill(pid, signal.SIGKILL)
            before = len(stored)
            _until(lambda: len(stored) > before + _WRITERS, 60)
            # Still under load, and each within the patience of an agent.
            for tool, arguments in _WRITES:
                _call(url, tool, arguments, seconds=10)
            for rule in stored[:before]:
                asked = {"memory_type": "rule", "memory_id": rule}
                assert _call(url, "memory_get", asked, seconds=10)["memory"] is not None
        finally:
            try:
                ended = process.end()
            finally:
                process.kill()
                stop.set()
        for writer in writing:
            writer.result()
    assert ended == 0, log.read_text()[-3000:]
    assert not embedded.status(folder / "data").running
    # What was acknowledged before the kill, after it, and while the server was stopping.
    assert set(stored) <= asyncio.run(_rules(folder))


async def _rules(folder: Path) -> set[str]:
    """The ids of the rules that the database holds when it is started again."""
    lease = await asyncio.to_thread(
        embedded.acquire, folder / "data", cluster_root=folder / "clusters"
    )
    try:
        async with connected(lease.endpoint.dsn(schema.DATABASE)) as connection:
            return {str(row["id"]) for row in await connection.fetch("SELECT id FROM rules")}
    finally:
        await asyncio.to_thread(lease.release)


def _keep_writing(url: str, stored: list[str], stop: threading.Event) -> None:
    """Store rule after rule; an outage is met as by an agent, which asks again."""
    while not stop.is_set():
        try:
            stored.append(_call(url, "memory_store_rule", {"content": "Mind the rope"})["id"])
        except MemoryButlerError:
            stop.wait(0.1)


def _until(happened: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline, f"not within {seconds} s"
        time.sleep(0.02)


def _call(url: str, tool: str, arguments: dict[str, Any], seconds: float = 30) -> dict[str, Any]:
    with SyncMemoryClient.connect(url, seconds=seconds) as memory:
        return memory.run(tool, arguments)


def _postmasters(folder: Path) -> int:
    """How many servers run on the cluster: those whose command line names its folder.

    A process that one of them has just started has the same command line, for a moment.
    """
    parents: dict[int, int] = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
            parent = int((process / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if b"-D" in words and any(str(folder).encode() in word for word in words):
            parents[int(process.name)] = parent
    return sum(parent not in parents for parent in parents.values())


@pytest.mark.anyio
async def test_a_taken_port_is_told_before_anything_is_made(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        settings = Settings(port=taken.getsockname()[1], data_dir=tmp_path / "data")
        with pytest.raises(ConfigurationError, match="Choose another port with --port"):
            await serve(settings, print)
    assert not settings.data_dir.exists()
