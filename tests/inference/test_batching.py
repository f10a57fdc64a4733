"""The asynchronous front: micro-batches, fairness, cancellation, errors. The model is real."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Sequence

import numpy as np
import pytest

from memory_butler.domain.errors import ConfigurationError, Unavailable
from memory_butler.inference.batching import (
    BATCH_SIZE,
    MAX_CACHED_CHARACTERS,
    SINGLES_IN_A_ROW,
    SLICE_CHARACTERS,
    BatchingEmbedder,
)
from memory_butler.inference.embedder import Vectors
from memory_butler.inference.minilm import EmbeddingEngine

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class WatchedEngine(EmbeddingEngine):
    """The real engine, which notes its calls, can be held, and fails on texts with "poison"."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[list[str | None]] = []
        self.threads: set[str] = set()
        self.gate = threading.Event()
        self.gate.set()
        self.error: Exception = ValueError("poisoned")

    def embed_arrays(self, texts: Sequence[str | None]) -> Vectors:
        self.calls.append(list(texts))
        self.threads.add(threading.current_thread().name)
        assert self.gate.wait(timeout=30)
        if any(text is not None and "poison" in text for text in texts):
            raise self.error
        return super().embed_arrays(texts)


@pytest.fixture(scope="module")
def loaded() -> WatchedEngine:
    engine = WatchedEngine()
    engine.embed("load the model")
    return engine


@pytest.fixture
def engine(loaded: WatchedEngine) -> WatchedEngine:
    loaded.calls.clear()
    loaded.threads.clear()
    loaded.gate.set()
    loaded.error = ValueError("poisoned")
    return loaded


@pytest.fixture
async def batching(engine: WatchedEngine) -> AsyncIterator[BatchingEmbedder]:
    front = BatchingEmbedder(engine, query_cache=2)
    yield front
    engine.gate.set()
    await front.aclose()


async def until_called(engine: WatchedEngine, calls: int = 1) -> None:
    async with asyncio.timeout(10):
        while len(engine.calls) < calls:  # noqa: ASYNC110 (the engine is in another thread)
            await asyncio.sleep(0.001)


async def test_dates_are_embedded_in_words(engine: WatchedEngine) -> None:
    front = BatchingEmbedder(engine)
    try:
        await front.embed("due on 2026-12-01")
        await front.embed_many([None, "2026-11-30"])
    finally:
        await front.aclose()
    assert engine.calls == [["due on 1 December 2026"], [None, "30 November 2026"]]


async def test_concurrent_requests_share_calls(
    batching: BatchingEmbedder, engine: WatchedEngine
) -> None:
    texts = [f"thought {number} of {number % 5} people" for number in range(64)]
    together = await asyncio.gather(*(batching.embed(text) for text in texts))
    calls = len(engine.calls)
    assert calls <= 64 // BATCH_SIZE + 1
    assert max(map(len, engine.calls)) <= BATCH_SIZE
    for text, vector in zip(texts, together, strict=True):
        assert vector.shape == (384,)
        assert float(vector @ engine.embed_arrays([text])[0]) > 0.99999


async def test_who_arrives_during_a_batch_is_in_the_next(
    batching: BatchingEmbedder, engine: WatchedEngine
) -> None:
    engine.gate.clear()
    first = asyncio.create_task(batching.embed("first"))
    await until_called(engine)
    later = [asyncio.create_task(batching.embed(f"later {number}")) for number in range(5)]
    await asyncio.sleep(0)
    engine.gate.set()
    await asyncio.gather(first, *later)
    assert [len(call) for call in engine.calls] == [1, 5]


async def test_an_idle_embedder_starts_at_once(
    batching: BatchingEmbedder, engine: WatchedEngine
) -> None:
    await batching.embed("alone")
    await batching.embed("alone again")
    assert [len(call) for call in engine.calls] == [1, 1]


async def test_the_event_loop_stays_free(batching: BatchingEmbedder, engine: WatchedEngine) -> None:
    engine.gate.clear()
    task = asyncio.create_task(batching.embed("held"))
    await until_called(engine)  # this loop could not turn if the engine ran on it
    assert not task.done()
    engine.gate.set()
    await task
    assert all(name.startswith("embedder") for name in engine.threads)


