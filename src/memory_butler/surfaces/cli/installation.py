"""The installation itself: what is wrong with it, its model, its version."""

import asyncio
import json
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from memory_butler import __version__
from memory_butler.domain.errors import ConfigurationError
from memory_butler.surfaces.cli.cleaning import clean
from memory_butler.surfaces.cli.place import AsJson, Place, complete
from memory_butler.surfaces.errors import BY_CODE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from memory_butler.config import Settings
    from memory_butler.engine.diagnosis import Finding
    from memory_butler.integrations.clients import Program

_MARKS = {"ok": ("✔", "green"), "warning": ("!", "yellow"), "failed": ("✘", "red")}


def doctor(
    place: Place,
    as_json: AsJson = False,
    deep: Annotated[
        bool,
        typer.Option(
            "--deep", help="Read every row and page of the embedded database, too: takes time."
        ),
    ] = False,
) -> None:
    """Say what is wrong with this installation, and the line to type.

    Nothing needs to be working for it, and nothing is changed by it.
    """
    from memory_butler.engine.diagnosis import diagnose, healthy

    settings, problem = _settings(place)
    findings = complete(diagnose(settings, problem, deep=deep))
    findings += _readable("journals", lambda: [_journals(settings)])
    findings += [_upkeep(settings), *_hooks()]
    findings += _readable("connections", lambda: complete(_programs(settings)))
    if as_json:
        rows = [
            {"name": one.name, "state": one.state, "said": one.said, "advice": one.advice}
            for one in findings
        ]
        print(json.dumps({"healthy": healthy(findings), "findings": rows}, indent=2))
    else:
        _print(findings)
    if not healthy(findings):
        raise typer.Exit(BY_CODE["configuration"].exit_code)


def _settings(place: Place) -> "tuple[Settings, str | None]":
    """The settings, or the defaults and what is wrong with those configured."""
    from memory_butler.config import Settings

    try:
        return place.settings(), None
    except ConfigurationError as error:
        # Unchecked, because the environment may be what is wrong.
        defaults = Settings.model_construct()
        if place.data_dir is not None:
            defaults = defaults.model_copy(update={"data_dir": place.data_dir})
        return defaults, str(error)


def _readable(name: str, check: "Callable[[], list[Finding]]") -> "list[Finding]":
    """What a check finds, or what of the data directory it may not read."""
    from memory_butler.engine.diagnosis import broken

    try:
        return check()
    except OSError as error:
        return [broken(name, error)]


def _journals(settings: "Settings") -> "Finding":
    """Whether every journal can be read to its last page, and opened; those not by name."""
    from memory_butler.domain.errors import IntegrityViolation
    from memory_butler.engine.diagnosis import Finding
    from memory_butler.engine.keys import KeysWhenAsked
    from memory_butler.journal import sealing, snapshots

    keys = KeysWhenAsked(settings)
    files = sorted((settings.data_dir / "journal").glob("*/*.sqlite"))
    damaged, locked, plain, sealed = [], [], [], 0
    for file in files:
        name = file.relative_to(settings.data_dir).as_posix()
        try:
            snapshots.check(file)
            mark = sealing.mark_in(file)
            if mark is not None:
                sealing.key_of(file, mark.key, keys)
                sealed += 1
            if mark is None or not mark.scrubbed:
                plain.append(name)
        except IntegrityViolation:
            damaged.append(name)
        except ConfigurationError as error:
            locked.append(str(error))
    if damaged:
        advice = "move it away: the others are not touched, and the next backup has them"
        return Finding("journals", "failed", f"damaged: {', '.join(damaged)}", advice)
    if locked:
        return Finding("journals", "failed", "; ".join(locked), "see docs/backup.md, Encryption")
    said = f"{len(files)}, each read through; {sealed} encrypted"
    if plain and (sealed or _has_keys(settings)):
        said += f", not or not wholly: {', '.join(plain)}"
        return Finding("journals", "warning", said, "memory-butler keys seal-journals")
    return Finding("journals", "ok", said)


