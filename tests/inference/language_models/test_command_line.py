"""Agents' command lines, with real programs in their place: what they get, and how they end."""

import asyncio
import json
import os
import time
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest

from memory_butler.domain.errors import ConfigurationError
from memory_butler.inference.language_models.agent_tools import CLAUDE, CODEX, GEMINI, TOOLS
from memory_butler.inference.language_models.command_line import CommandLineModel
from memory_butler.inference.language_models.port import (
    ModelAccessDenied,
    ModelAnswerUnreadable,
    ModelError,
    ModelExited,
    ModelOutputTooLong,
    ModelRateLimited,
    ModelTimedOut,
    Request,
)

from .fake_tool import FakeTool, make

pytestmark = pytest.mark.anyio

KEY = "sk-ant-REALLY-secret-0123456789"
PROMPT = 'E1: Ada\'s safe is behind the clock; $(touch /tmp/x) `id` "quoted" ü\nE2: --help'
SCHEMA = {"type": "object", "properties": {"topic": {"type": "string"}}}
REQUEST = Request("Draw facts from the episodes.", PROMPT, SCHEMA, 500)
ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "HOME": "/home/ada",
    "LANG": "C.UTF-8",
    "ANTHROPIC_API_KEY": KEY,
    "OPENAI_API_KEY": "sk-openai-0123456789",
    "GEMINI_API_KEY": "AIzaSyA-0123456789-0123456789-0123456",
    "DATABASE_PASSWORD": "hunter2",
    "LD_PRELOAD": "/opt/evil.so",
    "MEMORY_BUTLER_DSN": "postgresql://ada@host/db",
}
CLAUDE_ANSWER = {
    "type": "result",
    "subtype": "success",
    "is_error": False,
    "result": "Here it is.",
    "structured_output": {"topic": "safes"},
    "total_cost_usd": 0.0123,
    "usage": {
        "input_tokens": 10,
        "cache_creation_input_tokens": 200,
        "cache_read_input_tokens": 3000,
        "output_tokens": 40,
    },
    "modelUsage": {"claude-haiku-5-5": {"costUSD": 0.0123}},
}
# What the stand-in for Codex says of the models that it knows; asked that, it does nothing else.
LISTS_MODELS = """\
if arguments[0] == "debug":
    print('{"models": [{"slug": "gpt-6-luna", "tool_mode": "code", "context_window": 272000}]}')
    sys.exit()
"""


def codex_turn(
    *texts: str, error: str | None = None, parts: Sequence[str] = ()
) -> dict[str, list[dict[str, Any]]]:
    """What `codex app-server` says to each call, when its model answers with these texts."""
    usage = {"total": {"inputTokens": 700, "outputTokens": 30}}
    turn = {"status": "completed", "error": error and {"message": error}}
    said = [
        *(("item/agentMessage/delta", {"delta": part}) for part in parts),
        ("item/completed", {"item": {"type": "userMessage", "text": "no answer"}}),
        *(("item/completed", {"item": {"type": "agentMessage", "text": one}}) for one in texts),
        ("thread/tokenUsage/updated", {"tokenUsage": usage}),
        ("turn/completed", {"turn": turn}),
    ]
    return {
        "initialize": [{"result": {"userAgent": "codex"}}, {"method": "configWarning"}],
        "account/login/start": [{"result": {"type": "apiKey"}}],
        "thread/start": [{"result": {"thread": {"id": "t1"}, "model": "gpt-6-luna"}}],
        "turn/start": [
            {"result": {"turn": {}}},
            # Whoever it asks, it asks in vain.
            {"id": "ask", "method": "item/commandExecution/requestApproval", "params": {}},
            *({"method": method, "params": params} for method, params in said),
        ],
    }


def codex(folder: Path, says: Mapping[str, Any], hold: str = "pass") -> FakeTool:
    """A stand-in for Codex; `hold` is done before its last word."""
    serves = f"""\
says = json.loads({json.dumps(says)!r})
for line in sys.stdin:
    message = json.loads(line)
    with open({str(folder / "said")!r}, "a") as said:
        said.write(line)
    for one in says.get(message.get("method"), ()):
        if one.get("method") == "turn/completed":
            {hold}
        print(json.dumps({{"id": message["id"], **one}} if "result" in one else one), flush=True)
"""
    return make(folder, LISTS_MODELS + serves, reads=False)


