"""A process that consolidates, and that can be stopped dead at a step of it.

Its clock is some hours ahead. At its step it says so and stands still until it is killed; without
one it runs to the end and says `done` with its report. Its model states one fact an episode.
"""

import asyncio
import json
import re
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import numpy as np

from memory_butler.config import MemoryModuleConfig
from memory_butler.domain.principals import Principal
from memory_butler.engine.consolidation import claims, execute, run
from memory_butler.engine.memory import Memory
from memory_butler.inference.batching import BatchingEmbedder
from memory_butler.inference.embedder import Vectors
from memory_butler.inference.language_models.port import Completion, Request
from memory_butler.store import consolidation, embeddings
from memory_butler.store.transaction import open_pool

# In the order in which a run comes to them.
STEPS: Final = (
    "before claim",
    "after claim",
    "during the model call",
    "inside the transaction",
    "before commit",
    "after commit",
)
_EPISODE = re.compile(r"^(E\d+) \(.*\):\n<episode_content>\n(.*)\n</episode_content>", re.MULTILINE)


class OneVector:
    """Every text means the same: the real model takes seconds to load, and is not at stake."""

    dimensions = 384
    model_name = "one-vector"
    model_version = "1"

    def embed_arrays(self, texts: Sequence[str | None]) -> Vectors:
        return np.full((len(texts), 384), 384**-0.5, np.float32)


class OneFactEach:
    """States one fact an episode, whose subject is the episode's text."""

    name = "one fact each"

    async def complete(self, request: Request) -> Completion:
        await asyncio.sleep(0.02)  # as long as another process needs to get in between
        stated = [
            {
                "subject": text,
                "predicate": "told",
                "content": text,
                "source_episode_ids": [handle],
            }
            for handle, text in _EPISODE.findall(request.prompt)
        ]
        text = json.dumps({"new_facts": stated})
        return Completion(text, 10, 5, None, self.name)


def stand_still(step: str) -> None:
    """Say where we are, and do nothing more."""
    print(f"at {step}", flush=True)
    time.sleep(600)


def arm(step: str) -> None:
    """Put the stop where the step is."""
    places: dict[str, tuple[Any, str, bool]] = {
        "before claim": (claims, "begin", False),
        "after claim": (claims, "begin", True),
        "during the model call": (OneFactEach, "complete", False),
        "inside the transaction": (execute, "insert", True),
        # The last statement of the transaction has run; what is missing is the commit.
        "before commit": (consolidation, "end_run", True),
        "after commit": (run, "conclude", True),
    }
    owner, name, afterwards = places[step]
    original = getattr(owner, name)

    async def stopping(*args: Any, **more: Any) -> Any:
        if not afterwards:
            stand_still(step)
        result = await original(*args, **more)
        stand_still(step)
        return result

    setattr(owner, name, stopping)


def work(dsn: str, hours: float, step: str | None = None) -> None:
    """Consolidate once; a process's whole work."""
    asyncio.run(_consolidate(dsn, hours, step))


async def _consolidate(dsn: str, hours: float, step: str | None) -> None:
    if step is not None:
        arm(step)
    ahead = timedelta(hours=hours)
    pool = await open_pool(dsn)
    embedder = BatchingEmbedder(OneVector())
    try:
        version = await embeddings.register(pool, "one-vector", "1", 384, datetime.now(UTC))
        memory = Memory(
            pool, embedder, version, MemoryModuleConfig(), lambda: datetime.now(UTC) + ahead
        )
        principal = Principal("default", "worker")
        report = await run.run_consolidation(memory, principal, OneFactEach())
        print("done", sum(one.episodes for one in report.groups), *report.errors, flush=True)
    finally:
        await embedder.aclose()
        await pool.close()
