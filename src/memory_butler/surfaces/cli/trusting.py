"""Answers about trust as text: conflicts, receipts, what changed between two moments, undo."""

import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final

from rich.text import Text

from memory_butler.engine.browse.inbox import WEIGHED
from memory_butler.operations.views import Fact
from memory_butler.surfaces.cli.answers import (
    console,
    content,
    less,
    number,
    show_context,
    table,
)
from memory_butler.surfaces.cli.cleaning import clean, short
from memory_butler.surfaces.cli.counting import counted


def _conflicts(output: Any) -> None:
    if not output.items:
        print("None: no two facts repeat or contradict each other.")
        return
    made = table("What", "Earlier", "Later")
    for one in output.items:
        made.add_row(one.kind, _stated(one.earlier), _stated(one.later))
    console().print(made)
    shown = len(output.items)
    more = f" of {output.total}" if output.total > shown else ""
    print(f"{shown}{more}. Say which holds: memory-butler conflicts settle EARLIER LATER CHOICE")


def _inbox(output: Any) -> None:
    if not output.items:
        print("None of this kind waits." if output.waiting else "Nothing waits for a decision.")
        return
    made = table("What", "About", "Decide with")
    for one in output.items:
        made.add_row(one.kind.replace("_", " "), *_decision(one))
    console().print(made)
    if sum(output.waiting.values()) > len(output.items):
        each = ", ".join(
            f"{kind.replace('_', ' ')} {number}{' or more' if number == WEIGHED else ''}"
            for kind, number in output.waiting.items()
        )
        print(f"{len(output.items)} shown of: {each}. --kind and --limit show others.")


def _decision(one: Any) -> tuple[Text, str]:
    """What an item is about, and the commands that decide it."""
    if one.conflict is not None:
        pair = Text("\n").join([_stated(one.conflict.earlier), _stated(one.conflict.later)])
        return pair, "conflicts settle"
    if one.episode is not None:
        told = Text.assemble(short(one.episode.content), "\n", (str(one.episode.id), "dim"))
        return told, "dead-letters retry, forget"
    return _stated(one.fact), "facts accept, forget" if one.kind == "waiting" else "confirm, forget"


def _stated(one: Fact) -> Text:
    about = f"{clean(one.subject)}, {clean(one.predicate)}: "
    return Text.assemble((about, "dim"), content(one))


def _settled(output: Any) -> None:
    held = {
        "keep_earlier": "The earlier one is confirmed, the later one forgotten.",
        "keep_later": "The later one supersedes the earlier one.",
        "keep_both": "Both are kept, and no longer shown as a conflict.",
    }
    print(held[output.choice])


_PARTS = ("relevance", "importance", "recency", "confidence")
_PLACES = {
    "in": "in the block",
    "no_room": "no room",
    "repeats": "said better",
    "missed": "just missed",
}


def _replayed(output: Any) -> None:
    show_context(output)
    if not output.identical:
        print("This is not what the session got: its SHA-256 differs.", file=sys.stderr)


def _explained(output: Any) -> None:
    weights = ", ".join(f"{name} {output.weights[name]:g}" for name in _PARTS)
    print(f"Memory as of {_minute(output.taken_at)}, {output.token_budget} tokens; {weights}.")
    made = table("Memory", "Place", *(f"{name.capitalize()}>" for name in _PARTS), "Score>")
    for one in output.memories:
        said = Text.assemble(short(one.text or "gone"), "\n", (str(one.id), "dim"), less(one.trust))
        parts = (one.parts.get(name) for name in _PARTS)
        made.add_row(said, _PLACES[one.place], *map(number, parts), f"{one.score:.3f}")
    console().print(made)