@pytest.mark.requirement("EMB-03", "EMB-04")
async def test_empty_things(batching: BatchingEmbedder, engine: WatchedEngine) -> None:
    assert (await batching.embed_many([])).shape == (0, 384)
    assert engine.calls == []
    space = engine.embed_arrays([" "])[0]
    assert np.allclose(await batching.embed(None), space, atol=1e-6)
    assert np.allclose(await batching.embed_query(""), space, atol=1e-6)
    assert np.allclose((await batching.embed_many(["", None]))[1], space, atol=1e-6)


async def test_a_bulk_job_keeps_its_order(
    batching: BatchingEmbedder, engine: WatchedEngine
) -> None:
    texts = ["tea " * (number * 13 % 37) for number in range(45)]
    vectors = await batching.embed_many(texts)
    assert max(map(len, engine.calls)) <= BATCH_SIZE
    expected = engine.embed_arrays(texts)
    assert float((vectors * expected).sum(axis=1).min()) > 0.99999


async def test_a_bulk_job_does_not_hold_up_a_single(
    batching: BatchingEmbedder, engine: WatchedEngine
) -> None:
    bulk = asyncio.create_task(
        batching.embed_many([f"imported note {number}" for number in range(3_000)])
    )
    await until_called(engine, 3)
    before = len(engine.calls)
    start = time.perf_counter()
    await batching.embed("a person waits for this")
    waited = time.perf_counter() - start
    # At most the slice that was running and the one that starts before this task is resumed.
    position = next(
        number for number, call in enumerate(engine.calls) if call == ["a person waits for this"]
    )
    assert position - before <= 1
    assert not bulk.done()
    assert waited < 1.0  # the whole of the bulk takes many seconds
    bulk.cancel()


async def test_slices_of_long_texts_are_shorter(
    batching: BatchingEmbedder, engine: WatchedEngine
) -> None:
    texts = ["short"] * 9 + ["x" * SLICE_CHARACTERS * 2] * 2
    vectors = await batching.embed_many(texts)
    assert [len(call) for call in engine.calls] == [BATCH_SIZE, 1, 1, 1]
    assert np.isfinite(vectors).all()


async def test_two_bulk_jobs_take_turns(batching: BatchingEmbedder, engine: WatchedEngine) -> None:
    engine.gate.clear()
    large = asyncio.create_task(batching.embed_many(["large"] * BATCH_SIZE * 20))
    await until_called(engine)
    small = asyncio.create_task(batching.embed_many(["small"] * BATCH_SIZE))
    await asyncio.sleep(0)
    engine.gate.set()
    await small
    assert not large.done()
    assert [call[0] for call in engine.calls].index("small") <= 2
    await large


async def test_endless_singles_leave_a_bulk_job_its_share(
    batching: BatchingEmbedder, engine: WatchedEngine
) -> None:
    engine.gate.clear()
    tasks = [asyncio.create_task(batching.embed("first"))]
    await until_called(engine)
    bulk = asyncio.create_task(batching.embed_many(["bulk"]))
    singles = BATCH_SIZE * (SINGLES_IN_A_ROW + 3)
    tasks += [asyncio.create_task(batching.embed("single")) for _ in range(singles)]
    await asyncio.sleep(0)
    engine.gate.set()
    await asyncio.gather(bulk, *tasks)
    assert engine.calls.index(["bulk"]) == SINGLES_IN_A_ROW


async def test_a_cancelled_caller_disturbs_no_other(
    batching: BatchingEmbedder, engine: WatchedEngine
) -> None:
    engine.gate.clear()
    running = [asyncio.create_task(batching.embed(f"running {number}")) for number in range(3)]
    await until_called(engine)
    queued = [asyncio.create_task(batching.embed(f"queued {number}")) for number in range(3)]
    bulk = asyncio.create_task(batching.embed_many(["bulk"] * 100))
    await asyncio.sleep(0)
    for task in (running[1], queued[1], bulk):
        task.cancel()
    await asyncio.sleep(0)
    engine.gate.set()
    results = await asyncio.gather(*running, *queued, bulk, return_exceptions=True)
    cancelled = [isinstance(result, asyncio.CancelledError) for result in results]
    assert cancelled == [False, True, False, False, True, False, True]
    assert engine.calls[1:] == [["queued 0", "queued 2"]]  # no work for those who left


