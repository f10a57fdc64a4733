"""What is searched of a memory, and the registry of the models that made the vectors."""

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self

import asyncpg

from memory_butler.store.queries import load
from memory_butler.store.transaction import untenanted

SQL = load("embeddings")

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vector = npt.NDArray[np.float32]
else:  # commands that embed nothing do not wait for numpy
    Vector = Any


@dataclass(frozen=True, slots=True)
class Embedded:
    """The searchable side of a memory: a vector of shape (384,), and the text for the tsvector.

    Without a vector it is found by its words alone, until somebody embeds it (engine/reembed.py).
    """

    vector: Vector | None
    search_text: str
    version_id: int | None

    @classmethod
    def later(cls, search_text: str) -> Self:
        """What is to be embedded after it is stored."""
        return cls(None, search_text, None)


async def register(
    pool: asyncpg.Pool, model_name: str, version: str, dimensions: int, now: datetime
) -> int:
    """Record the model in use, and return the id that its vectors carry (EMV-01, C-75).

    Runs once at start, outside any write transaction: one row that every writer touched would be
    one row that every writer waits for.
    """
    async with untenanted(pool) as connection:
        there: int | None = await connection.fetchval(SQL["current"], model_name, version)
        if there is not None:
            return there
        id: int = await connection.fetchval(SQL["register"], model_name, version, dimensions, now)
    return id


async def used(pool: asyncpg.Pool, version_id: int, now: datetime) -> None:
    """Note that the model is still in use; the caller does so at most once a minute."""
    async with untenanted(pool) as connection:
        await connection.execute(SQL["used"], version_id, now)


async def known(pool: asyncpg.Pool) -> list[dict[str, Any]]:
    """Every model that made vectors of this store, the newest first."""
    async with untenanted(pool) as connection:
        return [dict(row) for row in await connection.fetch(SQL["known"])]
