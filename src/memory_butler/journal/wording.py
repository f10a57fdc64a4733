"""How things read in a prompt: lines of memory and conversation, the date, what is cut short. Pure.

Stored text must not forge the prompt's structure: memory stays on one line, and every further line
of a message is indented, so that no heading or rule can begin there.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime, timedelta
from typing import Final, assert_never

from memory_butler.domain.elapsed import elapsed
from memory_butler.domain.text import one_line, storable
from memory_butler.domain.written_dates import MONTHS, WEEKDAYS
from memory_butler.journal.due import in_zone, times_left_out
from memory_butler.journal.items import DISPLAY_TAGS, Event, is_assistant
from memory_butler.journal.lifecycle import ComeDue, OnMind, mentioned, phase_words
from memory_butler.journal.memory import Change, Missed
from memory_butler.journal.policy import JournalPolicy, TokenCounter
from memory_butler.journal.rounds import days_of, end_of, step_of
from memory_butler.journal.tags import Command, Remember, ShownPiece, read

CUT: Final = " […]"
# So long a silence is told with the time; a shorter one is no gap.
MIN_TOLD_HOURS: Final = 2
# So few across midnight are hours of one night, not the next day.
MAX_NIGHT_HOURS: Final = 5
# So many plans open a conversation, and so much of each.
MAX_TOLD_PLANS: Final = 20
MAX_TOLD_CHARS: Final = 200
# How a change of working memory is told, by the event of its table; what made way is not.
_DONE: Final = {
    "tag": "kept",
    "retag": "refreshed",
    "done": "done",
    "cancel": "cancelled",
    "skip": "skipped",
    "again": "next time of",
    "drop": "dropped",
    "reveal": "revealed",
    "forget": "forgotten",
    "edit": "no longer",
}
_TAKEN_BACK: Final = {"tag": "back in mind", "retag": "not refreshed", "forget": "no longer kept"}
_FOUND: Final = ("desc", "plan", "pin")
# What stands for a secret that was not asked for.
WITHHELD: Final = "(secret)"
_SECRET_TAG: Final = re.compile(r"<(/?)secret\b[^<>]*>", re.IGNORECASE)

# Not strftime: its names follow the process's locale, and a prompt must not.
DAYS: Final = [name.capitalize() for name in WEEKDAYS]
_MONTHS: Final = [name.capitalize() for name in MONTHS]


def indented(text: str) -> str:
    """Text with each further line two spaces in; U+2028 and its like count as line ends."""
    return "\n  ".join(storable(text).splitlines())


def date_words(moment: datetime, policy: JournalPolicy) -> str:
    """ "Wednesday, 4 March 2026, 13:05", local to the user."""
    local = moment.astimezone(policy.zone)
    return f"{_day_words(local)}, {local:%H:%M}"


def _day_words(day: date) -> str:
    return f"{DAYS[day.weekday()]}, {day.day} {_MONTHS[day.month - 1]} {day.year}"


def day_mark(day: date, before: date | None) -> str:
    """ "— Monday, 9 March 2026, 3 days later —"; `before` is the day of the message before."""
    apart = (day - before).days if before else 0
    later = f", {apart} days later" if apart > 1 else ""
    return f"— {_day_words(day)}{later} —"


def since_words(last: Event, now: datetime, policy: JournalPolicy) -> str:
    """ "user last spoke on Friday, 6 March 2026, 18:20; it is 3 days later"; or nothing."""
    later = _later_words(last.ts, now, policy)
    who = one_line(policy.called(last.actor))
    return f"{who} last spoke on {date_words(last.ts, policy)}; it is {later}" if later else ""


def waited_words(hot: datetime, now: datetime, policy: JournalPolicy) -> str:
    """The same of the message to answer, where it has waited; or nothing."""
    later = _later_words(hot, now, policy)
    return f"The message below is of {date_words(hot, policy)}; it is {later}" if later else ""


def _later_words(last: datetime, now: datetime, policy: JournalPolicy) -> str:
    """How much later it is, from two hours on; '' before."""
    hours = round(elapsed(last, now) / timedelta(hours=1))
    if hours < MIN_TOLD_HOURS:
        return ""
    days = (now.astimezone(policy.zone).date() - last.astimezone(policy.zone).date()).days
    if days == 0:
        return f"{hours} hours later"
    if days == 1 and hours <= MAX_NIGHT_HOURS:
        return f"{hours} hours later, after midnight"
    return "the next day" if days == 1 else f"{days} days later"


def repeats_words(rule: str) -> str:
    """How often a rule comes round: "every Friday", "every 2 weeks on Monday until 3 April 2026".

    Days of a month or year are left out: the due date beside it tells them.
    """
    count, unit = step_of(rule)
    days = [DAYS[day] for day in days_of(rule)] if unit == "week" else []
    on = f"{', '.join(days[:-1])} and {days[-1]}" if len(days) > 1 else "".join(days)
    end = end_of(rule)
    until = f" until {end.day} {end:%B %Y}" if end else ""
    if count == 1:
        return f"every {on or unit}{until}"
    return f"every {count} {unit}s{f' on {on}' if on else ''}{until}"


def _often_words(one: OnMind, policy: JournalPolicy) -> str:
    """ "every Friday"; of one that was missed with the next time, "next on Friday, 27 March …"."""
    if not one.item.repeats:
        return ""
    coming = f", next on {date_words(one.next_due, policy)}" if one.next_due else ""
    return f"{repeats_words(one.item.repeats)}{coming}"


def come_due_words(plans: ComeDue, policy: JournalPolicy) -> list[str]:
    """ "overdue: pay the rent (due Sunday, 1 March 2026, 23:59)"; late, then near.

    Of what repeats it says how often: it may have been missed more than once; and when it comes
    round again, for the date is of the first that was missed (C-560). Of more plans than
    are told those remain whose date is nearest.
    """
    lines: list[str] = []
    for what, found, told in (
        ("overdue", plans.overdue, plans.overdue[-MAX_TOLD_PLANS:]),
        ("soon", plans.near, plans.near[:MAX_TOLD_PLANS]),
    ):
        for one in told:
            often = f"; {words}" if (words := _often_words(one, policy)) else ""
            due = f" (due {date_words(one.item.due, policy)}{often})" if one.item.due else ""
            lines.append(f"{what}: {one_line(one.item.content)[:MAX_TOLD_CHARS]}{due}")
        if len(found) > MAX_TOLD_PLANS:
            lines.append(f"{what}: and {len(found) - MAX_TOLD_PLANS} more")
    return lines


def memory_line(one: OnMind, now: datetime, policy: JournalPolicy, limit: int | None = None) -> str:
    """ "- [plan, user] call mum (due Friday, 6 March 2026, 17:00; approaching)".

    What has no due date and is not of today says of when it is, "- [pin, user, Tue 3 Feb] …":
    its text may hold "yesterday". Longer than `limit` tokens, its text is cut, and no date.
    """
    item = one.item
    who = one_line(policy.called(item.actor)) if item.actor else "unknown"
    due = f" (due {date_words(item.due, policy)}; {phase_words(one.phase)})" if item.due else ""
    when = f", {words}" if (words := _often_words(one, policy)) else ""
    day = item.refreshed_at.astimezone(policy.zone).date()
    today = now.astimezone(policy.zone).date()
    if item.due is None and day != today:
        year = f" {day.year}" if day.year != today.year else ""
        when = f", {DAYS[day.weekday()][:3]} {day.day} {_MONTHS[day.month - 1][:3]}{year}"
    begin, text = f"- [{item.type}, {who}{when}] ", one_line(of_subject(item.content, item.subject))
    if limit is not None and policy.count(f"{begin}{text}{due}") > limit:
        text = cut(text, limit - policy.count(begin) - policy.count(due), policy.count)
    return f"{begin}{text}{due}"


def change_lines(
    changes: Iterable[Change],
    policy: JournalPolicy,
    *,
    taken_back: bool = False,
    shorten: Callable[[str], str] = one_line,
) -> list[str]:
    """ "kept plan: water the garden, due Friday, 6 March 2026, 23:59"; a line for each change.

    A new plan without a due date says so, and one with several times of day which are not kept.
    `taken_back`: they are what an undo did. No secret is quoted.
    """
    words = _TAKEN_BACK if taken_back else _DONE
    lines: list[str] = []
    for one in changes:
        if one.event in words:
            what = WITHHELD if one.type == "secret" else shorten(one.content)
            due = in_zone(one.due, policy.zone) if one.due and one.status == "active" else None
            when = f", due {date_words(due, policy)}" if due else ""
            is_new_plan = one.type == "plan" and one.event == "tag" and not taken_back
            if due is None and is_new_plan:
                when = ", without a date"  # one that was meant was not understood
            if one.repeats and one.event == "tag":
                when += f", and again {repeats_words(one.repeats)}"
            if due and is_new_plan:
                local = due.astimezone(policy.zone)
                left = times_left_out(one.due_words, local) or times_left_out(one.content, local)
                when += (
                    f", but not at {', '.join(left)}: that needs a plan of its own" if left else ""
                )
            ends = ", with all its times to come" if one.ends_series and not taken_back else ""
            lines.append(f"{words[one.event]} {one.type}: {what}{when}{ends}")
    return lines


def missed_line(missed: Missed) -> str:
    """ "plan>done gym: no active plan is like this; nothing was changed"."""
    command = missed.command
    return f"{f'{command.type}>{command.verb} {command.text}'.rstrip()}: {missed.why()}"


def conversation_line(
    actor: str | None, piece: ShownPiece | None, image: bool, policy: JournalPolicy
) -> str:
    """ "user: hello", "assistant does: waves"; no piece where a message is a picture alone."""
    who = one_line(policy.called(actor))
    mark = "[image]" if image else ""
    if piece is None:
        return f"{who}: {mark}"
    text = f"{mark} {indented(piece.text)}".strip()
    match piece.kind:
        case "plain" | "say":
            return f"{who}: {text}"
        case "do":
            return f"{who} does: {text}"
        case "narrate":
            # Narration is nobody's speech, but it matters whose pen it is.
            return f"{who} narrates: {text}"
        case _:
            assert_never(piece.kind)


def withheld(content: str) -> str:
    """A message without the text of its secrets; one that is not closed hides what follows."""
    parts: list[str] = []
    depth = at = 0
    for tag in _SECRET_TAG.finditer(content):
        if depth == 0:
            parts.append(content[at : tag.start()])
        if not tag[1]:
            depth += 1
            parts += [tag[0], WITHHELD] if depth == 1 else []
        elif depth:
            depth -= 1
            parts += [tag[0]] if depth == 0 else []
        else:
            parts.append(tag[0])
        at = tag.end()
    return "".join([*parts, content[at:] if depth == 0 else ""])


def shown_pieces(
    actor: str | None, pieces: Sequence[ShownPiece], tags: Sequence[str], policy: JournalPolicy
) -> list[ShownPiece]:
    """The pieces of a message that the conversation shows (JASM-06, C-105).

    Of a user all; of an assistant what stands in display tags, for the rest is thinking. A reply
    without any of those counts as said where `policy.untagged_reply_is_say`: its author uses none,
    and prose beside a `<pin>` is what it says (C-163).
    """
    if not is_assistant(actor, policy.assistant_actors):
        return list(pieces)
    if policy.untagged_reply_is_say and not set(tags) & set(DISPLAY_TAGS):
        return [ShownPiece("say", one.text) for one in pieces]
    return [one for one in pieces if one.kind != "plain"]


def shown_of(event: Event, policy: JournalPolicy) -> list[ShownPiece]:
    """What the conversation shows of a message."""
    reading = read(event.content, (*policy.assistant_actors, *policy.user_actors))
    return shown_pieces(event.actor, reading.pieces, reading.tags, policy)


def shown_words(event: Event, policy: JournalPolicy) -> str:
    """What the conversation shows of a message, without who said it; one line for each piece."""
    return "\n".join(one.text for one in shown_of(event, policy))


def kept_words(changes: Iterable[Remember | Command]) -> list[str]:
    """What a message keeps in mind for weeks, and a search finds later: "pin: likes green tea".

    Not secrets; and not feelings, thoughts and patterns, which are the companion's own.
    """
    return [
        f"{one.type}: {remembered(one)}"
        for one in changes
        if isinstance(one, Remember) and one.type in _FOUND
    ]


def remembered(tag: Remember) -> str:
    """ "the wedding (due: 20 June at 2pm)": a tag's content, and its date as it was said."""
    content = of_subject(tag.content, tag.subject)
    return f"{content} (due: {tag.due})" if tag.due else content


def of_subject(content: str, subject: str | None) -> str:
    """ "Jonas: distant since Saturday": a text with what it is about, where it does not say so."""
    if not subject or mentioned(content, (subject,)):
        return content
    return f"{subject}: {content}"


def kept_of(event: Event, policy: JournalPolicy) -> list[str]:
    """What a message keeps in mind for weeks."""
    return kept_words(read(event.content, (*policy.assistant_actors, *policy.user_actors)).changes)


def found_words(event: Event, policy: JournalPolicy) -> str:
    """What a search finds of a message: what is shown of it, and what it keeps for weeks."""
    reading = read(event.content, (*policy.assistant_actors, *policy.user_actors))
    pieces = shown_pieces(event.actor, reading.pieces, reading.tags, policy)
    return "\n".join([*(one.text for one in pieces), *kept_words(reading.changes)])


def cut(text: str, limit: int, count: TokenCounter) -> str:
    """`text` shortened to `limit` tokens, its mark included; '' where not even the mark fits."""
    if count(text) <= limit:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if count(text[:middle] + CUT) <= limit:
            low = middle
        else:
            high = middle - 1
    shortened = text[:low] + CUT
    return shortened if low and count(shortened) <= limit else ""
