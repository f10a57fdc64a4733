"""Configuration: `butler.toml` under `[modules.memory]`, then the environment, then the flags.

Every table refuses unknown keys. Two mistakes that pydantic-settings passes over in silence are
looked for here: a variable of our prefix that names no setting, and a file that was named but is
not there.
"""

import os
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Literal

import platformdirs
from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_core import ErrorDetails

from memory_butler import butler_toml
from memory_butler.butler_toml import ButlerToml
from memory_butler.config_table import Share, Table
from memory_butler.domain import confidence
from memory_butler.domain.errors import ConfigurationError
from memory_butler.domain.mistakes import reason
from memory_butler.domain.principals import DEFAULT_TENANT, TENANT_PATTERN
from memory_butler.domain.rules import RulePolicy
from memory_butler.journal_config import JournalConfig
from memory_butler.retrieval_config import RetrievalConfig
from memory_butler.trust_config import TrustConfig

_MAX_PORT: Final = 65535
_PREFIX: Final = "MEMORY_BUTLER_"
# What a `butler.toml` consists of.
_TOP: Final = ("server", "butler", "modules")
# Of tables that may hold more than this program reads: what it knows in them. A test holds it
# against the tables of a butler and its modules, which stand above this room.
KNOWN_IN: Final[Mapping[tuple[str, ...], tuple[str, ...]]] = {
    ("modules",): ("memory", "heartbeat"),
    ("butler",): (
        *("name", "port", "description", "own_token_env", "db", "schedule", "agent"),
        *("memory_server", "switchboard", "memory"),
    ),
    ("butler", "db"): ("name",),
}
# How alike a name must be to a known one to be taken for a mistake: "mem" is, "summary" is not.
_LIKE: Final = 0.65
# Variables of the hooks, and of the session that a butler runs: no settings, and no mistakes.
_OF_HOOKS: Final = ("URL", "TOKEN", "HOOK_DIR", "CONTEXT_FILE")


class EpisodesConfig(Table):
    """`[modules.memory.episodes]` (CFG-06)."""

    default_ttl_days: float = Field(
        7, gt=0, le=36_500, description="Days until an episode expires."
    )
    max_entries: int = Field(10_000, ge=0, description="Episodes kept per tenant; cleanup evicts.")


class FactsConfig(Table):
    """`[modules.memory.facts]` (CFG-07)."""

    retrieval_confidence_threshold: Share = Field(
        0.2, description="Effective confidence below which a memory fades from recall."
    )
    expiry_confidence_threshold: Share = Field(
        0.05, description="Effective confidence below which a fact expires."
    )

    @model_validator(mode="after")
    def _ordered(self) -> "FactsConfig":
        self.thresholds()
        return self

    def thresholds(self) -> confidence.ConfidenceThresholds:
        """The thresholds as the domain takes them."""
        return confidence.ConfidenceThresholds(
            retrieval=self.retrieval_confidence_threshold, expiry=self.expiry_confidence_threshold
        )


