"""Weighing what a model stated against the episodes that it names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np
import numpy.typing as npt

from memory_butler.domain.evidence import (
    REWORDED,
    Evidence,
    is_quoted,
    is_reworded,
    lexical_support,
    parted,
    stems,
)
from memory_butler.domain.likeness import Statement
from memory_butler.domain.trust import Trust
from memory_butler.store.consolidation import Claimed
from memory_butler.store.embeddings import Vector
from memory_butler.store.rows import Row


@dataclass(frozen=True, slots=True)
class Rewording:
    """What was served that a statement seems to say in other words; `nearness` is their cosine."""

    of: UUID
    nearness: float
    trust: Trust


@dataclass(frozen=True, slots=True)
class Told:
    """A memory that was served and can be reworded."""

    id: UUID
    said: Statement
    trust: Trust


@dataclass(frozen=True, slots=True)
class Witnesses:
    """The episodes of a run: the words that each says of its own accord, and its vector.

    `echoes` are the words of the sentences that memory had served, of the episodes that have such;
    `served` is what was served that can be reworded, with its vectors as the rows of one matrix.
    """

    stems: Mapping[UUID, frozenset[str]]
    vectors: Mapping[UUID, Vector]
    echoes: Mapping[UUID, frozenset[str]]
    served: Sequence[Told]
    served_vectors: npt.NDArray[np.float32]

    @classmethod
    def of(
        cls,
        episodes: Sequence[Claimed],
        vectors: Mapping[UUID, Vector],
        shingles: frozenset[int],
        served: Sequence[Row],
    ) -> "Witnesses":
        """Episodes without what memory had served into their sessions.

        The vector of an episode that held an echo speaks for the echo too, so it is not heard.
        """
        texts = {one.id: parted(one.content, shingles) for one in episodes}
        return cls(
            {id: stems(own) for id, (own, _) in texts.items()},
            {id: vectors[id] for id, (_, echo) in texts.items() if id in vectors and not echo},
            {id: stems(echo) for id, (_, echo) in texts.items() if echo},
            [
                Told(
                    row["id"],
                    Statement(row["subject"], row["predicate"], row["content"]),
                    Trust(row["trust"]),
                )
                for row in served
            ],
            np.array([row["embedding"].to_numpy() for row in served], dtype=np.float32),
        )

    def weigh(self, statement: str, vector: Vector, sources: Sequence[UUID]) -> Evidence:
        """How well the named episodes bear the statement out."""
        said = [self.stems[id] for id in sources if id in self.stems]
        nearness = [float(np.dot(vector, self.vectors[id])) for id in sources if id in self.vectors]
        return Evidence(
            lexical=lexical_support(statement, said),
            semantic=max(0.0, max(nearness, default=0.0)),
        )

    def quoted(self, content: str, sources: Sequence[UUID]) -> bool:
        """Whether the named episodes have it from memory."""
        found = [self.echoes[id] for id in sources if id in self.echoes]
        return is_quoted(content, frozenset().union(*found))

    def reworded(self, stated: Statement, vector: Vector) -> Rewording | None:
        """The nearest of what was served that the statement seems to say in other words."""
        if not self.served:
            return None
        nearness = self.served_vectors @ vector
        for place in np.argsort(-nearness, kind="stable"):
            near = float(nearness[place])
            if near < REWORDED:
                break
            told = self.served[place]
            if is_reworded(told.said, stated, near):
                return Rewording(told.id, near, told.trust)
        return None
