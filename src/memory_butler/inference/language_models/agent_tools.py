"""The command lines of agents, and how each is held to answering one question.

Each is started with no tools, no memory of other sessions and nothing of its user's configuration
but the login: what it reads are other people's words, which may ask it to act. `tests/clients` runs
the real ones.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from memory_butler.inference.language_models.codex_server import Dialogue
from memory_butler.inference.language_models.own_home import OwnHome, home_in, make_home
from memory_butler.inference.language_models.port import ModelAnswerUnreadable, Request
from memory_butler.inference.language_models.told_schema import compact, with_schema

# In place of a value: what the run puts there. A row whose blank is empty is left out.
SYSTEM: Final = "{system}"
SCHEMA: Final = "{schema}"
SYSTEM_FILE: Final = "{system file}"
HOME: Final = "{home}"
CATALOG: Final = "{catalog}"
INSTRUCTIONS: Final = "{instructions}"
MAX_COST: Final = "{max cost}"
MODEL: Final = "{model}"

# What a program needs to reach its provider: the way through a proxy, and whom to trust on it.
NETWORK_VARIABLES: Final = (
    *("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY"),
    *("https_proxy", "http_proxy", "all_proxy", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "NODE_USE_SYSTEM_CA"),
)

Flags = Sequence[tuple[str, ...]]

CLAUDE_FLAGS: Final[Flags] = (
    ("-p",),  # answer once and end; the prompt comes on stdin
    ("--output-format", "json"),
    ("--json-schema", SCHEMA),
    ("--tools", ""),  # none
    # No CLAUDE.md, skills, plugins or hooks. Not `--restricted`, which does the same: what npm
    # installs on Node 18 and 20 does not know it.
    ("--safe-mode",),
    ("--strict-mcp-config",),  # no servers but those of --mcp-config: none
    ("--no-session-persistence",),
    ("--system-prompt", SYSTEM),
    ("--max-budget-usd", MAX_COST),
    ("--model", MODEL),
)

# In place of the rows that begin alike, where the answer is to be told while it is written.
CLAUDE_STREAM: Final[Flags] = (
    ("--output-format", "stream-json"),
    ("--verbose",),  # which it demands for that
    ("--include-partial-messages",),
)

CLAUDE_ENVIRONMENT: Final[Mapping[str, str]] = {
    # No reports, and no second request that asks for a title of the session.
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_DISABLE_TERMINAL_TITLE": "1",
}

# Not `exec`, which tells no message before it is whole. All else is said to it (`codex_server`).
CODEX_FLAGS: Final[Flags] = (
    ("app-server",),
    ("-c", CATALOG),
    ("-c", INSTRUCTIONS),
)
# The key that it is told: to be known while the program runs, and not to be the user's login.
CODEX_KEY: Final = "CODEX_API_KEY"
CODEX_KEY_SETTINGS: Final = 'cli_auth_credentials_store = "ephemeral"\n'

# What it knows of models decides which tools it offers them; no setting takes all of these away. So
# it is asked what it knows, and told the same without tools.
CODEX_MODELS: Final = ("debug", "models", "--bundled")
CODEX_NO_TOOLS: Final[Mapping[str, Any]] = {
    "tool_mode": None,
    "multi_agent_version": None,
    "experimental_supported_tools": [],
    "shell_type": "disabled",
    "apply_patch_tool_type": None,
    "supports_search_tool": False,
}
CODEX_SETTINGS: Final = """\
web_search = "disabled"
check_for_update_on_startup = false
include_apps_instructions = false
include_collaboration_mode_instructions = false
include_environment_context = false
include_permissions_instructions = false
agents = { enabled = false }
analytics = { enabled = false }
skills = { include_instructions = false }  # also those of other agents, in ~/.agents
tools = { experimental_request_user_input = { enabled = false } }
features = { apps = false, goals = false, hooks = false, plugins = false, shell_tool = false, \
view_image = false }
"""

GEMINI_FLAGS: Final[Flags] = (
    ("--output-format", "json"),
    ("--approval-mode", "default"),  # without a terminal: whatever would need approval is refused
    ("--extensions", "none"),
    ("--allowed-mcp-server-names", "none"),
    ("--model", MODEL),
)
GEMINI_STREAM: Final[Flags] = (("--output-format", "stream-json"),)
GEMINI_ENVIRONMENT: Final[Mapping[str, str]] = {
    "GEMINI_SYSTEM_MD": SYSTEM_FILE,
    # Without it the user's GEMINI.md would be read: its name can be added to, not replaced.
    "GEMINI_CLI_HOME": HOME,
    # The folder is empty, and trusted by nobody; without this the program refuses to start in it.
    "GEMINI_CLI_TRUST_WORKSPACE": "true",
}
GEMINI_SETTINGS: Final = {
    # An allow-list of tools that names none that exists. An empty one counts as not set.
    "tools": {"core": ["no_tool"]},
    "skills": {"enabled": False},  # also those of other agents, in ~/.agents
    "hooksConfig": {"enabled": False},
    "general": {"enableAutoUpdate": False},
    "privacy": {"usageStatisticsEnabled": False},
}
# FatalAuthenticationError, FatalConfigError, FatalUntrustedWorkspaceError: a person must act.
GEMINI_NO_ACCESS: Final = (41, 52, 55)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool's output says. Tokens are None where it does not tell."""

    text: str
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True)
class AgentTool:
    """One agent's command line."""

    program: str
    title: str
    flags: Flags
    # What it may know of our environment beyond what every program needs: keys, the API key first,
    # and where a gateway, a login or a cloud is.
    variables: Sequence[str]
    # The model for our purpose; None: the tool's own choice. To be reviewed, as in `choose`.
    default_model: str | None
    # Whether it holds the model to a schema. If not, the instructions tell it.
    takes_schema: bool
    read: Callable[[bytes], Answer]
    environment: Mapping[str, str]
    own_home: OwnHome | None = None
    # How it ends when a person must act.
    no_access: Sequence[int] = ()
    # What it is asked first: the models that it knows.
    list_models: Sequence[str] = ()
    # What is said to it, where it holds a conversation about the question.
    converse: Callable[[Request, str | None, Mapping[str, str]], Dialogue] | None = None
    # How it is asked to tell its answer while it writes, and the text in an event of that.
    stream: Flags = ()
    part: Callable[[Mapping[str, Any]], object] = lambda _: None

    def part_of(self, line: bytes) -> str:
        """The part of an answer in a line of the output; '' where it holds none."""
        text = self.part(_event(line))
        return text if isinstance(text, str) else ""