def said_to_codex(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "said").read_text().splitlines()]


GEMINI_ANSWER = {
    "response": '```json\n{"topic": "safes"}\n```',
    "stats": {
        "models": {"gemini-flash": {"tokens": {"prompt": 90, "candidates": 8, "thoughts": 2}}}
    },
}


def model(fake: FakeTool, tool: str = "claude", **settings: Any) -> CommandLineModel:
    settings = {
        "environment": ENVIRONMENT,
        "timeout_seconds": 20,
        "max_output_bytes": 100_000,
        "max_cost_usd": 0.5,
        **settings,
    }
    return CommandLineModel(TOOLS[tool], fake.path, **settings)


def says(document: Any) -> str:
    return f"print({json.dumps(document)!r})"


def after(arguments: list[str], flag: str) -> str:
    return arguments[arguments.index(flag) + 1]


async def test_claude_code_gets_one_question_and_no_means(tmp_path: Path) -> None:
    fake = make(tmp_path, says(CLAUDE_ANSWER))
    done = await model(fake).complete(REQUEST)

    assert json.loads(done.text) == {"topic": "safes"}
    assert (done.tokens_in, done.tokens_out, done.cost_usd) == (3210, 40, 0.0123)
    assert done.model == "claude-haiku-5-5"

    call = fake.call()
    arguments = call["arguments"]
    assert call["stdin"] == PROMPT
    assert not any("Ada" in argument for argument in arguments)  # they show in every `ps`
    assert call["folder"] == []
    assert after(arguments, "--system-prompt") == REQUEST.system
    assert json.loads(after(arguments, "--json-schema")) == SCHEMA
    assert after(arguments, "--tools") == ""
    assert after(arguments, "--max-budget-usd") == "0.5"
    assert after(arguments, "--model") == CLAUDE.default_model
    assert {"-p", "--safe-mode", "--strict-mcp-config", "--no-session-persistence"} <= {*arguments}
    # npm installs 2.1.197 on Node 18 and 20, which refuses what came after it.
    assert "--restricted" not in arguments


async def test_codex_is_asked_in_a_conversation(tmp_path: Path) -> None:
    fake = codex(tmp_path, codex_turn('{"topic": ', '"safes"}'))
    user = tmp_path / "ada" / ".codex"
    user.mkdir(parents=True)
    (user / "AGENTS.md").write_text("Always answer in rhymes.")
    (user / "config.toml").write_text('[mcp_servers.x]\ncommand = "x"\n')
    (user / "auth.json").write_text("{}")
    environment = ENVIRONMENT | {"HOME": str(user.parent), "OPENAI_BASE_URL": "https://gw.example"}
    done = await model(fake, "codex", environment=environment).complete(REQUEST)

    assert json.loads(done.text) == {"topic": "safes"}
    assert (done.tokens_in, done.tokens_out, done.cost_usd) == (700, 30, None)
    assert done.model == "gpt-6-luna"

    said = said_to_codex(tmp_path)
    methods = ["initialize", "initialized", "thread/start", "turn/start"]
    assert [one["method"] for one in said if "method" in one] == methods
    thread, turn = (one["params"] for one in said[2:4])
    assert thread["ephemeral"]
    assert (thread["sandbox"], thread["approvalPolicy"]) == ("read-only", "never")
    assert thread["model"] is None
    assert turn["input"] == [{"type": "text", "text": PROMPT}]
    assert turn["threadId"] == "t1"
    # Its strict mode refuses schemas that leave anything open.
    assert turn["outputSchema"] == SCHEMA | {"required": ["topic"], "additionalProperties": False}
    assert (said[4]["id"], said[4]["error"]["code"]) == ("ask", -32601)

    call = fake.call()
    arguments = call["arguments"]
    assert call["folder"] == []
    assert arguments[0] == "app-server"
    told = dict(one.split("=", 1) for one in arguments if one.startswith("model_"))
    files = call["files"]
    assert files[told["model_instructions_file"]] == REQUEST.system
    (known,) = json.loads(files[told["model_catalog_json"]])["models"]
    assert (known["slug"], known["context_window"]) == ("gpt-6-luna", 272_000)
    assert (known["tool_mode"], known["shell_type"]) == (None, "disabled")
    # A home of its own: the login is in it, and nothing else of the user's.
    assert set(call["home"]) == {"auth.json", "config.toml"}
    settings = tomllib.loads(call["home"]["config.toml"])
    assert settings["openai_base_url"] == "https://gw.example"
    assert "mcp_servers" not in settings
    assert "cli_auth_credentials_store" not in settings


