"""Starting and stopping real processes on one data directory."""

import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from memory_butler.app import serve
from memory_butler.config import Settings
from memory_butler.domain.errors import ConfigurationError
from memory_butler.store import embedded

_PROCESSES = 4
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
from memory_butler.surfaces.logs import configure
configure("info")
asyncio.run(app.serve(config.load(), lambda url: print(url, flush=True)))
print("closed", flush=True)
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    # Not pytest's own folder: PostgreSQL does not run as root, and that one is root's alone.
    folder = Path(tempfile.mkdtemp(prefix="mb-open-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def _start(folder: Path) -> "subprocess.Popen[str]":
    environment = {
        **{key: os.environ[key] for key in os.environ if not key.startswith("MEMORY_BUTLER_")},
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
        pytest.fail(f"no server: {process.wait()} {process.communicate()[1][-3000:]}")
    return line


@pytest.mark.requirement("GEN-04")
def test_four_servers_start_at_once_and_share_one_database(folder: Path) -> None:
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


def _call(url: str, tool: str, arguments: dict[str, str]) -> dict[str, Any]:
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": tool, "arguments": arguments},
    }
    headers = {"accept": "application/json, text/event-stream"}
    answer = httpx.post(f"{url}/mcp", json=message, headers=headers, timeout=30, trust_env=False)
    content: dict[str, Any] = answer.json()["result"]["structuredContent"]
    return content


def _postmasters(folder: Path) -> int:
    """How many servers run on the cluster: those whose command line names its folder."""
    found = 0
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = process.read_bytes().split(b"\0")
        except OSError:
            continue
        if b"-D" in words and any(str(folder).encode() in word for word in words):
            found += 1
    return found


@pytest.mark.anyio
async def test_a_taken_port_is_told_before_anything_is_made(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        settings = Settings(port=taken.getsockname()[1], data_dir=tmp_path / "data")
        with pytest.raises(ConfigurationError, match="Choose another port with --port"):
            await serve(settings, print)
    assert not settings.data_dir.exists()