@dataclass(frozen=True, slots=True)
class Start:
    """What to start: the arguments after the program, the added environment, the text on stdin.

    `catalog` is the file for the models that the tool knows, where it is asked for them first;
    `reply` tells what is said to it after each line of its output.
    """

    arguments: list[str]
    environment: dict[str, str]
    stdin: str
    catalog: Path
    reply: Callable[[bytes], str | None] | None


def prepare(
    tool: AgentTool,
    request: Request,
    scratch: Path,
    max_cost_usd: float,
    model: str | None,
    environment: Mapping[str, str],
    *,
    streams: bool = False,
) -> Start:
    """Fill in the tool's blanks, writing the files that it reads into `scratch`.

    `environment` tells where the user's login is; `streams`: the answer is told while it is
    written.
    """
    flags = list(tool.flags)
    if streams:
        begun = {row[0] for row in tool.stream}
        flags = [*(row for row in flags if row[0] not in begun), *tool.stream]
    told = None if tool.takes_schema else request.schema
    system = with_schema(request.system, told)
    blanks = {SYSTEM: system, MAX_COST: f"{max_cost_usd:g}", MODEL: model or tool.default_model}
    blanks[SYSTEM_FILE] = _written(scratch / "system.md", system)
    catalog = scratch / "models.json"
    # No TOML, and so taken as the text that it is.
    blanks[CATALOG] = f"model_catalog_json={catalog}"
    blanks[INSTRUCTIONS] = f"model_instructions_file={blanks[SYSTEM_FILE]}"
    if tool.own_home is not None:
        blanks[HOME] = make_home(tool.own_home, home_in(scratch), environment)
    blanks[SCHEMA] = None if request.schema is None else compact(request.schema)

    arguments: list[str] = []
    for row in flags:
        filled = [blanks.get(part, part) for part in row]
        arguments += [part for part in filled if part is not None] if None not in filled else []
    added = {name: blanks.get(value) or value for name, value in tool.environment.items()}
    if tool.converse is None:
        return Start(arguments, added, request.prompt, catalog, None)
    dialogue = tool.converse(request, blanks[MODEL], environment)
    return Start(arguments, added, dialogue.opening(), catalog, dialogue.reply)


