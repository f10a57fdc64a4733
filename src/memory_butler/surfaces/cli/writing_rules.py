"""Keeping proven rules in the files that agents read."""

import difflib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memory_butler.domain.errors import InvalidInput, unwritable
from memory_butler.surfaces.cli.counting import counted
from memory_butler.surfaces.cli.examples import epilog
from memory_butler.surfaces.cli.place import Place, tell_unknown_tenant, with_memory

if TYPE_CHECKING:
    from memory_butler.engine.memory import Memory

EXAMPLES = epilog(
    "memory-butler write-rules AGENTS.md CLAUDE.md",
    "memory-butler write-rules ~/.claude/skills/house-rules/SKILL.md --butler concierge",
    "memory-butler write-rules AGENTS.md --check",
)


def write_rules(
    place: Place,
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE…", help="AGENTS.md, CLAUDE.md, SKILL.md, or others."),
    ],
    butler: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="With the rules of this butler, beside those of all."),
    ] = None,
    limit: Annotated[
        int,
        typer.Option(
            metavar="NUMBER", min=1, max=200, help="How many rules; the most effective ones."
        ),
    ] = 50,
    check: Annotated[
        bool,
        typer.Option("--check", help="Write nothing; exit code 1 where a file is out of date."),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the changes; write nothing.")
    ] = False,
) -> None:
    """Write the proven rules into files that agents read, in a block between two marker lines.

    The rest of a file stays as it is, to the byte. A SKILL.md that is not there is made, named like
    its folder. Rules that were imported, or come from a tool or a page, are left out.
    """
    from memory_butler.client import MemoryClient
    from memory_butler.files import rewrite
    from memory_butler.integrations.rules_file import proven_rules, with_rules

    async def use(memory: "Memory") -> list[str]:
        await tell_unknown_tenant(memory, place)
        return await proven_rules(MemoryClient.of(memory, place.principal()), butler, limit)

    rules = with_memory(place, use)
    # All are looked at before the first is written.
    planned = [(file, before := _read(file), with_rules(file, before, rules)) for file in files]
    count = counted(len(rules), "rule")
    outdated = False
    for file, before, after in planned:
        if after is None:
            print(f"{file}: not made, because no rule is proven yet")
        elif after == before:
            print(f"{file}: up to date, {count}")
        elif check or dry_run:
            outdated = True
            print(f"{file}: out of date" if check else _diff(file, before, after))
        else:
            try:
                rewrite(file, after, new_mode=0o644)
            except OSError as error:
                raise unwritable(file, error) from None
            print(f"{file}: {count} written")
    if check and outdated:
        raise typer.Exit(1)


def _read(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InvalidInput(f"{file} cannot be read: {error.strerror}") from None


def _diff(file: Path, before: bytes | None, after: bytes) -> str:
    lines = difflib.unified_diff(
        (before or b"").decode().splitlines(),
        after.decode().splitlines(),
        "/dev/null" if before is None else str(file),
        str(file),
        lineterm="",
    )
    return "\n".join(lines)
