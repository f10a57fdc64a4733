"""The port for rerankers, and the server's way to one: off the event loop, one search at a time.

A reranker reads a question and a memory together and says how well they fit. That tells more than
two vectors made apart, and takes some milliseconds for each memory: so it reads only the best ones
that a search has found.
"""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from memory_butler.domain.errors import Unavailable
from memory_butler.telemetry.tracing import span


class Reranker(Protocol):
    """Scores texts for a question. Called from one thread at a time."""

    @property
    def name(self) -> str:
        """The model's name, as people see it."""

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return one finite number a text, in order; the higher, the better it fits."""


class BackgroundReranker:
    """Asynchronous reranking over one model and one worker thread.

    `candidates` is how many memories it reads of a search. Searches take turns. After `aclose`
    every call raises Unavailable.
    """

    def __init__(self, model: Reranker, candidates: int) -> None:
        self.candidates = candidates
        self._model = model
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="reranker")
        self._closed = False

    @property
    def name(self) -> str:
        return self._model.name

    async def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return one finite number a text, in order; the higher, the better it fits."""
        if self._closed:
            raise Unavailable("The reranker is closed: the server is shutting down.")
        with span("rerank", texts=len(texts)):
            return await asyncio.get_running_loop().run_in_executor(
                self._thread, self._model.scores, question, texts
            )

    async def aclose(self) -> None:
        """Let what is being read be the last, and free the thread."""
        self._closed = True
        await asyncio.to_thread(self._thread.shutdown, cancel_futures=True)