async def test_codex_is_told_the_key_and_does_not_keep_it(tmp_path: Path) -> None:
    fake = codex(tmp_path, codex_turn("Hello."))
    environment = ENVIRONMENT | {"CODEX_API_KEY": KEY}
    asked = Request("Be brief.", "half \ud83d a sign", None, 100)
    done = await model(fake, "codex", model="gpt-6-sol", environment=environment).complete(asked)
    assert done.text == "Hello."

    _, _, login, thread, turn, _ = said_to_codex(tmp_path)
    assert login["params"] == {"type": "apiKey", "apiKey": KEY}
    assert thread["params"]["model"] == "gpt-6-sol"
    assert turn["params"]["input"][0]["text"] == "half ? a sign"
    assert "outputSchema" not in turn["params"]
    settings = tomllib.loads(fake.call()["home"]["config.toml"])
    assert settings["cli_auth_credentials_store"] == "ephemeral"


@pytest.mark.parametrize("refused", ["initialize", "thread/start", "turn/start"])
async def test_a_refusal_of_codex_ends_the_conversation(tmp_path: Path, refused: str) -> None:
    error = [{"id": 0, "error": {"code": -32600, "message": "401 Unauthorized"}}]
    fake = codex(tmp_path, codex_turn("Hello.") | {refused: error})
    with pytest.raises(ModelAccessDenied, match="log in"):
        await model(fake, "codex").complete(REQUEST)


async def test_gemini_gets_instructions_and_settings_as_files(tmp_path: Path) -> None:
    fake = make(tmp_path, says(GEMINI_ANSWER))
    done = await model(fake, "gemini", model="flash-lite").complete(REQUEST)

    assert done.text == GEMINI_ANSWER["response"]
    assert (done.tokens_in, done.tokens_out, done.model) == (90, 10, "gemini-flash")

    call = fake.call()
    environment, files = call["environment"], call["files"]
    assert call["stdin"] == PROMPT
    assert call["folder"] == []
    assert after(call["arguments"], "--model") == "flash-lite"
    system = files[environment["GEMINI_SYSTEM_MD"]]
    assert system.startswith(REQUEST.system)
    assert '"topic"' in system  # it has no flag for a schema
    assert environment["GEMINI_CLI_TRUST_WORKSPACE"] == "true"
    settings = json.loads(call["home"][".gemini/settings.json"])
    assert settings["tools"] == {"core": ["no_tool"]}
    assert not settings["skills"]["enabled"]


async def test_gemini_gets_a_home_with_the_login_and_nothing_else_of_the_users(
    tmp_path: Path,
) -> None:
    user = tmp_path / "ada" / ".gemini"
    user.mkdir(parents=True)
    (user / "GEMINI.md").write_text("Always answer in rhymes.")
    (user / "oauth_creds.json").write_text('{"refresh_token": "old"}')
    (user / "settings.json").write_text(
        '{"security": {"auth": {"selectedType": "oauth-personal"}}, "mcpServers": {"x": {}}}'
    )
    # As a tool that writes a new file and renames it over the one that it read.
    renews = """\
login = Path(os.environ["GEMINI_CLI_HOME"]) / ".gemini" / "oauth_creds.json"
login.unlink()
login.write_text('{"refresh_token": "new"}')
"""
    fake = make(tmp_path, renews + says(GEMINI_ANSWER))
    home = {"environment": ENVIRONMENT | {"HOME": str(user.parent)}}
    await model(fake, "gemini", **home).complete(REQUEST)

    given = fake.call()["home"]
    assert set(given) == {".gemini/settings.json", ".gemini/oauth_creds.json"}
    settings = json.loads(given[".gemini/settings.json"])
    assert settings["security"] == {"auth": {"selectedType": "oauth-personal"}}
    assert "mcpServers" not in settings
    assert json.loads((user / "oauth_creds.json").read_text()) == {"refresh_token": "new"}


