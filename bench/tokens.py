"""What a memory costs the model that uses it: the list of tools, a recall of ten, a context.

    python bench/tokens.py

Bytes as a client sends them on to its model, and tokens at four characters each. Of the list a
model reads names, descriptions and inputs; the whole list is what goes over the wire.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mcp.client import Client
from mcp_types import CallToolResult, TextContent, Tool

from bench.server import running_server
from memory_butler.config import MemoryModuleConfig
from memory_butler.operations.operation import Toolset
from memory_butler.surfaces.mcp import describe_all

# Facts of everyday length, and rules.
FACTS = (
    "Is allergic to peanuts and carries an adrenaline pen whenever out",
    "Works as a pilot for a regional airline and flies from Porto mostly",
    "Has two daughters who go to the school by the river, Ines and Clara",
    "Drinks green tea in the morning and no coffee after twelve o'clock",
    "Plays the cello in an orchestra of amateurs every Thursday evening",
    "Prefers trains to planes on journeys that take less than six hours",
    "Keeps bees behind the house and sells the honey in the late summer",
)
RULES = (
    "Ask before booking anything that cannot be cancelled free of charge",
    "Answer questions about travel with the departure time in local time",
    "Never suggest a dish with nuts, not even as a garnish or on the side",
)
TOPIC = "what to know about the user before planning a journey"


def main() -> None:
    """Run and print the table."""
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    ).parse_args()
    print("| what a model reads | bytes | tokens | of its content |")
    print("|---|---|---|---|")
    toolsets: tuple[Toolset, ...] = ("memory", "core")
    for toolset in toolsets:
        tools = describe_all([toolset], MemoryModuleConfig())
        _row(f"{len(tools)} tools of `{toolset}`: names, descriptions, inputs", _read(tools))
        _row(f"{len(tools)} tools of `{toolset}`: the whole list", _json(_wire(tools)))
    with running_server() as (url, _):
        asyncio.run(_answers(f"{url}/mcp"))


async def _answers(url: str) -> None:
    async with Client(url) as client:
        for number, content in enumerate(FACTS):
            fact = {"subject": "user", "predicate": f"trait_{number}", "content": content}
            await client.call_tool("memory_store_fact", fact)
        for content in RULES:
            await client.call_tool("memory_store_rule", {"content": content})
        kept = sum(len(one.encode()) for one in FACTS + RULES)
        recalled = await client.call_tool(
            "memory_recall", {"topic": TOPIC, "limit": 10, "min_relevance": 0}
        )
        asked = {"trigger_prompt": TOPIC, "butler": "travel"}
        block = await client.call_tool("memory_context", asked)
    for name, answer in (("a recall of ten", recalled), ("a context", block)):
        _row(f"{name}, by clients that show the text", _text(answer), kept)
        _row(f"{name}, by clients that show JSON where there is some", _preferred(answer), kept)
        _row(f"{name}, over the wire", answer.model_dump_json(exclude_none=True), kept)


def _row(name: str, read: str, content: int | None = None) -> None:
    size = len(read.encode())
    share = "" if content is None else f"{size / content:.2f} ×"
    print(f"| {name} | {size:,} | {len(read) // 4:,} | {share} |", flush=True)


def _text(answer: CallToolResult) -> str:
    return "\n".join(one.text for one in answer.content if isinstance(one, TextContent))


def _preferred(answer: CallToolResult) -> str:
    """As Codex sends an answer on: the structured content, else the blocks as JSON."""
    if answer.structured_content is not None:
        return _json(answer.structured_content)
    return _json([one.model_dump(mode="json", exclude_none=True) for one in answer.content])


def _wire(tools: Sequence[Tool]) -> list[dict[str, Any]]:
    return [one.model_dump(mode="json", by_alias=True, exclude_none=True) for one in tools]


def _read(tools: Sequence[Tool]) -> str:
    keys = ("name", "description", "inputSchema")
    return _json([{key: one[key] for key in keys} for one in _wire(tools)])


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


if __name__ == "__main__":
    main()
