"""A butler: its directory read, every mistake in it told with key and line."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from memory_butler import butler_toml
from memory_butler.butler_toml import FILE_NAME, ButlerToml
from memory_butler.config import Settings, load
from memory_butler.domain.errors import ConfigurationError
from memory_butler.domain.mistakes import reason
from memory_butler.host.agent import CLAUDE_CODE

MEMORY_URL: Final = "http://127.0.0.1:8150/mcp"
# Of texts that go into a prompt; more would leave the agent no room for its work.
MAX_TEXT_BYTES: Final = 100_000

_Url = Annotated[str, Field(pattern=r"^https?://\S+$")]
_Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,39}$")]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class DatabaseTable(_Table):
    """`[butler.db]`."""

    name: str = Field(description="The embedded database of this butler.")


class Entry(_Table):
    """An entry of `[butler.schedule]`."""

    cron: str = Field(description="When, in UTC.")
    prompt: str = Field(min_length=1, description="What the agent is told.")

    @field_validator("cron")
    @classmethod
    def _is_cron(cls, given: str) -> str:
        # Here, because it loads more than a look at a butler needs.
        from memory_butler.engine.jobs.calendar import NO_CRON, is_cron

        if not is_cron(given):
            raise ValueError(f"{given!r} {NO_CRON}")
        return given


class AgentTable(_Table):
    """`[butler.agent]`: what runs a session, and within what bounds."""

    command: tuple[str, ...] = Field(
        CLAUDE_CODE,
        min_length=1,
        description="Program and arguments; `{…}` is filled in. The prompt comes on its stdin.",
    )
    model: str | None = Field(None, description="What `{model}` stands for.")
    tools: tuple[str, ...] = Field(
        (), description="Tools of the agent's own that it may use without asking: `{tools}`."
    )
    environment: tuple[str, ...] = Field(
        (),
        description="Our environment variables that it gets, beside those that it needs to start.",
    )
    timeout_seconds: float = Field(1800, gt=0, le=86_400, description="Then it is ended.")
    max_output_bytes: int = Field(5_000_000, gt=0, description="More, and it is ended.")
    max_waiting: int = Field(100, ge=1, le=10_000, description="Triggers that may wait.")
    extraction_model: str = Field(
        "auto",
        description="What sums a session up, as `modules.memory.consolidation.model`; with `none`, "
        "or where none is found, the agent's own last words do.",
    )


class MemoryServerTable(_Table):
    """`[butler.memory_server]`: where memory is, for butlers that do not load the module."""

    url: _Url = Field(MEMORY_URL, description="Its MCP endpoint.")
    token_env: str | None = Field(None, description="The variable that holds a token for it.")
    timeout_seconds: float = Field(
        5, gt=0, le=60, description="Then the session starts without it."
    )


class SwitchboardTable(_Table):
    """`[butler.switchboard]`: whom this butler announces itself to."""

    url: _Url = Field(description="The MCP endpoint of the switchboard.")
    tool: str = Field("register_butler", min_length=1, description="The tool that is called.")
    token_env: str | None = Field(None, description="The variable that holds a token for it.")
    every_seconds: float = Field(
        300, ge=1, description="Announced again after this, should the switchboard forget."
    )


class ButlerTable(_Table):
    """`[butler]`."""

    name: _Name = Field(description="Its name, and the scope of what it knows alone.")
    port: int = Field(ge=0, le=65535, description="Where it serves MCP; 0 takes a free port.")
    description: str = Field("", description="What it is for, in a sentence.")
    own_token_env: str | None = Field(
        None,
        description="The variable that holds a token for its own tools, where it demands tokens.",
    )
    db: DatabaseTable | None = Field(None, description="Its database.")
    schedule: dict[_Name, Entry] = Field({}, description="What it does by itself.")
    agent: AgentTable = Field(AgentTable(), description="What runs its sessions.")
    memory_server: MemoryServerTable | None = Field(None, description="Where memory is.")
    switchboard: SwitchboardTable | None = Field(
        None, description="The switchboard where it registers."
    )
    memory: dict[str, Any] | None = Field(None, description="Alias of [modules.memory].")


@dataclass(frozen=True, slots=True)
class Butler:
    """A butler as its directory describes it."""

    folder: Path
    table: ButlerTable
    settings: Settings
    # What `[modules]` holds, by module; the memory's own table is in the settings.
    modules: Mapping[str, Mapping[str, Any]]
    claude: str = field(repr=False)
    agents: str = field(repr=False)
    skills: tuple["Skill", ...]
    file: ButlerToml = field(repr=False)
    # Whether `[modules.memory]` has the schedule alone, and so loads no memory.
    schedules_only: bool

    @property
    def name(self) -> str:
        return self.table.name

    @property
    def hosts_memory(self) -> bool:
        """Whether it loads the memory module itself."""
        return "memory" in self.modules


@dataclass(frozen=True, slots=True)
class Skill:
    """A folder with a SKILL.md: what it is for, as its front matter says."""

    name: str
    description: str
    path: Path


def read(folder: Path, **flags: Any) -> Butler:
    """Read a butler's directory; `flags` are settings of the command line.

    Raises:
        ConfigurationError: something is missing or wrong; the message names the file, the line and
            the key.
    """
    path = folder / FILE_NAME
    if not path.is_file():
        raise ConfigurationError(
            f"{folder} is not a butler: there is no {FILE_NAME} in it. "
            f"`memory-butler butler new {folder.name}` makes one."
        )
    document = butler_toml.read(path)
    table = checked(ButlerTable, document, "butler")
    modules = {name: document.table("modules", name) for name in document.table("modules")}
    if table.memory is not None:
        modules["memory"] = table.memory | dict(modules.get("memory", {}))
    schedules_only = modules.get("memory", {}).keys() == {"schedule"}
    if schedules_only:
        # When the butler does what it plans, and no wish for the memory's tools (GEN-07, C-331).
        del modules["memory"]
    flags.setdefault("port", table.port)
    if table.db is None:
        flags.setdefault("database", f"butler_{table.name.replace('-', '_')}")
    return Butler(
        folder=folder,
        table=table,
        settings=load(path, **flags),
        modules=modules,
        claude=_text(folder / "CLAUDE.md"),
        agents=_text(folder / "AGENTS.md"),
        skills=tuple(_skills(folder / "skills")),
        file=document,
        schedules_only=schedules_only,
    )


def checked(model: type[Any], document: ButlerToml, *keys: str) -> Any:
    """The table at these keys as a model.

    Raises:
        ConfigurationError: with every mistake, its key and its line.
    """
    try:
        return model.model_validate(dict(document.table(*keys)))
    except ValidationError as error:
        mistakes = error.errors(include_input=False, include_url=False)
        # Misspelt keys first: the ones that are missing are often the same.
        mistakes.sort(key=lambda one: one["type"] != "extra_forbidden")
        told = []
        for mistake in mistakes:
            # pydantic puts marks of its own into the path of a mistake in a key.
            place = (*keys, *(str(part) for part in mistake["loc"] if part != "[key]"))
            told.append(document.complaint(place, f"{'.'.join(place)}: {_said(mistake)}"))
        raise ConfigurationError("; ".join(told)) from None


def _said(mistake: Mapping[str, Any]) -> str:
    unknown = mistake["type"] == "extra_forbidden"
    return "there is no such key" if unknown else reason(mistake)


def _text(path: Path) -> str:
    """A text of the directory; a missing one is empty."""
    if not path.is_file():
        return ""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path} cannot be read: {error}") from None
    if len(text.encode()) > MAX_TEXT_BYTES:
        raise ConfigurationError(
            f"{path} has more than {MAX_TEXT_BYTES:,} bytes, which leaves a prompt no room"
        )
    return text


def _skills(folder: Path) -> list[Skill]:
    if not folder.is_dir():
        return []
    return [_skill(path) for path in sorted(folder.glob("*/SKILL.md"))]


def _skill(path: Path) -> Skill:
    head = _text(path).split("---")
    fields: dict[str, str] = {}
    if len(head) > 2 and not head[0].strip():
        for line in head[1].splitlines():
            key, colon, value = line.partition(":")
            if colon and not key.startswith(" "):
                fields[key.strip()] = value.strip()
    return Skill(fields.get("name", path.parent.name), fields.get("description", ""), path)
