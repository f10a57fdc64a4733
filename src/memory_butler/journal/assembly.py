"""The prompt that the companion wakes up to: eight parts, hard caps, a receipt. Pure (JASM, JTOK).

Parts 1 and 2 are the system prompt; parts 3 to 8 are one user message, divided by rules. The same
values give the same prompt, character for character.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import lru_cache
from typing import Final, Literal

from memory_butler.journal.items import Event, is_assistant
from memory_butler.journal.lifecycle import OnMind, come_due
from memory_butler.journal.lookups import Answer
from memory_butler.journal.policy import JournalPolicy
from memory_butler.journal.tags import ShownPiece, read
from memory_butler.journal.wording import (
    come_due_words,
    conversation_line,
    cut,
    date_words,
    day_mark,
    memory_line,
    shown_pieces,
    since_words,
    waited_words,
)

RULE: Final = "\n\n---\n\n"

# A single memory may take so much of the cap; a longer one is cut, lest it crowd out all others.
MAX_ITEM_TOKENS: Final = 400
# Less than this of an answer is not worth showing.
_MIN_CUT_TOKENS = 20
# At most 8 million characters of everyday messages; a longer one is read each time.
_CACHED_MESSAGES = 1_000
_CACHED_CHARS = 8_000

Part = Literal["wake", "image", "ambient", "lingering", "recalled", "recent", "time", "hot"]
Stream = Literal["user", "say", "do"]


@dataclass(frozen=True, slots=True)
class Texts:
    """The texts that come from files; '' where there is none."""

    wake: str = ""
    image: str = ""
    ambient: str = ""


@dataclass(frozen=True, slots=True)
class LeftOutView:
    """What is not in the prompt, and why."""

    what: str
    reason: str


@dataclass(frozen=True, slots=True)
class PromptPart:
    """One of the eight parts; `cap` is null where there is none."""

    part: Part
    text: str  # as it stands in the prompt; neither it nor its tokens have the heading
    tokens: int
    cap: int | None
    included: tuple[str, ...]
    left_out: tuple[LeftOutView, ...]


@dataclass(frozen=True, slots=True)
class Receipt:
    """What the prompt was made of. `total` counts the finished texts and the picture (JTOK-05)."""

    now: datetime
    parts: tuple[PromptPart, ...]
    pools: dict[str, int]
    total: int
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Prompt:
    """A system prompt and one user message; `image_path` is the picture to send along."""

    system: str
    user: str
    image_path: str | None
    receipt: Receipt


@dataclass(slots=True)
class _Filled:
    """A section while it is filled."""

    lines: list[str] = field(default_factory=list)
    tokens: int = 0
    included: list[str] = field(default_factory=list)
    left_out: list[LeftOutView] = field(default_factory=list)

    def receipt(self, part: Part, cap: int) -> PromptPart:
        text = "\n".join(self.lines)
        return PromptPart(part, text, self.tokens, cap, tuple(self.included), tuple(self.left_out))


def assemble(
    hot: Event,
    *,
    texts: Texts,
    minds: Iterable[OnMind],
    answers: Iterable[Answer],
    earlier: Iterable[Event],
    now: datetime,
    policy: JournalPolicy,
) -> Prompt:
    """The prompt for answering `hot` (JASM-01..08).

    Args:
        hot: the user's current message; it stands last, verbatim, and only there (C-104).
        texts: the wake context, the image context and the ambient prose.
        minds: the active working memory.
        answers: the answers to the look-ups of the previous reply.
        earlier: the messages before `hot`, the newest first. They are taken one by one and no
            further than the pools reach, so a lazy iterator spares reading the log.
        now: the time that the prompt tells.
        policy: caps, thresholds, the time zone, how tokens are counted.
    """
    count, budget = policy.count, policy.budget
    minds = tuple(minds)
    lingering = _lingering(minds, now, policy)
    recalled = _recalled(answers, policy)
    recent, pools, spoken = _recent((one for one in earlier if one.id != hot.id), now, policy)
    image = texts.image if hot.image_path else ""
    time = f"Current time: {date_words(now, policy)} ({now.astimezone(policy.zone).tzname()})"
    # A message that waited for its model is what the user said last.
    since = waited_words(hot.ts, now, policy)
    if not since and spoken is not None:
        since = since_words(spoken, now, policy)
    if since:
        due = come_due(minds, spoken.ts if spoken else None, now, policy)
        time = "\n".join([time, since, *come_due_words(due, policy)])
    user = [
        texts.ambient.strip(),
        _titled("Lingering", lingering.lines),
        _titled("Recalled", recalled.lines),
        _titled("Recent", recent.lines),
        time,
    ]
    # The hot message last and untouched: whatever it holds, nothing of ours follows it.
    message = RULE.join([*(one for one in user if one), hot.content])
    system = RULE.join(one for one in (texts.wake.strip(), image.strip()) if one)
    picture = budget.image if hot.image_path else 0
    wake, ambient = count(texts.wake.strip()), count(texts.ambient.strip())
    receipt = Receipt(
        now=now,
        parts=(
            _whole("wake", texts.wake.strip(), wake),
            _whole("image", image.strip(), count(image.strip())),
            _whole("ambient", texts.ambient.strip(), ambient),
            lingering.receipt("lingering", budget.lingering),
            recalled.receipt("recalled", budget.recalled),
            recent.receipt("recent", budget.recent),
            _whole("time", time, count(time)),
            _whole("hot", hot.content, count(hot.content) + picture, f"event {hot.id}"),
        ),
        pools=pools,
        total=count(system) + count(message) + picture,
        warnings=_warnings(wake + ambient, policy),
    )
    return Prompt(system, message, hot.image_path, receipt)


def _whole(part: Part, text: str, tokens: int, *included: str) -> PromptPart:
    """A part that no cap cuts."""
    return PromptPart(part, text, tokens, None, included, ())


def _titled(title: str, lines: Sequence[str]) -> str:
    """A section; one without lines has no title either."""
    return "\n".join([f"## {title}", "", *lines]) if lines else ""


def _warnings(wake: int, policy: JournalPolicy) -> tuple[str, ...]:
    """The files are the author's: too long is worth saying, not cutting (JTOK-01, C-102)."""
    if wake <= policy.budget.wake:
        return ()
    return (f"wake context and ambient prose take {wake} tokens, of about {policy.budget.wake}",)


