"""An operation that is declared is there on every surface, and in all that is written of them."""

import json
import runpy
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from cli.installation import SECONDS, Installation
from forking import forked

_SCRIPT = Path(__file__).with_name("added_operation.py")
_ASKED = {"whom": "Ana", "loudly": True}
_ANSWER = {"text": "HELLO ANA", "tenant": "default"}


@pytest.fixture(scope="module")
def url(installation: Installation) -> Iterator[str]:
    """A server that has the operation."""
    process = subprocess.Popen(
        [sys.executable, _SCRIPT, "serve", "--port", "0"],
        env=installation.environment(),
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().split()[-1]
    finally:
        process.terminate()
        process.communicate(timeout=SECONDS)


def _run(installation: Installation, *words: str) -> str:
    with closing(forked(_type, words, environment=installation.environment())) as process:
        said = process.stdout.read()
        process.process.join(SECONDS)
        assert process.process.exitcode == 0, said
    return said


def _type(words: tuple[str, ...]) -> None:
    sys.argv = [str(_SCRIPT), *words]
    runpy.run_path(str(_SCRIPT), run_name="__main__")


@pytest.mark.nightly
def test_an_added_operation_answers_over_rest_and_mcp(url: str) -> None:
    answer = httpx.post(f"{url}/api/memory/greetings", json=_ASKED)
    assert answer.json() == _ANSWER
    described = httpx.get(f"{url}/api/openapi.json", timeout=60).json()["paths"][
        "/api/memory/greetings"
    ]["post"]
    assert described["operationId"] == "memory_greet"
    call = {"name": "memory_greet", "arguments": _ASKED}
    told = httpx.post(
        f"{url}/mcp",
        headers={"Accept": "application/json"},
        json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call},
    )
    assert told.json()["result"]["structuredContent"] == _ANSWER


def test_an_added_operation_is_a_command(installation: Installation) -> None:
    assert json.loads(_run(installation, "greet", "Ana", "--loudly", "--json")) == _ANSWER
    assert "Hello Ana" in _run(installation, "greet", "Ana")
    assert "Greet somebody by name." in _run(installation, "--help")


@pytest.mark.nightly
def test_an_added_operation_is_in_the_client_and_in_the_docs(installation: Installation) -> None:
    written = json.loads(_run(installation, "--written"))
    assert "async def greet(\n" in written["methods.py"]
    assert "    def greet(\n" in written["sync_methods.py"]
    assert "class Greeting(" in written["shapes.py"]
    assert "memory_greet" in written["tools.md"]
    assert "/api/memory/greetings" in written["rest.md"]
    assert "memory-butler greet WHOM" in written["cli.md"]
