"""Agents of frameworks that take memory as an MCP server, each in an environment of its own.

In the nightly profile alone: uv installs each of them from the package index first.
"""

import asyncio
import os
import sys
from pathlib import Path
from typing import Final

import pytest

from clients.endpoint import Call, Endpoint
from clients.programs import QUIET
from conftest import Connection
from memory_butler.config import Settings
from memory_butler.operations.registry import of_toolsets
from surfaces.serving import Served

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(
        os.environ.get("HYPOTHESIS_PROFILE") != "nightly", reason="in the nightly profile"
    ),
]

_RUN_SECONDS: Final = 300
_HERE: Final = Path(__file__).parent / "frameworks"
# As of November 2026; LangGraph's agents are LangChain's.
FRAMEWORKS: Final = {
    "openai_agents": ("openai-agents==0.24.0",),
    "langgraph": (
        "langgraph==1.2.22",
        "langchain==1.4.7",
        "langchain-openai==1.7.3",
        "langchain-mcp-adapters==0.3.2",
    ),
    "pydantic_ai": ("pydantic-ai-slim[openai,mcp]==2.68.0",),
    "llama_index": (
        "llama-index-core==0.14.25",
        "llama-index-llms-openai-like==0.8.1",
        "llama-index-tools-mcp==0.6.0",
    ),
}


@pytest.mark.parametrize("name", FRAMEWORKS)
async def test_a_tool_makes_the_round_trip(
    endpoint: Endpoint, served: Served, admin: Connection, tmp_path: Path, name: str
) -> None:
    fact = {"subject": "Ana", "predicate": "keeps", "content": "Ana keeps bees"}
    endpoint.script = [Call("memory_store_fact", fact), "Stored."]
    said = await _run(name, tmp_path, f"{endpoint.url}/v1", f"{served.url}/mcp", "Ana keeps bees.")

    assert "Stored." in said
    id = str(await admin.fetchval("SELECT id FROM facts WHERE content = 'Ana keeps bees'"))
    first, *_, last = endpoint.asked
    assert set(first.tools) == {one.name for one in of_toolsets(Settings().toolsets)}
    assert id in last.text  # the answer has come back to the model


async def _run(name: str, folder: Path, *words: str) -> str:
    """What the agent said at last."""
    packages = [word for package in FRAMEWORKS[name] for word in ("--with", package)]
    # Not our environment's Python, which would bring our packages with it.
    base = Path(sys.base_prefix) / "bin" / "python3"
    process = await asyncio.create_subprocess_exec(
        *(str(Path(sys.executable).parent / "uv"), "run", "--quiet", "--isolated", "--no-project"),
        *("--python", str(base), *packages),
        *("python", str(_HERE / f"{name}_agent.py"), *words),
        cwd=folder,
        env={**os.environ, **QUIET},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        out, err = await asyncio.wait_for(process.communicate(), _RUN_SECONDS)
    except BaseException:
        process.kill()
        await process.wait()
        raise
    assert process.returncode == 0, err.decode()
    return out.decode()
