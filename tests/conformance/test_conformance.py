"""The protocol as its makers test it, against the application that `serve` runs.

`make toolbox` installs the suite; until it is there this is skipped, but in CI it fails.
"""

import json
import os
import re
from collections.abc import AsyncIterator
from typing import Any
from unittest.mock import patch

import pytest

from conformance.fixture import with_test_tools
from conformance.toolbox import inspect, installed, run_suite
from long_profile import by_day
from memory_butler.config import Settings
from memory_butler.engine.memory import Memory
from memory_butler.operations.registry import of_toolsets
from memory_butler.surfaces import mcp
from surfaces.serving import Served, serving

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(
        not installed() and "CI" not in os.environ,
        reason="run `make toolbox` once: it installs the suite",
    ),
]


@pytest.fixture
async def url(memory: Memory) -> AsyncIterator[str]:
    """Our server, the suite's test tools added to its own."""
    with patch.object(mcp, "build_server", with_test_tools(mcp.build_server)):
        async with serving(memory, Settings()) as served:
            yield f"{served.url}/mcp"


@pytest.mark.parametrize("version", by_day(("2025-11-25", "2026-07-28"), "2026-07-28"))
async def test_official_suite(url: str, version: str) -> None:
    ran = await run_suite(url, version)
    summary = ran.output.rpartition("=== SUMMARY ===")[2]
    # A run that ended early would be without a total, and one that reached nothing without passes.
    assert ran.code == 0, summary + ran.errors
    assert "✓ tools-list" in summary


@pytest.fixture
async def served(memory: Memory) -> AsyncIterator[Served]:
    async with serving(memory, Settings(toolsets=("memory", "consolidation"))) as served:
        yield served


async def test_inspector_finds_no_fault_with_any_tool(served: Served) -> None:
    ran = await inspect(f"{served.url}/mcp", "--strict", "--method", "tools/list")
    assert ran.code == 0, ran.errors
    listed = {tool["name"] for tool in json.loads(ran.output)["tools"]}
    assert listed == {one.name for one in of_toolsets(("memory", "consolidation"))}


async def _call(served: Served, tool: str, **arguments: str) -> dict[str, Any]:
    """The answer of a tool that the inspector calls, which holds it against the tool's schema."""
    pairs = [f"{name}={value}" for name, value in arguments.items()]
    given = ["--tool-arg", *pairs] if pairs else []
    ran = await inspect(f"{served.url}/mcp", "--method", "tools/call", "--tool-name", tool, *given)
    assert ran.code == 0, (tool, ran.output, ran.errors)
    told = json.loads(ran.output)
    answer: dict[str, Any] = told.get("structuredContent") or {"text": told["content"]}
    return answer


async def test_inspector_calls_tools(served: Served) -> None:
    stored = {"subject": "user", "predicate": "likes", "content": "Dark green"}
    fact = await _call(served, "memory_store_fact", **stored)
    assert fact["id"] in str(await _call(served, "memory_search", query="dark green"))
    await _call(served, "memory_context", trigger_prompt="dark green", butler="painter")
    await _call(served, "memory_forget", memory_type="fact", memory_id=fact["id"])


@pytest.mark.nightly  # it starts the inspector 23 times
async def test_inspector_calls_every_tool(served: Served) -> None:
    called = set()

    async def call(tool: str, **arguments: str) -> dict[str, Any]:
        called.add(tool)
        return await _call(served, tool, **arguments)

    fact = await call("memory_store_fact", subject="user", predicate="likes", content="Dark green")
    rule = await call("memory_store_rule", content="Answer in one sentence")
    await call("memory_store_episode", content="We talked of paint", butler="painter")
    assert fact["id"] in str(await call("memory_search", query="dark green"))
    assert fact["id"] in str(await call("memory_recall", topic="dark green"))
    await call("memory_stats")
    await call("memory_context", trigger_prompt="dark green", butler="painter")
    await call("memory_get", memory_type="fact", memory_id=fact["id"])
    await call("memory_confirm", memory_type="fact", memory_id=fact["id"])
    await call("memory_forget", memory_type="fact", memory_id=fact["id"])
    await call("memory_mark_helpful", rule_id=rule["id"])
    await call("memory_mark_harmful", rule_id=rule["id"])

    ann = _id(await call("entity_create", canonical_name="Ann Smith", entity_type="person"))
    annie = _id(await call("entity_create", canonical_name="Annie S", entity_type="person"))
    await call("entity_get", entity_id=ann)
    await call("entity_update", entity_id=ann, canonical_name="Ann B. Smith")
    assert ann in str(await call("entity_resolve", name="Ann B. Smith"))
    await call("entity_merge", source_entity_id=annie, target_entity_id=ann)

    await call("memory_run_consolidation")
    await call("memory_run_episode_cleanup")
    begun = await call("consolidation_begin")
    await call("consolidation_submit", run_id=begun["run_id"], answer="{}")
    assert called == {one.name for one in of_toolsets(("memory", "consolidation"))}


def _id(answer: dict[str, Any]) -> str:
    found = re.search(r"[0-9a-f]{8}-[0-9a-f-]{27}", str(answer))
    assert found, answer
    return found.group()
