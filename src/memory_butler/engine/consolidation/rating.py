"""How much a model's word counts on how much a fact matters, and for how long it holds (C-574).

A model that calls nearly everything important and permanent says nothing by it: what matters would
drown in what does not, and nothing would ever fade.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from memory_butler.domain.facts import DEFAULT_IMPORTANCE
from memory_butler.domain.permanence import DEFAULT_PERMANENCE, Permanence, decay_rate_of
from memory_butler.engine.recall import matters_most
from memory_butler.store import consolidation
from memory_butler.store.facts import NewFact
from memory_butler.store.transaction import Transaction

OVERRATED: Final = "overrated"  # in metadata: of what the model's rating does not count

# Of so many of the latest facts that were learned, and of no fewer than that.
_LATEST: Final = 50
_FEWEST: Final = 20
# From this share on a rating says nothing. A careful reader calls one fact of nine important.
_MOST: Final = 0.6
# The highest that does not bring a fact into every context (C-120).
_ORDINARY: Final = 7.0
_LASTING: Final[Permanence] = "stable"
_NEVER_FADE: Final = ("permanent",)
_LAST_LONG: Final = ("permanent", "stable")


@dataclass(frozen=True, slots=True)
class Ratings:
    """Which ratings of the model say nothing."""

    important: bool = False
    permanent: bool = False

    @classmethod
    async def of(cls, tx: Transaction, stated: Sequence[NewFact]) -> "Ratings":
        """By the latest facts that were learned, and those that are stated now."""
        known, important, permanent = await consolidation.latest_ratings(tx, _LATEST)
        known += len(stated)
        important += sum(matters_most(one.importance) for one in stated)
        permanent += sum(one.permanence in _NEVER_FADE for one in stated)
        enough = known >= _FEWEST
        return cls(enough and important >= _MOST * known, enough and permanent >= _MOST * known)

    def weighed(self, new: NewFact) -> NewFact:
        """The fact with no higher ratings than the model's word is worth."""
        overrated = []
        if self.important and matters_most(new.importance):
            new = replace(new, importance=_ORDINARY)
            overrated.append("importance")
        if self.permanent and new.permanence in _NEVER_FADE:
            new = _lasting(new, _LASTING)
            overrated.append("permanence")
        return _marked(new, overrated)


def unproven(new: NewFact) -> NewFact:
    """A fact that the episodes hardly bear out, which matters and lasts no more than any."""
    if new.permanence in _LAST_LONG:
        new = _lasting(new, DEFAULT_PERMANENCE)
    return replace(new, importance=min(new.importance, DEFAULT_IMPORTANCE))


def _lasting(new: NewFact, permanence: Permanence) -> NewFact:
    return replace(new, permanence=permanence, decay_rate=decay_rate_of(permanence))


def _marked(new: NewFact, overrated: Sequence[str]) -> NewFact:
    """The fact, which has what its former has where that is more (C-519)."""
    if not overrated:
        return new
    metadata = {**new.metadata, OVERRATED: list(overrated)}
    return replace(new, metadata=metadata, unstated=new.unstated | frozenset(overrated))