class ConsolidationConfig(Table):
    """`[modules.memory.consolidation]`: which model distils episodes, and within what bounds."""

    model: str = Field(
        "auto",
        description=(
            "`auto` takes what is found, `none` only counts; or `anthropic:MODEL`, "
            "`openai:MODEL`, `ollama:MODEL`, `cli:claude`, `cli:codex`, `cli:gemini`."
        ),
    )
    base_url: str | None = Field(
        None, description="Endpoint of an OpenAI-compatible server, for `openai:` models."
    )
    api_key_env: str | None = Field(
        None,
        description="Environment variable that holds the API key, if not the usual one, which is "
        "not sent to a `base_url`.",
    )
    timeout_seconds: float = Field(300, gt=0, le=3600, description="Bound on one model call.")
    max_output_bytes: int = Field(1_000_000, gt=0, description="A longer output is refused.")
    max_prompt_tokens: int = Field(
        24_000, ge=1000, description="Oldest episodes first; the rest waits for the next run."
    )
    token_budget_per_run: int = Field(200_000, ge=0, description="Tokens, in and out, of one run.")
    token_budget_per_day: int = Field(
        1_000_000, ge=0, description="Tokens, in and out, of one tenant in a UTC day."
    )
    max_cost_usd: float = Field(0.5, gt=0, description="Bound on one command-line session.")
    max_episodes: int = Field(50, ge=1, le=500, description="Episodes of one butler in one call.")
    max_facts: int = Field(100, ge=0, le=1000, description="Known facts shown to the model.")
    max_rules: int = Field(50, ge=0, le=1000, description="Known rules shown to the model.")
    lease_minutes: float = Field(15, gt=0, description="How long a claim on episodes holds.")
    max_retry_attempts: int = Field(
        3, ge=0, description="Failures after which it is a dead letter."
    )
    retry_base_minutes: float = Field(15, gt=0, description="Delay after the first failure.")
    review_below: Share = Field(
        0.35, description="Support by evidence below which a fact is marked `needs_review`."
    )
    refuse_below: Share = Field(0.0, description="Support below which a fact is refused; 0: none.")
    echo_filter: bool = Field(
        True,
        description="Hold back what only repeats what memory served, until somebody accepts it.",
    )
    pending_ttl_days: float = Field(
        90,
        ge=0,
        le=36_500,
        description="Days that an episode may wait for consolidation, as while the model is away; "
        "0: it expires like any other.",
    )

    @model_validator(mode="after")
    def _lease_outlives_the_call(self) -> "ConsolidationConfig":
        if self.lease_minutes * 60 <= self.timeout_seconds:
            raise ValueError(
                "lease_minutes must be longer than timeout_seconds: a slow answer would always "
                "come too late"
            )
        return self


class ScheduleConfig(Table):
    """`[modules.memory.schedule]`: when the server does what it does by itself (SCH-01, UTC)."""

    enabled: bool = Field(True, description="Whether this server runs the schedule.")
    consolidate: str = Field("0 */6 * * *", description="Cron of the consolidation.")
    decay_sweep: str = Field("0 3 * * *", description="Cron of the decay sweep.")
    episode_cleanup: str = Field("0 4 * * *", description="Cron of the episode cleanup.")


class MemoryModuleConfig(Table):
    """`[modules.memory]`, or its alias `[butler.memory]` (CFG-01, CFG-05, C-77)."""

    embedding_model: str = Field(
        "all-MiniLM-L6-v2",
        min_length=1,
        description=(
            "The model of the vectors; any other than the one shipped needs the extra "
            "`sentence-transformers` and, on a store that has memories, `memory-butler reembed`."
        ),
    )
    embedding_dimensions: Literal[384] = Field(384, description="Length of a vector.")
    embedding_path: Path | None = Field(
        None,
        description="A folder with model.safetensors and tokenizer.json, instead of the "
        "one in the package.",
    )
    embedding_precision: Literal["auto", "float32", "int8"] = Field(
        "auto",
        description="How the shipped model computes: `int8` takes half to 0.85 of the time of "
        "`float32`, and their vectors may be mixed. `auto`: `int8` on processors known to gain "
        "from it. `memory-butler doctor` says which runs.",
    )
    max_content_bytes: int = Field(
        65_536,
        ge=1024,
        le=8 * 1024 * 1024,
        description="A longer content of an episode, fact or rule is refused.",
    )
    episodes: EpisodesConfig = Field(
        EpisodesConfig.model_construct(), description="How long episodes are kept."
    )
    facts: FactsConfig = Field(
        FactsConfig.model_construct(), description="When facts fade and expire."
    )
    rules: RulePolicy = Field(RulePolicy(), description="When rules rise and fall.")
    consolidation: ConsolidationConfig = Field(
        ConsolidationConfig.model_construct(), description="Turning episodes into facts and rules."
    )
    schedule: ScheduleConfig = Field(
        ScheduleConfig.model_construct(), description="What runs by itself, and when."
    )
    retrieval: RetrievalConfig = Field(
        RetrievalConfig.model_construct(), description="How search, recall and context work."
    )
    trust: TrustConfig = Field(TrustConfig.model_construct(), description="What memory takes in.")
    journal: JournalConfig = Field(
        JournalConfig.model_construct(), description="The journals of companions."
    )


