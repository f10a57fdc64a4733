"""The daemon as a process: what stops its start, what it needs, what it keeps at its end."""

import asyncio
import json
import os
import socket
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from host.conftest import Household
from host.households import make_butler, running, until
from memory_butler.domain.errors import Unavailable
from memory_butler.host import commands
from memory_butler.host.agent import Server
from memory_butler.host.mcp_client import call_tool
from memory_butler.surfaces.cli.place import Place

pytestmark = pytest.mark.anyio


def test_a_taken_port_is_told_with_its_process(household: Household) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        told = household.installation.apart(
            "butler", "run", "heartbeat", "--port", port, code=8
        ).err
    assert f"port {port}: Address already in use, by process {os.getpid()} (" in told


def test_a_mistake_stops_the_start_with_its_line(household: Household, tmp_path: Path) -> None:
    (tmp_path / "butler.toml").write_text('[butler]\nname = "a"\nport = 1\nprot = 2\n')
    told = household.installation.inside("butler", "run", str(tmp_path), code=8).err
    assert "butler.toml, line 4: butler.prot: there is no such key" in told
    (tmp_path / "butler.toml").write_text('[butler]\nname = "a"\nprot = 2\n')
    told = household.installation.inside("butler", "run", str(tmp_path), code=8).err
    assert "there is no such key; " in told  # each mistake apart, in one line


def test_a_trigger_of_a_butler_that_does_not_run_says_so(household: Household) -> None:
    folder = str(household.health_folder)
    told = household.installation.inside("butler", "trigger", folder, "hi", "--port", "1", code=7)
    assert f"`memory-butler butler run {folder}` runs it" in told.err
    told = household.installation.inside("butler", "trigger", "memory", "hi", "--port", "1", code=7)
    assert (
        "`memory-butler serve` is not enough: `memory-butler butler run memory` runs it" in told.err
    )


def test_a_trigger_of_a_butler_on_ipv6_asks_there(household: Household, tmp_path: Path) -> None:
    folder = make_butler(tmp_path, "six", household.memory.url, '[server]\nhost = "::1"\n')
    told = household.installation.inside(
        "butler", "trigger", str(folder), "hi", "--port", "1", code=7
    )
    assert "http://[::1]:1/mcp cannot be asked: ConnectError" in told.err


def test_a_trigger_that_waited_in_vain_is_no_success(
    household: Household,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    script = 'command = ["sleep", "300"]\n'
    folder = make_butler(household.installation.folder, "late", household.memory.url, script)
    with running(household.installation, str(folder)) as late:
        toml = folder / "butler.toml"
        toml.write_text(toml.read_text().replace("timeout_seconds = 60", "timeout_seconds = 0.1"))
        monkeypatch.setattr(commands, "_ASK_SECONDS", 0.1)
        monkeypatch.setattr(commands, "_CALL_SECONDS", 2.5)
        with pytest.raises(Unavailable, match=r"the session .* is still running"):
            commands.trigger(Place(), str(folder), "Take your time", port=int(late.port))
        assert capsys.readouterr().out == ""
        commands.trigger(Place(), str(folder), "And this", port=int(late.port), no_wait=True)
        assert len(capsys.readouterr().out.strip()) == 36


def test_a_butler_is_made_by_command(household: Household, tmp_path: Path) -> None:
    made = household.installation.inside("butler", "new", "garden", "--in", str(tmp_path))
    assert [Path(line).name for line in made.out.splitlines()] == [
        "butler.toml", "CLAUDE.md", "MANIFESTO.md", "AGENTS.md"
    ]  # fmt: skip
    assert "butler run" in made.err
    household.installation.inside("butler", "new", "garden", "--in", str(tmp_path), code=8)
    household.installation.inside("butler", "new", "Bad Name", "--in", str(tmp_path), code=3)


async def test_without_an_agent_it_serves_and_says_what_to_install(household: Household) -> None:
    folder = make_butler(
        household.installation.folder, "lonely", household.memory.url, 'command = ["claude-no"]\n'
    )
    with running(household.installation, str(folder)) as lonely:
        said = await lonely.call("trigger", prompt="hello", wait_seconds=20)
        assert said["status"] == "failed"
        assert "`claude-no` of [butler.agent] command is not on the PATH" in said["failure"]
    # There was no session, and so no episode.
    assert not (household.installation.data_dir / "spool" / "lonely").exists()


async def test_a_client_that_only_listens_takes_no_place(household: Household) -> None:
    """A butler's tools do not change, so a stream of changes would stay open and tell nothing."""
    version = "2026-07-28"
    meta = "io.modelcontextprotocol"
    listen = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "subscriptions/listen",
        "params": {
            "notifications": {"toolsListChanged": True},
            "_meta": {
                f"{meta}/protocolVersion": version,
                f"{meta}/clientInfo": {"name": "one", "version": "1"},
                f"{meta}/clientCapabilities": {},
            },
        },
    }
    headers = {
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": version,
        "mcp-method": "subscriptions/listen",
    }
    async with httpx.AsyncClient(timeout=10, trust_env=False) as client:
        answer = await client.post(household.memory.url, json=listen, headers=headers)
        assert answer.json()["error"]["message"] == "Method not found", answer.text
        assert (await client.get(household.memory.url, headers=headers)).status_code == 405


