"""What goes on in the background of a conversation, and never in its way: embedding what was said,
and upkeep.

A thread of its own does it, some seconds after the conversation began, so that a short one pays
nothing. Upkeep at the end is told, and can be left for the next time with Ctrl-C.
"""

import asyncio
import threading
from typing import TYPE_CHECKING, Final, Self

from memory_butler.domain.errors import MemoryButlerError
from memory_butler.logs import get_logger
from memory_butler.surfaces.cli.counting import counted
from memory_butler.surfaces.cli.journal.opened import embedder
from memory_butler.surfaces.cli.journal.terminal import note

if TYPE_CHECKING:
    from memory_butler.companions.opening import Companion
    from memory_butler.config import Settings
    from memory_butler.inference.language_models.port import LanguageModel
    from memory_butler.journal.maintenance.run import Proposal

log = get_logger()

_SETTLING_SECONDS: Final = 3.0
_LOOK_SECONDS: Final = 10.0
_PATIENCE_SECONDS: Final = 1.0
_COMPILING: Final = "Compiling what was said; Ctrl-C leaves it for the next time."


class Tending:
    """The background of a conversation while the block lasts."""

    def __init__(
        self, companion: "Companion", settings: "Settings", model: "LanguageModel | None"
    ) -> None:
        self._companion = companion
        self._settings = settings
        self._model = model
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="tending", daemon=True)
        # The run that is under way in the thread.
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[object] | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def end(self) -> None:
        """The conversation is over: compile what was said, where that is worth a run."""
        if self._model is None:
            self._stop()
            return
        try:
            self._stopped.set()
            # A run that is as good as done is not worth a line.
            self._thread.join(_PATIENCE_SECONDS)
            if self._task is not None:
                note(_COMPILING)
            self._thread.join()
            if asyncio.run(self._upkeep(self._model, ended=True)):
                note("Done: `memory-butler journal runs` shows what it learned.")
        except KeyboardInterrupt:
            self._stop()
            note("Left for the next time.")
        except MemoryButlerError as error:
            note(f"Nothing was compiled: {error}")

    def _stop(self) -> None:
        """End the thread: a batch of embedding is finished, a run is cut off."""
        self._stopped.set()
        loop, task = self._loop, self._task
        if loop is not None and task is not None:
            loop.call_soon_threadsafe(task.cancel)
        self._thread.join()

    def _run(self) -> None:
        wait = _SETTLING_SECONDS
        while not self._stopped.wait(wait):
            wait = _LOOK_SECONDS
            try:
                self._embed()
                if self._model is not None and not self._stopped.is_set():
                    asyncio.run(self._upkeep(self._model, ended=False))
            except asyncio.CancelledError:
                return
            except MemoryButlerError as error:
                log.info("upkeep of a journal waits", code=error.code)

    def _embed(self) -> None:
        from memory_butler.journal.meaning import embed_new

        companion = self._companion
        embed_new(companion.file, companion.policy, embedder(self._settings), self._stopped.is_set)

    async def _upkeep(self, model: "LanguageModel", *, ended: bool) -> "Proposal | None":
        """Compile what was said, where a run is due; None where none is."""
        from memory_butler.companions.maintaining import due_by_itself, run_maintenance, upkeep

        config, companion = self._settings.memory.journal, self._companion
        now = companion.live.clock()
        state = upkeep(companion, config, now)
        kind = due_by_itself(state, now, ended=ended)
        if kind is None:
            return None
        if ended:
            note(f"{counted(state.unread, 'message')} to compile. {_COMPILING}")
        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        try:
            _, done = await run_maintenance(companion, model, config, kind, left=state.left)
        finally:
            self._task = self._loop = None
        return done