ADDRESS_SHAPE: Final = "postgresql://user:password@host:port/name"
_HOST: Final = re.compile(r"(\[[^\[\]]*\]|[^:\[\]]*)(?::(?P<port>[0-9]{1,5}))?")


def is_address(dsn: str) -> bool:
    """Whether a DSN can be read: the driver fails at a mistyped port with an error of its own."""
    scheme, _, rest = dsn.partition("://")
    authority = rest.partition("/")[0].partition("?")[0]
    hosts = authority.rpartition("@")[2].split(",")
    found = [_HOST.fullmatch(host) for host in hosts]
    return scheme in ("postgresql", "postgres") and all(
        host is not None and int(host["port"] or 0) <= _MAX_PORT for host in found
    )


class Settings(Table):
    """Everything one process needs to know: where to serve, where the data is, how memory works.

    Environment: `MEMORY_BUTLER_PORT`, `MEMORY_BUTLER_MEMORY__RETRIEVAL__DEFAULT_LIMIT`, and so on.
    """

    host: str = Field("127.0.0.1", description="Address to bind. Any but loopback demands tokens.")
    port: int = Field(8150, ge=0, le=_MAX_PORT, description="Port to bind; 0 takes a free one.")
    data_dir: Path = Field(
        default_factory=lambda: Path(platformdirs.user_data_dir("memory-butler")),
        description="Where the embedded database and everything else of this installation lives.",
    )
    cluster_root: Path | None = Field(
        None,
        description="Where a new embedded database is made, instead of in the data directory; "
        "needed only where the user that it runs as cannot reach that.",
    )
    dsn: SecretStr | None = Field(
        None, description="Runtime login of an external PostgreSQL; without it, the embedded one."
    )
    audit_dir: Path | None = Field(
        None,
        description="Folder of the keys by which events are sealed; else `audit` in the data "
        "directory. Servers that share a database need the same keys.",
    )
    read_dsn: SecretStr | None = Field(
        None, description="The same login at a streaming standby, which then answers reads."
    )
    database: str = Field(
        "butler_memory",
        pattern=r"^[a-z][a-z0-9_]{0,47}$",
        description="Name of the embedded database; also `name` in `[butler.db]`. A DSN names its "
        "own.",
    )
    master_key_file: Path | None = Field(
        None,
        description="File with the master key of encrypted journals, backups and exports (base64 "
        "of 32 bytes); without it, the one that `memory-butler keys init` makes in the data "
        "directory.",
    )
    master_key: SecretStr | None = Field(
        None, description="The master key itself, as base64: for the environment."
    )
    master_key_command: tuple[str, ...] = Field(
        (),
        description="A command that asks a key management service: called with `wrap` or `unwrap`, "
        "it reads base64 and writes base64.",
    )
    require_token: bool = Field(
        False, description="Demand a token on loopback too. Always on for other addresses."
    )
    local_tenant: str = Field(
        DEFAULT_TENANT,
        pattern=TENANT_PATTERN,
        description="Whose memory callers get that need no token, on this machine; also "
        "`serve --tenant`.",
    )
    allowed_hosts: tuple[str, ...] = Field(
        (), description="Further names under which this server is reached (Host header)."
    )
    allowed_origins: tuple[str, ...] = Field(
        (), description="Further origins whose pages may call this server (Origin header)."
    )
    trusted_proxies: tuple[str, ...] = Field(
        (),
        description="Addresses or networks of proxies whose X-Forwarded-For and X-Forwarded-Proto "
        "are believed. What a proxy passes on needs a token in any case.",
    )
    toolsets: tuple[Literal["memory", "core", "consolidation", "journal", "trust"], ...] = Field(
        ("memory",),
        description=(
            "What MCP offers. `core` is six tools of `memory`, in a quarter of the tokens; "
            "`consolidation` lets an agent's own model distil the episodes, "
            "where there is none; `journal` is a companion's own memory; `trust` undoes changes."
        ),
    )
    pool_size: int = Field(10, ge=2, le=100, description="Database connections at most.")
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="What is logged: this and everything graver."
    )
    log_format: Literal["auto", "console", "json"] = Field(
        "auto",
        description="Lines for people (`console`) or for programs (`json`); `auto`: for people on "
        "a terminal, for programs elsewhere.",
    )
    trace_endpoint: str | None = Field(
        None, pattern=r"^https?://\S+$", description="OTLP collector of traces; extra `tracing`."
    )
    memory: MemoryModuleConfig = Field(
        MemoryModuleConfig.model_construct(), description="How memory works."
    )

    @field_validator("data_dir", "cluster_root", "audit_dir", "master_key_file", mode="before")
    @classmethod
    def _not_empty(cls, path: Any) -> Any:
        # As of a variable that a script has not set; it would be the current directory.
        if path == "":
            raise ValueError("is empty; name a folder or file, or leave it out")
        return path

    @field_validator("host")
    @classmethod
    def _no_address(cls, host: str) -> str:
        # The system would take it for every address.
        if not host.strip():
            raise ValueError("is empty; give 127.0.0.1 for this machine alone, 0.0.0.0 for all")
        return host

    @field_validator("dsn", "read_dsn")
    @classmethod
    def _readable(cls, dsn: SecretStr | None) -> SecretStr | None:
        if dsn is not None and not is_address(dsn.get_secret_value()):
            raise ValueError(f"must look like {ADDRESS_SHAPE}")
        return dsn


