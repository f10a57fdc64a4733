"""What every use case needs, in one value: the pool, the embedder, the policies, the clock."""

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

import asyncpg

from memory_butler.config import MemoryModuleConfig
from memory_butler.domain.errors import Conflict
from memory_butler.domain.standpoint import Standpoint, standpoint
from memory_butler.engine import inputs
from memory_butler.engine.audit_keys import AuditKeys
from memory_butler.inference import languages
from memory_butler.inference.batching import BatchingEmbedder
from memory_butler.store.embeddings import Embedded
from memory_butler.store.transaction import Transaction, reading
from memory_butler.vault.keyring import KeySource, no_keys

if TYPE_CHECKING:
    from memory_butler.inference.language_models.port import LanguageModel
    from memory_butler.inference.reranker import BackgroundReranker
    from memory_butler.store.replica import Replica

# What goes on whatever the wall clock is set to, and while a machine sleeps, where that can be had.
_STEADY: Final = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
_STARTED: Final = (time.time(), time.clock_gettime(_STEADY))
_MOST_DRIFT: Final = timedelta(days=1)


def utc_now() -> datetime:
    """The wall clock, aware and in UTC (C-31)."""
    return datetime.now(UTC)


def process_began() -> datetime:
    """When this process began, by the wall clock as it was set then."""
    return datetime.fromtimestamp(_STARTED[0], UTC)


@dataclass(frozen=True, slots=True)
class Memory:
    """An open memory. Use cases are functions on it; each opens its own tenant transaction (C-108).

    `pool` is of the runtime role, so that row-level security holds; `embedding_version_id` is the
    registry's id of the embedder's model. `language_model` works in consolidation only; None means
    that nothing is consolidated. `reranker` reads the best of a deep search; None is the usual
    case. `data_dir` is where files of this installation lie, `admin_dsn` a login to the embedded
    database that may do anything; None for a server of somebody else's. `replica` is a standby that
    answers what is only read. `audit`: the keys by which events are sealed; None: they are not.
    `keys`: those by which journals are encrypted. `spoken` is what `spoken.py` remembers of
    each tenant's languages, and until when.

    A memory `at` a moment of the past is for reading only; `present` is the one that it is of.
    """

    pool: asyncpg.Pool
    embedder: BatchingEmbedder
    embedding_version_id: int
    config: MemoryModuleConfig
    clock: Callable[[], datetime] = utc_now
    language_model: "LanguageModel | None" = None
    reranker: "BackgroundReranker | None" = None
    data_dir: Path | None = None
    admin_dsn: str | None = field(default=None, repr=False)
    standpoint: Standpoint | None = None
    replica: "Replica | None" = None
    audit: AuditKeys | None = None
    keys: KeySource = field(default=no_keys, repr=False)
    spoken: dict[str, tuple[languages.Spoken, float]] = field(default_factory=dict, repr=False)
    _present: "Memory | None" = None

    @property
    def present(self) -> "Memory":
        """This memory as it is now."""
        return self if self._present is None else self._present

    def at(self, known_at: datetime | None, as_of: datetime | None = None) -> "Memory":
        """This memory as it was known and true at these moments; its clock stands at the first.

        Raises:
            InvalidInput: a moment without a time zone, or knowledge of the future.
        """
        where = standpoint(
            None if known_at is None else inputs.moment("known_at", known_at),
            None if as_of is None else inputs.moment("as_of", as_of),
            self.clock(),
        )
        if where is None:
            return self
        return replace(self, clock=lambda: where.known_at, standpoint=where, _present=self)

    def reading(
        self, tenant: str, *, on_primary: bool = False
    ) -> AbstractAsyncContextManager[Transaction]:
        """A transaction that reads what a tenant's memory holds, from this memory's standpoint.

        `on_primary`: never on a standby, for what a change will rest on, and for what takes long.
        """
        if self.replica is None or on_primary:
            return reading(self.pool, tenant, self.standpoint)
        return self.replica.reading(tenant, self.standpoint)

    def refuse_after_jump(self) -> None:
        """Refuse to delete by a clock that was set by more than a day since this process began.

        What is deleted for its age is gone for good, and a clock that is set wrong makes all of it
        old. Whoever starts the process anew says that the clock is right.

        Raises:
            Conflict: it was.
        """
        if self.clock is not utc_now:
            return  # one that is set on purpose
        wall, steady = time.time() - _STARTED[0], time.clock_gettime(_STEADY) - _STARTED[1]
        drift = timedelta(seconds=wall - steady)
        if abs(drift) > _MOST_DRIFT:
            raise Conflict(
                f"the clock was set by {drift.days} days since this server started: nothing is "
                "deleted or expires; see that it is right, then start the server again"
            )

    async def embedded(self, text: str, tags: Sequence[str] = ()) -> Embedded:
        """The searchable side of a memory: its text as a vector, and with its tags as words."""
        vector = await self.embedder.embed(text)
        words = await languages.of_memory(text, tags)
        return Embedded(vector, words, self.embedding_version_id)
