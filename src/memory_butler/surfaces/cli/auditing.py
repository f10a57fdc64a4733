"""Checking the event log."""

import io
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memory_butler.domain.errors import InvalidInput, unwritable
from memory_butler.files import replaced
from memory_butler.surfaces.cli.counting import counted
from memory_butler.surfaces.cli.examples import epilog
from memory_butler.surfaces.cli.exporting import apart_from_the_database
from memory_butler.surfaces.cli.place import AsJson, Place, tell_unknown_tenant, with_memory
from memory_butler.surfaces.cli.problems import complain

if TYPE_CHECKING:
    from memory_butler.audit import Report
    from memory_butler.engine.memory import Memory

EXAMPLES = epilog(
    "memory-butler audit",
    "memory-butler audit --checkpoint /media/usb/checkpoint.json",
    "memory-butler audit --export log.jsonl",
)


def audit(
    place: Place,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A checkpoint kept elsewhere: compared, and renewed if the log is whole.",
        ),
    ] = None,
    export: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the log for an offline check instead."),
    ] = None,
    accept: Annotated[
        bool,
        typer.Option(
            "--accept",
            help="Let the log count from here, after a restored backup or a change of keys.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check that nobody changed the event log outside of Memory Butler.

    Finds events that were changed, dropped, inserted or reordered, a log that was cut off and a
    clock that was set back, and says where. Exit code 1: something was found.
    """
    from memory_butler.audit import shown
    from memory_butler.engine import sealing

    who = place.principal()

    async def check(memory: "Memory") -> "Report":
        await tell_unknown_tenant(memory, place)
        if accept:
            await sealing.accept(memory, who.tenant)
        else:
            await _tell_other_keys(memory, who.tenant)
        return await sealing.audit(memory, who, checkpoint)

    if export is not None:
        _export(place, export, accept=accept)
        return
    _require_folder(checkpoint)
    is_new = checkpoint is not None and not checkpoint.exists()
    try:
        found = with_memory(place, check)
    except OSError as error:
        if checkpoint is None or error.filename != str(checkpoint):
            raise  # of the data folder
        raise unwritable(checkpoint, error) from None
    if checkpoint is not None and is_new:
        now = "the latest one is there now" if checkpoint.exists() else "none was written"
        complain(f"There was no {checkpoint} to compare the log with; {now}.")
    print(json.dumps(asdict(found), indent=2) if as_json else shown(found))
    if found.breaks:
        raise typer.Exit(1)


async def _tell_other_keys(memory: "Memory", tenant: str) -> None:
    """Say on standard error where every event will look changed, for want of the keys."""
    from memory_butler.engine.opening import OTHER_KEYS_ADVICE, signed_by_others

    keys = memory.audit
    if keys is not None and await signed_by_others(memory.pool, keys, tenant):
        advice = OTHER_KEYS_ADVICE.format(folder=keys.folder)
        complain(
            "Another installation has sealed this log, with other keys than in "
            f"{keys.folder}: {advice}. After a restored backup without those keys, "
            "`memory-butler audit --accept` lets the log count from here."
        )


def _export(place: Place, target: Path, *, accept: bool) -> None:
    """Whole or not at all, and its owner's alone: it holds what the events say."""
    from memory_butler import audit as checker
    from memory_butler.engine import sealing

    who = place.principal()
    _require_folder(target)
    try:
        with replaced(target.absolute()) as raw:
            file = io.TextIOWrapper(raw, encoding="utf-8")

            async def write(memory: "Memory") -> int:
                await tell_unknown_tenant(memory, place)
                if accept:
                    await sealing.accept(memory, who.tenant)
                with apart_from_the_database(file) as output:
                    return await sealing.export(memory, who, output)

            count = with_memory(place, write)
            file.detach()  # written out; `raw` stays open
    except OSError as error:
        if error.filename != str(target.absolute()):
            raise  # of the data folder
        raise unwritable(target, error) from None
    print(
        f"Wrote {counted(count, 'line')} to {target}. To check them offline: "
        f"python {checker.__file__} {target} --key verify.key --checkpoint checkpoint.json"
    )


def _require_folder(file: Path | None) -> None:
    """Raise `InvalidInput` where a file is to lie in a folder that is not there, or mistyped."""
    if file is not None and not (folder := file.absolute().parent).is_dir():
        raise InvalidInput(f"no such folder: {folder}")
