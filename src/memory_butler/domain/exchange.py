"""How two installations agree on what either changed: pure, and the same on both sides.

What a fact says never changes; one id with other words is another fact. What changes of it is one
state, which the latest change decides; of two at the same time, or of one that the other led to,
the higher rank. So the order in which installations meet does not matter, nor how often (a join
semilattice). Of several facts that hold one key, the one that wins is the greatest of a total
order.

A rule keeps its id when it is edited: it has a text beside its state, the greatest of a total order
too. A text that gives way to one that did not know of it is kept, as a rule that is switched off.
"""

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal
from uuid import UUID

from memory_butler.domain.errors import PermissionDenied
from memory_butler.domain.facts import Validity
from memory_butler.domain.restatement import same_words
from memory_butler.domain.text import MASK
from memory_butler.domain.trust import Trust, outranks

# A mark in metadata: what an exchange has to know of a fact or rule that no column has.
MARK: Final = "exchange"
# Of two states since the same moment the later one here holds: the first leads to the others.
_RANKS: Final[tuple[Validity, ...]] = ("active", "expired", "waiting", "superseded", "retracted")
# A clock that is further ahead than this would decide every conflict.
MOST_AHEAD_SECONDS: Final = 60.0

# Scopes of facts and rules, sorted; None: all.
Scopes = tuple[str, ...] | None


def common(one: Scopes, other: Scopes) -> Scopes:
    """What both allow.

    Raises:
        PermissionDenied: nothing.
    """
    if one is None or other is None:
        return other if one is None else one
    both = tuple(scope for scope in one if scope in other)
    if not both:
        raise PermissionDenied(
            f"these scopes are exchanged: {', '.join(other)}; not {', '.join(one)}"
        )
    return both


@dataclass(frozen=True, slots=True)
class State:
    """What can change of a fact; `since`: when it became so, wherever that was.

    A rule is `waiting` where somebody switched it off, `expired` where the sweep forgot it, and
    `retracted` where somebody did; `superseded` it never is.
    """

    validity: Validity
    since: datetime
    valid_until: datetime | None = None
    confirmed: datetime | None = None


@dataclass(frozen=True, slots=True)
class RuleText:
    """What a rule says, on whose word, and since when; `warning`: it was turned around (MAT-12)."""

    content: str
    scope: str
    tags: tuple[str, ...]
    warning: bool
    trust: Trust
    since: datetime

    @property
    def says(self) -> tuple[str, str, tuple[str, ...], bool]:
        """What makes two texts the same."""
        return self.content, self.scope, self.tags, self.warning

    @property
    def is_masked(self) -> bool:
        """Whether something in it was masked."""
        return any(MASK in one for one in (self.content, *self.tags))

    @property
    def words(self) -> str:
        """A digest by which installations know a text that they had (`rule_words` in SQL)."""
        return hashlib.sha256(f"{self.content}{chr(31)}{self.scope}".encode()).hexdigest()


def went_with(emptied: datetime | None, made: datetime) -> bool:
    """Whether what was made then went when the tenant was erased; None: that never happened."""
    return emptied is not None and made <= emptied


def text_is_later(theirs: RuleText, mine: RuleText) -> bool:
    """Whether the other side's text of a rule takes the place of this one (C-210, C-427).

    What either side masked of one text is its own decision.
    """
    if theirs.says == mine.says or outranks(mine.trust, theirs.trust):
        return False
    if theirs.since == mine.since and theirs.is_masked != mine.is_masked:
        return False
    if outranks(theirs.trust, mine.trust):
        return True
    return (theirs.since, theirs.says) > (mine.since, mine.says)


def is_kept_beside(mine: RuleText, theirs: RuleText, former: Collection[str]) -> bool:
    """Whether a text that gives way is kept: the other one was written without knowing of it.

    `former`: the digests of what the other one replaced there. A warning comes of marks, and can
    come of them again.
    """
    known = mine.words in former or mine.words == theirs.words
    return not (known or mine.warning)


@dataclass(frozen=True, slots=True)
class Claim:
    """A fact that is active, or is to be."""

    id: UUID
    content: str
    trust: Trust
    since: datetime
    ancestors: frozenset[UUID] = frozenset()


# What becomes of the one that does not hold the key: it was replaced, or it is shown as a conflict.
Loss = Literal["superseded", "waiting"]


def is_newer(theirs: State, mine: State) -> bool:
    """Whether the other side's state takes the place of this one.

    Decay is each side's own clockwork, not a change that anybody made: a fact has expired where
    nobody has confirmed it later elsewhere.
    """
    if (theirs.validity, theirs.valid_until) == (mine.validity, mine.valid_until):
        return False
    if {theirs.validity, mine.validity} == {"active", "expired"}:
        later = _moment(theirs.confirmed) - _moment(mine.confirmed)
        return later >= 0 if theirs.validity == "expired" else later > 0
    return _order(theirs) > _order(mine)


def loser(holder: Claim, comer: Claim) -> tuple[UUID, Loss]:
    """Which of two facts of one key does not hold it, and what becomes of it.

    What followed from the other replaces it. Of two that were said without knowing of each other
    the later one holds, and the other waits beside it, unless both say the same. What is trusted
    less never replaces what is trusted more (C-210).
    """
    if outranks(holder.trust, comer.trust):
        return comer.id, _beside(comer, holder)
    if outranks(comer.trust, holder.trust):
        return holder.id, _beside(holder, comer)
    if holder.id in comer.ancestors:
        return holder.id, "superseded"
    if comer.id in holder.ancestors:
        return comer.id, "superseded"
    lost, won = sorted((holder, comer), key=lambda one: (one.since, one.id))
    return lost.id, _beside(lost, won)


def _beside(lost: Claim, won: Claim) -> Loss:
    replaced = lost.id in won.ancestors or same_words(lost.content, won.content)
    return "superseded" if replaced else "waiting"


def _order(state: State) -> tuple[datetime, int, float]:
    return state.since, _RANKS.index(state.validity), _moment(state.valid_until)


def _moment(moment: datetime | None) -> float:
    return 0.0 if moment is None else moment.timestamp()


def mark_of(metadata: Mapping[str, Any]) -> dict[str, Any] | None:
    """What an exchange noted of a fact; None: nothing, or somebody stored something else there."""
    mark = metadata.get(MARK)
    if not isinstance(mark, dict):
        return None
    try:
        moments = [mark["at"], mark["since"], mark.get("made", mark["at"])]
        zoned = [datetime.fromisoformat(one).tzinfo is not None for one in moments]
    except (KeyError, TypeError, ValueError):
        return None
    return mark if all(zoned) else None


def changed_since(
    known_since: datetime, created_at: datetime, mark: Mapping[str, Any] | None
) -> datetime:
    """When a fact became what it is, by the clock of where that happened.

    Args:
        known_since: since when this installation has it in its present state.
        mark: what an exchange noted of it, if one ever changed it.
    """
    if mark is None:
        return known_since
    at, since = datetime.fromisoformat(mark["at"]), datetime.fromisoformat(mark["since"])
    # Changed here after the exchange: later than what it changed, whatever the clocks say.
    return since if at == known_since else max(known_since, since)
