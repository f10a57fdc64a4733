"""Looking for secrets that memory took in."""

import sys
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from memory_butler.surfaces.cli.as_json import print_json
from memory_butler.surfaces.cli.cleaning import short
from memory_butler.surfaces.cli.counting import counted
from memory_butler.surfaces.cli.examples import epilog
from memory_butler.surfaces.cli.place import AsJson, Place, tell_unknown_tenant, with_memory

if TYPE_CHECKING:
    from memory_butler.engine.memory import Memory
    from memory_butler.engine.secret_scan import ScanReport
    from memory_butler.engine.unmask_keys import UnmaskKey

EXAMPLES = epilog("memory-butler scan-secrets", "memory-butler scan-secrets --mask")


def scan_secrets(
    place: Place,
    mask: Annotated[
        bool,
        typer.Option("--mask", help="Mask what is found; for an hour it can be restored."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Find keys, tokens, cards and passwords in what is stored.

    Reads the episodes, facts and rules of a tenant, in whatever state they are, their past states,
    and entities. Shows each text with its secrets masked.
    """
    from memory_butler.engine.secret_scan import NOT_SCANNED, scan_secrets
    from memory_butler.engine.unmask_keys import UnmaskKey

    key = UnmaskKey() if mask else None

    async def use(memory: "Memory") -> "ScanReport":
        await tell_unknown_tenant(memory, place)
        return await scan_secrets(memory, place.principal(), key)

    try:
        report = with_memory(place, use)
    except BaseException:
        _tell_key(place, key, sys.stderr)  # of what was masked until then
        raise
    if as_json:
        _print_json(report, key)
        return
    _print(report)
    if report.masked:
        print(f"Masked: {report.masked:,}.")
        _tell_key(place, key, sys.stdout)
    elif report.found and not mask:
        print("Nothing was changed; --mask masks them.")
    if any(one.left for one in report.found):
        print(
            "What says where it stands, masking leaves: edit the fact, or use memory-butler erase."
        )
    print(f"Not scanned: {NOT_SCANNED}.")


def _tell_key(place: Place, key: "UnmaskKey | None", file: TextIO) -> None:
    command = None if key is None else key.command(place.tenant)
    if command is not None:
        print(f"For an hour, `{command}` restores what was masked.", file=file)


def _print_json(report: "ScanReport", key: "UnmaskKey | None") -> None:

    found = [
        {
            "memory_type": one.memory_type,
            "id": str(one.id),
            "kinds": dict(one.kinds),
            "text": one.text,
            "left": one.left,
        }
        for one in report.found
    ]
    answer = {
        "scanned": report.scanned,
        "masked": report.masked,
        "found": found,
        "private": dict(report.private),
        "unmask_key": None if key is None else key.told,
    }
    print_json(answer)


def _print(report: "ScanReport") -> None:
    from rich.text import Text

    from memory_butler.engine.screening import listed
    from memory_butler.surfaces.cli.answers import console, table

    if report.found:
        made = table("Memory", "Found", "Says")
        for one in report.found:
            where = "" if one.left is None else f"\n{one.left}"
            made.add_row(
                f"{one.memory_type}\n{one.id}", f"{listed(one.kinds)}{where}", Text(short(one.text))
            )
        console().print(made)
    count = len(report.found)
    print(f"Read {counted(report.scanned, 'text')}: {count or 'none'} with secrets.")
    if report.private:
        print(f"Kept as they are, because a household needs them: {listed(report.private)}.")
