"""Backup of the whole installation, all tenants, and its restoration."""

import json
import os
import sys
from collections.abc import Collection
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from memory_butler.domain.errors import (
    DISK_ERRORS,
    ConfigurationError,
    InvalidInput,
    Unavailable,
    unwritable,
)
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

DROP_EXAMPLES = epilog("memory-butler db drop-former")

AdminDsn = Annotated[
    str | None,
    typer.Option(
        metavar="DSN",
        help="With your own PostgreSQL server: a login that may create databases and roles.",
    ),
]


def backup(
    place: Place,
    name: Annotated[
        str, typer.Argument(metavar="FILE|FOLDER", help="Where to; a folder gets a dated file.")
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

    target = Path(name)
    # A path drops the slash: a disk that is not mounted would get a file in the folder's place.
    if name.endswith(os.sep) and not target.is_dir():
        raise InvalidInput(f"no such folder: {name}")
    if target.is_file() and not overwrite:
        raise InvalidInput(f"{target} already exists: choose another name, or --overwrite")
    if not target.absolute().parent.is_dir():
        raise InvalidInput(f"no such folder: {target.absolute().parent}")
    settings, admin = place.settings(), checked(admin_dsn)
    making = back_up(
        settings, target, utc_now(), admin_dsn=admin, check=check, plain=plain, tell=complain
    )
    try:
        made = complete(making)
    except OSError as error:
        folder = (target if target.is_dir() else target.parent).absolute()
        if error.filename is None and error.errno in DISK_ERRORS:
            raise Unavailable(
                f"{error.strerror}: a backup needs room in {folder} and in {settings.data_dir}"
            ) from None
        if error.filename is None or not Path(error.filename).absolute().is_relative_to(folder):
            raise
        raise unwritable(target, error) from None
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
        why = "is a folder; name the file in it" if source.is_dir() else "is not there"
        raise InvalidInput(f"{source} {why}")
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
        print(f"  The former database is kept as {done.kept_database}.")
    if done.kept_journals:
        print(f"  The former journals are kept in {done.kept_journals}.")
    if done.kept_database or done.kept_journals:
        print("  When all is well, delete what is kept: memory-butler db drop-former")
    for token in done.still_revoked:
        print(f"  Token {token} was revoked since, and stays so.")
    for tenant, where in done.moved:
        print(f"  Tenant {tenant} has moved to {where} since, and is here again. Use it there:")
        print(f"  memory-butler erase --everything --tenant {tenant}")
    _tell_erased(place, done.manifest.made_at, done.left_out)
    print("  The event log may be older than its last checkpoint. For each tenant:")
    print("  memory-butler audit --accept --tenant <name>")
    if admin_dsn is not None:
        complain("Serve with this DSN; a password that is left out is the role's former one:")
        print(done.runtime_dsn)


def drop_former(
    place: Place,
    admin_dsn: AdminDsn = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Delete for good what restores have kept: the former databases and journals.

    Erasing does not reach them, so delete them once you need them no more.
    """
    complete(_drop_former(place, checked(admin_dsn), yes=yes))


async def _drop_former(place: Place, given: str | None, *, yes: bool) -> None:
    from memory_butler.engine import leftovers
    from memory_butler.engine.opening import open_database

    settings = place.settings()
    async with open_database(settings, create=False) as database:
        admin = given or database.admin_dsn
        if admin is None:
            raise ConfigurationError("with your own PostgreSQL server this needs --admin-dsn")
        found = await leftovers.kept(settings.data_dir, admin)
        names = [*found.databases, *map(str, found.folders)]
        if not names:
            print("No restore has kept anything.")
            return
        for name in names:
            print(f"goes   {name}")
        if not yes:
            if not sys.stdin.isatty():
                raise InvalidInput("not a terminal; rerun with --yes")
            if not typer.confirm("Delete this for good?"):
                print("Nothing was deleted.")
                return
        await leftovers.delete_kept(found, admin)
    print("Deleted.")


def _tell_erased(place: Place, made_at: datetime, left_out: Collection[str]) -> None:
    """Nothing else would say that what a person had erased is back."""
    from memory_butler.erasure.certificate import since
    from memory_butler.surfaces.cli.erasing import command_of

    again = dict.fromkeys(
        command_of(one["target"], one["tenant"])
        for one in since(place.settings().data_dir, made_at)
        if one["tenant"] not in left_out
    )
    if again:
        print("  Erased since this backup, and back where it was in it. Erase it again:")
        for command in again:
            print(f"  {command}")


def checked(admin_dsn: str | None) -> str | None:
    """The option as it was given; `ConfigurationError` where it is no address."""
    require_address("--admin-dsn", admin_dsn)
    return admin_dsn