def _lingering(minds: Iterable[OnMind], now: datetime, policy: JournalPolicy) -> _Filled:
    """Working memory: the score decides what comes in, time the order to read it in (JASM-04).

    Plans and secrets never fade, and a year of them would leave no room for the rest: of the last
    half of the cap they have what the rest leaves. Plans whose date is near come first (C-480).
    """
    filled = _Filled()
    lasting: list[tuple[OnMind, str]] = []
    fading: list[tuple[OnMind, str]] = []
    for one in sorted(minds, key=_best_first):
        if one.hidden:
            reason = "set aside until near its due date" if one.submerged else "faded"
            filled.left_out.append(LeftOutView(_what(one), f"{reason} (score {one.score:.3f})"))
            continue
        line = memory_line(one, now, policy, MAX_ITEM_TOKENS)
        (fading if one.item.type in policy.half_lives else lasting).append((one, line))
    lasting.sort(key=lambda pair: _nearest_first(pair[0], now))
    cap = policy.budget.lingering
    wanted = sum(policy.count(f"{line}\n") for _, line in fading)
    chosen = _chosen(lasting, cap - min(cap // 2, wanted), filled, policy)
    chosen += _chosen(fading, cap, filled, policy)
    for one, line in sorted(chosen, key=lambda pair: _in_time(pair[0])):
        filled.lines.append(line)
        filled.included.append(_what(one))
    return filled


def _chosen(
    ranked: Sequence[tuple[OnMind, str]], limit: int, filled: _Filled, policy: JournalPolicy
) -> list[tuple[OnMind, str]]:
    """The first of `ranked`, as many as fit until the section has `limit` tokens.

    A lower one must not come in by being shorter.
    """
    chosen: list[tuple[OnMind, str]] = []
    for one, line in ranked:
        cost = policy.count(f"{line}\n")
        if filled.tokens + cost > limit:
            break
        filled.tokens += cost
        chosen.append((one, line))
    for one, _ in ranked[len(chosen) :]:
        filled.left_out.append(LeftOutView(_what(one), f"no room (score {one.score:.3f})"))
    return chosen


def _what(one: OnMind) -> str:
    return f"{one.item.type} {one.item.id}"


def _in_time(one: OnMind) -> tuple[bool, datetime, int]:
    """Plans with a date first, by that, as `plans()` has them; then the rest, the oldest first."""
    item = one.item
    return (item.due is None, item.due or item.created_at, item.id)


def _best_first(one: OnMind) -> tuple[float, float, int]:
    return (-one.score, -one.item.created_at.timestamp(), -one.item.id)


def _nearest_first(one: OnMind, now: datetime) -> tuple[bool, float, tuple[float, float, int]]:
    """Plans whose date is near; then the rest by how far away its date is, or when it was told."""
    is_near = one.phase in ("approaching", "grace")
    moment = one.item.due or one.item.refreshed_at
    return (not is_near, abs(moment.timestamp() - now.timestamp()), _best_first(one))


def _recalled(answers: Iterable[Answer], policy: JournalPolicy) -> _Filled:
    """Answers in the order of the questions; the first that does not fit is cut, and the last."""
    filled = _Filled()
    full = False
    for answer in answers:
        if full:
            filled.left_out.append(LeftOutView(answer.call, "no room"))
            continue
        taken = 0
        for line in (answer.call, *answer.lines):
            room = policy.budget.recalled - filled.tokens
            if policy.count(f"{line}\n") > room:
                full = True
                line = cut(line, room - 1, policy.count) if room > _MIN_CUT_TOKENS else ""
                if not line or policy.count(f"{line}\n") > room:
                    break
            filled.lines.append(line)
            filled.tokens += policy.count(f"{line}\n")
            taken += 1
            if full:
                break
        if taken:
            filled.included.append(answer.call)
        if full:
            filled.left_out.append(LeftOutView(answer.call, "no room for all of it"))
    return filled


@dataclass(slots=True)
class _Pools:
    """First in, first out: what is left of each pool, and the streams that are closed (C-103)."""

    room: dict[Stream, int]
    flex: int
    closed: set[Stream] = field(default_factory=set)

    def fits(self, stream: Stream, cost: int) -> bool:
        """Whether the stream's own pool, or the reserve, can pay."""
        return cost <= max(self.room[stream], self.flex)

    def take(self, stream: Stream, cost: int) -> bool:
        """Pay from the stream's own pool, else from the reserve; else the stream is closed."""
        if stream in self.closed:
            return False
        if cost <= self.room[stream]:
            self.room[stream] -= cost
        elif cost <= self.flex:
            self.flex -= cost
        else:
            self.closed.add(stream)
            return False
        return True

    def spare(self, cost: int) -> bool:
        """Pay from whatever is left: the reserve first."""
        if cost <= self.flex:
            self.flex -= cost
            return True
        left = max(self.room, key=lambda stream: self.room[stream])
        if cost > self.room[left]:
            return False
        self.room[left] -= cost
        return True


@dataclass(slots=True)
class _Marks:
    """Where a day begins in the conversation, which is walked from now backwards (C-292)."""

    today: date
    walked: date | None = None
    shown: date | None = None
    before: dict[date, date] = field(default_factory=dict)

    def walk(self, day: date) -> None:
        """A message of `day`, shown or not: what came before a day tells how long it was silent."""
        if self.walked is not None and day != self.walked:
            self.before[self.walked] = day
        self.walked = day

    def over(self) -> str:
        """The mark that stands over the earliest line so far, before one of another day."""
        return day_mark(self.shown, self.before.get(self.shown)) if self.shown else ""


def _recent(
    earlier: Iterable[Event], now: datetime, policy: JournalPolicy
) -> tuple[_Filled, dict[str, int], Event | None]:
    """The conversation, newest first until each stream closes, then turned round (JTOK-03).

    With it what was taken of each pool, and what a user had said last. A mark of the day stands
    where one begins; the line before it pays for it, so that all is within the cap (C-292).

    A stream that had to refuse a piece takes no older one, however short: what is shown of it is
    unbroken up to now (JTOK-06). A reply may be split, its speech in one pool, its action in
    another. A piece that fits nowhere is cut to half its pool first, so that one long paste does
    not hide all that was said before it (C-162).
    """
    budget = policy.budget
    sizes: dict[Stream, int] = {"user": budget.user, "say": budget.say, "do": budget.do}
    pools = _Pools(dict(sizes), budget.flex)
    filled = _Filled()
    spoken: Event | None = None
    marks = _Marks(now.astimezone(policy.zone).date())
    for event in earlier:
        day = event.ts.astimezone(policy.zone).date()
        marks.walk(day)
        if spoken is None and not is_assistant(event.actor, policy.assistant_actors):
            spoken = event
        if _streams(event, policy) <= pools.closed:
            continue
        for line, stream in reversed(list(_conversation(event, policy))):
            what = f"event {event.id} ({stream})"
            mark = marks.over() if marks.shown != day else ""
            marked = policy.count(f"{mark}\n") if mark else 0
            cost = policy.count(f"{line}\n") + marked
            if stream in pools.closed:
                continue
            if not pools.fits(stream, cost) and cost > (half := sizes[stream] // 2):
                whole = cost
                line = cut(line, max(half - 1 - marked, 0), policy.count) or line
                cost = policy.count(f"{line}\n") + marked
                if cost < whole and pools.fits(stream, cost):
                    filled.left_out.append(LeftOutView(what, f"cut from {whole} to {cost} tokens"))
            if pools.take(stream, cost):
                filled.lines += [mark, line] if mark else [line]
                marks.shown = day
                filled.tokens += cost
                filled.included.append(what)
            else:
                left = f"{pools.room[stream]} left in its pool, {pools.flex} in reserve"
                filled.left_out.append(
                    LeftOutView(
                        what, f"{cost} tokens, {left}; nothing older of this stream follows"
                    )
                )
        if len(pools.closed) == len(pools.room):
            break
    # Over the first line where it is of another day than today.
    if marks.shown not in (None, marks.today) and pools.spare(
        cost := policy.count(f"{marks.over()}\n")
    ):
        filled.lines.append(marks.over())
        filled.tokens += cost
    filled.lines.reverse()
    filled.included.reverse()
    used: dict[str, int] = {
        "user": budget.user - pools.room["user"],
        "say": budget.say - pools.room["say"],
        "do": budget.do - pools.room["do"],
        "flex": budget.flex - pools.flex,
    }
    return filled, used, spoken


def _streams(event: Event, policy: JournalPolicy) -> set[Stream]:
    """The streams that a message may feed, told by actor and tags alone: a closed one spares the
    reading of the text."""
    if not is_assistant(event.actor, policy.assistant_actors):
        return {"user"}
    streams: set[Stream] = {"do"} if {"do", "narrate"} & set(event.tags) else set()
    if "say" in event.tags or event.image_path or policy.untagged_reply_is_say:
        streams.add("say")
    return streams


def _pieces(event: Event, policy: JournalPolicy) -> Sequence[ShownPiece]:
    names = (*policy.assistant_actors, *policy.user_actors)
    # Messages never change, and the next prompt shows mostly the same ones.
    read_again = _pieces_of if len(event.content) <= _CACHED_CHARS else _pieces_of.__wrapped__
    return shown_pieces(event.actor, read_again(event.content, names), event.tags, policy)


@lru_cache(maxsize=_CACHED_MESSAGES)
def _pieces_of(content: str, names: tuple[str, ...]) -> tuple[ShownPiece, ...]:
    return read(content, names).pieces


def _conversation(event: Event, policy: JournalPolicy) -> Iterator[tuple[str, Stream]]:
    """The lines of a message and the pool of each: by actor first, by tag second (C-105)."""
    pieces = _pieces(event, policy)
    theirs = is_assistant(event.actor, policy.assistant_actors)
    image = event.image_path is not None
    if not pieces and image:
        yield conversation_line(event.actor, None, image, policy), "say" if theirs else "user"
    for piece in pieces:
        line = conversation_line(event.actor, piece, image, policy)
        image = False
        yield line, ("say" if piece.kind == "say" else "do") if theirs else "user"
