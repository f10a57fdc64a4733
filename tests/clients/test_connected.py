"""What `connect` writes, read by the real programs: tools, a call, context, an episode, the end."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

import pytest
from bench.tokens import FACTS, RULES

from clients import matrix
from clients.endpoint import Call, Json
from clients.programs import COMMANDS, Person, end, finish
from clients.toolbox import AGENT_SDK, FOLDER, FRAMEWORKS, command, version
from conformance.toolbox import search_path
from conftest import Connection, Database
from long_profile import by_day
from memory_butler.config import Settings
from memory_butler.domain.principals import Principal
from memory_butler.engine.memory import Memory
from memory_butler.engine.remember import store_fact
from memory_butler.integrations.claude_agent import memory_options
from memory_butler.integrations.clients import (
    HOOK,
    HOOK_TIMEOUTS,
    Offer,
    Server,
    client_named,
)
from memory_butler.integrations.connections import Connections
from memory_butler.integrations.versions import version_of
from memory_butler.operations.registry import of_toolsets
from memory_butler.surfaces.mcp import instructions
from surfaces.serving import Served

pytestmark = pytest.mark.anyio

CLIENTS: Final = {
    "claude": "claude-code",
    "claude for Node 20": "claude-code",
    "cline": "cline",
    "codex": "codex",
    "gemini": "gemini",
    "opencode": "opencode",
}
HOOKED: Final = ("claude", "codex", "gemini")
OURS: Final = tuple(one.name for one in of_toolsets(Settings().toolsets))
CORE: Final = tuple(one.name for one in of_toolsets(["core"]))
NOWHERE: Final = "http://127.0.0.1:9"
BEES: Final = "Ana keeps bees"
FACT: Final = {"subject": "Ana", "predicate": "keeps", "content": BEES}
TEN: Final = FACTS + RULES
_CORE_TOKENS: Final = 1_200
# What finds all ten, with the inputs that the model sees.
ALL_TEN: Final[Mapping[Offer, Call]] = {
    "all": Call("memory_recall", {"topic": "all of the user", "limit": 10, "min_relevance": 0}),
    "core": Call("memory_search", {"query": "all of the user", "types": ["fact"]}),
}


def connect(
    person: Person, name: str, server: Server, offer: Offer | None = None
) -> Callable[[], None]:
    """What `memory-butler connect` does; the way back."""
    connections, client = Connections(person.home / "connections"), client_named(CLIENTS[name])
    server = replace(server, offer=offer or client.offer)
    edits = client.edits(person.home, person.environment(), server)
    connections.connect(client, connections.plan(client, edits))
    return lambda: connections.disconnect(client, connections.plan_undo(client))


def tools_of_memory(seen: Mapping[str, Json]) -> dict[str, Json]:
    """Of the tools that the model sees those that are this server's, by our names for them."""
    return {
        tool: described
        for name, described in seen.items()
        for tool in OURS
        if name == tool or name.endswith(f"_{tool}")
    }