def _codex_settings(_: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """Ours, with the gateway of the environment, which this program reads only from settings."""
    gateway = environment.get("OPENAI_BASE_URL")
    line = "" if gateway is None else f"openai_base_url = {json.dumps(gateway)}\n"
    key = CODEX_KEY_SETTINGS if CODEX_KEY in environment else ""
    return {"config.toml": line + key + CODEX_SETTINGS}


def _codex_dialogue(
    request: Request, model: str | None, environment: Mapping[str, str]
) -> Dialogue:
    return Dialogue(request, model, environment.get(CODEX_KEY))


def without_tools(listed: bytes) -> str:
    """Codex's models as it lists them, so that it offers them no tools.

    Raises:
        ModelAnswerUnreadable: it is no list of models.
    """
    models = _object(listed).get("models")
    if not isinstance(models, list) or not all(isinstance(one, dict) for one in models):
        raise ModelAnswerUnreadable("it does not list its models")
    return json.dumps({"models": [one | CODEX_NO_TOOLS for one in models]})


def _gemini_settings(user: Path, _: Mapping[str, str]) -> dict[str, str]:
    """Ours, with the user's choice of a login, which decides how the key is sent."""
    settings: dict[str, Any] = dict(GEMINI_SETTINGS)
    try:
        chosen = _table(_object((user / "settings.json").read_bytes()), "security").get("auth")
    except (OSError, ModelAnswerUnreadable):
        chosen = None
    if chosen is not None:
        settings["security"] = {"auth": chosen}
    return {"settings.json": json.dumps(settings)}


def _written(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return str(path)


def read_claude(stdout: bytes) -> Answer:
    """`{"result", "structured_output", "usage", "total_cost_usd", "modelUsage"}`."""
    document = _result(stdout)
    structured = document.get("structured_output")
    text = document.get("result") if structured is None else json.dumps(structured)
    usage = _table(document, "usage")
    # What was read from or written to the prompt cache is counted apart, and was read all the same.
    read = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    cost = document.get("total_cost_usd")
    return Answer(
        text=_text(text),
        tokens_in=_sum(usage, read),
        tokens_out=_sum(usage, ("output_tokens",)),
        cost_usd=float(cost) if isinstance(cost, int | float) else None,
        model=next(iter(_table(document, "modelUsage")), None),
    )


def part_of_claude(event: Mapping[str, Any]) -> object:
    """`{"type": "stream_event", "event": {"delta": {"type": "text_delta", "text"}}}`."""
    delta = _table(_table(event, "event"), "delta")
    return delta.get("text") if delta.get("type") == "text_delta" else None


def read_codex(stdout: bytes) -> Answer:
    """What was answered to `thread/start`, `item/completed` and `thread/tokenUsage/updated`."""
    events = [_event(line) for line in stdout.splitlines()]
    told = [(event.get("method"), _table(event, "params")) for event in events]
    items = [_table(params, "item") for method, params in told if method == "item/completed"]
    texts = [item.get("text") for item in items if item.get("type") == "agentMessage"]
    counted = "thread/tokenUsage/updated"
    counts = [_table(params, "tokenUsage") for method, params in told if method == counted]
    usage = _table(counts[-1], "total") if counts else {}
    models = [_table(event, "result").get("model") for event in events]
    return Answer(
        text=_text("".join(text for text in texts if isinstance(text, str))),
        tokens_in=_sum(usage, ("inputTokens",)),
        tokens_out=_sum(usage, ("outputTokens",)),
        model=next((one for one in models if isinstance(one, str)), None),
    )


def part_of_codex(event: Mapping[str, Any]) -> object:
    """`{"method": "item/agentMessage/delta", "params": {"delta"}}`."""
    is_part = event.get("method") == "item/agentMessage/delta"
    return _table(event, "params").get("delta") if is_part else None


def read_gemini(stdout: bytes) -> Answer:
    """`{"response", "stats": {"models": {NAME: {"tokens": {"prompt", "candidates"}}}}}`.

    Of a stream the parts are the response, and a model has `{"input_tokens", "output_tokens"}`.
    """
    document = _result(stdout)
    parts = [part_of_gemini(_event(line)) for line in stdout.splitlines()]
    told = "".join(part for part in parts if isinstance(part, str))
    models = _table(_table(document, "stats"), "models")
    tokens = [_table(_table(models, name), "tokens") or _table(models, name) for name in models]
    return Answer(
        text=_text(document.get("response") or told),
        tokens_in=_total(_sum(one, ("prompt", "input_tokens")) for one in tokens),
        tokens_out=_total(_sum(one, ("candidates", "thoughts", "output_tokens")) for one in tokens),
        model=next(iter(models), None),
    )


def part_of_gemini(event: Mapping[str, Any]) -> object:
    """`{"type": "message", "role": "assistant", "content"}`."""
    is_part = event.get("type") == "message" and event.get("role") == "assistant"
    return event.get("content") if is_part else None


def reported_failure(stdout: bytes) -> str | None:
    """What a tool says of its failure on stdout, as JSON; None if it speaks of none."""
    try:
        document = _object(stdout)
    except ModelAnswerUnreadable:
        document = next(filter(_is_end, map(_event, reversed(stdout.splitlines()))), {})
    if document.get("is_error") is True:  # Claude Code
        return f"{document.get('subtype', '')}: {document.get('result', '')}"
    turn = _table(_table(document, "params"), "turn")
    error = document.get("error") or turn.get("error")  # Codex and Gemini
    return str(error.get("message", "")) if isinstance(error, dict) else None


def _is_end(event: Mapping[str, Any]) -> bool:
    """Whether an event sums up what was before: a result, Codex's turn, or why there was none."""
    refused = "id" in event and "error" in event
    return event.get("type") == "result" or event.get("method") == "turn/completed" or refused


def _object(content: bytes) -> dict[str, Any]:
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise ModelAnswerUnreadable("its output is not the JSON object that was asked for")
    return document


def _result(stdout: bytes) -> dict[str, Any]:
    """The object that the output is, or the last event of a stream, which sums it up."""
    events = (_event(line) for line in reversed(stdout.splitlines()))
    return next((one for one in events if one.get("type") == "result"), None) or _object(stdout)


def _event(line: bytes) -> dict[str, Any]:
    """One line of JSON lines; what is none counts as an empty event."""
    try:
        return _object(line)
    except ModelAnswerUnreadable:
        return {}


def _table(document: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = document.get(key)
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ModelAnswerUnreadable("its output holds no answer")
    return value


def _sum(counts: Mapping[str, Any], keys: Sequence[str]) -> int | None:
    found = [counts[key] for key in keys if isinstance(counts.get(key), int)]
    return sum(found) if found else None


def _total(counts: Any) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


CLAUDE: Final = AgentTool(
    program="claude",
    title="Claude Code",
    flags=CLAUDE_FLAGS,
    variables=(
        *("ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_AUTH_TOKEN"),
        *("ANTHROPIC_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS", "CLAUDE_CONFIG_DIR"),
        *("CLAUDE_CODE_CLIENT_CERT", "CLAUDE_CODE_CLIENT_KEY", "CLAUDE_CODE_CLIENT_KEY_PASSPHRASE"),
        # Claude in the clouds of others; a gateway in front of one signs the requests itself.
        *("CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_SKIP_BEDROCK_AUTH", "ANTHROPIC_BEDROCK_BASE_URL"),
        *("AWS_REGION", "AWS_PROFILE", "AWS_BEARER_TOKEN_BEDROCK"),
        *("CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_SKIP_VERTEX_AUTH", "ANTHROPIC_VERTEX_BASE_URL"),
        *("ANTHROPIC_VERTEX_PROJECT_ID", "CLOUD_ML_REGION", "GOOGLE_APPLICATION_CREDENTIALS"),
    ),
    default_model="haiku",
    takes_schema=True,
    read=read_claude,
    environment=CLAUDE_ENVIRONMENT,
    stream=CLAUDE_STREAM,
    part=part_of_claude,
)
CODEX: Final = AgentTool(
    program="codex",
    title="Codex",
    flags=CODEX_FLAGS,
    variables=(
        *(CODEX_KEY, "OPENAI_API_KEY", "OPENAI_BASE_URL"),
        *("CODEX_HOME", "CODEX_ACCESS_TOKEN", "CODEX_CA_CERTIFICATE"),
    ),
    default_model=None,
    takes_schema=True,
    read=read_codex,
    environment={"CODEX_HOME": HOME},
    own_home=OwnHome(
        variable="CODEX_HOME",
        inside="",
        usual=".codex",
        login=("auth.json",),
        settings=_codex_settings,
    ),
    list_models=CODEX_MODELS,
    converse=_codex_dialogue,
    part=part_of_codex,
)
GEMINI: Final = AgentTool(
    program="gemini",
    title="Gemini CLI",
    flags=GEMINI_FLAGS,
    variables=(
        *("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL", "GEMINI_CLI_HOME"),
        *("GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA", "GOOGLE_VERTEX_BASE_URL"),
        *("GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION", "GOOGLE_APPLICATION_CREDENTIALS"),
    ),
    default_model="flash",
    takes_schema=False,
    read=read_gemini,
    environment=GEMINI_ENVIRONMENT,
    own_home=OwnHome(
        variable="GEMINI_CLI_HOME",
        inside=".gemini",
        usual=".gemini",
        login=("oauth_creds.json", "google_accounts.json", "gemini-credentials.json", ".env"),
        settings=_gemini_settings,
    ),
    no_access=GEMINI_NO_ACCESS,
    stream=GEMINI_STREAM,
    part=part_of_gemini,
)
TOOLS: Final[Mapping[str, AgentTool]] = {tool.program: tool for tool in (CLAUDE, CODEX, GEMINI)}
