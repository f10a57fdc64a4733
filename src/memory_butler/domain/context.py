"""The block of memories that goes into a prompt, within a budget (CTX-01..07, ORD-01..03)."""

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, Literal, TypeVar, assert_never
from uuid import UUID

from memory_butler.domain.elapsed import elapsed
from memory_butler.domain.errors import InvalidInput
from memory_butler.domain.likeness import adds_nothing
from memory_butler.domain.permanence import Permanence
from memory_butler.domain.quotas import Quotas
from memory_butler.domain.rules import Maturity
from memory_butler.domain.scoring import order_key
from memory_butler.domain.statements import Statement
from memory_butler.domain.text import one_line, without_tag
from memory_butler.domain.trust import DEFAULT_TRUST, SOURCES, Trust, outranks

CHARS_PER_TOKEN: Final = 4  # CTX-05

# standard: subject, predicate and confidence in every line (CTX-01..03). annotated: the content
# with how sure and how old in brackets (CTX-04).
ContextLayout = Literal["standard", "annotated"]

# What Claude Code and Gemini CLI put the answer of a hook into.
_ELEMENTS: Final = (("system", "reminder"), ("hook", "context"))

_HOUR = timedelta(hours=1)
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class InBlock:
    """What the block shows of any memory."""

    id: UUID
    content: str
    created_at: datetime
    score: float
    trust: Trust = DEFAULT_TRUST


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextFact(InBlock):
    """A fact as the block shows it; `confidence` is the effective one (C-46).

    `outdated`: another fact that was found with it contradicts it, and comes before it.
    """

    subject: str
    predicate: str
    confidence: float
    permanence: Permanence
    last_confirmed_at: datetime | None
    outdated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRule(InBlock):
    """A rule as the block shows it; `harmful`: how often it did harm, where the sweep turns it."""

    maturity: Maturity
    scope: str
    effectiveness: float
    harmful: int = 0


@dataclass(frozen=True, slots=True)
class ContextEpisode(InBlock):
    """An episode as the block shows it."""


Shown = TypeVar("Shown", ContextFact, ContextRule, ContextEpisode)


@dataclass(frozen=True, slots=True)
class AssembledContext:
    """The block, the ids of its lines from top to bottom, and of what found no room, best first."""

    text: str
    included: tuple[UUID, ...]
    left_out: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class _Titles:
    header: str
    facts: str
    rules: str
    episodes: str


_STANDARD = _Titles(
    header="# Memory Context\n",
    facts="\n## Key Facts\n",
    rules="\n## Active Rules\n",
    episodes="\n## Recent Context\n",
)
_ANNOTATED = _Titles(
    header="## Your Memory\n",
    facts="\n### What You Know (Facts)\n",
    rules="\n### How To Behave (Rules)\n",
    episodes="\n### Recent Context (Episodes)\n",
)


@dataclass(frozen=True, slots=True)
class BlockLine:
    """A line of a block."""

    id: UUID
    text: str


@dataclass(slots=True)
class _Section:
    """One section while it is filled: the first `taken` of its lines, `used` characters long."""

    title: str
    share: float
    lines: Sequence[BlockLine]
    taken: int = field(default=0)
    used: int = field(default=0)

    def fill(self, room: int) -> None:
        """Take lines in order while the whole section stays within `room` characters.

        The first line that does not fit ends it: a smaller one further down must not overtake a
        better one (C-47). The title is paid for by the first line, so none stands alone.
        """
        while self.taken < len(self.lines):
            cost = len(self.lines[self.taken].text) + (0 if self.taken else len(self.title))
            if self.used + cost > room:
                return
            self.used += cost
            self.taken += 1

    def text(self) -> str:
        if not self.taken:
            return ""
        return self.title + "".join(line.text for line in self.lines[: self.taken])