def _minute(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def _receipts(output: Any) -> None:
    if not output.receipts:
        print("No context was built lately.")
        return
    made = table("Context", "Butler", "Built (UTC)", "Memories>", "Prompt")
    for one in output.receipts:
        built = f"{one.created_at:%Y-%m-%d %H:%M:%S}"
        prompt = Text(short(one.prompt or "–"))
        made.add_row(str(one.id), Text(clean(one.butler)), built, str(one.items), prompt)
    console().print(made)


def _diff(output: Any) -> None:
    print(f"From {_minute(output.since)} to {_minute(output.until)}:")
    for fate in ("learned", "changed", "forgotten"):
        some, total = getattr(output, fate), getattr(output, f"{fate}_total")
        print(f"{fate.capitalize()}: {total}")
        for one in some:
            why = f" ({', '.join(one.what)})" if one.what else ""
            texts = [short(text) for text in (one.before, one.after) if text is not None]
            made = f" – {one.at:%Y-%m-%d %H:%M} by {clean(one.actor or 'nobody')}" if one.at else ""
            print(f"  {one.memory_type} {' → '.join(dict.fromkeys(texts))}{why}{made}")
        if total > len(some):
            print(f"  … and {total - len(some)} more; --limit shows up to 200.")
    if output.deleted_episodes:
        print(f"Deleted: {counted(output.deleted_episodes, 'expired episode')}.")


def _without(output: Any) -> None:
    if not output.left and not output.came:
        print("Nothing changes: the block has the same lines without it.")
        return
    for sign, lines in (("-", output.left), ("+", output.came)):
        for one in lines:
            print(f"{sign} {clean(one.text.removeprefix('- '))}")


def _calibration(output: Any) -> None:
    if output.brier is None:
        print("No outcomes: nobody has confirmed, corrected or forgotten anything in that time.")
        return
    print(
        f"{counted(output.outcomes, 'outcome')} of {counted(output.memories, 'memory')}: "
        f"{output.held / output.outcomes:.0%} held, {output.claimed:.0%} was claimed."
    )
    print(
        f"Brier score {output.brier:.3f} (0 is best); "
        f"baseline Brier score {output.base_rate_brier:.3f} (always predicting the mean)."
    )
    made = table("Claimed", "Mean>", "Held>", "95 %>", "Outcomes>")
    for one in output.bins:
        if one.outcomes:
            interval = f"{one.least:.2f}–{one.most:.2f}"
            span = f"{one.low:.1f}–{one.high:.1f}"
            made.add_row(span, number(one.claimed), number(one.rate), interval, f"{one.outcomes:,}")
    console().print(made)


def _undone(output: Any) -> None:
    what = "; ".join(
        one.said if one.count == 1 else f"{one.count} × {one.said}" for one in output.did
    )
    does = "Would undo" if output.dry_run else "Undid"
    print(f"{does} the change of {output.at:%Y-%m-%d %H:%M} UTC: {what}.")
    made = table("", "What", "Says")
    for one in output.items:
        made.add_row(one.act, f"{one.kind}\n{one.id}", Text(short(one.about or "–")))
    if output.items:
        console().print(made)
    print(
        f"Memories and entities: {output.removed} removed, {output.restored} restored; "
        f"links: {output.links_removed} removed."
    )
    for one in output.blocked_by:
        first = "" if one.event_id is None else f" (undo --event-id {one.event_id})"
        print(f"In the way: {one.kind} {one.id}: {clean(one.why)}{first}")


def _unmasked(output: Any) -> None:
    for one in output.restored:
        now = "" if one.id == one.masked_id else f"; it supersedes {one.masked_id}"
        print(f"Restored {one.memory_type} {one.id}{now}.")
    for one in output.left:
        print(f"Still masked: {one.memory_type} {one.id}: {clean(one.why)}")


SHOWN: Final[dict[str, Callable[[Any], None]]] = {
    "conflicts_list": _conflicts,
    "inbox_list": _inbox,
    "conflict_settle": _settled,
    "memory_undo": _undone,
    "memory_unmask": _unmasked,
    "memory_diff": _diff,
    "memory_explain": _explained,
    "memory_replay": _replayed,
    "memory_receipts": _receipts,
    "memory_calibration": _calibration,
    "memory_context_without": _without,
}
