"""The server's way to the embedder: off the event loop, and many requests in one call.

Requests that arrive while a batch is computed go together into the next. There is no artificial
wait: an idle embedder starts at once. One text (a query, a fact) goes before the slices of a bulk
job, so that an import of thousands does not make anybody wait longer than one slice.
"""

import asyncio
import re
import time
from collections import OrderedDict, deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from memory_butler.domain.errors import ConfigurationError, Unavailable
from memory_butler.domain.wording import spelled_dates
from memory_butler.inference.embedder import Embedder, Vectors
from memory_butler.telemetry import counting
from memory_butler.telemetry.tracing import span

# As many as the model takes at once: more would only make the first of them wait for the last.
BATCH_SIZE: Final = 8
# A slice of a bulk job also ends here, about 450 tokens of English or 0.1 s: a single text that
# comes now waits no longer than that. Long texts gain nothing from company anyway.
SLICE_CHARACTERS: Final = 2_000
# After so many batches of single texts in a row a waiting bulk job gets one slice: singles come
# first, but even an endless stream of them leaves an import a ninth of the time.
SINGLES_IN_A_ROW: Final = 8

# Words and signs tell better than characters how many tokens a text has: of real turns, sorted by
# them, 4 % of what is computed is padding, sorted by characters 9 %. So many characters fill any
# model that we know; what follows is not counted.
_PIECES: Final = re.compile(r"\w+|[^\w\s]")
_COUNTED_CHARACTERS: Final = 4_000

DEFAULT_QUERY_CACHE: Final = 1024
# Longer texts are not cached: they are documents, which seldom repeat, and would fill the memory.
MAX_CACHED_CHARACTERS: Final = 2_000


class _Job:
    """Texts of one caller, the vectors found so far, and the future on which the caller waits."""

    def __init__(self, texts: Sequence[str | None], dimensions: int) -> None:
        # Loaded with the model, not before: see `Vectors`.
        import numpy as np

        self.texts = texts
        self.vectors: Vectors = np.empty((len(texts), dimensions), np.float32)
        self.finished: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        # Neighbours in a slice should be of like length, because a batch is padded to its longest.
        pieces = [len(_PIECES.findall((text or "")[:_COUNTED_CHARACTERS])) for text in texts]
        self._order = sorted(range(len(texts)), key=pieces.__getitem__)
        self._taken = 0
        self._filled = 0

    @property
    def all_taken(self) -> bool:
        return self._taken == len(self.texts)

    @property
    def waiting(self) -> int:
        return 0 if self.finished.done() else len(self.texts) - self._taken

    def take_slice(self) -> list[int]:
        """Hand out the next indices to compute, at least one."""
        start, characters = self._taken, 0
        while self._taken < min(start + BATCH_SIZE, len(self.texts)):
            characters += len(self.texts[self._order[self._taken]] or "")
            if self._taken > start and characters > SLICE_CHARACTERS:
                break
            self._taken += 1
        return self._order[start : self._taken]

    def fill(self, indices: list[int], vectors: Vectors) -> None:
        self.vectors[indices] = vectors
        self._filled += len(indices)
        if self._filled == len(self.texts) and not self.finished.done():
            self.finished.set_result(None)

    def fail(self, error: BaseException) -> None:
        if not self.finished.done():
            self.finished.set_exception(error)


_Part = tuple[_Job, list[int]]


