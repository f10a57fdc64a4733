"""Spreading the tables over machines by tenant, with Citus."""

from typing import Annotated

import typer

from memory_butler.domain.errors import ConfigurationError
from memory_butler.surfaces.cli.examples import epilog
from memory_butler.surfaces.cli.place import Place, complete, require_address
from memory_butler.surfaces.cli.problems import complain

EXAMPLES = epilog(
    "memory-butler distribute --dry-run",
    "memory-butler distribute --admin-dsn postgresql://postgres:secret@coordinator/butler_memory",
    "memory-butler distribute --check",
)


def distribute(
    place: Place,
    admin_dsn: Annotated[
        str | None,
        typer.Option(
            help="A superuser's login at the coordinator; it is used now and not kept.",
            metavar="DSN",
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the SQL, and change nothing.")
    ] = False,
    check: Annotated[
        bool,
        typer.Option("--check", help="Say what a worker lacks, as after one was added."),
    ] = False,
) -> None:
    """Make the tables distributed ones of Citus, by tenant.

    Safe to repeat, after a failure too: what is distributed is left alone, and workers are given
    what they lack. What Citus does not do is told in docs/scaling.md.
    """
    from memory_butler.engine.distribution import check as lacking
    from memory_butler.engine.distribution import distribute as run
    from memory_butler.engine.distribution import plan

    require_address("--admin-dsn", admin_dsn)
    settings = place.settings()
    if check:
        found = complete(lacking(settings, admin_dsn))
        for worker, lines in found.items():
            print("".join(f"{worker} lacks {line}\n" for line in lines), end="")
        if found:
            raise ConfigurationError("run `memory-butler distribute` again, which gives it to them")
        complain("Every worker has what it needs.")
        return
    if dry_run:
        statements = complete(plan(settings, admin_dsn))
        lines = ["BEGIN", *statements, "COMMIT"] if statements else []
        print("".join(f"{line};\n" for line in lines), end="")
    else:
        statements = complete(run(settings, admin_dsn))
        for statement in statements:
            print(f"{statement};")
    if not statements:
        complain("Every table is distributed already.")