@pytest.mark.parametrize(
    "name", by_day(("claude", "codex", "gemini", "opencode"), "claude", "codex")
)
async def test_a_program_tells_its_version(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = f"{FOLDER / 'node_modules' / '.bin'}{os.pathsep}{search_path()}"
    monkeypatch.setenv("PATH", path)
    program = client_named(CLIENTS[name]).program
    assert program is not None
    assert await version_of(program) == version(name)


@pytest.mark.parametrize("name", COMMANDS)
async def test_a_tool_makes_the_round_trip_and_nothing_is_left_after(
    person: Person,
    served: Served,
    memory: Memory,
    principal: Principal,
    admin: Connection,
    name: str,
) -> None:
    for number, content in enumerate(TEN):
        await store_fact(memory, principal, "user", f"trait_{number}", content)
    before = person.files()
    disconnect = connect(person, name, Server(served.url))
    person.endpoint.script = [
        ALL_TEN[client_named(CLIENTS[name]).offer],
        Call("memory_store_fact", FACT),
        "Stored.",
    ]
    ran = await person.ask(name, "Ana keeps bees. Remember that.")

    assert "Stored." in ran.out
    id = await admin.fetchval("SELECT id FROM facts WHERE subject = 'Ana' AND content = $1", BEES)
    asked = person.endpoint.with_tools
    assert str(id) in asked[-1].text  # the answer has come back to the model
    recalled = asked[-1].part(*TEN)
    assert 0 < len(recalled.encode()) <= 2.5 * sum(len(one.encode()) for one in TEN)
    seen = tools_of_memory({k: v for one in asked for k, v in one.tools.items()})
    if name == "claude":  # it lists tools by name, and shows those that the model looks for
        named = names_of_memory(asked[0].text)
        assert set(seen) == {"memory_recall", "memory_store_fact"}
    else:
        named = set(seen)
    assert named == set(CORE if name == "gemini" else OURS)
    if name != "cline":  # it shows its model no server's instructions
        core = client_named(CLIENTS[name]).offer == "core"
        assert instructions(["core" if core else "memory"]) in asked[0].text
    matrix.note(name, seen, named=len(named))
    assert matrix.tokens(seen) <= (_CORE_TOKENS if name == "gemini" else 4_000)

    disconnect()
    assert person.files() == {**person.files(), **before}
    assert not [text for text in person.files().values() if served.url in text]


# Gemini CLI, which adds an input to each tool, is offered no more than the core: see above.
@pytest.mark.parametrize(
    "name", by_day(("cline", "claude for Node 20", "codex", "opencode"), "codex")
)
async def test_the_core_costs_little_of_a_context(
    person: Person, served: Served, name: str
) -> None:
    """With what each program adds of its own."""
    connect(person, name, Server(served.url), "core")
    await person.ask(name, "Good morning.")
    seen = tools_of_memory(person.endpoint.with_tools[0].tools)
    assert set(seen) == set(CORE)
    assert matrix.tokens(seen) <= _CORE_TOKENS


def names_of_memory(text: str) -> set[str]:
    return {name for name in OURS if f"mcp__memory__{name}" in text}


@pytest.mark.nightly
async def test_codex_waits_for_a_server_that_it_starts(
    person: Person, database: Database, memory: Memory
) -> None:
    words = (sys.executable, "-m", "memory_butler", "mcp", "--dsn", database.runtime_dsn)
    connect(person, "codex", Server("", command=words))
    person.endpoint.script = [Call("memory_store_fact", FACT), "Stored."]
    assert "Stored." in (await person.ask("codex", "Ana keeps bees.")).out
    first = person.endpoint.with_tools[0]
    assert len(tools_of_memory(first.tools)) == len(OURS)


TOLD: Final = "SELECT content FROM episodes ORDER BY occurred_at"


@pytest.mark.parametrize("name", by_day(HOOKED, "claude", "codex"))
async def test_hooks(
    person: Person,
    served: Served,
    memory: Memory,
    principal: Principal,
    admin: Connection,
    name: str,
) -> None:
    """Context in the request, an episode at the end, a server that is away, a butler's session."""
    await store_fact(memory, principal, "Ana", "keeps", "Ana keeps bees on the roof")
    connect(person, name, Server(served.url))
    person.endpoint.script = ["On the roof."]
    await person.ask(name, "Where are the bees of Ana?")
    assert "Ana keeps bees on the roof" in person.endpoint.with_tools[0].text
    row = await admin.fetchrow("SELECT butler, content FROM episodes")
    assert row["butler"] == CLIENTS[name]
    # What memory told is not what the user asked.
    assert row["content"].splitlines()[1:] == [
        "The user asked:",
        "- Where are the bees of Ana?",
        "Outcome: On the roof.",
    ]

    connect(person, name, Server(NOWHERE))
    ran = await person.ask(name, "The bees swarm today.")
    assert "does not answer" not in ran.out + ran.err
    spool = person.home / ".local/state/memory-butler" / CLIENTS[name] / "spool"
    assert len(list(spool.glob("*.json"))) == 1
    disconnect = connect(person, name, Server(served.url))
    await person.ask(name, "Good evening.")
    async with asyncio.timeout(20):
        while list(spool.glob("*.json")):  # noqa: ASYNC110 -- another process sends it
            await asyncio.sleep(0.05)
    contents = [row[0] for row in await admin.fetch(TOLD)]
    assert sum("The bees swarm today" in one for one in contents) == 1

    # A session that a butler runs is the butler's to remember.
    person.endpoint.new()
    butlers = replace(person, extra={"MEMORY_BUTLER_CONTEXT_FILE": str(person.home / "block")})
    await butlers.ask(name, "Where are the bees of Ana?")
    assert "Ana keeps bees on the roof" not in person.endpoint.with_tools[0].text
    assert len(await admin.fetch(TOLD)) == len(contents)

    # Without its files no program runs a hook: to start one more would show nothing else.
    assert [text for text in person.files().values() if HOOK.name in text]
    disconnect()
    assert not [text for text in person.files().values() if HOOK.name in text]


async def test_an_agent_of_the_claude_agent_sdk(
    person: Person, served: Served, memory: Memory, principal: Principal, admin: Connection
) -> None:
    """The SDK itself, which starts the program with its own flags, and no settings of a person."""
    await store_fact(memory, principal, "Ana", "keeps", "Ana keeps bees on the roof")
    given = memory_options(f"{served.url}/", "beekeeper")
    person.endpoint.script = [Call("memory_store_fact", FACT), "On the roof."]
    (program,) = command("claude")
    words = (program, json.dumps(given), "Where are the bees of Ana?")
    ran = await finish(await person.start(AGENT_SDK, *words))
    assert ran.out == "On the roof.\n"
    assert "Ana keeps bees on the roof" in person.endpoint.asked[0].text
    assert await admin.fetchval("SELECT count(*) FROM facts WHERE content = $1", FACT["content"])
    row = await admin.fetchrow("SELECT butler, content FROM episodes")
    assert row["butler"] == "beekeeper"
    assert "- Where are the bees of Ana?" in row["content"]


@pytest.mark.nightly
async def test_a_fork_of_a_session_tells_what_came_after_it(
    person: Person, served: Served, admin: Connection
) -> None:
    connect(person, "claude", Server(served.url))
    person.endpoint.script = ["On the roof."]
    said = await person.ask("claude", "Where are the bees of Ana?", "--output-format", "json")
    session = json.loads(said.out)["session_id"]
    person.endpoint.script = ["Forty thousand."]
    await person.ask("claude", "And how many?", "--resume", session, "--fork-session")
    first, forked = [row[0] for row in await admin.fetch(TOLD)]
    assert "- Where are the bees of Ana?" in first
    assert forked.splitlines()[1:] == [
        "The user asked:",
        "- And how many?",
        "Outcome: Forty thousand.",
    ]


# Claude Code refuses a sleep of the shell.
_WAITING: Final = "python3 -c 'import time; time.sleep(60)'"
# What starts each of them, and the call that keeps it at work.
AT_WORK: Final = {
    "claude": (
        ("-p", "--allowedTools", "Bash", "mcp__memory"),
        Call("Bash", {"command": _WAITING}),
    ),
    "codex": (
        ("exec", "--dangerously-bypass-approvals-and-sandbox", *COMMANDS["codex"][1:]),
        Call("exec_command", {"cmd": _WAITING}),
    ),
    "gemini": (
        (*COMMANDS["gemini"], "-p", "Wait for the bees."),
        Call("run_shell_command", {"command": _WAITING}),
    ),
}


@pytest.mark.parametrize("name", by_day(HOOKED, "claude"))
async def test_an_episode_is_stored_of_a_session_that_is_ended(
    person: Person, served: Served, admin: Connection, name: str
) -> None:
    connect(person, name, Server(served.url))
    words, call = AT_WORK[name]
    person.endpoint.script = [call, "Slept."]
    process = await person.start(name, *words)
    try:
        assert process.stdin is not None
        process.stdin.write(b"" if name == "gemini" else b"Wait for the bees.")
        process.stdin.close()
        async with asyncio.timeout(60):
            while not person.endpoint.with_tools:  # noqa: ASYNC110 -- another process asks
                await asyncio.sleep(0.05)
        await asyncio.sleep(1)  # it is at work by now
        os.killpg(process.pid, signal.SIGTERM)
        await asyncio.wait_for(process.wait(), 30)
    finally:
        end(process)
        await process.wait()
    if name == "codex":  # it runs no hook when it is ended: its next session tells of this one
        (transcript,) = (person.home / ".codex" / "sessions").rglob("*.jsonl")
        os.utime(transcript, (transcript.stat().st_atime, transcript.stat().st_mtime - 3_600))
        person.endpoint.script = ["Good evening."]
        await person.ask(name, "Good evening.")
    async with asyncio.timeout(20):
        while not any(  # noqa: ASYNC110 -- another process stores it
            "- Wait for the bees." in row[0] for row in await admin.fetch(TOLD)
        ):
            await asyncio.sleep(0.05)


def test_the_page_tells_of_the_versions_that_are_run() -> None:
    assert set(CLIENTS) == set(COMMANDS)
    assert {CLIENTS[name] for name in HOOKED} == set(HOOK_TIMEOUTS)
    page = matrix.PAGE.read_text()
    assert f"Claude Agent SDK {version(AGENT_SDK)}" in page
    for name in (*COMMANDS, *FRAMEWORKS):
        assert f"| `{name}` | {version(name)} |" in page, "run `make clients-matrix`"
