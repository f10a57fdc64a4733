"""Looking into a journal: who there is, what is on its mind, what it knows, its next prompt."""

from typing import TYPE_CHECKING, Annotated

import typer

from memory_butler.domain.errors import NotFound
from memory_butler.surfaces.cli.examples import epilog
from memory_butler.surfaces.cli.journal.opened import DEFAULT, KnownAt, Whose, companion
from memory_butler.surfaces.cli.place import AsJson, Place
from memory_butler.surfaces.cli.problems import complain

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import tzinfo

    from memory_butler.operations.journal_views import AssembledPrompt, WorkingItem

MIND_EXAMPLES = epilog("memory-butler journal mind", "memory-butler journal mind --secrets --json")
PLANS_EXAMPLES = epilog(
    "memory-butler journal plans", 'memory-butler journal plans garden --when "next week"'
)
RECALL_EXAMPLES = epilog("memory-butler journal recall garden --deep")
ASSEMBLE_EXAMPLES = epilog(
    "memory-butler journal assemble", "memory-butler journal assemble --receipt"
)
_BAR = 10


def list_(place: Place, as_json: AsJson = False) -> None:
    """The companions that keep a journal here."""
    from memory_butler.companions.opening import names, zone_of
    from memory_butler.operations.journal import CompanionsOutput, summary, unreadable
    from memory_butler.surfaces.cli.answers import clean, console, print_json, table

    settings = place.settings()
    found = []
    for name in names(settings.data_dir, place.principal().tenant):
        try:
            with companion(place, name, settings) as one:
                found.append(summary(one))
        except Exception as error:
            found.append(unreadable(name, error))
    if as_json:
        print_json(CompanionsOutput(companions=found))
        return
    if not found:
        print("Nobody yet; `memory-butler journal chat` begins a conversation.")
        return
    zone = zone_of(settings.memory.journal)
    made = table("Companion", "Messages>", "Latest", "On its mind>", "Fragments>")
    for row in found:
        if row.problem is not None:
            continue
        latest = "–" if row.latest is None else f"{row.latest.astimezone(zone):%Y-%m-%d %H:%M}"
        made.add_row(row.name, f"{row.events:,}", latest, str(row.on_mind), f"{row.fragments:,}")
    if made.row_count:
        console().print(made)
    for row in found:
        if row.problem is not None:
            complain(clean(f"{row.name}: {row.problem}"))


def mind(
    place: Place,
    whose: Whose = DEFAULT,
    secrets: Annotated[bool, typer.Option("--secrets", help="Tell secrets, too.")] = False,
    known_at: KnownAt = None,
    as_json: AsJson = False,
) -> None:
    """What is on the companion's mind, the most present first."""
    from memory_butler.operations.journal import MindOutput
    from memory_butler.operations.journal_views import mind_view
    from memory_butler.surfaces.cli.answers import print_json

    with companion(place, whose, known_at=known_at) as one:
        now = one.live.clock()
        items = [mind_view(each, now, one.policy, secrets=secrets) for each in one.live.mind()]
        hide_at, zone = one.policy.hide_at, one.policy.zone
    if as_json:
        print_json(MindOutput(items=items, past=[], now=now, hide_at=hide_at))
    else:
        show_items(items, zone)


def plans(
    place: Place,
    topic: Annotated[
        str | None, typer.Argument(metavar="TOPIC", help="A fragment's key, or words of the plan.")
    ] = None,
    when: Annotated[
        str | None, typer.Option(metavar="WHEN", help='When it is due, such as "next tuesday".')
    ] = None,
    whose: Whose = DEFAULT,
    known_at: KnownAt = None,
    as_json: AsJson = False,
) -> None:
    """Everything active, what is due first; submerged plans as well."""
    from memory_butler.operations.journal import PlansOutput
    from memory_butler.operations.journal_views import mind_view
    from memory_butler.surfaces.cli.answers import print_json

    with companion(place, whose, known_at=known_at) as one:
        now = one.live.clock()
        items = [mind_view(each, now, one.policy) for each in one.live.plans(topic, when)]
        zone = one.policy.zone
    if as_json:
        print_json(PlansOutput(items=items))
    else:
        show_items(items, zone)


