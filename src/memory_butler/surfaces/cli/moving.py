"""Moving a tenant to another installation."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final
from urllib.parse import parse_qs, urlsplit

import typer

from memory_butler.domain.errors import InvalidInput
from memory_butler.surfaces.cli.counting import counted
from memory_butler.surfaces.cli.examples import epilog
from memory_butler.surfaces.cli.place import Place, complete, folder, require_address
from memory_butler.surfaces.cli.problems import complain
from memory_butler.surfaces.cli.progress import progress

if TYPE_CHECKING:
    from memory_butler.config import Settings
    from memory_butler.moving.moving import Content
    from memory_butler.moving.sides import Side

EXAMPLES = epilog(
    "memory-butler move --tenant acme --to-data-dir /srv/second --preview",
    "memory-butler move --tenant acme --to-data-dir /srv/second",
    "memory-butler move --tenant acme --to-config /srv/cluster/butler.toml",
    "memory-butler move --tenant acme --give-up /srv/second",
    "memory-butler erase --everything --tenant acme",
)


def move(
    place: Place,
    to_data_dir: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="The data folder of the other installation.", parser=folder
        ),
    ] = None,
    to_dsn: Annotated[
        str | None,
        typer.Option(
            metavar="DSN",
            help="Its runtime login, where it has its own PostgreSQL server or a cluster.",
        ),
    ] = None,
    to_config: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Its configuration file, instead of these two."),
    ] = None,
    preview: Annotated[
        bool,
        typer.Option(
            "--preview",
            help="Show what would move, and change nothing. A database that the move would make "
            "or upgrade is not looked at.",
        ),
    ] = False,
    cancel: Annotated[
        bool, typer.Option("--cancel", help="Undo an interrupted move: the tenant stays here.")
    ] = False,
    give_up: Annotated[
        str | None,
        typer.Option(
            metavar="PLACE",
            help="End an interrupted move here: the other installation, named as the refusal "
            "names it, is lost for good. Asks for the tenant's name.",
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Move a tenant to another installation, with its journals and its tokens.

    It takes no writes while it moves. The other installation takes them once everything is copied
    and compared. If a move is interrupted, run the same command again. Afterwards the tokens work
    there and no longer here. What is left here can be read until you erase it:
    `erase --everything`.
    """
    here = place.settings()
    if give_up is not None:
        if cancel or yes or to_data_dir is not None or to_config is not None:
            raise InvalidInput(
                "--give-up goes with --preview and --to-dsn only: it asks for the tenant's name"
            )
        require_address("--to-dsn", to_dsn)
        print(complete(_give_up(place, here, give_up, to_dsn, preview=preview)))
        return
    there = _target(here, to_data_dir, to_dsn, to_config)
    names = _place(here), _place(there)

    async def work() -> str:
        from memory_butler.engine.opening import open_memory
        from memory_butler.moving.moving import Moving
        from memory_butler.moving.sides import Side

        async with open_memory(here, with_model=False, create=False) as one:
            source = Side(one, names[0], place.tenant)
            if not cancel and (preview or not yes):
                if not preview and not sys.stdin.isatty():
                    raise InvalidInput("not a terminal; look with --preview, then rerun with --yes")
                print(await _previewed(place, source, there, names))
                if preview:
                    return "Nothing was changed."
                if not typer.confirm("Move it? It takes no writes until it is there"):
                    return "Nothing was moved."
            async with open_memory(there, with_model=False) as other:
                target = Side(other, names[1], place.tenant)
                with progress("Moving", "row") as told:
                    moving = Moving(source, target, place.principal(), complain, told)
                    if cancel:
                        await moving.cancel()
                        return f"Tenant {place.tenant} stays at {names[0]}."
                    said = _told(await moving.move(), "Moved", *names)
        erasing = f"memory-butler erase --everything --tenant {place.tenant}"
        return f"{said}\nErase what is left: {erasing}"

    try:
        print(complete(work()))
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_GOES_ON.format(tenant=place.tenant)) from None


_GOES_ON: Final = (
    "Where the move had begun, tenant {tenant} takes no writes: the same command goes on, or with "
    "--cancel takes it back."
)