@dataclass(frozen=True, slots=True)
class Lines:
    """A line for each memory, by section and best first, before a budget leaves any out.

    A section has its title, its share of the budget, and its lines.
    """

    header: str
    sections: Sequence[tuple[str, float, Sequence[BlockLine]]]

    def of(self, ids: Collection[UUID]) -> "Lines":
        """Those of these memories alone."""
        some = [
            (title, share, [line for line in lines if line.id in ids])
            for title, share, lines in self.sections
        ]
        return Lines(self.header, some)

    def within(self, token_budget: int) -> AssembledContext:
        """The block of at most `token_budget * 4` characters (CTX-05, C-47).

        A token counts as four characters, a character as one unit of a Python string's `len`: a
        code point, neither a byte nor what a reader would call a letter. The header stands alone
        where nothing else fits, and a budget too small for the header gives ''.
        """
        if token_budget < 0:
            raise InvalidInput(f"token_budget must be 0 or more, not {token_budget}")
        sections = [_Section(*one) for one in self.sections]
        room = token_budget * CHARS_PER_TOKEN - len(self.header)
        if room < 0:
            return AssembledContext("", (), _ids(line for one in sections for line in one.lines))
        _share_out(sections, room)
        return AssembledContext(
            text=self.header + "".join(section.text() for section in sections),
            included=_ids(line for one in sections for line in one.lines[: one.taken]),
            left_out=_ids(line for one in sections for line in one.lines[one.taken :]),
        )


def lines_of(
    facts: Iterable[ContextFact],
    rules: Iterable[ContextRule],
    episodes: Iterable[ContextEpisode] = (),
    *,
    quotas: Quotas,
    layout: ContextLayout = "standard",
    now: datetime,
) -> Lines:
    """The lines of these memories.

    Within a section the order is score DESC, created_at DESC, id ASC (ORD-01), whatever the order
    of the input. Every memory stays on one line. Stored text comes from conversations: with line
    ends it could forge a heading, or another memory, in a system prompt.
    """
    titles = _titles(layout)
    return Lines(
        titles.header,
        (
            (
                titles.facts,
                quotas.facts,
                [BlockLine(one.id, _fact_line(one, layout, now)) for one in _best_first(facts)],
            ),
            (
                titles.rules,
                quotas.rules,
                [BlockLine(one.id, _rule_line(one, layout)) for one in _best_first(rules)],
            ),
            (
                titles.episodes,
                quotas.episodes,
                [BlockLine(one.id, _episode_line(one, now)) for one in _best_first(episodes)],
            ),
        ),
    )


def assemble(
    facts: Iterable[ContextFact],
    rules: Iterable[ContextRule],
    episodes: Iterable[ContextEpisode] = (),
    *,
    token_budget: int,
    quotas: Quotas,
    layout: ContextLayout = "standard",
    now: datetime,
) -> AssembledContext:
    """The best memories as a block: `lines_of` them, `within` the budget."""
    lines = lines_of(facts, rules, episodes, quotas=quotas, layout=layout, now=now)
    return lines.within(token_budget)


def _ids(lines: Iterable[BlockLine]) -> tuple[UUID, ...]:
    return tuple(line.id for line in lines)


def _best_first(memories: Iterable[Shown]) -> list[Shown]:
    return sorted(memories, key=lambda one: order_key(one.score, one.created_at, one.id))


def repeated(
    ranked: Iterable[tuple[UUID, Collection[UUID], Statement, Trust]],
) -> dict[UUID, UUID]:
    """Which memories only say again what better ones say, each with the one that says it.

    `ranked` has each memory, best first, with those that it was found to repeat. To be found alike
    is not enough: what has a word, a name or a number of its own is shown, and so is what outranks
    the one that repeats it.
    """
    told: list[tuple[UUID, Statement, Trust]] = []
    places: dict[UUID, int] = {}
    found_like: dict[UUID, set[int]] = defaultdict(set)  # where those are told that it is like
    repeats = {}
    for id, alike, stated, trust in ranked:
        near = found_like[id] | {places[one] for one in alike if one in places}
        said = next(
            (
                one
                for one, known, level in (told[place] for place in sorted(near))
                if not outranks(trust, level) and adds_nothing(known, stated)
            ),
            None,
        )
        if said is not None:
            repeats[id] = said
            continue
        places[id] = len(told)
        for one in alike:
            found_like[one].add(len(told))
        told.append((id, stated, trust))
    return repeats


