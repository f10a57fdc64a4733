"""How much a model's word counts on how much a fact matters, and for how long it holds (C-574).

A model that calls nearly everything important and permanent says nothing by it: what matters would
drown in what does not, and nothing would ever fade. That it does so has to be its habit: a family
tells all its allergies in one evening, a clinic all its letters in one day (C-535).
"""

from dataclasses import dataclass, replace
from typing import Final

from memory_butler.domain.facts import DEFAULT_IMPORTANCE
from memory_butler.domain.permanence import DEFAULT_PERMANENCE, Permanence, decay_rate_of
from memory_butler.domain.properties import is_vital
from memory_butler.domain.statements import Statement
from memory_butler.engine.recall import matters_most
from memory_butler.store import consolidation
from memory_butler.store.facts import NewFact
from memory_butler.store.transaction import Transaction

OVERRATED: Final = "overrated"  # in metadata: what the model said, which does not count

# Of so many of the latest facts that were learned, and on no fewer days than these.
_LATEST: Final = 50
_DAYS: Final = 7
# From this share on a rating says nothing. A careful reader calls one fact of nine important.
_MOST: Final = 0.75
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
    async def of(cls, tx: Transaction) -> "Ratings":
        """By the latest facts that were learned."""
        latest = await consolidation.latest_ratings(tx, _LATEST)
        enough = latest.facts >= _LATEST and latest.days >= _DAYS
        many = _MOST * latest.facts
        return cls(enough and latest.important >= many, enough and latest.permanent >= many)

    def weighed(self, new: NewFact) -> NewFact:
        """The fact with no higher ratings than the model's word is worth, but for what is vital.

        It has what its former has where that is more (C-519).
        """
        if _is_vital(new):
            return new
        overrated: dict[str, object] = {}
        if self.important and matters_most(new.importance):
            overrated["importance"] = new.importance
            new = replace(new, importance=_ORDINARY)
        if self.permanent and new.permanence in _NEVER_FADE:
            overrated["permanence"] = new.permanence
            new = _lasting(new, _LASTING)
        if not overrated:
            return new
        metadata = {**new.metadata, OVERRATED: overrated}
        return replace(new, metadata=metadata, unstated=new.unstated | frozenset(overrated))


def unproven(new: NewFact) -> NewFact:
    """A fact that the episodes hardly bear out, which matters and lasts no more than any.

    But for what is vital, where nobody denies or only supposes it: "no more of the pink pills".
    """
    if _is_vital(new) and "doubt" not in new.metadata:
        return new
    if new.permanence in _LAST_LONG:
        new = _lasting(new, DEFAULT_PERMANENCE)
    return replace(new, importance=min(new.importance, DEFAULT_IMPORTANCE))


def _is_vital(new: NewFact) -> bool:
    return is_vital(Statement(new.subject, new.predicate, new.content))


def _lasting(new: NewFact, permanence: Permanence) -> NewFact:
    return replace(new, permanence=permanence, decay_rate=decay_rate_of(permanence))
