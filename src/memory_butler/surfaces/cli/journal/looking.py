"""Looking into a journal: who there is, what is on its mind, what it knows, its next prompt."""

from typing import TYPE_CHECKING, Annotated

import typer

from memory_butler.surfaces.cli.as_json import print_json
from memory_butler.surfaces.cli.cleaning import clean, short
from memory_butler.surfaces.cli.examples import epilog
from memory_butler.surfaces.cli.journal.opened import (
    DEFAULT,
    KnownAt,
    Whose,
    companion,
    require_installation,
)
from memory_butler.surfaces.cli.journal.terminal import note, styled
from memory_butler.surfaces.cli.place import AsJson, Place
from memory_butler.surfaces.cli.problems import complain

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import tzinfo

    from memory_butler.operations.journal import FoundMessages
    from memory_butler.operations.journal_views import (
        AssembledPrompt,
        RecalledFragment,
        WorkingItem,
    )

MIND_EXAMPLES = epilog("memory-butler journal mind", "memory-butler journal mind --secrets --json")
PLANS_EXAMPLES = epilog(
    "memory-butler journal plans", 'memory-butler journal plans garden --when "next week"'
)
RECALL_EXAMPLES = epilog("memory-butler journal recall garden --deep")
SEARCH_EXAMPLES = epilog('memory-butler journal search "when did we plant the roses"')
ASSEMBLE_EXAMPLES = epilog(
    "memory-butler journal assemble", "memory-butler journal assemble --receipt"
)
_BAR = 10


def list_(place: Place, as_json: AsJson = False) -> None:
    """List the companions that keep a journal here."""
    from memory_butler.companions.opening import names, zone_of
    from memory_butler.operations.journal import CompanionsOutput, summary, unreadable
    from memory_butler.surfaces.cli.answers import console, table

    settings = place.settings()
    require_installation(settings)
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
    """Show what is on the companion's mind, the most present first."""
    from memory_butler.operations import journal

    with companion(place, whose, known_at=known_at) as one:
        found, zone = journal.mind(one, journal.MindInput(secrets=secrets)), one.policy.zone
    if as_json:
        print_json(found)
    else:
        show_items(found.items, zone)


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
    """List the plans, what is due first, also those set aside; then what else is active."""
    from memory_butler.operations import journal

    with companion(place, whose, known_at=known_at) as one:
        found = journal.plans(one, journal.PlansInput(topic=topic, when=when))
        zone = one.policy.zone
    if as_json:
        print_json(found)
    else:
        show_plans(found.items, zone)


def recall(
    place: Place,
    key: Annotated[
        str, typer.Argument(metavar="KEY", help="The key of a fragment, such as garden.")
    ],
    deep: Annotated[bool, typer.Option("--deep", help="Every detail, not the story.")] = False,
    whose: Whose = DEFAULT,
    known_at: KnownAt = None,
    as_json: AsJson = False,
) -> None:
    """Show what the companion knows of a key, and of its neighbours."""
    from memory_butler.operations import journal

    with companion(place, whose, known_at=known_at) as one:
        found = journal.recall(one, journal.RecallKeyInput(key=key, deep=deep))
    if as_json:
        print_json(found)
        return
    show_recalled(found)


def search(
    place: Place,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="Some words, or a question.")],
    limit: Annotated[
        int, typer.Option(metavar="NUMBER", min=1, max=50, help="How many messages at most.")
    ] = 5,
    whose: Whose = DEFAULT,
    known_at: KnownAt = None,
    as_json: AsJson = False,
) -> None:
    """Find what was said, however long ago, by its words and its meaning."""
    from memory_butler.operations import journal

    with companion(place, whose, known_at=known_at) as one:
        found = journal.search(one, journal.SearchLogInput(question=question, limit=limit))
        zone = one.policy.zone
    if as_json:
        print_json(found)
    else:
        show_found(found, zone)


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
    """Print the prompt for the companion's answer to the latest message."""
    from memory_butler.operations.journal_views import prompt_view

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

    print(f"{clean(prompt.system)}\n{'=' * 20}\n{clean(prompt.user)}")


def show_receipt(prompt: "AssembledPrompt") -> None:
    """Tokens by part and pool, and what was left out."""
    from memory_butler.surfaces.cli.answers import console, table

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


def show_recalled(found: "RecalledFragment") -> None:
    """A fragment, and its neighbours at ambient depth."""

    print(f"{clean(found.key)} ({found.tier}): {clean(found.text)}")
    for near in found.neighbours:
        relation = f" ({near.relation})" if near.relation else ""
        print(clean(f"  → {near.key}{relation}: {near.ambient}"))


def show_found(found: "FoundMessages", zone: "tzinfo") -> None:
    """Messages with their dates, each between what was said before and after it."""

    if not found.found:
        note("Nothing was found.")
    for one in found.found:
        note(f"{one.event.ts.astimezone(zone):%Y-%m-%d %H:%M}, message {one.event.id}")
        for event in filter(None, (one.before, one.event, one.after)):
            for piece in event.shown:
                text = clean(f"{event.called}: {piece.text}")
                print(styled(text, bold=True) if event is one.event else text)
            if event is one.event and one.kept:
                print(styled(clean(f"({'; '.join(one.kept)})"), bold=True))


def show_plans(items: "Sequence[WorkingItem]", zone: "tzinfo") -> None:
    """The plans as a table, and apart from them what else is active."""
    planned = [one for one in items if one.type == "plan"]
    others = [one for one in items if one.type != "plan"]
    show_items(planned, zone, empty="Nothing is planned.")
    if others:
        print("\nAlso on its mind, and no plan:")
        show_items(others, zone)


def show_items(items: "Sequence[WorkingItem]", zone: "tzinfo", *, empty: str = "Nothing.") -> None:
    """Working memory as a table, with a bar for what is left of each; times are of `zone`."""
    from rich.text import Text

    from memory_butler.journal.lifecycle import phase_words
    from memory_butler.journal.wording import of_subject
    from memory_butler.surfaces.cli.answers import console, table

    if not items:
        print(empty)
        return
    made = table("Type", "What", "Score>", "", "Turns>", "Due")
    for one in items:
        score = one.score or 0.0
        due = "" if one.due is None else f"{one.due.astimezone(zone):%Y-%m-%d %H:%M}"
        phase = phase_words(one.phase) if one.phase != "open-ended" else ""
        made.add_row(
            one.type,
            Text(short(of_subject(one.content, one.subject))),
            f"{score:.3f}",
            "█" * round(score * _BAR) + "░" * (_BAR - round(score * _BAR)),
            str(one.turns),
            ", ".join(part for part in (f"{due} {phase}".strip(), one.often) if part),
        )
    console().print(made)