async def _previewed(
    place: Place, source: "Side", there: "Settings", names: tuple[str, str]
) -> str:
    """What would move. A database that is yet to be made or upgraded stays as it is."""
    from memory_butler.engine.keys import KeysWhenAsked
    from memory_butler.engine.opening import is_made, open_memory
    from memory_butler.moving.moving import Moving, preview_to_new
    from memory_butler.moving.sides import Side

    who = place.principal()
    if not await is_made(there):
        found = await preview_to_new(source, who, there.data_dir, KeysWhenAsked(there))
        return (
            f"{_told(found, 'Would move', *names)}\n"
            f"{names[1]} has no database of this version yet: the move makes or upgrades it, and "
            "looks then whether the tenant's name is free there."
        )
    async with open_memory(there, with_model=False) as other:
        moving = Moving(source, Side(other, names[1], place.tenant), who)
        return _told(await moving.preview(), "Would move", *names)


# What giving the other installation up does, by where the move stands here.
_ENDS: Final[dict[str, str]] = {
    "leaving": "takes writes here again, as it was when the move began. If it had arrived at "
    "{other}, what was written there since is lost",
    "left": "takes writes here again, with what is left of it here and without tokens. What was "
    "written at {other} since the move is lost. If it has moved on from there, it lives there: do "
    "not use it here",
    "arriving": "is deleted here: not all of it had come. Restore it from a backup of {other}. "
    "What came can be exported before, with `memory-butler export`",
    "arrived": "stays here, with all that it has, and may move on",
}
_ENDS["returning"] = _ENDS["arriving"]


async def _give_up(
    place: Place, here: "Settings", other: str, login: str | None, *, preview: bool
) -> str:
    from memory_butler.engine.opening import open_memory
    from memory_butler.moving.giving_up import GivingUp
    from memory_butler.moving.sides import Side

    if login is not None and place_of(login) != other:
        raise InvalidInput(f"--to-dsn names {place_of(login)}, not {other}")
    async with open_memory(here, with_model=False, create=False) as memory:
        ending = GivingUp(Side(memory, _place(here), place.tenant), other, login)
        seen = await ending.look()
        tenant = place.tenant
        print(f"Tenant {tenant} {_ENDS[seen.state].format(other=other)}.")
        if preview:
            return "Nothing was changed."
        print(f"{other} must never serve {tenant} again: both places would take writes.")
        typed = typer.prompt(f"Type the tenant's name to give up {other}")
        if typed != tenant:
            raise InvalidInput(f"{typed[:60]!r} is not {tenant}; nothing was changed")
        await ending.end(seen)
    return f"{other} is given up."


def _told(content: "Content", what: str, source: str, target: str) -> str:
    """What moves, in a sentence and a list."""
    parts = [
        counted(sum(content.rows.values()), "row"),
        counted(len(content.journals), "journal"),
        counted(content.tokens, "token"),
    ]
    lines = [f"  {table}: {rows}" for table, rows in sorted(content.rows.items())]
    lines += [f"  journal {name}" for name in content.journals]
    return "\n".join([f"{what} {', '.join(parts)} from {source} to {target}:", *lines])


def _target(
    here: "Settings", data_dir: Path | None, dsn: str | None, config: Path | None
) -> "Settings":
    """The settings of the other installation: those of its file, else ours with its places."""
    from pydantic import SecretStr

    from memory_butler.config import load

    if config is not None:
        if data_dir is not None or dsn is not None:
            raise InvalidInput("give --to-config alone: the file names folder and DSN")
        return load(config, environment=False)
    if data_dir is None:
        raise InvalidInput(
            "name the other installation: --to-data-dir FOLDER, with --to-dsn where it has its own "
            "PostgreSQL server, or --to-config FILE"
        )
    require_address("--to-dsn", dsn)
    return here.model_copy(
        update={
            "data_dir": data_dir,
            "dsn": None if dsn is None else SecretStr(dsn),
            "read_dsn": None,
            "audit_dir": None,
        }
    )


def _place(settings: "Settings") -> str:
    """How an installation is named: by its database, or where that is embedded by its folder."""
    if settings.dsn is None:
        return str(settings.data_dir.expanduser().resolve())
    return place_of(settings.dsn.get_secret_value())


def place_of(dsn: str) -> str:
    """HOST:PORT/DATABASE; as it stands where there are several hosts."""
    parts = urlsplit(dsn)
    hosts = parts.netloc.rpartition("@")[2]
    if "," in hosts:
        return f"{hosts}{parts.path}"
    given = parse_qs(parts.query)
    host = parts.hostname or given.get("host", ["localhost"])[0]
    return f"{host}:{parts.port or given.get('port', [5432])[0]}{parts.path}"
