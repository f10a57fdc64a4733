"""The database: preparing your own, and opening it."""

import asyncio
import os
import signal
from typing import Annotated

import typer

from memory_butler.domain.choices import choose
from memory_butler.domain.errors import ConfigurationError
from memory_butler.surfaces.cli.examples import epilog
from memory_butler.surfaces.cli.place import Place, complete, require_address
from memory_butler.surfaces.cli.problems import complain

INIT_EXAMPLES = epilog(
    "memory-butler db init --admin-dsn postgresql://postgres:secret@db/butler_memory",
    "memory-butler serve --dsn <the line that it prints>",
)
PSQL_EXAMPLES = epilog(
    "memory-butler psql",
    'memory-butler psql -c "SELECT subject, predicate, content FROM facts"',
    "memory-butler psql --role owner -- --csv -c 'SELECT DISTINCT tenant_id FROM facts'",
)
PREVIEW_EXAMPLES = epilog("memory-butler db preview")
URL_EXAMPLES = epilog('pg_dump "$(memory-butler db-url --role owner)" > memory.sql')

_ROLES = ("runtime", "owner")
Role = Annotated[
    str,
    typer.Option(
        help="runtime sees the rows of --tenant, owner those of all.",
        metavar="runtime|owner",
        autocompletion=lambda: list(_ROLES),
    ),
]


def init(
    place: Place,
    admin_dsn: Annotated[
        str,
        typer.Option(
            help="A login that may make roles and extensions; it is used now and not kept.",
            metavar="DSN",
        ),
    ],
    runtime_password_env: Annotated[
        str | None,
        typer.Option(
            help="The environment variable with the runtime role's password; else one is made up.",
            metavar="VARIABLE",
        ),
    ] = None,
) -> None:
    """Create roles and schema in your own PostgreSQL database; print the DSN to serve with.

    Safe to repeat, and what to run after an update. A password that you give is not printed.
    """
    from memory_butler.engine.administration import prepare_database

    require_address("--admin-dsn", admin_dsn)
    password = None
    if runtime_password_env is not None:
        password = os.environ.get(runtime_password_env)
        if not password:
            raise ConfigurationError(f"the environment variable {runtime_password_env} is not set")
    prepared = complete(prepare_database(admin_dsn, password))
    if runtime_password_env is not None:
        complain(f"The database is ready. The DSN, without the password of {runtime_password_env}:")
        print(prepared.without_password)
        return
    if prepared.has_password:
        complain("The database is ready. Keep this DSN, it is not shown again:")
    else:
        complain("The database is ready. The role keeps its password, which is left out here:")
    print(prepared.runtime_dsn)


def preview(place: Place) -> None:
    """Show what an update would change in stored data, and change nothing.

    Run it with the new version before you serve with it. With --dsn, an administrator's login.
    """
    from memory_butler.engine.administration import preview_update

    seen = complete(preview_update(place.settings()))
    if not seen.steps:
        print("The database is up to date.")
        return
    print("The update has these steps:")
    for step in seen.steps:
        print(f"  {step}")
    if not seen.changes:
        print("It changes no memory.")
        return
    print(f"It supersedes {len(seen.changes)} of the facts; each can be looked up later:")
    for one in seen.changes:
        print(f"  {one['tenant_id']}: {one['subject']} | {one['predicate']}: {one['content']}")
        print(f"    in favour of: {one['kept_content']}")


def psql(
    place: Place,
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ARGS", help="What psql is to be told; put -- before it if in doubt."
        ),
    ] = None,
    role: Role = "runtime",
) -> None:
    """Open psql on the database.

    The runtime role sees one tenant's rows and may do what the server may; the owner sees and may
    do everything. With --dsn, the owner's needs the login of an administrator.
    """
    raise typer.Exit(asyncio.run(_psql(place, role, arguments or [])))


async def _psql(place: Place, role: str, arguments: list[str]) -> int:
    from memory_butler.engine.administration import ROLES, database_login, psql_command

    wanted = choose(role, ROLES, "role")
    async with database_login(place.settings(), wanted, place.tenant) as dsn:
        command, environment = psql_command(dsn)
        # Ctrl-C is for psql, which cancels a query with it. Not SIG_IGN, which psql would inherit.
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, lambda: None)
        child = await asyncio.create_subprocess_exec(*command, *arguments, env=environment)
        return await child.wait()


def url(place: Place, role: Role = "runtime") -> None:
    """Print a DSN for psql, pg_dump or a program, with its password.

    It works while something keeps the embedded database running: `memory-butler serve`, or another
    command. Nothing runs when this command has ended alone.
    """
    print(complete(_url(place, role)))
    complain("It holds a password. With the embedded database it works while that runs: serve it.")


async def _url(place: Place, role: str) -> str:
    from memory_butler.engine.administration import ROLES, database_login

    async with database_login(place.settings(), choose(role, ROLES, "role"), place.tenant) as dsn:
        return dsn
