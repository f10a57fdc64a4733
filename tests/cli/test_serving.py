"""Servers: starting, announcing, stopping; MCP over standard input and output."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

from cli.installation import COMMAND, SECONDS, Installation
from long_profile import by_day
from memory_butler import logs
from memory_butler.config import Settings
from memory_butler.store import embedded
from memory_butler.surfaces.cli.program import build
from memory_butler.surfaces.cli.serving import _announce

# Of a machine that does other things as well; alone it is a fraction of a second, and the database
# takes another one.
STREAM_ENDS_SECONDS = 3.0
STOPS_SECONDS = 8.0


@pytest.mark.parametrize("stop", by_day((signal.SIGTERM, signal.SIGINT), signal.SIGTERM))
def test_a_server_tells_where_it_is_and_stops_with_its_database(
    empty_folder: Path, stop: signal.Signals
) -> None:
    alone = Installation(empty_folder / "alone")
    alone.folder.mkdir(mode=0o755, exist_ok=True)
    process = alone.start("serve", "--port", "0", "--tenant", "home")
    assert process.stdout is not None
    lines = [process.stdout.readline()]
    while "Ctrl-C" not in lines[-1]:
        assert lines[-1], process.communicate()
        lines.append(process.stdout.readline())
    url = lines[0].split()[-1]
    assert [line for line in lines if line.rstrip().endswith(url)] == lines[:1]
    text = "".join(lines)
    assert f"claude mcp add --transport http memory {url}/mcp\n" in text
    assert str(alone.data_dir) in text
    assert "  Demo         memory-butler demo" in text
    assert f"  Connect      memory-butler connect claude-code --url {url} (" in text
    assert "  Learning     off, no language model" in text
    assert httpx.get(f"{url}/healthz").json()["status"] == "ok"
    assert httpx.get(f"{url}/api/session").json()["tenant"] == "home"
    assert embedded.status(alone.data_dir).running

    # Somebody listens all the while: a stream would go on for minutes, and must not hold it up.
    with httpx.stream("GET", f"{url}/api/memory/events/stream", timeout=SECONDS) as stream:
        heard = stream.iter_lines()
        assert next(heard).startswith("retry:")
        began = time.monotonic()
        process.send_signal(stop)
        list(heard)  # to its end, which is an orderly one
        streamed = time.monotonic() - began
        out, err = process.communicate(timeout=SECONDS)
    assert (streamed < STREAM_ENDS_SECONDS, process.returncode) == (True, 0), (streamed, err)
    assert time.monotonic() - began < STOPS_SECONDS
    assert out == ""
    assert "Traceback" not in err
    assert not embedded.status(alone.data_dir).running


def test_the_line_that_makes_a_token_names_the_server_s_own_folder(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Without it the token would be of another installation, and the server would refuse it."""
    monkeypatch.chdir(tmp_path)
    for options, told in (
        ({}, "--name <whose>\n"),
        ({"data_dir": "my memory"}, f"--name <whose> --data-dir '{tmp_path / 'my memory'}'\n"),
        ({"dsn": "postgresql://a:b@db/c"}, "--name <whose> --dsn <the same>\n"),
    ):
        _announce(Settings.model_validate({"require_token": True, **options}), "http://x")
        assert f"  Token        memory-butler token create {told}" in capsys.readouterr().out


def test_a_server_on_every_address_tells_where_to_open_it(
    installation: Installation, tenant: str, tmp_path: Path
) -> None:
    token = installation.inside("token", "create", "--name", "a", "--tenant", tenant).out.strip()
    every = "0.0.0.0"  # noqa: S104 -- tokens are demanded
    serve = ("serve", "--host", every, "--port", "0")
    with closing(installation.fork(*serve, log=tmp_path / "serve.log")) as server:
        lines = list(iter(server.stdout.readline, "Ctrl-C stops it.\n"))
        told = dict(line.split(maxsplit=1) for line in lines if line.startswith("  "))
        urls = [told["Dashboard"].strip()]
        assert urls[0].startswith("http://127.0.0.1:")
        assert every not in "".join(lines)
        assert told["Network"].startswith("other machines reach it: http://")
        # In a network without an address there is none to tell.
        urls += [
            one for one in told["Network"].split() if one.startswith("http") and "<" not in one
        ]
        for url in urls:
            headers = {"Authorization": f"Bearer {token}"}
            assert httpx.get(f"{url}api/session", headers=headers).json()["tenant"] == tenant


@pytest.mark.parametrize("number", by_day((signal.SIGINT, signal.SIGTERM), signal.SIGINT))
def test_a_server_that_is_ended_while_it_starts_stops_its_database(
    empty_folder: Path, number: signal.Signals
) -> None:
    own = Installation(empty_folder / f"ended-{number.name}")
    own.folder.mkdir(mode=0o755)
    with own.start("serve", "--port", "0") as process:
        assert process.stderr is not None
        assert any("server_started" in line for line in process.stderr)
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, "server_stopped" in err) == (0, True), err