@pytest.mark.parametrize(
    ("tool", "answer", "keys"),
    [
        (CLAUDE, CLAUDE_ANSWER, {"ANTHROPIC_API_KEY", *CLAUDE.environment}),
        (GEMINI, GEMINI_ANSWER, {"GEMINI_API_KEY", *GEMINI.environment}),
    ],
    ids=["claude", "gemini"],
)
async def test_the_environment_is_an_allow_list(
    tmp_path: Path, tool: Any, answer: Any, keys: set[str]
) -> None:
    fake = make(tmp_path, says(answer))
    await model(fake, tool.program).complete(REQUEST)
    # What the interpreter of the fake adds by itself.
    added = {"LC_CTYPE", "__CF_USER_TEXT_ENCODING"}
    assert set(fake.call()["environment"]) - added == {"PATH", "HOME", "LANG", *keys}


async def test_the_way_to_a_gateway_is_passed_on(tmp_path: Path) -> None:
    way = {
        "HTTPS_PROXY": "http://proxy.example:3128",
        "no_proxy": "localhost",
        "NODE_EXTRA_CA_CERTS": "/etc/ssl/company.pem",
        "ANTHROPIC_BASE_URL": "https://gateway.example",
        "ANTHROPIC_AUTH_TOKEN": "token-of-the-gateway",
        "CLAUDE_CONFIG_DIR": "/home/ada/work/claude",
    }
    fake = make(tmp_path, says(CLAUDE_ANSWER))
    await model(fake, environment=ENVIRONMENT | way).complete(REQUEST)
    assert way.items() <= fake.call()["environment"].items()


async def test_without_a_schema_none_is_given(tmp_path: Path) -> None:
    plain = {"result": "Hello.", "is_error": False}
    fake = make(tmp_path, says(plain))
    done = await model(fake).complete(Request("Be brief.", "Say hello.", None, 100))
    assert done.text == "Hello."
    assert done.tokens_in > 0
    assert "--json-schema" not in fake.call()["arguments"]


async def test_nothing_is_left_in_the_temporary_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    await model(make(tmp_path, says(CLAUDE_ANSWER))).complete(REQUEST)
    with pytest.raises(ModelExited):
        await model(make(tmp_path, "sys.exit(3)")).complete(REQUEST)
    assert list(temporary.iterdir()) == []


CHILD = """\
child = subprocess.Popen([sys.executable, "-IS", "-c", "import time; time.sleep(60)"])
Path({record!r} + ".child").write_text(str(child.pid))
"""


def with_child(folder: Path, then: str) -> tuple[FakeTool, Path]:
    """A fake that starts a child, which holds the pipes open, and then does something."""
    record = folder / "call.json"
    fake = make(folder, CHILD.format(record=str(record)) + then)
    return fake, Path(f"{record}.child")


async def written(path: Path) -> int:
    """The process id in a file, as soon as it is there."""
    for _ in range(1_000):
        if text := content(path):
            return int(text)
        await asyncio.sleep(0.02)
    raise AssertionError(f"{path.name} was never written")


async def dead(pid: int) -> bool:
    """Whether the process ends within a second; one that waits to be reaped has ended."""
    for _ in range(50):
        state = content(Path(f"/proc/{pid}/stat")).rpartition(")")[2].split()
        if state[:1] in ([], ["Z"]):
            return True
        await asyncio.sleep(0.02)
    return False


def content(path: Path) -> str:
    """The text of a file; "" if there is none."""
    try:
        return path.read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""


