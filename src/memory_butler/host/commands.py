"""`memory-butler butler …`: running butlers, making them, triggering them."""

import asyncio
import json
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memory_butler.domain.errors import Conflict, InvalidInput, Unavailable
from memory_butler.surfaces.cli.examples import epilog
from memory_butler.surfaces.cli.place import AsJson, Place, located
from memory_butler.surfaces.cli.problems import complain

if TYPE_CHECKING:
    from memory_butler.host.butler import Butler
    from memory_butler.host.daemon import Running

RUN_EXAMPLES = epilog("memory-butler butler run memory", "memory-butler butler run health --port 0")
NEW_EXAMPLES = epilog(
    'memory-butler butler new health --description "Looks after medication and sleep"'
)
TRIGGER_EXAMPLES = epilog('memory-butler butler trigger health "How did I sleep this week?"')
_CALL_SECONDS = 60.0
_ASK_SECONDS = 45.0

Directory = Annotated[str, typer.Argument(metavar="DIR", help="Its name, or its directory.")]


def add_butler_commands(app: typer.Typer) -> None:
    """Add the group `butler`."""
    group = typer.Typer(
        help="Run butlers: daemons that are triggered, remember, and run an agent's session.",
        no_args_is_help=True,
    )
    group.command("run", epilog=RUN_EXAMPLES)(located(run, one_tenant=False))
    group.command("new", epilog=NEW_EXAMPLES)(located(new, one_tenant=False))
    group.command("trigger", epilog=TRIGGER_EXAMPLES)(located(trigger, one_tenant=False))
    app.add_typer(group, name="butler", rich_help_panel="Run")


def run(
    place: Place,
    directory: Directory,
    host: Annotated[
        str | None,
        typer.Option(help="Address to bind; any but loopback demands tokens.", metavar="HOST"),
    ] = None,
    port: Annotated[
        int | None, typer.Option(help="Port to bind; 0 takes a free one.", metavar="NUMBER")
    ] = None,
) -> None:
    """Run a butler until Ctrl-C: its tools over MCP, its schedule, its sessions."""
    from memory_butler.host.daemon import run_butler
    from memory_butler.logs import configure

    butler = _read(place, directory, host=host, port=port)
    settings = butler.settings
    configure("debug" if place.debug else settings.log_level, settings.log_format)
    asyncio.run(run_butler(butler, lambda running: _announce(butler, running)))


def new(
    _: Place,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Small letters, digits, - and _.")],
    description: Annotated[
        str, typer.Option(help="What it is for, in a sentence.", metavar="TEXT")
    ] = "",
    into: Annotated[
        Path, typer.Option("--in", help="Where its directory is made.", metavar="FOLDER")
    ] = Path("butlers"),
) -> None:
    """Make the directory of another butler."""
    from memory_butler.host import roster

    if not re.fullmatch(r"[a-z][a-z0-9_-]{0,39}", name):
        raise InvalidInput(
            f"{name[:60]!r} is not a butler name: use small letters, digits, - and _, a letter "
            "first, 40 at most"
        )
    for path in roster.make(into / name, name, description or f"The {name} butler."):
        print(path)
    found = name if into == roster.FOLDER else into / name
    complain(f"Run it: memory-butler butler run {found}")


def trigger(
    place: Place,
    directory: Directory,
    prompt: Annotated[str, typer.Argument(metavar="PROMPT", help="What it is to do.")],
    port: Annotated[
        int | None,
        typer.Option(help="Where it serves, if not on its own port.", metavar="NUMBER"),
    ] = None,
    no_wait: Annotated[
        bool, typer.Option("--no-wait", help="Return at once, with the id of the session.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Start a session of a butler that runs, and print what its agent answers."""
    butler = _read(place, directory, port=port)
    session = asyncio.run(_trigger(butler, directory, prompt, wait=not no_wait))
    if as_json:
        print(json.dumps(session, indent=2, ensure_ascii=False))
    elif session["status"] == "succeeded":
        print(session["answer"] or "")
    elif no_wait:
        print(session["session_id"])
    if session["status"] in ("failed", "not_run"):
        raise Conflict(f"the session failed: {session['failure']}")
    if session["status"] != "succeeded" and not no_wait:
        raise Unavailable(
            f"the session {session['session_id']} is still {session['status']}: the butler's tool "
            "`session` tells how it ends"
        )


async def _trigger(butler: "Butler", directory: str, prompt: str, *, wait: bool) -> dict[str, Any]:
    from memory_butler.host.agent import Server
    from memory_butler.host.heartbeat_module import token_of
    from memory_butler.host.mcp_client import call_tool
    from memory_butler.surfaces.listening import url_at

    url = url_at(butler.settings.host, butler.settings.port)
    server = Server(f"{url}/mcp", token_of(butler.table.own_token_env, "butler.own_token_env"))
    asked = {"prompt": prompt, "wait_seconds": _ASK_SECONDS if wait else 0}
    try:
        answer = await call_tool(server, "trigger", asked, timeout_seconds=_CALL_SECONDS)
    except Unavailable as error:
        raise Unavailable(
            f"{error}. Is the butler running? `memory-butler serve` is not enough: "
            f"`memory-butler butler run {directory}` runs it."
        ) from None
    session = answer.structured
    ends = time.monotonic() + butler.table.agent.timeout_seconds + _CALL_SECONDS
    while wait and session["status"] in ("waiting", "running") and time.monotonic() < ends:
        await asyncio.sleep(1)
        asked = {"session_id": session["session_id"]}
        session = (
            await call_tool(server, "session", asked, timeout_seconds=_CALL_SECONDS)
        ).structured
    return session


def _read(place: Place, directory: str, **flags: Any) -> "Butler":
    from memory_butler.host import roster
    from memory_butler.host.butler import read

    given = {"data_dir": place.data_dir, "dsn": place.dsn, **flags}
    return read(
        roster.find(directory), **{name: one for name, one in given.items() if one is not None}
    )


def _announce(butler: "Butler", running: "Running") -> None:
    lines = [
        f"The {butler.name} butler serves on {running.url.removesuffix('/mcp')}",
        "",
        f"  MCP      {running.url}",
        f"  Memory   {running.memory_url}",
        f'  Trigger  memory-butler butler trigger {butler.folder} "…"',
        f"  Tools    {len(running.tools)}",
    ]
    if running.warning is not None:
        lines.append(f"  But      no session can run: {running.warning}")
    print("\n".join([*lines, "", "Ctrl-C stops it."]), flush=True)