async def test_an_error_reaches_only_its_cause(
    batching: BatchingEmbedder, engine: WatchedEngine
) -> None:
    results = await asyncio.gather(
        batching.embed("good"),
        batching.embed("poison"),
        batching.embed("good too"),
        batching.embed_many(["bulk"] * 10),
        batching.embed_many(["bulk"] * 10 + ["poison"]),
        return_exceptions=True,
    )
    failed = [isinstance(result, ValueError) for result in results]
    assert failed == [False, True, False, False, True]
    assert (await batching.embed("still alive")).shape == (384,)


async def test_a_model_that_cannot_load_fails_all_at_once(
    batching: BatchingEmbedder, engine: WatchedEngine
) -> None:
    engine.error = ConfigurationError("no model")
    results = await asyncio.gather(
        batching.embed("poison"), batching.embed("good"), return_exceptions=True
    )
    assert all(isinstance(result, ConfigurationError) for result in results)
    assert len(engine.calls) == 1


async def test_queries_are_remembered(batching: BatchingEmbedder, engine: WatchedEngine) -> None:
    first = await batching.embed_query("where are my keys?")
    assert await batching.embed_query("where are my keys?") is first
    assert len(engine.calls) == 1
    with pytest.raises(ValueError, match="read-only"):
        first[0] = 0
    # Room for two: the one used longest ago goes.
    await batching.embed_query("second")
    await batching.embed_query("where are my keys?")
    await batching.embed_query("third")
    assert len(engine.calls) == 3
    await batching.embed_query("where are my keys?")
    assert len(engine.calls) == 3
    await batching.embed_query("second")
    assert len(engine.calls) == 4


async def test_a_question_in_two_wordings_lies_between_them(
    batching: BatchingEmbedder, engine: WatchedEngine
) -> None:
    one, other = await batching.embed("my keys"), await batching.embed("the user's keys")
    both = await batching.embed_query("my keys", also="the user's keys")
    assert np.allclose(both, (one + other) / np.linalg.norm(one + other), atol=1e-6)
    assert len(engine.calls) == 3, "both wordings take one call"
    assert not np.allclose(await batching.embed_query("my keys"), both)
    assert await batching.embed_query("my keys", also="the user's keys") is both


async def test_nobody_learns_by_time_what_another_tenant_has_asked(
    batching: BatchingEmbedder, engine: WatchedEngine
) -> None:
    await batching.embed_query("is there a merger?", "acme")
    await batching.embed_query("is there a merger?", "zoo")
    assert len(engine.calls) == 2
    await batching.embed_query("is there a merger?", "zoo")
    assert len(engine.calls) == 2


async def test_long_queries_are_not_remembered(
    batching: BatchingEmbedder, engine: WatchedEngine
) -> None:
    for _ in range(2):
        await batching.embed_query("x" * (MAX_CACHED_CHARACTERS + 1))
    assert len(engine.calls) == 2


async def test_the_cache_can_be_turned_off(engine: WatchedEngine) -> None:
    front = BatchingEmbedder(engine, query_cache=0)
    await front.embed_query("again")
    await front.embed_query("again")
    assert len(engine.calls) == 2
    await front.aclose()


async def test_closing_fails_those_who_wait_and_later_calls(engine: WatchedEngine) -> None:
    front = BatchingEmbedder(engine)
    engine.gate.clear()
    running = asyncio.create_task(front.embed("running"))
    await until_called(engine)
    queued = asyncio.create_task(front.embed("queued"))
    bulk = asyncio.create_task(front.embed_many(["bulk"] * 20))
    await asyncio.sleep(0)
    closing = asyncio.create_task(front.aclose())
    await asyncio.sleep(0)
    engine.gate.set()
    await closing
    results = await asyncio.gather(running, queued, bulk, return_exceptions=True)
    assert isinstance(results[0], np.ndarray)
    assert isinstance(results[1], Unavailable)
    assert isinstance(results[2], Unavailable)
    with pytest.raises(Unavailable):
        await front.embed("too late")
    await front.aclose()
