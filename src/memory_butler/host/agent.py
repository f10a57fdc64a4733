"""The agent's command line: what it is given, how it is held in bounds, what it answered."""

import json
import os
import shlex
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from memory_butler.domain.errors import ConfigurationError
from memory_butler.inference.language_models import bounded_process
from memory_butler.inference.language_models.agent_tools import (
    NETWORK_VARIABLES,
    TOOLS,
    read_claude,
)
from memory_butler.inference.language_models.bounded_process import OutputBoundPassed
from memory_butler.inference.language_models.port import ModelAnswerUnreadable
from memory_butler.inference.language_models.sanitize import tail

# Claude Code. The instructions go by file: on the command line every user of the machine could read
# them. Only our MCP servers, and no settings but ours beside the user's.
CLAUDE_CODE: Final = (
    "claude",
    "-p",
    "--output-format",
    "json",
    "--append-system-prompt-file",
    "{system_file}",
    "--mcp-config",
    "{mcp_config}",
    "--strict-mcp-config",
    "--settings",
    "{settings}",
    "--allowedTools",
    "{tools}",
    "--add-dir",
    "{folder}",
    "--model",
    "{model}",
)
_INSTALL: Final = {
    "claude": "npm install -g @anthropic-ai/claude-code, then start `claude` once and log in",
    "codex": "npm install -g @openai/codex, then start `codex` once and log in",
    "gemini": "npm install -g @google/gemini-cli, then start `gemini` once and log in",
}
# What any program needs to start, to find its login, to write UTF-8 and to reach its provider.
_SHARED_VARIABLES: Final = ("PATH", "HOME", "LANG", "USER", "TMPDIR", *NETWORK_VARIABLES)


@dataclass(frozen=True, slots=True)
class Server:
    """An MCP server that a session is wired to."""

    url: str
    token: str | None = field(default=None, repr=False)

    def entry(self) -> dict[str, Any]:
        """As MCP clients have it in their configuration."""
        headers = {} if self.token is None else {"Authorization": f"Bearer {self.token}"}
        return {"type": "http", "url": self.url, **({"headers": headers} if headers else {})}


@dataclass(frozen=True, slots=True)
class Task:
    """One session: what the agent is told, and what it is wired to."""

    system: str = field(repr=False)
    prompt: str = field(repr=False)
    # The memory block alone, for when the session compresses its context (CTX-09).
    block: str = field(repr=False)
    servers: Mapping[str, Server]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a session ended: `answer` is the agent's last word, `failure` why there is none."""

    answer: str = field(default="", repr=False)
    failure: str | None = None


@dataclass(frozen=True, slots=True)
class Agent:
    """A command line, its bounds, and what of our environment it gets."""

    command: Sequence[str]
    folder: Path
    model: str | None
    tools: Sequence[str]
    variables: Sequence[str]
    timeout_seconds: float
    max_output_bytes: int

    def program(self) -> str:
        """The absolute path of the program.

        Raises:
            ConfigurationError: it is not installed; the message says how to.
        """
        wanted = self.command[0]
        found = shutil.which(wanted)
        if found is None:
            known = _INSTALL.get(Path(wanted).name)
            advice = f"Install it: {known}" if known else "Install it, or correct its name"
            raise ConfigurationError(
                f"the agent `{wanted}` of [butler.agent] command is not on the PATH. {advice}."
            )
        return found

    async def run(self, task: Task) -> Outcome:
        """Run one session. However it ends, its files are gone and its processes dead.

        Raises:
            ConfigurationError: the program is not installed.
        """
        program = self.program()
        try:
            ended = await self._ended(program, task)
        except TimeoutError:
            return Outcome(failure=f"it was ended after {self.timeout_seconds:g} seconds")
        except OutputBoundPassed:
            return Outcome(failure=f"it wrote more than {self.max_output_bytes} bytes")
        except OSError as error:
            return Outcome(failure=f"it cannot be started: {error.strerror}")
        return self._outcome(ended, task)

    async def _ended(self, program: str, task: Task) -> bounded_process.Ended:
        with tempfile.TemporaryDirectory(
            prefix="memory-butler-session-", ignore_cleanup_errors=True
        ) as created:
            private = Path(created)  # 0700, as every folder of tempfile
            work = private / "work"
            work.mkdir()
            return await bounded_process.run(
                [program, *self._arguments(task, private)],
                stdin=task.prompt.encode("utf-8", "replace"),
                environment=self._environment(private),
                folder=work,
                timeout_seconds=self.timeout_seconds,
                max_output_bytes=self.max_output_bytes,
            )

    def _arguments(self, task: Task, private: Path) -> list[str]:
        config = {"mcpServers": {name: one.entry() for name, one in task.servers.items()}}
        block = private_file(private / "memory.md", task.block)
        # What a session tells after it has compressed its context is added to what is left.
        again = {"type": "command", "command": f"cat {shlex.quote(block)}"}
        settings = {"hooks": {"SessionStart": [{"matcher": "compact", "hooks": [again]}]}}
        allowed = [f"mcp__{name}" for name in task.servers] + list(self.tools)
        filled = {
            "system_file": private_file(private / "system.md", task.system),
            "mcp_config": private_file(private / "mcp.json", json.dumps(config)),
            "settings": private_file(private / "settings.json", json.dumps(settings)),
            "memory_file": block,
            "tools": ",".join(allowed),
            "folder": str(self.folder),
            "model": self.model,
        }
        return fill(self.command[1:], filled)

    def _environment(self, private: Path) -> dict[str, str]:
        tool = TOOLS.get(Path(self.command[0]).name)
        names = (*_SHARED_VARIABLES, *(tool.variables if tool else ()), *self.variables)
        found = {name: os.environ[name] for name in names if name in os.environ}
        return found | {"MEMORY_BUTLER_CONTEXT_FILE": str(private / "memory.md")}

    def _outcome(self, ended: bounded_process.Ended, task: Task) -> Outcome:
        if ended.status == 0:
            return Outcome(answer=_final(ended.stdout))
        # Neither a key nor a line of what it was told: this ends in logs and in an episode.
        said = tail(
            ended.stderr_tail.decode("utf-8", "replace"),
            secrets=[one.token for one in task.servers.values() if one.token],
            private=[task.prompt, task.system],
        )
        return Outcome(
            failure=f"it ended with status {ended.status}" + (f": {said}" if said else "")
        )


def fill(arguments: Sequence[str], filled: Mapping[str, str | None]) -> list[str]:
    """The arguments with their blanks filled; an empty blank goes, and the flag before it too."""
    found: list[str] = []
    for argument in arguments:
        blank = argument[1:-1] if argument.startswith("{") and argument.endswith("}") else None
        if blank is not None and blank in filled and not filled[blank]:
            if found and found[-1].startswith("-"):
                found.pop()
            continue
        for name, value in filled.items():
            argument = argument.replace(f"{{{name}}}", value or "")
        found.append(argument)
    return found


def private_file(path: Path, text: str) -> str:
    """Write a file that nobody else may read: tokens and memories are in it."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(descriptor, "w", encoding="utf-8", errors="replace") as file:
        file.write(text)
    return str(path)


def _final(stdout: bytes) -> str:
    """The agent's last word: the `result` of Claude Code's JSON, else the text as it stands."""
    try:
        return read_claude(stdout).text.strip()
    except ModelAnswerUnreadable:
        return stdout.decode("utf-8", "replace").strip()
