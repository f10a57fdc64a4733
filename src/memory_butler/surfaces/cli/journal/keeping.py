"""Keeping a journal: in, out and away with it, compiling what was said, taking that back."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memory_butler.domain.errors import (
    ConfigurationError,
    InvalidInput,
    unwritable,
)
from memory_butler.surfaces.cli.as_json import print_json
from memory_butler.surfaces.cli.cleaning import clean
from memory_butler.surfaces.cli.counting import all_counted, counted
from memory_butler.surfaces.cli.examples import epilog
from memory_butler.surfaces.cli.exporting import STANDARD_OUTPUT, Force, refuse_existing
from memory_butler.surfaces.cli.journal.opened import (
    DEFAULT,
    ModelName,
    Script,
    Whose,
    companion,
    model,
    typed,
)
from memory_butler.surfaces.cli.journal.terminal import note
from memory_butler.surfaces.cli.place import AsJson, Place, complete
from memory_butler.surfaces.cli.problems import GOES_ON, complain
from memory_butler.surfaces.errors import BY_CODE

if TYPE_CHECKING:
    from memory_butler.companions.former import Card, Former
    from memory_butler.config import Settings
    from memory_butler.journal.fragments import Difference, RunType
    from memory_butler.journal.importing import Imported
    from memory_butler.journal.maintenance.run import Proposal

IMPORT_EXAMPLES = epilog(
    "memory-butler journal import chatgpt-export.zip",
    "memory-butler journal import luna.png --companion luna",
    "memory-butler journal import conversation.jsonl",
)
EXPORT_EXAMPLES = epilog("memory-butler journal export luna.jsonl --companion luna")
DELETE_EXAMPLES = epilog("memory-butler journal delete --companion luna")
MAINTAIN_EXAMPLES = epilog(
    "memory-butler journal maintain weekly --dry-run",
    "memory-butler journal maintain bootstrap --yes",
)
UNDO_EXAMPLES = epilog("memory-butler journal runs", "memory-butler journal undo 3")


def import_(
    place: Place,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="An export, a transcript, a character card, or JSON Lines."
        ),
    ],
    whose: Whose = DEFAULT,
) -> None:
    """Add a former conversation to the log, or make the companion the character of a card.

    It reads the data exports of ChatGPT and Claude, transcripts of Claude Code, chats and character
    cards of SillyTavern, and JSON Lines of actor, content and, if known, ts, image_path, picture,
    kept, as `journal export` writes them.
    Interrupted, run it again: it goes on where it stopped, and nothing comes in twice.
    """
    from memory_butler.companions.former import read_card

    if not file.exists():
        raise InvalidInput(f"there is no file {file}")
    with _left_as_it_was(place, whose):
        if (card := read_card(file)) is not None:
            _become(place, whose, card)
            return
        try:
            found, done = _taken_in(place, whose, file)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(GOES_ON) from None
    known = f", {done.known:,} were there already or were erased" if done.known else ""
    resumed = f" after line {done.resumed:,}" if done.resumed else ""
    print(f"Imported {counted(done.added, 'message')}{resumed}{known}.")
    if done.on_mind:
        print(
            f"{counted(done.on_mind, 'thing', 'are')} on its mind again: plans, pins and the like."
        )
    if done.added:
        print(f"They are history: `{typed('maintain bootstrap', place, whose)}` compiles them.")
    if found is None:
        return
    if found.left_out:
        print(f"Left out: {all_counted(found.left_out)}.")
    for bad in found.bad:
        complain(f"{bad.file}, line {bad.number}: {bad.reason}")
    if found.bad:
        raise typer.Exit(BY_CODE["invalid_input"].exit_code)


def _taken_in(place: Place, whose: str, file: Path) -> "tuple[Former | None, Imported]":
    from memory_butler.companions.former import Roles, former_conversation
    from memory_butler.journal.importing import import_lines

    def say(lines: int) -> None:
        if sys.stderr.isatty():
            print(f"\r{lines:,} lines", end="", file=sys.stderr, flush=True)

    with companion(place, whose, create=True) as one:
        roles = Roles(one.policy.user_actors[0], one.policy.assistant_actors[0])
        found = former_conversation(file, roles, one.policy.zone, one.live.clock())
        if found is None and not file.is_file():
            raise InvalidInput(f"{file} holds no conversation of a known program")
        source = file if found is None else found.lines
        done = import_lines(one.file, source, progress=say)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    return found, done


@contextmanager
def _left_as_it_was(place: Place, whose: str) -> Iterator[None]:
    """Delete a journal that the block made, where nothing came into it."""
    from memory_butler.companions.opening import is_unused
    from memory_butler.journal.erasing import erase_journal
    from memory_butler.journal.file import journal_path

    path = journal_path(place.settings().data_dir, place.principal().tenant, whose)
    there = path.exists()
    try:
        yield
    finally:
        if not there and path.exists():
            with companion(place, whose) as one:
                unused = is_unused(one)
            if unused:
                erase_journal(path)


def _messages(place: Place, whose: str) -> int | None:
    """How many messages a journal has; None where it cannot be opened for want of its key."""
    try:
        with companion(place, whose) as one:
            return one.live.extent()[0]
    except ConfigurationError:
        return None


def _become(place: Place, whose: str, card: "Card") -> None:
    from dataclasses import replace

    from memory_butler.journal.introduction import (
        MAX_NAME_CHARS,
        introduce,
        introduction_of,
        name_of,
    )
    from memory_butler.journal.texts import WAKE, describe

    with companion(place, whose, create=True) as one:
        given = introduction_of(one.file)
        taken = [given.user] if given.user else []
        given = replace(given, name=name_of(card.name[:MAX_NAME_CHARS], taken) or given.name)
        written = introduce(one.file, given, one.live.clock())
        described = written is not None and describe(one.file.texts_dir, card.description)
        greets = bool(card.greeting) and not one.live.events(limit=1)
        if greets:
            one.live.log(card.greeting, one.policy.assistant_actors[0])
        place_of_text = one.file.texts_dir / WAKE
    print(f"The companion {whose} is {given.name} now.")
    if not described:
        print(f"{place_of_text} is yours: put what the card says of it there yourself:\n")
        print(card.description)
    if greets:
        print("Its greeting is the first message of the log.")


def export(
    place: Place,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Where to; - is standard output.")
    ] = Path("-"),
    force: Force = False,
    whose: Whose = DEFAULT,
) -> None:
    """Write every message as a line of JSON, with its picture and what it brought to mind.

    `journal import` reads it, and keeps plans and pins again. It is not encrypted, whether the
    journal is or not. Fragments are not in it: `memory-butler backup` keeps the whole journal.
    """
    from memory_butler.files import is_stream, replaced
    from memory_butler.journal.importing import export_lines

    count = 0
    with companion(place, whose) as one:
        if one.file.is_sealed:
            note("The journal is encrypted; what is exported is not.")
        if str(file) in STANDARD_OUTPUT:
            for line in export_lines(one.file):
                print(line)
            return
        refuse_existing(file, force=force)
        try:
            with file.open("wb") if is_stream(file) else replaced(file) as out:
                for line in export_lines(one.file):
                    out.write(line.encode() + b"\n")
                    count += 1
        except OSError as error:
            raise unwritable(file, error) from None
    print(f"Wrote {counted(count, 'message')} to {file}.")


def delete(
    place: Place,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    whose: Whose = DEFAULT,
) -> None:
    """Delete a companion's journal for good: messages, working memory, fragments, texts.

    Episodes that its sessions became in memory stay: `memory-butler erase --session` takes these.
    One message alone: `memory-butler erase --message`, which also certifies it.
    """
    from memory_butler.companions.opening import unknown
    from memory_butler.journal.erasing import erase_journal
    from memory_butler.journal.file import journal_path, refuse_frozen

    data_dir, tenant = place.settings().data_dir, place.principal().tenant
    path = journal_path(data_dir, tenant, whose)
    if not path.is_file():
        raise unknown(data_dir, tenant, whose)
    messages = _messages(place, whose)
    told = f"the journal of {whose}"
    if messages is not None:
        told += f", {counted(messages, 'message')}"
    if not yes:
        if not sys.stdin.isatty():
            raise InvalidInput("not a terminal; rerun with --yes")
        if not typer.confirm(f"Delete {told}?"):
            print("Nothing was deleted.")
            return
    refuse_frozen(path)
    erase_journal(path)
    print(f"Deleted {told}.")


def maintain(
    place: Place,
    run_type: Annotated[
        str, typer.Argument(metavar="TYPE", help="weekly, monthly, manual or bootstrap.")
    ] = "manual",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would change, and change nothing.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    whose: Whose = DEFAULT,
    named: ModelName = None,
    script: Script = None,
) -> None:
    """Let a model compile what was said since the last run into fragments.

    It shows what it would change, and asks. monthly reviews and prunes as well; bootstrap reads the
    log from its beginning.
    """
    from memory_butler.companions.maintaining import preview, run_maintenance
    from memory_butler.domain.choices import choose
    from memory_butler.journal.fragments import RUN_TYPES

    kind: RunType = choose(run_type, RUN_TYPES, "run type")
    if not (yes or dry_run or sys.stdin.isatty()):
        raise InvalidInput("not a terminal; rerun with --yes, or look first with --dry-run")
    settings = place.settings()
    config = settings.memory.journal
    asked = model(settings, named, script)
    with companion(place, whose, settings) as one:
        if dry_run:
            show_proposal(complete(preview(one, asked, config, kind, _progress)))
            print("Nothing was changed.")
            return
        agrees = _shown if yes else _confirmed
        run_id, done = complete(
            run_maintenance(one, asked, config, kind, progress=_progress, agrees=agrees)
        )
    if done is None:
        print(f"Nothing was changed. The messages stay unread; run {run_id} has no end.")
        return
    print(f"Run {run_id} is done; `{typed(f'undo {run_id}', place, whose)}` takes it back.")


def runs(
    place: Place,
    run_id: Annotated[
        int | None, typer.Argument(metavar="RUN", help="Show what this run changed.")
    ] = None,
    whose: Whose = DEFAULT,
    as_json: AsJson = False,
) -> None:
    """List the maintenance runs, newest first; one that crashed has no end."""
    from memory_butler.operations.fragments import RunInput, run_of, runs_of
    from memory_butler.surfaces.cli.answers import console, table

    settings = place.settings()
    with companion(place, whose, settings) as one:
        if run_id is not None:
            if as_json:
                print_json(run_of(one, RunInput(run_id=run_id)))
            else:
                show_differences(one.desk.changes(run_id))
            return
        has_model = _has_model(settings)
        found = runs_of(one, 100, settings.memory.journal, has_model=has_model)
    if as_json:
        print_json(found)
        return
    made = table("Run>", "Type", "Began (UTC)", "State", "Messages>", "Tokens>", "Told")
    for row in found.runs:
        made.add_row(
            str(row.id),
            row.run_type,
            f"{row.started_at:%Y-%m-%d %H:%M}",
            row.state,
            f"{row.events:,}",
            f"{row.tokens_in + row.tokens_out:,}",
            clean(row.message or "").replace("[", r"\["),
        )
    if found.runs:
        console().print(made)
    unread, upkeep = found.unread, found.upkeep
    waiting = counted(unread, "message", "are") if unread < 1_000 else "1,000 or more messages are"
    print(f"{waiting} not compiled yet.")
    if upkeep.waits is not None:
        print(f"Nothing is compiled by itself now: {upkeep.waits}.")
    else:
        print(
            f"It runs by itself after {counted(upkeep.after_messages, 'message')}, and at the end "
            "of a conversation."
        )
    print(f"Within 24 hours runs took {upkeep.used:,} of {upkeep.budget:,} tokens.")


def _has_model(settings: "Settings") -> bool:
    try:
        model(settings, None, None)
    except ConfigurationError:
        return False
    return True


def undo(
    place: Place,
    run_id: Annotated[int, typer.Argument(metavar="RUN", help="Its number, as in `runs`.")],
    whose: Whose = DEFAULT,
) -> None:
    """Take back what a maintenance run changed."""
    with companion(place, whose) as one:
        again, back = one.desk.undo(run_id)
        show_differences(back)
    print(f"Took back run {run_id}, as run {again}.")


def show_proposal(proposal: "Proposal") -> None:
    """What a run would change, what it refused, and what it took."""

    show_differences(proposal.differences)
    for refused in proposal.report.refused:
        print(clean(f"! refused: {refused}"))
    report = proposal.report
    cost = "" if report.cost_usd is None else f", ${report.cost_usd:.4f}"
    print(
        clean(
            f"{counted(report.events, 'message')} read by {report.model}, "
            f"{report.tokens_in + report.tokens_out:,} tokens{cost}; {report.message}."
        )
    )


def show_differences(differences: "Sequence[Difference]") -> None:
    """A difference, coloured on a terminal."""

    if not differences:
        print("No fragment changes.")
    for one in differences:
        for line in one.lines():
            said = clean(line)
            if sys.stdout.isatty():
                said = typer.style(said, fg="green" if line.startswith("+") else "red")
            print(said)


def _progress(events: int, operations: int) -> None:
    if sys.stderr.isatty():
        said = f"\r{events:,} messages read, {operations:,} changes proposed"
        print(said, end="\n", file=sys.stderr, flush=True)


def _shown(proposal: "Proposal") -> bool:
    show_proposal(proposal)
    return True


def _confirmed(proposal: "Proposal") -> bool:
    show_proposal(proposal)
    return typer.confirm("Carry this out?", default=False)
