"""Noting what memory put before somebody, so that it is not learned again as new (evidence.py).

Every way in which an agent gets the text of a memory ends here: search, recall, a context, one
memory by its id, and a context that is made again or explained from its receipt.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Self
from uuid import UUID

from memory_butler.domain import sketch
from memory_butler.domain.facts import search_text
from memory_butler.domain.links import MemoryType
from memory_butler.store import served
from memory_butler.store.rows import Row
from memory_butler.store.transaction import Transaction

_GLOBAL = "global"


@dataclass(frozen=True, slots=True)
class Audience:
    """Who is asking in what session, as far as the caller says: what was served is kept by it.

    An answer to nobody in particular may be echoed by anybody.
    """

    operation: served.Operation
    butler: str | None = None
    session_id: UUID | None = None

    @classmethod
    def of_scope(
        cls, operation: served.Operation, scope: str | None, session_id: UUID | None
    ) -> Self:
        """The audience of a question; its scope is the butler that asks (SCP-01)."""
        return cls(operation, None if scope == _GLOBAL else scope, session_id)


async def note(
    tx: Transaction,
    audience: Audience,
    memories: Sequence[tuple[MemoryType, Row]],
    now: datetime,
    text: str = "",
) -> None:
    """Keep that these memories were served, and `text` where they were shown in another form."""
    if not memories:
        return
    texts = [*text.splitlines()]
    for kind, row in memories:
        texts += _texts_of(kind, row)
    answer = served.Served(
        operation=audience.operation,
        butler=audience.butler,
        session_id=audience.session_id,
        item_ids=[row["id"] for _, row in memories],
        shingles=sorted(sketch.fingerprint(texts)),
    )
    await served.record(tx, answer, now)


def fingerprint(kind: MemoryType, found: Iterable[Row]) -> frozenset[int]:
    """The hashes by which these memories are known again in a text."""
    return frozenset(sketch.fingerprint(text for row in found for text in _texts_of(kind, row)))


def _texts_of(kind: MemoryType, row: Row) -> list[str]:
    content: str = row["content"]
    # A fact's value is quoted by itself as well, and may be too short to be known by the whole.
    return (
        [search_text(row["subject"], row["predicate"], content), content]
        if kind == "fact"
        else [content]
    )
