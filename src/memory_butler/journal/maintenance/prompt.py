"""What the model is asked: the skill, what is known, and a portion of the log; bounded. Pure.

Secrets are left out, and so is thinking: fragments are read aloud sooner or later, and what was
never said must not come to light by them.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from memory_butler.domain.context import CHARS_PER_TOKEN
from memory_butler.domain.text import one_line, without_tag
from memory_butler.journal.fragments import ALIAS, Fragment, RunType, compose_ambient
from memory_butler.journal.items import Event
from memory_butler.journal.lifecycle import mentioned
from memory_butler.journal.policy import JournalPolicy
from memory_butler.journal.tags import Remember, read
from memory_butler.journal.wording import DAYS, remembered, shown_pieces

# What is left of a message that is too long, however small the room.
_MIN_MESSAGE_CHARS: Final = 400
_MAX_TIER_CHARS: Final = 4_000
_MAX_LINE_CHARS: Final = 300
# The task, the titles, and the line that says how much of the map was left out, in characters.
_HEADINGS: Final = 400
_CUT: Final = " […]"
_TAG: Final = ("journal", "message")

_TASKS: Final[Mapping[RunType, str]] = {
    "weekly": "This is a weekly run: compile what these messages add. Delete nothing.",
    "monthly": "This is a monthly run: compile what these messages add. Delete nothing yet.",
    "manual": "Somebody asked for this run: compile what these messages add.",
    "bootstrap": "This is the first compilation of this conversation: begin the map.",
}
_REVIEW: Final = (
    "There are no messages now: review the fragments below. Merge what is the same, shorten what "
    "is long, connect what belongs together, delete what is worthless. Change nothing that is well."
)


@dataclass(frozen=True, slots=True)
class Question:
    """What the model is given; `handles` are the names of the messages that it is shown.

    `read_to` is the last message that it covers, shown or not: some have nothing to show.
    `partly` are the keys of the fragments that it does not show with every tier; `unlisted` those
    among them whose line of the map it does not show, or not to its end.
    """

    system: str
    text: str
    handles: dict[str, int]
    read_to: int
    events: int
    review: bool = False
    partly: frozenset[str] = frozenset()
    unlisted: frozenset[str] = frozenset()

    @property
    def tokens(self) -> int:
        """An estimate of its size, at four characters a token."""
        return -(-(len(self.system) + len(self.text)) // CHARS_PER_TOKEN)


@cache
def skill() -> str:
    """The text of MAINTAIN.md without its front matter."""
    text = files("memory_butler.skills").joinpath("journal", "MAINTAIN.md").read_text("utf-8")
    return text.split("---\n", 2)[2].strip()


def ask(
    run_type: RunType,
    events: Sequence[Event],
    fragments: Mapping[str, Fragment],
    policy: JournalPolicy,
    max_tokens: int,
    asked_for: Collection[str] = (),
) -> Question:
    """The question on as many of the messages, the oldest first, as fit into `max_tokens`.

    At least one is always covered, cut if it must be, so that a run comes to an end. Fragments are
    shown whole where the messages mention them, or they are among `asked_for`.
    """
    room = max_tokens * CHARS_PER_TOKEN - len(skill()) - _HEADINGS
    told = [one for one in ((event, shown(event, policy)) for event in events) if one[1]]
    words = "\n".join(text for _, text in told)
    # What was asked for goes before messages: these are read in the next portion.
    share = max(room // 2, room - 2 * _MIN_MESSAGE_CHARS) if asked_for else room // 2
    wanted = dict.fromkeys([*sorted(asked_for), *_spoken_of(words, fragments)])
    known, partly, unlisted = _known(fragments, tuple(wanted), share)
    room -= len(known)
    handles: dict[str, int] = {}
    blocks: list[str] = []
    covered = 0
    texts = {event.id: text for event, text in told}
    for event in events:
        text = texts.get(event.id, "")
        if text:
            handle = f"M{len(handles) + 1}"
            block = _block(handle, event, policy, text, max(room, _MIN_MESSAGE_CHARS))
            if len(block) > room and handles:
                break
            handles[handle] = event.id
            blocks.append(block)
            room -= len(block) + 1
        covered += 1
    body = "\n".join([_TASKS[run_type], "", known, "## Messages", "", *(blocks or ["(none)"])])
    read_to = events[covered - 1].id
    return Question(skill(), body, handles, read_to, covered, partly=partly, unlisted=unlisted)


def review(
    fragments: Mapping[str, Fragment], keys: Sequence[str], policy: JournalPolicy, max_tokens: int
) -> tuple[Question, int]:
    """What a monthly run ends with: as many of the fragments with these keys, the first of them,
    as fit; and how many these are.

    At least one is always shown, so that a run comes to an end; whole, for it may be written anew.
    """
    room = max_tokens * CHARS_PER_TOKEN - len(skill()) - _HEADINGS
    lines: list[str] = []
    for key in keys:
        text = _in_full(fragments[key])
        if len(text) > room and lines:
            break
        lines.append(text)
        room -= len(text) + 1
    task = _REVIEW
    # It stands in every prompt; nobody else shortens it.
    taken = policy.count(compose_ambient(fragments.values()))
    if taken > policy.budget.wake:
        task += (
            f" The ambient lines of all {len(fragments)} fragments take {taken} tokens together, "
            f"and should take {policy.budget.wake} at most: shorten those below."
        )
    body = "\n".join([task, "", "## Fragments", "", *lines])
    partly = frozenset(fragments) - {*keys[: len(lines)]}
    question = Question(skill(), body, {}, 0, 0, review=True, partly=partly, unlisted=partly)
    return question, len(lines)


def shown(event: Event, policy: JournalPolicy) -> str:
    """What a message says and keeps in mind, a line each; no secrets, no thinking."""
    reading = read(event.content, (*policy.assistant_actors, *policy.user_actors))
    lines = [
        f"({one.kind}) {one.text}" if one.kind != "plain" else one.text
        for one in shown_pieces(event.actor, reading.pieces, event.tags, policy)
    ]
    for change in reading.changes:
        if change.type == "secret":
            continue
        if isinstance(change, Remember):
            lines.append(f"({change.type}) {remembered(change)}")
        else:
            lines.append(f"({change.type} {change.verb}) {change.text}")
    return "\n".join(lines)


def _spoken_of(words: str, fragments: Mapping[str, Fragment]) -> Iterator[str]:
    """The fragments that the messages mention; of another name of one, that one, too."""
    for key in mentioned(words, fragments):
        yield key
        for target, relation in fragments[key].edges:
            if relation == ALIAS:
                yield target


def _known(
    fragments: Mapping[str, Fragment], wanted: Sequence[str], room: int
) -> tuple[str, frozenset[str], frozenset[str]]:
    """The map, a line a fragment, and whole those that are wanted, in that order, as far as there
    is room; the keys of what is not shown whole, and of what has no line, or one that is cut."""
    lines = ["## Fragments", ""]
    whole: set[str] = set()
    listed: set[str] = set()
    place = {key: number for number, key in enumerate(wanted)}
    for one in sorted(
        fragments.values(), key=lambda one: (place.get(one.key, len(place)), one.key)
    ):
        short, full = _in_short(one), _in_full(one)
        text = full if one.key in wanted and len(full) <= room else short
        room -= len(text) + 1
        if room < 0:
            lines.append(f"(and {len(fragments) - len(lines) + 2} more)")
            break
        lines.append(text)
        if text == full:
            whole.add(one.key)
        if text == full or text == _line(one):
            listed.add(one.key)
    known = "\n".join([*(lines if fragments else [*lines, "(none)"]), ""])
    return known, frozenset(fragments) - whole, frozenset(fragments) - listed


def _line(one: Fragment) -> str:
    return f"- [{_safe(one.key)}] {_safe(one.ambient or '')}"


def _in_short(one: Fragment) -> str:
    return _line(one)[:_MAX_LINE_CHARS]


def _in_full(one: Fragment) -> str:
    lines = [_line(one)]
    for name, tier in (("recognition", one.recognition), ("inventory", one.inventory)):
        if tier:
            lines.append(f"  {name}: {_safe(tier)[:_MAX_TIER_CHARS]}")
    lines += [f"  -> [{_safe(to)}] {_safe(relation or '')}" for to, relation in one.edges]
    return "\n".join(lines)


def _safe(text: str) -> str:
    return without_tag(one_line(text), *_TAG)


def _block(handle: str, event: Event, policy: JournalPolicy, text: str, room: int) -> str:
    # "This evening" is the user's, and "on friday" needs the day of the week.
    local = event.ts.astimezone(policy.zone)
    when = f"{DAYS[local.weekday()][:3]} {local:%Y-%m-%d %H:%M %Z}"
    who = _safe(policy.called(event.actor)) if event.actor else "unknown"
    head = f"{handle} ({when}, {who}):\n<journal_message>\n"
    end = "\n</journal_message>"
    limit = max(room - len(head) - len(end) - len(_CUT), _MIN_MESSAGE_CHARS)
    kept = text if len(text) <= limit else f"{text[:limit]}{_CUT}"
    return f"{head}{without_tag(kept, *_TAG)}{end}"
