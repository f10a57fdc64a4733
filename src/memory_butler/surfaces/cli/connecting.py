"""Connecting the programs of agents: their configuration, edited and given back."""

import os
import sys
from typing import TYPE_CHECKING, Annotated, Final, get_args
from urllib.parse import urlsplit

import typer

from memory_butler.client.transport import base_of
from memory_butler.domain.choices import choose
from memory_butler.domain.errors import InvalidInput
from memory_butler.surfaces.cli.counting import counted
from memory_butler.surfaces.cli.examples import epilog
from memory_butler.surfaces.cli.place import Place
from memory_butler.surfaces.cli.problems import complain
from memory_butler.surfaces.listening import url_at

if TYPE_CHECKING:
    from memory_butler.config import Settings
    from memory_butler.integrations.clients import Server
    from memory_butler.integrations.connections import Connections

CONNECT_EXAMPLES = epilog(
    "memory-butler connect claude-code",
    "memory-butler connect codex --dry-run",
    "memory-butler connect cursor --url https://memory.example.org --token-env MEMORY_TOKEN --yes",
)

PORT: Final = 8150

ClientName = Annotated[
    str,
    typer.Argument(
        metavar="CLIENT",
        help="claude-code, claude-desktop, cline, codex, cursor, gemini, opencode, roo, vscode, "
        "windsurf or zed.",
        autocompletion=lambda: _names(),
    ),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the changes; write nothing.")]


def connect(
    place: Place,
    client: ClientName,
    url: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="Where the server is; without it, the address that is configured."
        ),
    ] = None,
    stdio: Annotated[
        bool,
        typer.Option(
            "--stdio", help="Let the client start memory itself, instead of asking a server."
        ),
    ] = False,
    token_env: Annotated[
        str | None,
        typer.Option(
            metavar="VARIABLE",
            help="The environment variable that holds the token, if one is needed.",
        ),
    ] = None,
    toolset: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="`core`: the six tools that a memory needs most; `all`: what the server offers. "
            "Without: `core` for gemini, which makes each tool longer, `all` for others.",
        ),
    ] = None,
    yes: Yes = False,
    dry_run: DryRun = False,
) -> None:
    """Let an agent's program use this memory: edits its configuration, after showing the changes.

    Claude Code, Codex and Gemini CLI get hooks too: memory in each session from the start, an
    episode of it at the end.
    """
    from memory_butler.integrations.clients import (
        Offer,
        Server,
        client_named,
        current_environment,
    )

    chosen = client_named(client)
    # One that reaches no server starts memory itself, without being told to.
    stdio = stdio or (chosen.starts_servers and url is None and token_env is None)
    offer = chosen.offer if toolset is None else choose(toolset, get_args(Offer), "toolset")
    settings = place.settings()
    here = url_at(settings.host, settings.port or PORT)
    where = here if url is None else _checked(url)
    server = Server(where, _own_command(place) if stdio else (), token_env, offer)
    connections = connections_of(settings)
    changes = connections.plan(chosen, chosen.edits(*current_environment(), server))
    if not changes:
        print(f"{chosen.title} is connected already.")
    elif _agreed([change.diff for change in changes], yes=yes, dry_run=dry_run):
        for backup in connections.connect(chosen, changes):
            print(f"Backup: {backup}")
        print(f"{chosen.title} is connected. {chosen.restart}")
    if not dry_run and not stdio and (trouble := _trouble(server)):
        complain(trouble)


def disconnect(place: Place, client: ClientName, yes: Yes = False, dry_run: DryRun = False) -> None:
    """Take back what `connect` did: each file becomes what it was.

    Where somebody changed a file since, only what belongs to memory is taken out of it. Folders
    that `connect` made are removed once they are empty. The notes of the hooks are deleted;
    episodes that memory has not got stay.
    """
    from memory_butler.integrations.clients import client_named, forget_hooks

    chosen = client_named(client)
    connections = connections_of(place.settings())
    changes = connections.plan_undo(chosen)
    if not changes:
        print(f"{chosen.title} was not connected from here.")
    elif _agreed([change.diff for change in changes], yes=yes, dry_run=dry_run):
        connections.disconnect(chosen, changes)
        print(f"{chosen.title} is as it was before.")
        if waiting := forget_hooks(chosen.name):
            told = f"{counted(len(waiting), 'episode', 'wait')} in {waiting[0].parent}."
            print(f"{told} Once connected again, its next session sends them; or delete them.")


def _names() -> list[str]:
    from memory_butler.integrations.clients import CLIENTS

    return [one.name for one in CLIENTS]


def connections_of(settings: "Settings") -> "Connections":
    """What was connected from an installation."""
    from memory_butler.integrations.connections import Connections

    return Connections(settings.data_dir / "connections")


def _agreed(diffs: list[str], *, yes: bool, dry_run: bool) -> bool:
    for diff in diffs:
        print(diff)
    if dry_run:
        print("Dry run: nothing was written.")
        return False
    if yes:
        return True
    if not sys.stdin.isatty():
        raise InvalidInput("not a terminal: look at the changes above, then rerun with --yes")
    if typer.confirm("Write this?", default=True):
        return True
    print("Nothing was written.")
    return False


def _checked(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.netloc or parts.username is not None:
        raise InvalidInput("--url must look like http://127.0.0.1:8150")
    return base_of(url)


def _own_command(place: Place) -> tuple[str, ...]:
    command = [sys.executable, "-m", "memory_butler", "mcp"]
    if place.data_dir is not None:
        command += ["--data-dir", str(place.data_dir)]
    if place.config is not None:
        command += ["--config", str(place.config)]
    if place.tenant != Place().tenant:
        command += ["--tenant", place.tenant]
    return tuple(command)


def _trouble(server: "Server") -> str | None:
    """Why the client that was connected will have no memory yet, and what to do."""
    if not _answers(server.url):
        return f"Nothing answers at {server.url} yet. Start it with: memory-butler serve"
    named = server.token_env
    token = os.environ.get(named) if named else None
    if not _refuses(server.url, token):
        return None
    if token:
        said = f"{server.url} does not accept the token in {named}"
    elif named:
        said = f"{server.url} needs a token, and the variable {named} is not set here"
    else:
        said = f"{server.url} needs a token; connect again with --token-env VARIABLE"
    return f"{said}. Make one on the server's machine: memory-butler token create --name NAME"


def _refuses(url: str, token: str | None) -> bool:
    """Whether a server wants a token, or another one."""
    import httpx2

    from memory_butler.client.transport import reaching

    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        with httpx2.Client(timeout=1, **reaching(url)) as http:
            return http.get(f"{url}/api/memory/stats", headers=headers).status_code == 401
    except (httpx2.HTTPError, OSError, ValueError):
        return False


def _answers(url: str) -> bool:
    import httpx2

    from memory_butler.client.transport import reaching

    try:
        with httpx2.Client(timeout=1, **reaching(url)) as http:
            return http.get(f"{url}/healthz").is_success
    except (httpx2.HTTPError, httpx2.InvalidURL):
        return False
