"""The command lines of agents, and how each is held to answering one question.

Each is started with no tools, no memory of other sessions and nothing of its user's configuration,
as far as it can be told so: what it reads are other people's words, which may ask it to act. The
flags were taken from the tools' own documentation in November 2026.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from memory_butler.inference.language_models.port import ModelAnswerUnreadable, Request
from memory_butler.inference.language_models.told_schema import compact, strict, with_schema

# In place of a value: what the run puts there. A row whose blank is empty is left out.
SYSTEM: Final = "{system}"
SCHEMA: Final = "{schema}"
SCHEMA_FILE: Final = "{schema file}"
ANSWER_FILE: Final = "{answer file}"
SYSTEM_FILE: Final = "{system file}"
SETTINGS_FILE: Final = "{settings file}"
MAX_COST: Final = "{max cost}"
MODEL: Final = "{model}"

Flags = Sequence[tuple[str, ...]]

CLAUDE_FLAGS: Final[Flags] = (
    ("-p",),  # answer once and end; the prompt comes on stdin
    ("--output-format", "json"),
    ("--json-schema", SCHEMA),
    ("--tools", ""),  # none
    ("--restricted",),  # no settings of the user's, and so no hooks (since 2.1.248)
    ("--strict-mcp-config",),  # no servers but those of --mcp-config: none
    ("--no-session-persistence",),
    ("--system-prompt", SYSTEM),
    ("--max-budget-usd", MAX_COST),
    ("--model", MODEL),
)

CODEX_FLAGS: Final[Flags] = (
    ("exec",),
    ("--ephemeral",),  # no record of the session
    ("--skip-git-repo-check",),
    ("--ignore-user-config",),
    ("-s", "read-only"),
    ("--disable", "shell_tool"),  # even read-only it could read the user's files
    ("-c", 'web_search="disabled"'),
    ("--json",),  # events on stdout, the usage among them
    ("--output-schema", SCHEMA_FILE),
    ("-o", ANSWER_FILE),
    ("-m", MODEL),
    ("-",),  # the prompt comes on stdin
)

GEMINI_FLAGS: Final[Flags] = (
    ("--output-format", "json"),
    ("--approval-mode", "default"),  # without a terminal: whatever would need approval is refused
    ("--extensions", "none"),
    ("--allowed-mcp-server-names", "none"),
    ("--model", MODEL),
)
GEMINI_ENVIRONMENT: Final[Mapping[str, str]] = {
    "GEMINI_SYSTEM_MD": SYSTEM_FILE,
    "GEMINI_CLI_SYSTEM_SETTINGS_PATH": SETTINGS_FILE,
    # The folder is empty; without this a user with folder trust switched on gets an error.
    "GEMINI_TRUST_WORKSPACE": "true",
}
# An allow-list of tools that names none that exists. An empty one might count as not set.
GEMINI_SETTINGS: Final = {"tools": {"core": ["no_tool"]}}


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
    # What it may know of our environment beyond PATH, HOME and LANG; the first is its API key.
    variables: Sequence[str]
    # The model for our purpose; None: the tool's own choice. To be reviewed, as in `choose`.
    default_model: str | None
    # Whether it holds the model to a schema. If not, the instructions tell it.
    takes_schema: bool
    # Whether it takes the instructions apart from the prompt.
    takes_system: bool
    read: Callable[[bytes, bytes], Answer]
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Start:
    """What to start: the arguments after the program, the added environment, the text on stdin."""

    arguments: list[str]
    environment: dict[str, str]
    stdin: str


def prepare(
    tool: AgentTool, request: Request, scratch: Path, max_cost_usd: float, model: str | None
) -> Start:
    """Fill in the tool's blanks, writing the files that it reads into `scratch`."""
    told = None if tool.takes_schema else request.schema
    system = with_schema(request.system, told)
    blanks = {SYSTEM: system, MAX_COST: f"{max_cost_usd:g}", MODEL: model or tool.default_model}
    blanks[ANSWER_FILE] = str(scratch / "answer")
    blanks[SYSTEM_FILE] = _written(scratch / "system.md", system)
    blanks[SETTINGS_FILE] = _written(scratch / "settings.json", json.dumps(GEMINI_SETTINGS))
    if request.schema is not None:
        blanks[SCHEMA] = compact(request.schema)
        blanks[SCHEMA_FILE] = _written(scratch / "schema.json", compact(strict(request.schema)))
    else:
        blanks[SCHEMA] = blanks[SCHEMA_FILE] = None

    arguments: list[str] = []
    for row in tool.flags:
        filled = [blanks.get(part, part) for part in row]
        arguments += [part for part in filled if part is not None] if None not in filled else []
    environment = {name: blanks.get(value) or value for name, value in tool.environment.items()}
    stdin = request.prompt if tool.takes_system else f"{system}\n\n{request.prompt}"
    return Start(arguments, environment, stdin)