class BatchingEmbedder:
    """Asynchronous embedding over one engine and one worker thread.

    Belongs to the event loop that first uses it. Errors of the engine reach the caller whose text
    caused them; a caller that is cancelled disturbs no other. After `aclose` every call raises
    Unavailable.
    """

    def __init__(self, engine: Embedder, *, query_cache: int = DEFAULT_QUERY_CACHE) -> None:
        """`query_cache` is how many queries are remembered; 0 turns the cache off."""
        self.engine = engine
        self._singles: deque[_Job] = deque()
        self._bulk: deque[_Job] = deque()
        self._singles_in_a_row = 0
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="embedder")
        self._worker: asyncio.Task[None] | None = None
        self._closed = False
        # By whose it is, too: how fast an answer comes must not tell what others have asked.
        self._cache: OrderedDict[tuple[str, str, str | None], Vectors] = OrderedDict()
        self._cache_size = query_cache
        self.computed = 0  # texts that the engine has embedded so far

    @property
    def waiting(self) -> tuple[int, int]:
        """How many texts wait: single ones, and those of bulk jobs."""
        single, bulk = (sum(job.waiting for job in queue) for queue in (self._singles, self._bulk))
        return single, bulk

    def forget_queries(self) -> None:
        """Forget which queries were asked lately, in this process."""
        self._cache.clear()

    async def embed(self, text: str | None) -> Vectors:
        """Return the unit vector of one text, float32 (384,)."""
        vectors = await self._run([text], self._singles)
        vector: Vectors = vectors[0]
        return vector

    async def embed_query(
        self, text: str | None, of: str = "", *, also: str | None = None
    ) -> Vectors:
        """Like `embed`, remembering recent queries of each tenant (`of`) by themselves.

        With `also`, the same question in other words, it is the unit vector between the two. The
        array is shared: it is read-only.
        """
        key = of, text or "", also
        known = self._cache.get(key)
        if known is not None:
            self._cache.move_to_end(key)
            return known
        if also is None:
            vector = await self.embed(text)
        else:
            vector = _between(await self._run([text, also], self._singles))
        vector.flags.writeable = False
        if self._cache_size > 0 and len(key[1]) <= MAX_CACHED_CHARACTERS:
            self._cache[key] = vector
            self._cache.move_to_end(key)
            if len(self._cache) > self._cache_size:
                self._cache.popitem(last=False)
        return vector

    async def embed_many(self, texts: Sequence[str | None]) -> Vectors:
        """Return unit vectors, float32 (len(texts), 384), in the order of the texts."""
        return await self._run(list(texts), self._bulk)

    async def aclose(self) -> None:
        """Let the running batch end, fail what still waits with Unavailable, free the thread."""
        self._closed = True
        for queue in (self._singles, self._bulk):
            while queue:
                queue.popleft().fail(_closed_error())
        if self._worker is not None:
            await self._worker
        # Nothing runs any more, so this does not block the loop.
        self._thread.shutdown(wait=True)

    async def _run(self, texts: Sequence[str | None], queue: deque[_Job]) -> Vectors:
        if self._closed:
            raise _closed_error()
        # A model knows what "11 December" means, and little of "12-11".
        job = _Job([text and spelled_dates(text) for text in texts], self.engine.dimensions)
        if texts:
            queue.append(job)
            if self._worker is None or self._worker.done():
                self._worker = asyncio.create_task(self._work(), name="embedder")
            with span("embed", texts=len(texts)):
                await job.finished
        return job.vectors

    async def _work(self) -> None:
        """Compute batch after batch until nobody waits."""
        while batch := self._next_batch():
            await self._compute(batch)

    def _next_batch(self) -> list[_Part]:
        """Take up to BATCH_SIZE single texts, or else one slice of the next bulk job in turn."""
        _drop_finished(self._singles)
        _drop_finished(self._bulk)
        bulk_is_due = bool(self._bulk) and self._singles_in_a_row >= SINGLES_IN_A_ROW
        if self._singles and not bulk_is_due:
            self._singles_in_a_row += 1
            count = min(BATCH_SIZE, len(self._singles))
            singles = [self._singles.popleft() for _ in range(count)]
            return [(job, job.take_slice()) for job in singles]
        self._singles_in_a_row = 0
        if not self._bulk:
            return []
        job = self._bulk.popleft()
        part = (job, job.take_slice())
        if not job.all_taken:
            self._bulk.append(job)
        return [part]

    async def _compute(self, batch: list[_Part]) -> None:
        texts = [job.texts[index] for job, indices in batch for index in indices]
        loop = asyncio.get_running_loop()
        try:
            began = time.perf_counter()
            vectors = await loop.run_in_executor(self._thread, self.engine.embed_arrays, texts)
            counting.counters.embedded(len(texts), time.perf_counter() - began)
            self.computed += len(texts)
            start = 0
            for job, indices in batch:
                job.fill(indices, vectors[start : start + len(indices)])
                start += len(indices)
        except Exception as error:
            await self._fail(batch, error)

    async def _fail(self, batch: list[_Part], error: Exception) -> None:
        """Give the error to its cause: of several callers, each is tried alone."""
        # A model that cannot be loaded fails for everybody alike.
        if len(batch) == 1 or isinstance(error, ConfigurationError):
            for job, _ in batch:
                job.fail(error)
            return
        for part in batch:
            await self._compute([part])


def _between(vectors: Vectors) -> Vectors:
    """The unit vector, float32 (384,), in the middle of these, (n, 384)."""
    import numpy as np

    mean: Vectors = vectors.mean(axis=0)
    return mean / np.linalg.norm(mean)


def _drop_finished(queue: deque[_Job]) -> None:
    """Forget jobs whose caller went away or was given an error."""
    if any(job.finished.done() for job in queue):
        waiting = [job for job in queue if not job.finished.done()]
        queue.clear()
        queue.extend(waiting)


def _closed_error() -> Unavailable:
    return Unavailable("The embedder is closed: the server is shutting down.")
