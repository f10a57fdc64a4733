"""What goes on in the background of a conversation, and never in its way: embedding what was said.

A thread of its own does it, some seconds after the conversation began, so that a short one pays
nothing. What it has not done by the end the next conversation does, or a server.
"""

import threading
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

import structlog

from memory_butler.domain.errors import MemoryButlerError
from memory_butler.surfaces.cli.journal.opened import embedder

if TYPE_CHECKING:
    from memory_butler.companions.opening import Companion
    from memory_butler.config import Settings

log = structlog.get_logger()

_SETTLING_SECONDS: Final = 3.0
_LOOK_SECONDS: Final = 10.0


class Tending:
    """The background of a conversation while the block lasts; at its end a batch is finished."""

    def __init__(self, companion: "Companion", settings: "Settings") -> None:
        self._companion = companion
        self._settings = settings
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="tending", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        wait = _SETTLING_SECONDS
        while not self._stopped.wait(wait):
            wait = _LOOK_SECONDS
            try:
                self._embed()
            except MemoryButlerError as error:
                log.info("messages wait to be embedded", code=error.code)

    def _embed(self) -> None:
        from memory_butler.journal.meaning import embed_new

        companion = self._companion
        embed_new(companion.file, companion.policy, embedder(self._settings), self._stopped.is_set)