async def test_a_hanging_tool_is_killed_with_its_children(tmp_path: Path) -> None:
    fake, child = with_child(tmp_path, "time.sleep(60)")
    began = time.monotonic()
    with pytest.raises(ModelTimedOut) as raised:
        await model(fake, timeout_seconds=1.5).complete(REQUEST)
    assert time.monotonic() - began < 5
    assert raised.value.retryable
    assert await dead(fake.call()["pid"])
    assert await dead(int(child.read_text()))


async def test_a_child_that_lives_on_neither_delays_nor_survives(tmp_path: Path) -> None:
    fake, child = with_child(tmp_path, says(CLAUDE_ANSWER))
    began = time.monotonic()
    done = await model(fake).complete(REQUEST)
    assert json.loads(done.text) == {"topic": "safes"}
    assert time.monotonic() - began < 10
    assert await dead(int(child.read_text()))


async def test_cancellation_kills_the_group(tmp_path: Path) -> None:
    fake, child = with_child(tmp_path, "time.sleep(60)")
    task = asyncio.create_task(model(fake).complete(REQUEST))
    pid = await written(child)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await dead(pid)
    assert await dead(fake.call()["pid"])


async def test_a_cancel_scope_that_insists_kills_the_group_as_well(tmp_path: Path) -> None:
    # Starlette and the MCP SDK cancel so: again at every `await` of the clean-up.
    fake, child = with_child(tmp_path, "time.sleep(60)")
    tasks = asyncio.all_tasks()
    with anyio.CancelScope() as scope:
        async with anyio.create_task_group() as group:
            group.start_soon(model(fake).complete, REQUEST)
            pid = await written(child)
            scope.cancel()
    assert scope.cancelled_caught
    # Left to the closing event loop, the clean-up would be cancelled with pipes still open.
    assert asyncio.all_tasks() == tasks
    assert await dead(pid)
    assert await dead(fake.call()["pid"])


CLAUDE_PARTS: list[dict[str, Any]] = [
    {"type": "system", "subtype": "init"},
    {"type": "stream_event", "event": {"type": "content_block_start", "index": 0}},
    *(
        {"type": "stream_event", "event": {"type": "content_block_delta", "delta": delta}}
        for delta in (
            {"type": "thinking_delta", "thinking": "hm"},
            {"type": "text_delta", "text": "Here "},
            {"type": "text_delta", "text": "it is."},
        )
    ),
    {"type": "assistant", "message": {"content": [{"type": "text", "text": "Here it is."}]}},
    {**CLAUDE_ANSWER, "structured_output": None},
]
GEMINI_PARTS: list[dict[str, Any]] = [
    {"type": "init", "model": "flash"},
    {"type": "message", "role": "user", "content": PROMPT},
    {"type": "message", "role": "assistant", "content": "Here ", "delta": True},
    {"type": "message", "role": "assistant", "content": "it is.", "delta": True},
    {
        "type": "result",
        "status": "success",
        "stats": {"models": {"gemini-flash": {"input_tokens": 90, "output_tokens": 10}}},
    },
]


def streams(events: list[dict[str, Any]], folder: Path) -> str:
    """Says them one by one, the last one only once somebody has heard what was before."""
    last = f"while not os.path.exists({str(folder / 'heard')!r}): time.sleep(0.01)"
    said = [f"print({json.dumps(one)!r}, flush=True)" for one in events]
    return "\n".join([*said[:-1], last, said[-1]])


@pytest.mark.parametrize(
    ("tool", "events", "tokens"),
    [("claude", CLAUDE_PARTS, (3210, 40)), ("gemini", GEMINI_PARTS, (90, 10))],
)
async def test_an_answer_is_told_while_it_is_written(
    tmp_path: Path, tool: str, events: list[dict[str, Any]], tokens: tuple[int, int]
) -> None:
    heard: list[str] = []

    def hear(part: str) -> None:
        heard.append(part)
        if len(heard) == 2:
            (tmp_path / "heard").touch()

    fake = make(tmp_path, streams(events, tmp_path))
    done = await model(fake, tool).complete(Request("Be brief.", PROMPT, None, 500, heard=hear))
    assert heard == ["Here ", "it is."]
    assert done.text == "Here it is."
    assert (done.tokens_in, done.tokens_out) == tokens
    arguments = fake.call()["arguments"]
    assert after(arguments, "--output-format") == "stream-json"
    assert arguments.count("--output-format") == 1