def _upkeep(settings: "Settings") -> "Finding":
    """Whether journals are compiled by themselves, and what that may cost."""
    from memory_butler.companions.maintaining import companion_model
    from memory_butler.engine.diagnosis import Finding

    budget = settings.memory.journal.maintenance.daily_token_budget
    if budget == 0:
        return Finding("upkeep", "ok", "off: daily_token_budget is 0")
    try:
        named = companion_model(settings.memory).name
    except ConfigurationError:
        return Finding("upkeep", "ok", "off: journals are compiled once there is a language model")
    said = f"each journal is compiled by {named}, with at most {budget:,} tokens within 24 hours"
    return Finding("upkeep", "ok", said)


def _hooks() -> "list[Finding]":
    """What waits in the spools of the hooks, whether it is encrypted, and what memory refused."""
    from memory_butler.engine.diagnosis import Finding
    from memory_butler.integrations.clients import (
        hook_folders,
        refused_in_hooks,
        waiting_in_hooks,
    )
    from memory_butler.surfaces.cli.counting import counted

    def where(files: "list[Path]") -> str:
        return ", ".join(sorted({str(one.parent) for one in files}))

    findings = []
    folders = hook_folders()
    if waiting := waiting_in_hooks(folders):
        plain = sum(one.suffix == ".json" for one in waiting)
        readable = f"{plain if plain < len(waiting) else ''} not encrypted".strip()
        said = f"{counted(len(waiting), 'episode', 'wait')} in {where(waiting)}, "
        said += readable if plain else "encrypted"
        advice = "memory-butler serve; the next session of their tenant sends them"
        findings.append(Finding("hooks", "warning", said, advice))
    if refused := refused_in_hooks(folders):
        said = f"memory did not take {counted(len(refused), 'episode')} in {where(refused)}"
        findings.append(Finding("hooks", "warning", said, "read and delete them"))
    return findings


async def _programs(settings: "Settings") -> "list[Finding]":
    """Which versions the programs of agents have that are connected from here."""
    from memory_butler.integrations.clients import CLIENTS
    from memory_butler.surfaces.cli.connecting import connections_of

    connected = connections_of(settings)
    known = [
        (client.name, client.program)
        for client in CLIENTS
        if client.program is not None and connected.has(client)
    ]
    return list(await asyncio.gather(*(_program(*one) for one in known)))


async def _program(name: str, program: "Program") -> "Finding":
    from memory_butler.engine.diagnosis import Finding
    from memory_butler.integrations.versions import is_older, version_of

    asked = f"{program.command} --version"
    try:
        version = await version_of(program)
    except FileNotFoundError:
        return Finding(name, "ok", f"connected; {program.command} is not on the PATH")
    if version is None:
        return Finding(name, "warning", f"`{asked}` printed no version", asked)
    if is_older(version, program.oldest):
        said = f"{version} is older than {program.oldest}, the oldest that was tried with memory"
        return Finding(name, "warning", said, program.update)
    return Finding(name, "ok", f"{version}, connected")


def _has_keys(settings: "Settings") -> bool:
    from memory_butler.engine.keys import folder_of
    from memory_butler.vault.keyring import is_there

    return is_there(folder_of(settings.data_dir))


def _print(findings: "list[Finding]") -> None:
    from memory_butler.engine.diagnosis import healthy

    colours = sys.stdout.isatty()
    wide = max(len(one.name) for one in findings)
    for one in findings:
        mark, colour = _MARKS[one.state]
        shown = typer.style(mark, fg=colour) if colours else mark
        print(f"{shown} {one.name:<{wide}}  {clean(one.said)}")
        if one.advice is not None:
            print(f"  {'':<{wide}}  → {clean(one.advice)}")
    failed = sum(one.state == "failed" for one in findings)
    warned = sum(one.state == "warning" for one in findings)
    well = "All is well." if not warned else f"All is well, with {warned} to know of (!)."
    print(f"\n{well}" if healthy(findings) else f"\n{failed} to fix.")


def version() -> None:
    """Show the version."""
    print(f"memory-butler {__version__}")
