"""An agent's command line as a model: one process for one request."""

import re
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from memory_butler.inference.language_models import bounded_process
from memory_butler.inference.language_models.agent_tools import (
    NETWORK_VARIABLES,
    AgentTool,
    Answer,
    Start,
    prepare,
    reported_failure,
    without_tools,
)
from memory_butler.inference.language_models.bounded_process import Ended, OutputBoundPassed
from memory_butler.inference.language_models.own_home import home_in, keep_login
from memory_butler.inference.language_models.port import (
    Completion,
    ModelAccessDenied,
    ModelAnswerUnreadable,
    ModelExited,
    ModelOutputTooLong,
    ModelRateLimited,
    ModelRejectedRequest,
    ModelTimedOut,
    Request,
    estimate_tokens,
)
from memory_butler.inference.language_models.sanitize import tail

# All that a program needs to start, to find its login, to write UTF-8 and to reach its provider;
# keys come on top.
_SHARED_VARIABLES: Final = ("PATH", "HOME", "LANG", *NETWORK_VARIABLES)

# Codex's list of models holds their instructions, 0.8 MB in November 2026.
_MODELS_BYTES: Final = 16 * 1024 * 1024
# An answer that is told in parts: each is an event of some hundred bytes. The answer itself is
# bounded as any other.
_EVENTS_BYTES: Final = 16 * 1024 * 1024

# How the tools speak of a missing login and of limits, on stderr or in the report of a failure.
_NO_ACCESS: Final = re.compile(
    r"not logged in|/login|log ?in again|invalid api key|api key (?:not|is not|must)|"
    r"authenticat|unauthorized|credit balance|\b401\b|\b403\b",
    re.IGNORECASE,
)
_LIMITED: Final = re.compile(
    r"rate.?limit|usage limit|quota|too many requests|overloaded|\b429\b|\b529\b", re.IGNORECASE
)
# How they refuse an option that they do not know. Without it they are not held to the question.
_OUTDATED: Final = re.compile(
    r"^(?:error: )?(?:unknown option|unexpected argument|unknown arguments?:|unrecognized subcomm)",
    re.IGNORECASE | re.MULTILINE,
)


def _two_folders(created: Path) -> tuple[Path, Path]:
    """One for the files that we give to the tool, and an empty one for it to start in."""
    scratch, folder = created / "files", created / "empty"
    scratch.mkdir()
    folder.mkdir()
    return scratch, folder