def recall(
    place: Place,
    key: Annotated[str, typer.Argument(metavar="KEY", help="A key of the ambient prose.")],
    deep: Annotated[bool, typer.Option("--deep", help="Every detail, not the story.")] = False,
    whose: Whose = DEFAULT,
    known_at: KnownAt = None,
    as_json: AsJson = False,
) -> None:
    """What the companion knows of a key, and of its neighbours."""
    from memory_butler.operations.journal_views import recalled_view
    from memory_butler.surfaces.cli.answers import clean, print_json

    with companion(place, whose, known_at=known_at) as one:
        found = one.live.recall(key, deep=deep)
        known = [] if found else sorted(one.desk.fragments())
    if found is None:
        some = f"; there are {', '.join(known[:8])}" if known else "; nothing is compiled yet"
        raise NotFound(f"there is no fragment {key[:64]!r}{some}")
    if as_json:
        print_json(recalled_view(found))
        return
    print(f"{clean(found.key)} ({found.tier}): {clean(found.text)}")
    for near in found.neighbours:
        relation = f" ({near.relation})" if near.relation else ""
        print(clean(f"  → {near.key}{relation}: {near.ambient}"))


def assemble(
    place: Place,
    receipt: Annotated[
        bool, typer.Option("--receipt", help="Tell what went in, what did not, and why.")
    ] = False,
    secrets: Annotated[bool, typer.Option("--secrets", help="Tell secrets, too.")] = False,
    whose: Whose = DEFAULT,
    known_at: KnownAt = None,
    as_json: AsJson = False,
) -> None:
    """The prompt for the companion's answer to the latest message."""
    from memory_butler.operations.journal_views import prompt_view
    from memory_butler.surfaces.cli.answers import print_json

    with companion(place, whose, known_at=known_at) as one:
        prompt = prompt_view(one.live.assemble(secrets=secrets), one.policy)
    if as_json:
        print_json(prompt)
    elif receipt:
        show_receipt(prompt)
    else:
        show_prompt(prompt)


def show_prompt(prompt: "AssembledPrompt") -> None:
    """Both messages, as a model gets them."""
    from memory_butler.surfaces.cli.answers import clean

    print(f"{clean(prompt.system)}\n{'=' * 20}\n{clean(prompt.user)}")


def show_receipt(prompt: "AssembledPrompt") -> None:
    """Tokens by part and pool, and what was left out."""
    from memory_butler.surfaces.cli.answers import clean, console, table

    made = table("Part", "Tokens>", "Cap>", "Included>", "Left out>")
    for part in prompt.parts:
        cap = "–" if part.cap is None else f"{part.cap:,}"
        counts = (str(len(part.included)), str(len(part.left_out)))
        made.add_row(part.part, f"{part.tokens:,}", cap, *counts)
    console().print(made)
    pools = ", ".join(f"{one.pool} {one.used:,} of {one.cap:,}" for one in prompt.pools)
    print(f"Pools: {pools}. In all {prompt.total:,} tokens.")
    for part in prompt.parts:
        for one in part.left_out:
            print(clean(f"left out of {part.part}: {one.what}: {one.reason}"))
    for warning in prompt.warnings:
        print(clean(f"note: {warning}"))


def show_items(items: "Sequence[WorkingItem]", zone: "tzinfo") -> None:
    """Working memory as a table, with a bar for what is left of each; times are of `zone`."""
    from rich.text import Text

    from memory_butler.surfaces.cli.answers import console, short, table

    if not items:
        print("Nothing.")
        return
    made = table("Type", "What", "Score>", "", "Turns>", "Due")
    for one in items:
        score = one.score or 0.0
        due = "" if one.due is None else f"{one.due.astimezone(zone):%Y-%m-%d %H:%M}"
        phase = one.phase if one.phase not in (None, "open-ended") else ""
        made.add_row(
            one.type,
            Text(short(one.content)),
            f"{score:.3f}",
            "█" * round(score * _BAR) + "░" * (_BAR - round(score * _BAR)),
            str(one.turns),
            f"{due} {phase}".strip(),
        )
    console().print(made)
