"""Backup of the whole installation, all tenants, and its restoration."""

import json
from datetime import UTC
from pathlib import Path
from typing import Annotated

import typer

from memory_butler.domain.errors import InvalidInput
from memory_butler.surfaces.cli.counting import counted
from memory_butler.surfaces.cli.examples import epilog
from memory_butler.surfaces.cli.place import AsJson, Place, complete, require_address
from memory_butler.surfaces.cli.problems import complain

BACKUP_EXAMPLES = epilog(
    "memory-butler backup backups/",
    "memory-butler backup memory.tar",
    "memory-butler backup memory.tar --admin-dsn postgresql://postgres:secret@db/butler_memory",
)
RESTORE_EXAMPLES = epilog(
    "memory-butler restore-backup memory.tar",
    "memory-butler restore-backup memory.tar --replace",
)

AdminDsn = Annotated[
    str | None,
    typer.Option(
        metavar="DSN",
        help="With your own PostgreSQL server: a login that may create databases and roles.",
    ),
]


def backup(
    place: Place,
    target: Annotated[
        Path, typer.Argument(metavar="FILE|FOLDER", help="Where to; a folder gets a dated file.")
    ],
    admin_dsn: AdminDsn = None,
    check: Annotated[
        bool,
        typer.Option("--check/--no-check", help="Restore it into a scratch database and compare."),
    ] = True,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Write over a file that is there.")
    ] = False,
    plain: Annotated[
        bool, typer.Option("--plain", help="Do not encrypt it, although keys are set up.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Back up the database of all tenants and the journals to one file, while serving.

    What the file holds is of one moment. It appears when it is whole and was checked; Ctrl-C leaves
    nothing. Where keys are set up (memory-butler keys init) it is encrypted, and unreadable
    without the keys. Otherwise whoever gets the file can read it.
    """
    from memory_butler.backup.making import back_up
    from memory_butler.engine.memory import utc_now

    if target.is_file() and not overwrite:
        raise InvalidInput(f"{target} already exists: choose another name, or --overwrite")
    if not target.absolute().parent.is_dir():
        raise InvalidInput(f"no such folder: {target.absolute().parent}")
    made = complete(
        back_up(
            place.settings(),
            target,
            utc_now(),
            admin_dsn=checked(admin_dsn),
            check=check,
            plain=plain,
            tell=complain,
        )
    )
    found = made.manifest
    if not made.keys_exported:
        complain("The keyring has changed since it was exported: memory-butler keys export FILE")
    if as_json:
        answer = {"path": str(made.path), "checked": made.checked, "encrypted": made.sealed}
        print(json.dumps(answer | found.model_dump(mode="json"), indent=2))
        return
    verdict = "checked by restoring it" if made.checked else "not checked"
    size = made.path.stat().st_size / 1e6
    if plain:
        complain("Whoever gets this file can read it, and erasing a tenant does not reach it.")
    rows, tenants = counted(found.rows(), "row"), counted(len(found.tenants()), "tenant")
    print(f"{made.path}: {rows} of {tenants}, {size:.1f} MB,")
    readable = "encrypted" if made.sealed else "not encrypted"
    print(f"  {readable}, {verdict}. Restore it: memory-butler restore-backup {made.path}")


def restore_backup(
    place: Place,
    source: Annotated[Path, typer.Argument(metavar="FILE", help="What `backup` wrote.")],
    admin_dsn: AdminDsn = None,
    replace: Annotated[
        bool,
        typer.Option("--replace", help="Take the place of what is there, which is kept aside."),
    ] = False,
) -> None:
    """Restore a backup, of this version or an older one, also of another version of PostgreSQL.

    It is loaded aside, compared, and put in place at once; stop the server first. A database that
    holds memories is left alone unless --replace is given.
    """
    from memory_butler.backup.restoring import restore
    from memory_butler.engine.memory import utc_now

    if not source.is_file():
        raise InvalidInput(f"no such file: {source}")
    done = complete(
        restore(
            place.settings(),
            source,
            utc_now(),
            admin_dsn=checked(admin_dsn),
            replace=replace,
            tell=complain,
        )
    )
    made = done.manifest
    rows = sum(count for count, _ in done.counts.values())
    tenants = len(made.tenants()) - len(done.left_out)
    made_at = f"{made.made_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    print(f"Restored {counted(rows, 'row')} of {counted(tenants, 'tenant')}, as of {made_at}.")
    for tenant in done.left_out:
        print(f"  Tenant {tenant} was erased, and its key destroyed: nothing of it was restored.")
    if done.kept_database:
        print(f"  The former database is kept as {done.kept_database}; drop it when all is well.")
    if done.kept_journals:
        print(f"  The former journals are kept in {done.kept_journals}.")
    print("  The event log may be older than its last checkpoint. For each tenant:")
    print("  memory-butler audit --accept --tenant <name>")
    if admin_dsn is not None:
        complain("Serve with this DSN; a password that is left out is the role's former one:")
        print(done.runtime_dsn)


def checked(admin_dsn: str | None) -> str | None:
    """The option as it was given; `ConfigurationError` where it is no address."""
    require_address("--admin-dsn", admin_dsn)
    return admin_dsn
