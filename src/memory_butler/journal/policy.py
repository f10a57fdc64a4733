"""What of a journal can be tuned, with the defaults that the requirements give."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from types import MappingProxyType
from typing import Final

from memory_butler.domain.errors import InvalidInput
from memory_butler.journal.items import MemoryType

TokenCounter = Callable[[str], int]

CHARS_PER_TOKEN: Final = 4  # C-103


def count_tokens(text: str) -> int:
    """An estimate that needs no model: a token is four characters, rounded up (C-103)."""
    return -(-len(text) // CHARS_PER_TOKEN)


@dataclass(frozen=True, slots=True)
class HalfLife:
    """After this many hours, and again after this many turns, an item counts half."""

    hours: float
    turns: float

    def __post_init__(self) -> None:
        if not all(math.isfinite(one) and one > 0 for one in (self.hours, self.turns)):
            raise InvalidInput(
                f"a half-life must be positive, not {self.hours} h / {self.turns} turns"
            )


# JDEC-01..04, JDEC-06. Plans and secrets do not decay (JDEC-05, JDEC-07), so they have none.
HALF_LIVES: Final[Mapping[MemoryType, HalfLife]] = MappingProxyType(
    {
        "feeling": HalfLife(hours=2, turns=3),
        "thought": HalfLife(hours=12, turns=8),
        "pattern": HalfLife(hours=7 * 24, turns=60),
        "desc": HalfLife(hours=72, turns=40),
        "pin": HalfLife(hours=14 * 24, turns=100),
    }
)


@dataclass(frozen=True, slots=True)
class Budget:
    """Hard caps in tokens (JTOK-02..04); `wake` is a yardstick only (JTOK-01, C-102)."""

    wake: int = 2000
    lingering: int = 1500
    recalled: int = 1000
    user: int = 1500
    say: int = 1500
    do: int = 1000
    flex: int = 1000
    # What a model makes of a picture varies; this only keeps the total honest.
    image: int = 1500

    def __post_init__(self) -> None:
        if min(self.lingering, self.recalled, self.recent, self.image, self.wake) < 0 or (
            min(self.user, self.say, self.do, self.flex) < 0
        ):
            raise InvalidInput("a token budget must be 0 or more")

    @property
    def recent(self) -> int:
        """The cap on the conversation: all pools and the reserve (JTOK-03)."""
        return self.user + self.say + self.do + self.flex


@dataclass(frozen=True, slots=True)
class JournalPolicy:
    """Who speaks, how fast things fade, how much fits.

    `assistant_actors` and `user_actors` are the names of either side, the default first; any other
    name counts as a user's (C-103). `zone` is where the user lives: due dates, calendar days and
    the time in the prompt are local to it. `languages` are those of due dates, as codes such as
    "en"; none lets the date library guess, which is slower and finds more that is no date. `names`
    is how an actor is called where the conversation is told; the log has the actor.
    """

    assistant_actors: tuple[str, ...] = ("assistant",)
    user_actors: tuple[str, ...] = ("user",)
    names: Mapping[str, str] = field(default_factory=dict)
    zone: tzinfo = UTC
    languages: tuple[str, ...] = ("en",)
    half_lives: Mapping[MemoryType, HalfLife] = field(default_factory=lambda: HALF_LIVES)
    # C-90: the prompt leaves an item out before the sweep takes it, so that maintenance can see
    # what has just gone out of view.
    hide_at: float = 0.01
    sweep_below: float = 0.005
    # C-161: so much alike a command and its item must be, and so much more than the next.
    match_threshold: float = 0.55
    match_margin: float = 0.1
    # C-92
    resurface_hours: float = 48.0
    creation_spike_hours: float = 0.0
    submerged_score: float = 0.0
    # For the label of a plan just past its time only; it is shown until it is resolved.
    grace_hours: float = 24.0
    budget: Budget = field(default_factory=Budget)
    count: TokenCounter = count_tokens
    untagged_reply_is_say: bool = False  # C-105
    # How far back a stream of the conversation may reach, in messages. The pools hold some two
    # hundred of usual length; the limit is for a stream that is never used, and so never full.
    recent_events: int = 500

    def __post_init__(self) -> None:
        if not self.assistant_actors or not self.user_actors:
            raise InvalidInput("a journal needs at least one assistant actor and one user actor")
        names = [*self.assistant_actors, *self.user_actors]
        if len({name.casefold() for name in names}) < len(names) or not all(names):
            raise InvalidInput(f"actors must have different names, which {names} do not")
        if set(self.half_lives) != set(HALF_LIVES):
            raise InvalidInput(f"half_lives must name {', '.join(HALF_LIVES)}, and no other type")
        if not 0.0 < self.sweep_below <= self.hide_at < 1.0:
            raise InvalidInput("thresholds must satisfy 0 < sweep_below <= hide_at < 1")
        shares = (self.match_threshold, self.match_margin, self.submerged_score)
        if not all(0.0 <= one <= 1.0 for one in shares):
            raise InvalidInput(
                "match_threshold, match_margin and submerged_score must lie between 0 and 1"
            )
        if min(self.resurface_hours, self.creation_spike_hours, self.grace_hours) < 0:
            raise InvalidInput("hours must be 0 or more")
        if self.recent_events < 1:
            raise InvalidInput("recent_events must be 1 or more")

    def called(self, actor: str | None) -> str:
        """The name of an actor, as a prompt and a conversation tell it; nobody is the user."""
        actor = actor or self.user_actors[0]
        return self.names.get(actor, actor)

    @property
    def turn_horizon(self) -> int:
        """So many turns take any decaying item below the sweep, whatever the hours say.

        Nobody needs to count further, so the log is never read further back.
        """
        longest = max((one.turns for one in self.half_lives.values()), default=0.0)
        return math.ceil(longest * -math.log2(self.sweep_below)) + 1
