"""Spreading the tables over machines by tenant, with Citus."""

from typing import Annotated

import typer

from memory_butler.domain.errors import ConfigurationError
from memory_butler.surfaces.cli.examples import epilog
from memory_butler.surfaces.cli.place import Place, complete
from memory_butler.surfaces.cli.problems import complain

EXAMPLES = epilog(
    "memory-butler distribute --dry-run",
    "memory-butler distribute --admin-dsn postgresql://postgres:secret@coordinator/butler_memory",
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
) -> None:
    """Make the tables distributed ones of Citus, by tenant. No server runs on them yet.

    All or nothing, and safe to repeat: what is distributed is left alone. What is missing before a
    server can run on it is told in docs/scaling.md.
    """
    from memory_butler.engine.distribution import distribute as run
    from memory_butler.engine.distribution import plan

    if admin_dsn is not None and not admin_dsn.startswith(("postgresql://", "postgres://")):
        raise ConfigurationError("--admin-dsn must look like postgresql://user:password@host/name")
    settings = place.settings()
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