@pytest.mark.parametrize(
    ("options", "served"),
    [([], "work"), (["--tenant", "default"], "default"), (["--tenant", "home"], "home")],
)
def test_the_tenant_that_is_named_comes_before_the_configured_one(
    options: list[str], served: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MEMORY_BUTLER_LOCAL_TENANT", "work")
    monkeypatch.setattr(logs, "configure", lambda *_: None)  # the logs are this process's
    found = []

    async def serve(settings: Settings, _: Callable[[str], None]) -> None:
        found.append(settings.local_tenant)

    arguments = ["serve", "--port", "0", "--data-dir", str(tmp_path), *options]
    with pytest.raises(SystemExit, match=r"^0$"):
        build(serve).main(arguments)
    assert found == [served]


def test_a_taken_port_is_told_before_a_database_is_made(
    installation: Installation, tmp_path: Path
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        words = ("serve", "--port", port, "--data-dir", str(tmp_path / "data"))
        told = installation.apart(*words, code=8).err
    assert not (tmp_path / "data").exists()
    assert f"port {port}: Address already in use, by process {os.getpid()} (" in told
    assert told.startswith("error: ")


def test_what_concerns_all_tenants_takes_no_tenant(installation: Installation) -> None:
    for words in (
        ("backup", "all.butler"),
        ("reembed",),
        ("keys", "rotate"),
        ("butler", "run", "."),
    ):
        refused = installation.inside(*words, "--tenant", "home", code=2)
        assert "No such option: --tenant" in refused.err, words


def test_a_login_that_bypasses_row_security_is_refused(installation: Installation) -> None:
    owner = installation.inside("db-url", "--role", "owner").out.strip()
    told = installation.apart("serve", "--port", "0", "--dsn", owner, code=8).err
    assert "so tenants would not be separated" in told
    assert owner not in told


def test_mcp_over_standard_input_and_output(installation: Installation, tenant: str) -> None:
    async def talk() -> tuple[int, str]:
        command = StdioServerParameters(
            command=str(COMMAND), args=["mcp", "--tenant", tenant], env=installation.environment()
        )
        async with stdio_client(command) as streams, ClientSession(*streams) as session:
            await session.initialize()
            tools = (await session.list_tools()).tools
            stored = await session.call_tool(
                "memory_store_rule", {"content": "Answer over standard output"}
            )
            assert stored.structured_content is not None
            return len(tools), str(stored.structured_content["id"])

    tools, rule = asyncio.run(talk())
    assert tools == 19
    assert "standard output" in installation.inside("get", "rule", rule, "--tenant", tenant).out


@pytest.mark.nightly
def test_mcp_answers_a_call_with_half_an_emoji(installation: Installation, tenant: str) -> None:
    process = installation.start("mcp", "--tenant", tenant)
    assert process.stdin is not None
    assert process.stdout is not None
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    rule = {
        "name": "memory_store_rule",
        "arguments": {"content": "Smile \ud83d, as cut by a slice"},
    }
    answers = []
    for id, method, params in ((1, "initialize", hello), (2, "tools/call", rule)):
        said = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
        process.stdin.write(json.dumps(said) + "\n")
        process.stdin.flush()
        answers.append(json.loads(process.stdout.readline()))
    process.communicate(timeout=SECONDS)
    assert [one["id"] for one in answers] == [1, 2]
    stored = answers[1]["result"]["structuredContent"]["id"]
    shown = installation.inside("get", "rule", stored, "--tenant", tenant).out
    assert "Smile \ufffd, as cut by a slice" in shown


def test_mcp_greets_before_the_memory_is_open(installation: Installation, tenant: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as never_answers:
        dsn = f"postgresql://ana:x@127.0.0.1:{never_answers.getsockname()[1]}/memory"

        async def talk() -> int:
            command = StdioServerParameters(
                command=str(COMMAND), args=["mcp", "--dsn", dsn], env=installation.environment()
            )
            async with stdio_client(command) as streams, ClientSession(*streams) as session:
                await session.initialize()
                return len((await session.list_tools()).tools)

        assert asyncio.run(asyncio.wait_for(talk(), SECONDS)) == 19


def test_mcp_says_nothing_else_and_ends_with_its_input(installation: Installation) -> None:
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    process = installation.start("mcp", "--debug")
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(hello) + "\n")
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["id"] == 1
    out, err = process.communicate(timeout=SECONDS)
    assert (process.returncode, out) == (0, ""), err


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGTERM, 143), pytest.param(signal.SIGINT, 130, marks=pytest.mark.nightly)],
)
def test_mcp_ends_with_a_signal(
    installation: Installation, number: signal.Signals, code: int
) -> None:
    process = installation.start("mcp", stdin=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write('{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
    process.stdin.flush()
    assert process.stdout.readline()
    process.send_signal(number)
    assert process.wait(SECONDS) == code
    process.communicate()