async def test_codex_tells_an_answer_while_it_is_written(tmp_path: Path) -> None:
    heard: list[str] = []

    def hear(part: str) -> None:
        heard.append(part)
        if len(heard) == 2:
            (tmp_path / "heard").touch()

    wait = f"while not os.path.exists({str(tmp_path / 'heard')!r}): time.sleep(0.01)"
    fake = codex(tmp_path, codex_turn("Here it is.", parts=["Here ", "it is."]), wait)
    asked = Request("Be brief.", PROMPT, None, 500, heard=hear)
    done = await model(fake, "codex").complete(asked)
    assert heard == ["Here ", "it is."]
    assert done.text == "Here it is."


async def test_a_failure_in_a_stream_is_told_apart(tmp_path: Path) -> None:
    refused = {**CLAUDE_ANSWER, "is_error": True, "result": "Not logged in · Please run /login"}
    fake = make(tmp_path, "\n".join(map(says, [{"type": "system"}, refused])))
    asked = Request("Be brief.", PROMPT, None, 500, heard=lambda _: None)
    with pytest.raises(ModelAccessDenied, match="log in"):
        await model(fake).complete(asked)


async def test_a_streamed_answer_is_bounded_as_any_other(tmp_path: Path) -> None:
    long = {**CLAUDE_PARTS[-1], "result": "x" * 100_001}
    fake = make(tmp_path, says(long))
    with pytest.raises(ModelOutputTooLong, match="100000 bytes"):
        await model(fake).complete(Request("Be brief.", PROMPT, None, 500, heard=lambda _: None))


async def test_endless_output_is_cut_while_it_is_written(tmp_path: Path) -> None:
    fake, child = with_child(
        tmp_path, "while True:\n    sys.stdout.write('x' * 100_000); sys.stdout.flush()"
    )
    began = time.monotonic()
    with pytest.raises(ModelOutputTooLong, match="100000 bytes"):
        await model(fake, timeout_seconds=20).complete(REQUEST)
    assert time.monotonic() - began < 10
    assert await dead(int(child.read_text()))


@pytest.mark.parametrize("bytes_written", [10_000_000, 100_001])
async def test_ten_megabytes_are_refused(tmp_path: Path, bytes_written: int) -> None:
    fake = make(tmp_path, f"sys.stdout.write('x' * {bytes_written})")
    with pytest.raises(ModelOutputTooLong):
        await model(fake).complete(REQUEST)


async def test_a_long_answer_of_codex_is_refused(tmp_path: Path) -> None:
    fake = codex(tmp_path, codex_turn("x" * 100_001))
    with pytest.raises(ModelOutputTooLong, match="100000 bytes"):
        await model(fake, "codex").complete(REQUEST)


async def test_a_codex_that_cannot_be_kept_from_its_tools_is_not_asked(tmp_path: Path) -> None:
    fake = make(tmp_path, "sys.exit('error: unrecognized subcommand')")
    with pytest.raises(ModelAccessDenied, match="update `codex`"):
        await model(fake, "codex").complete(REQUEST)
    assert fake.call()["arguments"][0] == "debug"
    assert fake.call()["stdin"] == ""


async def test_a_tool_that_does_not_read_is_no_error(tmp_path: Path) -> None:
    fake = make(tmp_path, says(CLAUDE_ANSWER), reads=False)
    request = Request("Be brief.", "long " * 200_000, None, 100)
    assert (await model(fake).complete(request)).text