@dataclass(frozen=True, slots=True)
class BlockChange:
    """From one block to another: the lines that left, and those that came in, top to bottom."""

    left: tuple[BlockLine, ...]
    came: tuple[BlockLine, ...]


def block_change(before: AssembledContext, after: AssembledContext) -> BlockChange:
    """What changed between two blocks. A line that only moved, or was put anew, did neither."""
    earlier, later = _lines(before), _lines(after)
    kept = {line.id for line in earlier} & {line.id for line in later}
    return BlockChange(
        left=tuple(line for line in earlier if line.id not in kept),
        came=tuple(line for line in later if line.id not in kept),
    )


def _lines(block: AssembledContext) -> list[BlockLine]:
    # Each memory has one line of its own, in the order of `included`; nothing else begins so.
    lines = [line for line in block.text.split("\n") if line.startswith("- ")]
    return [BlockLine(id, text) for id, text in zip(block.included, lines, strict=True)]


def _share_out(sections: Sequence[_Section], room: int) -> None:
    """First to each section its own share, then what is left, in the order of the sections."""
    for section in sections:
        section.fill(min(math.floor(room * section.share), room - _used(sections)))
    for section in sections:
        if section.share > 0.0:
            section.fill(section.used + room - _used(sections))


def _used(sections: Sequence[_Section]) -> int:
    return sum(section.used for section in sections)


def _titles(layout: ContextLayout) -> _Titles:
    match layout:
        case "standard":
            return _STANDARD
        case "annotated":
            return _ANNOTATED
        case _:
            assert_never(layout)


def _fact_line(fact: ContextFact, layout: ContextLayout, now: datetime) -> str:
    content = _within(fact.content)
    if layout == "annotated":
        if fact.last_confirmed_at is None:
            confirmed = "never confirmed"
        else:
            confirmed = f"confirmed {elapsed(fact.last_confirmed_at, now) // _DAY}d ago"
        return f"- {content} [{fact.permanence}, {confirmed}{_doubt(fact)}]\n"
    subject, predicate = _within(fact.subject), _within(fact.predicate)
    sure = f"confidence: {fact.confidence:.2f}{_doubt(fact)}"
    return f"- [{subject}] [{predicate}]: {content} ({sure})\n"


def _doubt(fact: ContextFact) -> str:
    return f"{_source(fact.trust)}{', perhaps outdated' if fact.outdated else ''}"


def _rule_line(rule: ContextRule, layout: ContextLayout) -> str:
    content = _within(rule.content)
    if layout == "annotated":
        known = f"{rule.maturity}, {_within(rule.scope)}"
        return f"- {content} [{known}{_harm(rule)}{_source(rule.trust)}]\n"
    earned = f"maturity: {rule.maturity}, effectiveness: {rule.effectiveness:.2f}"
    return f"- {content} ({earned}{_harm(rule)}{_source(rule.trust)})\n"


def _harm(rule: ContextRule) -> str:
    """That it did harm: an effectiveness of 0 is that of a rule which nobody has tried, too."""
    return f", did harm {rule.harmful} times" if rule.harmful else ""


def _episode_line(episode: ContextEpisode, now: datetime) -> str:
    told = f"- [{_ago(episode.created_at, now)}] {_within(episode.content)}"
    source = SOURCES.get(episode.trust)
    return f"{told}\n" if source is None else f"{told} ({source})\n"


def _source(trust: Trust) -> str:
    source = SOURCES.get(trust)
    return "" if source is None else f", {source}"


def _ago(moment: datetime, now: datetime) -> str:
    age = elapsed(moment, now)
    if age < _HOUR:
        return f"{age // timedelta(minutes=1)}m ago"
    if age < _DAY:
        return f"{age // _HOUR}h ago"
    return f"{age // _DAY}d ago"


def _within(text: str) -> str:
    """A stored text on one line, which cannot leave the element that a program puts the block into.

    Behind its end a text would speak as the user, to the model and to whoever reads the transcript.
    """
    line = one_line(text)
    for words in _ELEMENTS:
        line = without_tag(line, *words)
    return line