class CommandLineModel:
    """Claude Code, Codex or Gemini, started for each request.

    `program` is the absolute path of the tool and `environment` what its child process may choose
    from. `max_cost_usd` bounds one request where the tool can. `max_output_tokens` of a request is
    a promise of the prompt only, because no tool takes such a bound: bytes are bounded instead.
    """

    def __init__(
        self,
        tool: AgentTool,
        program: str,
        *,
        environment: Mapping[str, str],
        model: str | None = None,
        timeout_seconds: float,
        max_output_bytes: int,
        max_cost_usd: float,
    ) -> None:
        self._tool = tool
        self._program = program
        self._model = model
        self._timeout_seconds = timeout_seconds
        self._max_output_bytes = max_output_bytes
        self._max_cost_usd = max_cost_usd
        allowed = (*_SHARED_VARIABLES, *tool.variables)
        self._environment = {name: environment[name] for name in allowed if name in environment}

    @property
    def name(self) -> str:
        return ":".join(filter(None, ("cli", self._tool.program, self._model)))

    async def complete(self, request: Request) -> Completion:
        """Run the tool once. Raises as `LanguageModel.complete` does."""
        if request.pictures:
            raise ModelRejectedRequest(
                f"{self.name} takes no pictures: a command line is given text alone. A model of "
                "anthropic:, openai: or ollama: that can see takes them"
            )
        with tempfile.TemporaryDirectory(
            prefix="memory-butler-", ignore_cleanup_errors=True
        ) as created:
            scratch, folder = _two_folders(Path(created))
            heard = self._hearing(request)
            start = prepare(
                self._tool,
                request,
                scratch,
                self._max_cost_usd,
                self._model,
                self._environment,
                streams=heard is not None,
            )
            environment = self._environment | start.environment
            in_parts = heard is not None or start.reply is not None
            try:
                if self._tool.list_models:
                    await self._take_tools_away(start, environment, folder)
                ended = await self._run(
                    [self._program, *start.arguments],
                    stdin=start.stdin.encode("utf-8", "replace"),
                    environment=environment,
                    folder=folder,
                    max_output_bytes=_EVENTS_BYTES if in_parts else self._max_output_bytes,
                    heard=heard,
                    reply=start.reply,
                )
            finally:
                if self._tool.own_home is not None:
                    keep_login(self._tool.own_home, home_in(scratch), self._environment)
            self._raise_failure(ended, request)
            answer = self._read(ended)
        return self._completion(answer, request)

    def _hearing(self, request: Request) -> Callable[[bytes], None] | None:
        """What is told each line of the output, where the answer is to be told in parts."""
        heard, tool = request.heard, self._tool
        if heard is None or request.schema is not None:
            return None

        def line_heard(line: bytes) -> None:
            if part := tool.part_of(line):
                heard(part)

        return line_heard

    async def _take_tools_away(
        self, start: Start, environment: dict[str, str], folder: Path
    ) -> None:
        listed = await self._run(
            [self._program, *self._tool.list_models],
            stdin=b"",
            environment=environment,
            folder=folder,
            max_output_bytes=_MODELS_BYTES,
        )
        try:
            start.catalog.write_text(without_tools(listed.stdout), encoding="utf-8")
        except ModelAnswerUnreadable:
            # With its tools it could act on what it reads: so not at all.
            raise self._outdated() from None

    async def _run(
        self,
        command: list[str],
        *,
        stdin: bytes,
        environment: dict[str, str],
        folder: Path,
        max_output_bytes: int,
        heard: Callable[[bytes], None] | None = None,
        reply: Callable[[bytes], str | None] | None = None,
    ) -> Ended:
        try:
            return await bounded_process.run(
                command,
                stdin=stdin,
                environment=environment,
                folder=folder,
                timeout_seconds=self._timeout_seconds,
                max_output_bytes=max_output_bytes,
                heard=heard,
                reply=reply,
            )
        except TimeoutError:
            raise ModelTimedOut(
                f"{self.name} gave no answer within {self._timeout_seconds:g} seconds "
                "(consolidation.timeout_seconds) and was ended"
            ) from None
        except OutputBoundPassed:
            raise self._too_long() from None
        except OSError as error:
            raise ModelAccessDenied(
                f"{self.name} cannot be started: {error.strerror or type(error).__name__}"
            ) from None

    def _raise_failure(self, ended: Ended, request: Request) -> None:
        report = reported_failure(ended.stdout)
        if ended.status == 0 and report is None:
            return
        # The report is only searched, never shown: it may be the beginning of an answer.
        stderr = ended.stderr_tail.decode("utf-8", "replace")
        complaint = f"{stderr}\n{report or ''}"
        if _OUTDATED.search(stderr):
            raise self._outdated()
        if ended.status in self._tool.no_access or _NO_ACCESS.search(complaint):
            raise ModelAccessDenied(
                f"{self.name} has no access: start `{self._tool.program}` once and log in, or set "
                f"{self._tool.variables[0]}"
            )
        if _LIMITED.search(complaint):
            raise ModelRateLimited(f"{self.name} is limited for now")
        said = tail(
            stderr,
            secrets=[self._environment.get(name, "") for name in self._tool.variables],
            private=[request.prompt, request.system],
        )
        how = f"ended with status {ended.status}" if ended.status else "reports that it failed"
        raise ModelExited(f"{self.name} {how}" + (f": {said}" if said else ""), ended.status)

    def _read(self, ended: Ended) -> Answer:
        try:
            read = self._tool.read(ended.stdout)
        except ModelAnswerUnreadable as error:
            raise ModelAnswerUnreadable(f"{self.name}: {error}") from None
        if len(read.text.encode("utf-8", "replace")) > self._max_output_bytes:
            raise self._too_long()
        return read

    def _completion(self, answer: Answer, request: Request) -> Completion:
        tokens_in, tokens_out = answer.tokens_in, answer.tokens_out
        if tokens_in is None:
            tokens_in = estimate_tokens(request.system + request.prompt)
        if tokens_out is None:
            tokens_out = estimate_tokens(answer.text)
        model = answer.model or self.name
        return Completion(answer.text, tokens_in, tokens_out, answer.cost_usd, model)

    def _outdated(self) -> ModelAccessDenied:
        return ModelAccessDenied(
            f"{self.name} does not know an option that keeps it to the question: update "
            f"`{self._tool.program}` ({self._tool.title})"
        )

    def _too_long(self) -> ModelOutputTooLong:
        return ModelOutputTooLong(
            f"{self.name} wrote more than {self._max_output_bytes} bytes "
            "(consolidation.max_output_bytes) and was ended"
        )
