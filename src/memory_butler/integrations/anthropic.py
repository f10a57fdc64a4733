"""Memory as the files of Anthropic's memory tool (`memory_20250818`).

client.beta.messages.tool_runner(..., tools=[MemoryTool(memory)])
"""

from abc import ABC, abstractmethod
from collections.abc import Coroutine
from typing import Any, Generic, TypeVar

from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError
from anthropic.types.beta import (
    BetaCacheControlEphemeralParam,
    BetaMemoryTool20250818CreateCommand,
    BetaMemoryTool20250818DeleteCommand,
    BetaMemoryTool20250818InsertCommand,
    BetaMemoryTool20250818RenameCommand,
    BetaMemoryTool20250818StrReplaceCommand,
    BetaMemoryTool20250818ViewCommand,
)

from memory_butler.client import MemoryClient, SyncMemoryClient
from memory_butler.domain.errors import Conflict, MemoryButlerError
from memory_butler.integrations.anthropic_files import Files, Steps

Answer = TypeVar("Answer")


class _Commands(ABC, Generic[Answer]):
    """The commands of the memory tool; an answer is a text, or awaited for one."""

    _files: Files

    @abstractmethod
    def _run(self, steps: Steps) -> Answer:
        """Ask what the steps ask, and end with their answer."""

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> Answer:
        """A file with line numbers, or the files below a folder."""
        return self._run(self._files.view(command))

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> Answer:
        """Create a file; one that is there stays."""
        return self._run(self._files.create(command))

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> Answer:
        """Replace a text that stands in the file once."""
        return self._run(self._files.str_replace(command))

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> Answer:
        """Insert text behind a line."""
        return self._run(self._files.insert(command))

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> Answer:
        """Forget a file, or all files below a folder, recoverably."""
        return self._run(self._files.delete(command))

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> Answer:
        """Rename or move a file, or a folder with all files below."""
        return self._run(self._files.rename(command))

    def clear_all_memory(self) -> Answer:
        """Forget all files, recoverably."""
        return self._run(self._files.clear())


class MemoryTool(_Commands[str], BetaAbstractMemoryTool):
    """The memory tool over a `SyncMemoryClient`: a file that the model writes is a fact.

    The facts are an agent's word, never the user's. Searches and recalls find them, each edit
    supersedes the last version and can be undone, and a tenant sees its own alone. Secrets are
    masked as the server is configured; what was masked stands in the answer to the model.

    Args:
        client: of a server.
        butler: whose files they are, which no other butler is shown. None: everybody's.
        cache_control: as the SDK has it.
    """

    def __init__(
        self,
        client: SyncMemoryClient,
        *,
        butler: str | None = None,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._client = client
        self._files = Files(butler)

    def _run(self, steps: Steps) -> str:
        try:
            asked = next(steps)
            while True:
                asked = steps.send(self._client.run(*asked))
        except StopIteration as end:
            return str(end.value)
        except MemoryButlerError as error:
            raise _told(error) from error


class AsyncMemoryTool(_Commands[Coroutine[Any, Any, str]], BetaAsyncAbstractMemoryTool):
    """The same as `MemoryTool`, over a `MemoryClient`: of a server, or of a memory in the process.

    Args:
        client: asked in the event loop that it was opened in.
        butler: whose files they are, which no other butler is shown. None: everybody's.
        cache_control: as the SDK has it.
    """

    def __init__(
        self,
        client: MemoryClient,
        *,
        butler: str | None = None,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._client = client
        self._files = Files(butler)

    async def _run(self, steps: Steps) -> str:
        try:
            asked = next(steps)
            while True:
                asked = steps.send(await self._client.run(*asked))
        except StopIteration as end:
            return str(end.value)
        except MemoryButlerError as error:
            raise _told(error) from error


def _told(error: MemoryButlerError) -> ToolError:
    if isinstance(error, Conflict):
        return ToolError("Error: the file was changed meanwhile; view it, and try again")
    return ToolError(f"Error: {error}")