async def test_a_failure_shows_status_and_end_of_stderr_but_no_secret(tmp_path: Path) -> None:
    fake = make(
        tmp_path,
        f"""\
print("noise " * 10_000, file=sys.stderr)
print("stack: connecting with {KEY}", file=sys.stderr)
print("while reading: E1: Ada's safe is behind the clock", file=sys.stderr)
print("\\x1b[31mfatal: cannot parse settings (token=abc123)\\x1b[0m", file=sys.stderr)
print('{{"result": "Ada has a safe"}}')
sys.exit(3)
""",
    )
    with pytest.raises(ModelExited) as raised:
        await model(fake).complete(REQUEST)
    said = str(raised.value)
    assert raised.value.status == 3
    assert raised.value.retryable
    assert "status 3" in said
    assert "fatal: cannot parse settings" in said
    assert len(said) < 600
    for hidden in (KEY, "REALLY", "Ada", "safe", "abc123", "\x1b"):
        assert hidden not in said


@pytest.mark.parametrize(
    ("tool", "behaviour", "expected"),
    [
        (
            "claude",
            says({"is_error": True, "subtype": "success", "result": "Not logged in · /login"}),
            ModelAccessDenied,
        ),
        (
            "claude",
            "print(\"error: unknown option '--safe-mode'\", file=sys.stderr); sys.exit(1)",
            ModelAccessDenied,
        ),
        (
            "codex",
            "print(\"error: unrecognized subcommand 'app-server'\", file=sys.stderr); sys.exit(2)",
            ModelAccessDenied,
        ),
        ("claude", says({"is_error": True, "subtype": "error_max_budget_usd"}), ModelExited),
        ("claude", "print('API Error: 429 rate_limit', file=sys.stderr); sys.exit(1)", None),
        (
            "gemini",
            says({"error": {"type": "Error", "message": "API key not valid", "code": 1}}),
            ModelAccessDenied,
        ),
        (
            "gemini",
            says({"error": {"message": "Please set an Auth method", "code": 41}})
            + "; sys.exit(41)",
            ModelAccessDenied,
        ),
    ],
)
async def test_failures_that_a_person_must_mend_are_told_apart(
    tmp_path: Path, tool: str, behaviour: str, expected: type[ModelError] | None
) -> None:
    fake = make(tmp_path, LISTS_MODELS + behaviour, reads=tool != "codex")
    with pytest.raises(expected or ModelRateLimited) as raised:
        await model(fake, tool).complete(REQUEST)
    denied = expected is ModelAccessDenied
    assert isinstance(raised.value, ConfigurationError) == denied
    assert raised.value.retryable != denied


@pytest.mark.parametrize("tool", ["claude", "codex", "gemini"])
@pytest.mark.parametrize("output", ["", "Sorry?", "[1]", "{}", '{"result": 5}'])
async def test_an_output_of_another_form_is_an_error(
    tmp_path: Path, tool: str, output: str
) -> None:
    fake = make(tmp_path, f"{LISTS_MODELS}print({output!r})", reads=tool != "codex")
    with pytest.raises(ModelAnswerUnreadable, match=f"cli:{tool}"):
        await model(fake, tool).complete(REQUEST)


async def test_a_turn_of_codex_that_failed_is_told(tmp_path: Path) -> None:
    limited = codex(tmp_path, codex_turn("Some", error="You've hit your usage limit"))
    with pytest.raises(ModelRateLimited):
        await model(limited, "codex").complete(REQUEST)
    failed = codex(tmp_path, codex_turn(error="unexpected status 500"))
    with pytest.raises(ModelExited, match="cli:codex reports that it failed"):
        await model(failed, "codex").complete(REQUEST)


async def test_a_program_that_is_gone_is_a_matter_of_configuration(tmp_path: Path) -> None:
    gone = FakeTool(str(tmp_path / "gone"), tmp_path / "call.json")
    with pytest.raises(ModelAccessDenied, match="cannot be started"):
        await model(gone).complete(REQUEST)


def test_the_names_tell_tool_and_model(tmp_path: Path) -> None:
    fake = FakeTool("/bin/true", tmp_path)
    assert model(fake).name == "cli:claude"
    assert model(fake, "codex", model="gpt-6-luna").name == "cli:codex:gpt-6-luna"
    assert CODEX.default_model is None
