"""Moving a tenant to another installation."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import parse_qs, urlsplit

import typer

from memory_butler.domain.errors import InvalidInput
from memory_butler.surfaces.cli.counting import counted
from memory_butler.surfaces.cli.examples import epilog
from memory_butler.surfaces.cli.place import Place, complete, require_address
from memory_butler.surfaces.cli.problems import complain
from memory_butler.surfaces.cli.progress import progress

if TYPE_CHECKING:
    from memory_butler.config import Settings
    from memory_butler.moving.moving import Content, Moving

EXAMPLES = epilog(
    "memory-butler move --tenant acme --to-data-dir /srv/second --preview",
    "memory-butler move --tenant acme --to-data-dir /srv/second",
    "memory-butler move --tenant acme --to-config /srv/cluster/butler.toml",
    "memory-butler erase --everything --tenant acme",
)


def move(
    place: Place,
    to_data_dir: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="The data folder of the other installation."),
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
        bool, typer.Option("--preview", help="Show what would move, without moving it.")
    ] = False,
    cancel: Annotated[
        bool, typer.Option("--cancel", help="Undo an interrupted move: the tenant stays here.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Move a tenant to another installation, with its journals and its tokens.

    It takes no writes while it moves. The other installation takes them once everything is copied
    and compared. If a move is interrupted, run the same command again. Afterwards the tokens work
    there and no longer here. What is left here can be read until you erase it:
    `erase --everything`.
    """
    here = place.settings()
    there = _target(here, to_data_dir, to_dsn, to_config)
    names = _place(here), _place(there)

    async def work() -> str:
        from memory_butler.engine.opening import open_memory
        from memory_butler.moving.moving import Moving, Side

        async with (
            open_memory(here, with_model=False) as one,
            open_memory(there, with_model=False) as other,
        ):
            sides = Side(one, names[0]), Side(other, names[1])
            with progress("Moving", "row") as told:
                moving = Moving(*sides, place.principal(), complain, told)
                if cancel:
                    await moving.cancel()
                    return f"Tenant {place.tenant} stays at {names[0]}."
                if preview:
                    return _told(await moving.preview(), "Would move", *names)
                if not yes and not await _agreed(moving, names):
                    return "Nothing was moved."
                said = _told(await moving.move(), "Moved", *names)
                return f"{said}\nErase what is left: memory-butler erase --everything" + (
                    f" --tenant {place.tenant}"
                )

    print(complete(work()))


async def _agreed(moving: "Moving", names: tuple[str, str]) -> bool:
    """Whether the person at the terminal agrees to what would move."""
    if not sys.stdin.isatty():
        raise InvalidInput("not a terminal; look with --preview, then rerun with --yes")
    print(_told(await moving.preview(), "Would move", *names))
    return typer.confirm("Move it? It takes no writes until it is there")


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
    parts = urlsplit(settings.dsn.get_secret_value())
    hosts = parts.netloc.rpartition("@")[2]
    if "," in hosts:
        return f"{hosts}{parts.path}"
    host = parts.hostname or parse_qs(parts.query).get("host", ["localhost"])[0]
    return f"{host}:{parts.port or 5432}{parts.path}"