# Settings that are given one by one at the command line.
_FLAGS: Final = {
    "host": "--host",
    "port": "--port",
    "data_dir": "--data-dir",
    "dsn": "--dsn",
    "read_dsn": "--read-dsn",
    "toolsets": "--toolset",
    "trusted_proxies": "--trusted-proxy",
}


def load(file: Path | None = None, *, environment: bool = True, **flags: Any) -> Settings:
    """Read the configuration: flags, then the environment, then the file.

    Args:
        file: a `butler.toml`; else `MEMORY_BUTLER_CONFIG`, else `./butler.toml` if there is one.
        environment: without, for the file of another installation than this one.
        flags: settings given on the command line; None means: not given.

    Raises:
        ConfigurationError: naming the key, what is wrong with it and the line of the file.
    """
    given = {name: value for name, value in flags.items() if value is not None}
    path = butler_toml.named(file)
    document = None if path is None else butler_toml.read(path)
    above: dict[str, Any] = given
    try:
        # Merged before anything is checked: a pair of limits may come from two places.
        above = _merge(_of_environment() if environment else {}, given)
        return Settings(**_merge({} if document is None else _of_file(document), above))
    except ValidationError as error:
        raise ConfigurationError(_explain(error, document, above, given)) from None


def _of_environment() -> dict[str, Any]:
    """The settings of the environment."""
    _refuse_unknown_variables(os.environ)
    ours = {name: text for name, text in os.environ.items() if name.upper().startswith(_PREFIX)}
    if ours.keys() <= {butler_toml.FILE_VARIABLE}:
        return {}
    return _of_variables(tuple(sorted(ours.items())))


