"""Weighing what a model stated against the episodes that it names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np

from memory_butler.domain.evidence import Evidence, lexical_support, stems, without_echo
from memory_butler.store.consolidation import Claimed
from memory_butler.store.embeddings import Vector


@dataclass(frozen=True, slots=True)
class Witnesses:
    """The episodes of a run: the words that each says of its own accord, and its vector."""

    stems: Mapping[UUID, frozenset[str]]
    vectors: Mapping[UUID, Vector]

    @classmethod
    def of(
        cls,
        episodes: Sequence[Claimed],
        vectors: Mapping[UUID, Vector],
        served: frozenset[int],
    ) -> "Witnesses":
        """Episodes without what memory had served into their sessions.

        The vector of an episode that held an echo speaks for the echo too, so it is not heard.
        """
        texts = {one.id: without_echo(one.content, served) for one in episodes}
        heard = {
            one.id: vectors[one.id]
            for one in episodes
            if one.id in vectors and texts[one.id] == one.content
        }
        return cls({id: stems(text) for id, text in texts.items()}, heard)

    def weigh(self, statement: str, vector: Vector, sources: Sequence[UUID]) -> Evidence:
        """How well the named episodes bear the statement out."""
        said = [self.stems[id] for id in sources if id in self.stems]
        nearness = [float(np.dot(vector, self.vectors[id])) for id in sources if id in self.vectors]
        return Evidence(
            lexical=lexical_support(statement, said),
            semantic=max(0.0, max(nearness, default=0.0)),
        )
