"""Weighing what a model stated against the episodes that it names."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from memory_butler.domain.doubt import holds_until, only_denied, only_supposed
from memory_butler.domain.evidence import (
    REWORDED,
    Account,
    Evidence,
    account,
    borne_by_others,
    is_quoted,
    is_reworded,
    is_said,
    lexical_support,
    only_answered,
    only_brought,
    user_says,
    value_of,
)
from memory_butler.domain.restatement import same_words
from memory_butler.domain.statements import Statement
from memory_butler.domain.trust import Trust
from memory_butler.inference.embedder import Vectors
from memory_butler.store.consolidation import Claimed
from memory_butler.store.embeddings import Vector
from memory_butler.store.rows import Row

Doubt = Literal["denied", "supposed"]


@dataclass(frozen=True, slots=True)
class Rewording:
    """What was served that a statement seems to say in other words; `nearness` is their cosine."""

    of: UUID
    nearness: float
    trust: Trust


@dataclass(frozen=True, slots=True)
class Told:
    """A memory that can be repeated: `served` before, or known; `holds`: memory has it still."""

    id: UUID
    said: Statement
    trust: Trust
    holds: bool
    served: bool


@dataclass(frozen=True, slots=True)
class Witnesses:
    """The episodes of a run: who says what in each, and its vector.

    `vectors` leave out episodes with an echo: such a vector speaks for the echo too. `told` is
    what memory had to tell, with its vectors as the rows of one matrix.
    """

    accounts: Mapping[UUID, Account]
    vectors: Mapping[UUID, Vector]
    told: Sequence[Told]
    told_vectors: Vectors

    @classmethod
    def of(
        cls,
        episodes: Sequence[Claimed],
        vectors: Mapping[UUID, Vector],
        shingles: Mapping[UUID, frozenset[int]],
        memories: Sequence[Row],
        served: Collection[UUID],
        known: frozenset[int],
    ) -> "Witnesses":
        """What the episodes tell.

        `shingles` are of what memory had served before each of them, `known` of what it knows;
        `memories` are both, `served` those of them that were served.
        """
        import numpy as np  # loaded with the model, not before: see `Vectors`

        accounts = {
            one.id: account(one.content, shingles[one.id], one.speaker, one.trust, known)
            for one in episodes
        }
        return cls(
            accounts,
            {id: vectors[id] for id, one in accounts.items() if id in vectors and not one.echoes},
            [
                Told(
                    row["id"],
                    Statement(row["subject"], row["predicate"], row["content"]),
                    Trust(row["trust"]),
                    row["holds"],
                    row["id"] in served,
                )
                for row in memories
            ],
            np.array([row["embedding"].to_numpy() for row in memories], dtype=np.float32),
        )

    def weigh(self, statement: str, vector: Vector, sources: Sequence[UUID]) -> Evidence:
        """How well the named episodes bear the statement out."""
        said = [one.own for one in self._of(sources)]
        nearness = [float(vector @ self.vectors[id]) for id in sources if id in self.vectors]
        return Evidence(
            lexical=lexical_support(statement, said),
            semantic=max(0.0, max(nearness, default=0.0)),
        )

    def first_hand(self, stated: Statement, sources: Sequence[UUID]) -> bool:
        """Whether somebody says it who does not repeat memory: the user, a tool, an agent."""
        told = self._of(sources)
        if self.by_user(stated, sources):
            return True
        return any(one.labelled for one in told) and borne_by_others(told, stated)

    def by_user(self, stated: Statement, sources: Sequence[UUID]) -> bool:
        """Whether the user says it."""
        return any(user_says(one, stated) for one in self._of(sources))

    def only_answered(self, stated: Statement, sources: Sequence[UUID]) -> bool:
        """Whether the assistant says some of it in answer to a question, and nobody besides."""
        return only_answered(self._of(sources), stated)

    def doubt(self, stated: Statement, sources: Sequence[UUID]) -> Doubt | None:
        """Why what the named episodes have in just these words is not said to be so."""
        clauses = [clause for told in self._of(sources) for clause in told.clauses]
        if only_denied(clauses, stated):
            return "denied"
        return "supposed" if only_supposed(clauses, stated) else None

    def holds_until(
        self, content: str, sources: Sequence[UUID]
    ) -> Literal["ephemeral", "volatile"] | None:
        """For how long the user wants something done, where they say that it is for a time."""
        asserted = (one.text for told in self._of(sources) for one in told.assertions)
        return holds_until(asserted, content)

    def said(self, stated: Statement, sources: Sequence[UUID]) -> bool:
        """Whether the named episodes have the words for it."""
        return is_said(self._of(sources), stated)

    def only_brought(self, content: str, sources: Sequence[UUID]) -> bool:
        """Whether the named episodes have it from a tool, such as a page or a mail."""
        return only_brought(self._of(sources), content)

    def has_a_word(self, stated: Statement, sources: Sequence[UUID]) -> bool:
        """Whether the named episodes have a word of what is stated, whoever says it."""
        value = value_of(stated)
        return any(value & (one.own | one.echoes) for one in self._of(sources))

    def assertions(self, sources: Sequence[UUID]) -> list[str]:
        """What the user says in the named episodes, sentence by sentence, questions apart.

        Without what came before memory spoke: a request is near in meaning to its answer.
        """
        return [
            said.text
            for one in self._of(sources)
            for said in one.assertions
            if said.after_echo or not one.echoes
        ]

    def labelled(self, sources: Sequence[UUID]) -> bool:
        """Whether each of the named episodes tells its speakers apart."""
        return all(one.labelled for one in self._of(sources))

    def echoing(self, sources: Sequence[UUID]) -> bool:
        """Whether one of the named episodes repeats memory."""
        return any(one.echoes for one in self._of(sources))

    def quoted(self, content: str, sources: Sequence[UUID]) -> bool:
        """Whether the named episodes have it from memory."""
        return is_quoted(
            content, frozenset[str]().union(*(one.echoes for one in self._of(sources)))
        )

    def held(self, stated: Statement) -> bool:
        """Whether memory has just this, in these words, among what it served."""
        return any(one.holds and same_words(one.said.content, stated.content) for one in self.told)

    def reworded(
        self, stated: Statement, vector: Vector, sources: Sequence[UUID]
    ) -> Rewording | None:
        """The nearest of what memory told that the statement seems to say in other words.

        Who is known not to be the user may have it from anywhere; otherwise only what was served
        before counts: the user may well say what memory knows.
        """
        if not self.told:
            return None
        labelled = self.labelled(sources)
        nearness = self.told_vectors @ vector
        for place in (-nearness).argsort(kind="stable"):
            near = float(nearness[place])
            if near < REWORDED:
                break
            told = self.told[place]
            if told.holds and (told.served or labelled) and is_reworded(told.said, stated, near):
                return Rewording(told.id, near, told.trust)
        return None

    def _of(self, sources: Sequence[UUID]) -> list[Account]:
        return [self.accounts[id] for id in sources if id in self.accounts]