@lru_cache(maxsize=4)
def _of_variables(ours: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    """The settings of the environment, of whose variables these are `ours`.

    They are read anew only where one has changed: a command asks two or three times.
    pydantic-settings takes a tenth of the time of a command: it is imported where there are some.
    """
    from pydantic_settings import EnvSettingsSource
    from pydantic_settings.exceptions import SettingsError

    try:
        return EnvSettingsSource(
            Settings,  # type: ignore[arg-type]  # any model has what it reads
            env_prefix=_PREFIX,
            env_nested_delimiter="__",
        )()
    except SettingsError as error:
        # It says: error parsing value for field "allowed_hosts" from source "EnvSettingsSource".
        _, _, field = str(error).partition('"')
        name = _PREFIX + field.partition('"')[0].upper()
        raise ConfigurationError(
            f"the environment variable {name}{'__…' if name == f'{_PREFIX}MEMORY' else ''} must be "
            """JSON, such as '["memory.example.org"]'"""
        ) from None


def _of_file(document: ButlerToml) -> dict[str, Any]:
    """The settings of a `butler.toml`; tables of modules of another host are ignored."""
    for name in document.tables:
        if name not in _TOP:
            said = f"{name}: unknown name; is it misspelled? Known: {', '.join(_TOP)}"
            raise ConfigurationError(document.complaint((name,), said))
    _refuse_misspelled(document)
    butler, server = document.table("butler"), document.table("server")
    if "memory" in server:
        raise ConfigurationError(
            document.complaint(("server", "memory"), "[server.memory] is [modules.memory]")
        )
    memory = _merge(document.table("butler", "memory"), document.table("modules", "memory"))
    settings: dict[str, Any] = {"memory": memory} if memory else {}
    if "port" in butler:
        settings["port"] = butler["port"]
    if "name" in document.table("butler", "db"):
        settings["database"] = document.table("butler", "db")["name"]
    return _merge(settings, server)


def _refuse_misspelled(document: ButlerToml) -> None:
    """Refuse a name that is nearly a known one; another may be that of another host's module."""
    for table, known in KNOWN_IN.items():
        for name in document.table(*table):
            if name in known:
                continue
            import difflib  # here: a mistake is rare

            if near := difflib.get_close_matches(name.lower(), known, 1, _LIKE):
                wanted = ".".join((*table, near[0]))
                said = f"{'.'.join((*table, name))}: unknown name; did you mean {wanted}?"
                raise ConfigurationError(document.complaint((*table, name), said))


def _merge(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        known = merged.get(key)
        both_tables = isinstance(known, Mapping) and isinstance(value, Mapping)
        merged[key] = _merge(known, value) if both_tables else value  # type: ignore[arg-type]
    return merged


def _refuse_unknown_variables(environment: Mapping[str, str]) -> None:
    known = {f"{_PREFIX}{name.upper()}" for name in Settings.model_fields} | {
        butler_toml.FILE_VARIABLE
    }
    of_hooks = {f"{_PREFIX}{name}" for name in _OF_HOOKS}
    for name in environment:
        # pydantic-settings reads names in any case, and `__` leads into the one table that we have.
        upper = name.upper()
        inside = upper.startswith(f"{_PREFIX}MEMORY__")
        if upper.startswith(_PREFIX) and upper not in known | of_hooks and not inside:
            raise ConfigurationError(
                f"the environment variable {name} is not a setting; known: "
                + ", ".join(sorted(known))
            )


def _explain(
    error: ValidationError,
    document: ButlerToml | None,
    above: Mapping[str, Any],
    flags: Mapping[str, Any],
) -> str:
    """Every mistake on a line of its own, without the values: they may be secrets."""
    mistakes = error.errors(include_input=False, include_url=False)
    return "\n".join(_told(one, document, above, flags) for one in mistakes)


def _told(
    mistake: ErrorDetails,
    document: ButlerToml | None,
    above: Mapping[str, Any],
    flags: Mapping[str, Any],
) -> str:
    keys = tuple(str(part) for part in mistake["loc"])
    if keys and keys[0] in flags and keys[0] in _FLAGS:
        return f"{_FLAGS[keys[0]]}: {reason(mistake)}"
    if document is not None and not butler_toml.has(above, keys):  # else it is not of the file
        for place in _places(keys):
            if document.line_of(place):
                return document.complaint(place, f"{'.'.join(place)}: {reason(mistake)}")
    variables = {name.upper() for name in os.environ}
    for given in range(len(keys), 0, -1):
        if (name := _PREFIX + "__".join(keys[:given]).upper()) in variables:
            inside = "".join(f"{key}: " for key in keys[given:])
            return f"the environment variable {name}: {inside}{reason(mistake)}"
    return f"configuration: {'.'.join(keys)}: {reason(mistake)}"


def _places(keys: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Where a file may say what a setting is, the place that wins first."""
    if keys[:1] == ("memory",):
        return [("modules", *keys), ("butler", *keys)]
    if keys == ("database",):
        return [("server", *keys), ("butler", "db", "name")]
    return [("server", *keys), ("butler", *keys)]
