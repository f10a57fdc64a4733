"""A server of its own for a benchmark, and a client that costs as little as a client can.

The client speaks JSON-RPC over one kept connection and validates nothing, so that a measured call
is the server's work and not the client's. Server, database and client share the machine's cores.
"""

import asyncio
import http.client
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from memory_butler.config import Settings
from memory_butler.engine.nearest_index import WORTHWHILE, status
from memory_butler.operations.operation import STRUCTURED

# Some turns of the data sets are longer than what a server takes by default.
QUIET = {
    "MEMORY_BUTLER_LOG_LEVEL": "warning",
    "MEMORY_BUTLER_MEMORY__MAX_CONTENT_BYTES": "2000000",
}


class Client:
    """One connection; not to be shared between threads."""

    def __init__(self, url: str, token: str | None = None) -> None:
        self._connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=120)
        self._headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        if token is not None:
            self._headers["Authorization"] = f"Bearer {token}"

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool; a refusal is an error."""
        body = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {
                "name": tool,
                "arguments": arguments,
                "_meta": {STRUCTURED: True},
            },
        }
        self._connection.request("POST", "/mcp", json.dumps(body), self._headers)
        answer = json.loads(self._connection.getresponse().read())
        result = answer.get("result")
        if result is None or result.get("isError"):
            raise RuntimeError(f"{tool}: {answer}")
        content: dict[str, Any] = result["structuredContent"]
        return content

    def close(self) -> None:
        """End the connection."""
        self._connection.close()


@contextmanager
def running_server(*, indexing: bool = True, caching: bool = True) -> Iterator[tuple[str, Path]]:
    """A fresh server on a free port: its base URL and its data directory, removed at the end.

    Without `indexing` it never builds the approximate index of vectors by itself, without `caching`
    it embeds a question each time it is asked.
    """
    settings = dict(QUIET)
    if not indexing:
        settings["MEMORY_BUTLER_MEMORY__RETRIEVAL__INDEX_FROM"] = "0"
    if not caching:
        settings["MEMORY_BUTLER_MEMORY__RETRIEVAL__QUERY_CACHE_SIZE"] = "0"
    with data_folder() as data_dir, started(data_dir, settings) as (url, _):
        yield url, data_dir


@contextmanager
def data_folder() -> Iterator[Path]:
    """A data directory that is not there yet, removed at the end."""
    folder = Path(tempfile.mkdtemp(prefix="memory-butler-bench-"))
    # Readable by the user that the database runs as when the benchmark is run by root.
    folder.chmod(0o755)
    try:
        yield folder / "data"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def started(data_dir: Path, settings: Mapping[str, str]) -> Iterator[tuple[str, int]]:
    """A server that answers on a free port: its base URL and its process."""
    process = subprocess.Popen(
        [sys.executable, "-m", "memory_butler", "serve", "--port", "0", "--data-dir", data_dir],
        stdout=subprocess.PIPE,
        text=True,
        env=environment(settings),
    )
    assert process.stdout is not None
    try:
        for line in process.stdout:
            url = next((word for word in line.split() if word.startswith("http://")), None)
            if url is not None:
                break
        else:
            raise RuntimeError("the server did not start; its log is above")
        yield url.removesuffix("/mcp"), process.pid
    finally:
        process.terminate()
        process.wait(60)


def environment(settings: Mapping[str, str]) -> dict[str, str]:
    """Ours and these settings, for a program of ours that is measured.

    It keeps its bytecode, as an installation does, also where our own environment forbids that.
    """
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, **settings}


def resident(pid: int) -> float:
    """Megabytes that a process holds in memory."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("VmRSS"))) * 1024 / 1e6


async def indexed(data_dir: Path) -> None:
    """Wait until the server has indexed every table that is large; two minutes at most."""
    for _ in range(240):
        if all(
            one.built or one.memories < WORTHWHILE
            for one in await status(Settings(data_dir=data_dir))
        ):
            return
        await asyncio.sleep(0.5)
    raise RuntimeError("the server has not built its index of vectors")


def spent(pid: int) -> float:
    """Milliseconds of processor time of a process so far."""
    total = 0
    for task in Path(f"/proc/{pid}/task").glob("*"):
        try:
            total += int((task / "schedstat").read_text().split()[0])
        except OSError:
            continue
    return total / 1e6


def machine() -> str:
    """The machine in one line, for the tables."""
    cores = os.cpu_count()
    model = "unknown processor"
    if os.path.exists("/proc/cpuinfo"):
        names = [
            line for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line
        ]
        model = names[0].partition(":")[2].strip() if names else model
    return f"{cores} cores, {model}, Python {sys.version.split()[0]}"