def _written(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return str(path)


def read_claude(stdout: bytes, _: bytes) -> Answer:
    """`{"result", "structured_output", "usage", "total_cost_usd", "modelUsage"}`."""
    document = _object(stdout)
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


def read_codex(stdout: bytes, answer: bytes) -> Answer:
    """The answer's file, and `{"type": "turn.completed", "usage"}` among the events."""
    turns = [
        _table(event, "usage")
        for event in map(_event, stdout.splitlines())
        if event.get("type") == "turn.completed"
    ]
    return Answer(
        text=_text(answer.decode("utf-8", "replace")),
        tokens_in=_total(_sum(usage, ("input_tokens",)) for usage in turns),
        tokens_out=_total(_sum(usage, ("output_tokens",)) for usage in turns),
    )


def read_gemini(stdout: bytes, _: bytes) -> Answer:
    """`{"response", "stats": {"models": {NAME: {"tokens": {"prompt", "candidates"}}}}}`."""
    document = _object(stdout)
    models = _table(_table(document, "stats"), "models")
    tokens = [_table(_table(models, name), "tokens") for name in models]
    return Answer(
        text=_text(document.get("response")),
        tokens_in=_total(_sum(one, ("prompt",)) for one in tokens),
        tokens_out=_total(_sum(one, ("candidates", "thoughts")) for one in tokens),
        model=next(iter(models), None),
    )


def reported_failure(stdout: bytes) -> str | None:
    """What a tool says of its failure on stdout, as JSON; None if it speaks of none."""
    try:
        document = _object(stdout)
    except ModelAnswerUnreadable:
        events = [_event(line) for line in stdout.splitlines()]
        document = next((one for one in events if one.get("type") == "turn.failed"), {})
    if document.get("is_error") is True:  # Claude Code
        return f"{document.get('subtype', '')}: {document.get('result', '')}"
    error = document.get("error")  # Codex and Gemini
    return str(error.get("message", "")) if isinstance(error, dict) else None


def _object(content: bytes) -> dict[str, Any]:
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise ModelAnswerUnreadable("its output is not the JSON object that was asked for")
    return document


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
    variables=("ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"),
    default_model="haiku",
    takes_schema=True,
    takes_system=True,
    read=read_claude,
    environment={},
)
CODEX: Final = AgentTool(
    program="codex",
    title="Codex",
    flags=CODEX_FLAGS,
    variables=("CODEX_API_KEY", "OPENAI_API_KEY", "CODEX_HOME"),
    default_model=None,
    takes_schema=True,
    takes_system=False,
    read=read_codex,
    environment={},
)
GEMINI: Final = AgentTool(
    program="gemini",
    title="Gemini CLI",
    flags=GEMINI_FLAGS,
    variables=("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_CLOUD_PROJECT"),
    default_model="flash",
    takes_schema=False,
    takes_system=True,
    read=read_gemini,
    environment=GEMINI_ENVIRONMENT,
)
TOOLS: Final[Mapping[str, AgentTool]] = {tool.program: tool for tool in (CLAUDE, CODEX, GEMINI)}
