"""Facts as Markdown notes that people edit."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memory_butler.domain.errors import ConfigurationError
from memory_butler.surfaces.cli.counting import counted
from memory_butler.surfaces.cli.examples import epilog
from memory_butler.surfaces.cli.place import Place, tell_unknown_tenant, with_memory
from memory_butler.surfaces.cli.problems import complain

if TYPE_CHECKING:
    from memory_butler.engine.memory import Memory
    from memory_butler.integrations.markdown_folder import Report

EXAMPLES = epilog(
    "memory-butler sync ~/notes/memory",
    "memory-butler sync ~/notes/memory --dry-run",
    "memory-butler sync ~/notes/memory --check",
)


def sync(
    place: Place,
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="A folder for these notes alone.")
    ],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would change; write nothing.")
    ] = False,
    check: Annotated[
        bool,
        typer.Option("--check", help="As --dry-run; exit code 1 where anything is out of step."),
    ] = False,
    forget_many: Annotated[
        bool,
        typer.Option("--forget-many", help="Also where more than half of the facts are missing."),
    ] = False,
) -> None:
    """Keep the facts as Markdown notes that you may edit: one pass, in both directions.

    Change a line, and the fact is edited on your word; delete it, and the fact is forgotten (`undo`
    takes it back); add `- predicate: content` below "## Facts", and it is stored. Where both sides
    changed, memory keeps its value, and your line stays below it as a conflict.
    """
    from memory_butler.client import MemoryClient
    from memory_butler.integrations import markdown_folder

    async def use(memory: "Memory") -> "Report":
        if memory.data_dir is None:
            raise ConfigurationError("sync needs a data directory; set MEMORY_BUTLER_DATA_DIR")
        who = place.principal()
        report = await markdown_folder.sync(
            # A standby may not have yet what this pass has just changed.
            MemoryClient.of(replace(memory, replica=None), who),
            folder,
            markdown_folder.Owner(markdown_folder.installation_id(memory.data_dir), who.tenant),
            dry_run=dry_run or check,
            forget_many=forget_many,
        )
        if report.in_step:
            await tell_unknown_tenant(memory, place)
        return report

    report = with_memory(place, use, create=not (dry_run or check))
    _show(report)
    if dry_run and not report.in_step:
        print("Dry run: nothing was written.")
    if check and not report.in_step:
        raise typer.Exit(1)


def _show(report: "Report") -> None:
    for one in report.changes:
        where = f"{one.path}:{one.index + 1}: " if one.path else ""
        said = f": {one.content}" if one.content else ""
        print(f"{where}{one.act} {one.subject} · {one.predicate}{said}")
    for path, written in report.notes.items():
        print(f"{path}: note {written}")
    for problem in report.problems:
        line = f":{problem.line}" if problem.line else ""
        complain(f"{problem.path}{line}: left alone: {problem.why}")
    if report.conflicts:
        waiting = counted(report.conflicts, "conflict", "wait")
        complain(f"{waiting} in the notes; search for [!conflict]")
    if report.in_step:
        print("Up to date.")
