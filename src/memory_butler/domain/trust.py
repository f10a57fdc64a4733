"""How far a memory is to be believed: by where its words came from, not by how often they are said.

The levels are ordered by who could have put the words there. A user speaks for themselves. An agent
draws its own conclusions, which may be wrong but which nobody else wrote. A tool's output is what a
program made of inputs that others may have chosen. What was imported another system collected, by
rules that nobody here knows. A page of the web is written by anybody, for whoever reads it.

What is derived is worth the least of what it was derived from (Biba, "Integrity considerations for
secure computer systems", 1977: the low-water mark). Nothing raises a memory's trust: confirming,
repeating, merging or using it do not. Who knows better says so in a memory of its own.
"""

from enum import IntEnum
from typing import Final, Literal, get_args

from memory_butler.domain.choices import choose

TrustName = Literal["user_said", "agent_inferred", "tool_output", "imported", "untrusted_web"]
TRUST_NAMES: Final[tuple[TrustName, ...]] = get_args(TrustName)


class Trust(IntEnum):
    """The levels; the number is what the database keeps, and what is larger is trusted more."""

    UNTRUSTED_WEB = 1
    IMPORTED = 2
    TOOL_OUTPUT = 3
    AGENT_INFERRED = 4
    USER_SAID = 5

    @property
    def label(self) -> TrustName:
        """The level as callers name it."""
        return choose(self.name.lower(), TRUST_NAMES, "trust")


# Of whatever an agent stores without saying more: it is the agent's own account (C-110).
DEFAULT_TRUST: Final = Trust.AGENT_INFERRED

# What neither the user nor an agent said is named as what it is: somebody else's claim (C-119).
SOURCES: Final = {
    Trust.TOOL_OUTPUT: "source: tool output",
    Trust.IMPORTED: "source: import",
    Trust.UNTRUSTED_WEB: "source: web page, unverified",
}


def parse_trust(value: str) -> Trust:
    """The level named `value`; `InvalidInput` lists the levels."""
    return Trust[choose(value, TRUST_NAMES, "trust").upper()]


def outranks(known: Trust, new: Trust) -> bool:
    """Whether a known fact stays as it is against a new one of its key (C-141).

    What a program, a file or a page said never supersedes what is trusted more: it is kept beside
    it, as a conflict. What an agent heard does: it is how memory keeps up with its user.
    """
    return not may_touch(new, known)


def may_touch(source: Trust, known: Trust) -> bool:
    """Whether what a run of consolidation read may confirm or replace a fact of this trust.

    What an agent itself observed may: it is how memory keeps up with the world. What a program, a
    file or a page said may only where the fact is not trusted more; otherwise a page could retire
    what the user said.
    """
    return source >= min(known, Trust.AGENT_INFERRED)