async def test_a_session_that_is_cut_off_leaves_its_episode_and_no_process(
    household: Household,
) -> None:
    pid = household.installation.folder / "pid"
    script = f'command = ["sh", "-c", "echo $$ > {pid}; sleep 300"]\n'
    folder = make_butler(household.installation.folder, "slow", household.memory.url, script)
    with running(household.installation, str(folder)) as slow:
        first = await slow.call("trigger", prompt="Take your time")
        await slow.call("trigger", prompt="And then this")
        until(lambda: pid.exists() and pid.read_text().strip())
        slow.process.end()
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)
    (kept,) = (household.installation.data_dir / "spool" / "slow").glob("*.json")
    episode = json.loads(kept.read_text())
    assert episode["session_id"] == first["session_id"]
    assert "A session failed: stopped" in episode["content"]
    # The next start sends it.
    with running(household.installation, str(folder)):
        until(lambda: not kept.exists())
    found = await household.memory.call(
        "memory_search", query="Take your time", types=["episode"], mode="keyword"
    )
    assert [one["id"] for one in found["results"]] == [first["session_id"]]


async def test_who_waits_for_a_session_is_answered_when_the_butler_stops(
    household: Household,
) -> None:
    pid = household.installation.folder / "waited_for"
    script = f'command = ["sh", "-c", "echo $$ > {pid}; sleep 300"]\n'
    folder = make_butler(household.installation.folder, "asked", household.memory.url, script)
    with running(household.installation, str(folder)) as asked:

        async def ask(prompt: str) -> dict[str, Any]:
            given = {"prompt": prompt, "wait_seconds": 40}
            answer = await call_tool(Server(asked.url, None), "trigger", given, timeout_seconds=60)
            return answer.structured

        first = asyncio.create_task(ask("Take your time"))
        await asyncio.to_thread(until, lambda: pid.exists() and pid.read_text().strip())
        second = asyncio.create_task(ask("And then this"))
        # It has arrived before what is asked after it.
        for _ in range(5):
            await asked.call("state_list")
        await asyncio.to_thread(asked.process.end)
        ended = [await first, await second]
    assert [(one["status"], one["failure"]) for one in ended] == [
        ("failed", "the butler was stopped"),
        ("not_run", "the butler was stopped"),
    ]


def test_a_killed_butler_loses_no_episode(household: Household) -> None:
    """Memory is away, the butler is killed; the episode is there, and is stored later, once."""
    folder = make_butler(household.installation.folder, "unlucky", "http://127.0.0.1:1/mcp")
    spool = household.installation.data_dir / "spool" / "unlucky"
    say = "printf 'Session summary: The unlucky one spoke.'"
    toml = folder / "butler.toml"
    text = toml.read_text() + f'command = ["sh", "-c", "{say}"]\n'
    toml.write_text(text)
    log = household.installation.folder / "unlucky.log"
    with closing(household.installation.fork("butler", "run", str(folder), log=log)) as process:
        port = next(line for line in process.stdout if "  MCP" in line).rpartition(":")[2][:-5]
        said = household.installation.apart(
            "butler", "trigger", str(folder), "Speak", "--port", port, "--json"
        ).json
        assert (said["status"], said["remembered"]) == ("succeeded", False)
        process.kill()
    (kept,) = spool.glob("*.json")
    toml.write_text(text.replace("http://127.0.0.1:1/mcp", household.memory.url))
    with running(household.installation, str(folder)):
        until(lambda: not kept.exists())
