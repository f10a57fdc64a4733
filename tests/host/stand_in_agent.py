"""A stand-in for Claude Code: a real process that takes part in a session as an agent would.

Started with Claude Code's own flags, it reads the MCP configuration that it was given, talks to
both servers, reads the memory block in its instructions, and decides by it what to answer. What it
says is written by hand; nothing of it is a model's. With `--json-schema` it is asked for an
extraction of facts instead, as consolidation does.
"""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from mcp.client import Client

# What a model would draw from the episode of the first session.
EXTRACTION = {
    "new_facts": [
        {
            "subject": "user",
            "predicate": "dietary_restriction",
            "content": "Lactose intolerant",
            "permanence": "stable",
            "importance": 8,
        }
    ],
    "updated_facts": [],
    "new_rules": [],
    "confirmations": [],
}


def flag(name: str) -> str:
    """The value of a flag; '' where it was not given."""
    arguments = sys.argv[1:]
    return arguments[arguments.index(name) + 1] if name in arguments else ""


def after_compaction(settings: dict[str, Any]) -> str:
    """What the session would be told again after its context was compressed."""
    said = []
    for group in settings["hooks"]["SessionStart"]:
        if group["matcher"] == "compact":
            for hook in group["hooks"]:
                done = subprocess.run(hook["command"], shell=True, capture_output=True, check=True)  # noqa: S602
                said.append(done.stdout.decode())
    return "".join(said)


async def call(entry: dict[str, Any], tool: str, **arguments: Any) -> Any:
    """Call a tool of a server of the MCP configuration."""
    assert entry["type"] == "http"
    async with Client(entry["url"]) as client:
        asked: Any = {"memory-butler/structured": True}
        result = await client.call_tool(tool, arguments, meta=asked)
        assert not result.is_error, result.content
        return result.structured_content


async def visit(servers: dict[str, Any], prompt: str) -> dict[str, Any]:
    """Use both servers: recall from the one, count the sessions in the other's state store."""
    (butler,) = set(servers) - {"memory"}
    recalled = await call(servers["memory"], "memory_recall", topic=prompt, scope=butler)
    before = await call(servers[butler], "state_get", key="sessions")
    count = 1 if before["entry"] is None else before["entry"]["value"] + 1
    await call(servers[butler], "state_set", key="sessions", value=count)
    return {"recalled": [one["content"] for one in recalled["results"]], "sessions": count}


def session(prompt: str) -> str:
    system = Path(flag("--append-system-prompt-file")).read_text()
    config_file = Path(flag("--mcp-config"))
    servers = json.loads(config_file.read_text())["mcpServers"]
    settings = json.loads(Path(flag("--settings")).read_text())
    noted = asyncio.run(visit(servers, prompt)) | {
        "system": system,
        "arguments": sys.argv[1:],
        "mode": oct(config_file.stat().st_mode & 0o777),
        "files": [flag("--mcp-config"), flag("--settings")],
        "folder": os.listdir("."),
        "block": Path(os.environ["MEMORY_BUTLER_CONTEXT_FILE"]).read_text(),
        "compacted": after_compaction(settings),
        "servers": sorted(servers),
        "environment": sorted(os.environ),
    }
    Path(os.environ["STAND_IN_NOTES"]).write_text(json.dumps(noted))
    if "Lactose intolerant" in system:
        said = "No milk for you: I know that you are lactose intolerant."
        summary, importance = "The user asked about breakfast and was offered one without milk.", 3
    else:
        said = "Noted."
        summary, importance = "User mentioned they are lactose intolerant.", 8
    return f"{said}\n\nSession summary: {summary}\nImportance: {importance}\n"


def main() -> None:
    prompt = sys.stdin.read()
    if "--json-schema" in sys.argv:
        answer = {"structured_output": EXTRACTION, "result": ""}
    else:
        answer = {"result": session(prompt)}
    print(json.dumps({"type": "result", "is_error": False, **answer}))


if __name__ == "__main__":
    main()
