"""What every use case needs, in one value: the pool, the embedder, the policies, the clock."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import asyncpg

from memory_butler.config import MemoryModuleConfig
from memory_butler.inference.batching import BatchingEmbedder
from memory_butler.inference.language_models.port import LanguageModel
from memory_butler.store.embeddings import Embedded


def utc_now() -> datetime:
    """The wall clock, aware and in UTC (C-31)."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Memory:
    """An open memory. Use cases are functions on it; each opens its own tenant transaction (C-108).

    `pool` is of the runtime role, so that row-level security holds; `embedding_version_id` is the
    registry's id of the embedder's model. `language_model` works in consolidation only; None means
    that nothing is consolidated. `data_dir` is where files of this installation lie.
    """

    pool: asyncpg.Pool
    embedder: BatchingEmbedder
    embedding_version_id: int
    config: MemoryModuleConfig
    clock: Callable[[], datetime] = utc_now
    language_model: LanguageModel | None = None
    data_dir: Path | None = None

    async def embedded(self, text: str, search_text: str) -> Embedded:
        """The searchable side of a new memory: `text` as a vector, `search_text` for words."""
        vector = await self.embedder.embed(text)
        return Embedded(vector, search_text, self.embedding_version_id)
