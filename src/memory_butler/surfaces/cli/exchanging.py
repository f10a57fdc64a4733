"""Sharing facts with other installations: pull, push, and whose facts are taken."""

import json
import os
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memory_butler.domain.errors import InvalidInput
from memory_butler.domain.trust import parse_trust
from memory_butler.surfaces.cli.counting import counted
from memory_butler.surfaces.cli.examples import epilog
from memory_butler.surfaces.cli.importing import embed
from memory_butler.surfaces.cli.place import AsJson, Place, with_memory
from memory_butler.surfaces.cli.problems import complain

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from memory_butler.client import MemoryClient
    from memory_butler.engine.memory import Memory
    from memory_butler.integrations.exchange import Report, Sealing

PULL_EXAMPLES = epilog(
    "memory-butler pull https://memory.example.org --token-env MEMORY_TOKEN",
    "memory-butler pull ~/Sync/memory",
)
PUSH_EXAMPLES = epilog(
    "memory-butler push https://memory.example.org --token-env MEMORY_TOKEN",
    "memory-butler push ~/Sync/memory",
)
ACCEPT_EXAMPLES = epilog("memory-butler peers accept laptop 5f0c… --trust user_said")

Where = Annotated[
    str,
    typer.Argument(
        metavar="URL|FOLDER",
        help="Another installation's server, or a folder that a file sync carries.",
    ),
]
TokenEnv = Annotated[
    str | None,
    typer.Option(metavar="VARIABLE", help="The environment variable that holds the token."),
]
PlainFiles = Annotated[
    bool,
    typer.Option("--plain", help="In a folder: do not encrypt, although keys are set up."),
]


def pull(place: Place, where: Where, token_env: TokenEnv = None, as_json: AsJson = False) -> None:
    """Take the facts of other installations that are not here yet, and what changed of the others.

    Only what is signed with an accepted key is taken (`memory-butler peers accept`). What both
    sides said meanwhile is shown as a conflict. Safe to repeat, for example by a timer.
    """
    from memory_butler.integrations import exchange

    async def use(memory: "Memory") -> "Report":
        here = _client(memory, place)
        if not _is_url(where):
            report = await exchange.read_files(here, Path(where), _sealing(place))
        else:
            async with _there(where, token_env) as there:
                report = await exchange.carry(there, here)
        if report.counts["new"]:
            await embed(memory)
        return report

    _show(with_memory(place, use), as_json)


def push(
    place: Place,
    where: Where,
    token_env: TokenEnv = None,
    plain: PlainFiles = False,
    as_json: AsJson = False,
) -> None:
    """Give the facts of this installation to another one, or write them into a folder.

    The other installation must have accepted the key of this one (`memory-butler peers list` prints
    it). Files in a folder are encrypted where keys are set up; others then need the same keyring.
    """
    from memory_butler.integrations import exchange

    if not _is_url(where):

        async def write(memory: "Memory") -> int:
            sealing = exchange.PLAIN if plain else _sealing(place)
            return await exchange.write_files(_client(memory, place), Path(where), sealing)

        changed = with_memory(place, write)
        print(json.dumps({"files": changed}) if as_json else f"{counted(changed, 'file')} written.")
        return

    async def use(memory: "Memory") -> "Report":
        async with _there(where, token_env) as there:
            return await exchange.carry(_client(memory, place), there)

    _show(with_memory(place, use), as_json)


def list_peers(place: Place, as_json: AsJson = False) -> None:
    """Show the key of this installation and tenant, and whose facts are taken."""
    from memory_butler.engine.exchange import packs, peers

    tenant = place.principal().tenant

    async def key_of(memory: "Memory") -> str:
        return packs.own_key(memory, tenant)

    key = with_memory(place, key_of)
    found = peers.accepted(place.settings().data_dir, tenant)
    if as_json:
        listed = [
            {"name": one.name, "key": one.key, "trust": one.trust.label} for one in found.values()
        ]
        print(json.dumps({"key": key, "peers": listed}, indent=2))
        return
    print(f"The key of this installation: {key}")
    for one in found.values():
        print(f"{one.name}: {one.key}, trusted as {one.trust.label} at most")
    if not found:
        print("No peers yet. `memory-butler peers accept` adds one.")


def accept(
    place: Place,
    name: Annotated[str, typer.Argument(metavar="NAME", help="What you call it.")],
    key: Annotated[
        str, typer.Argument(metavar="KEY", help="What `memory-butler peers list` prints there.")
    ],
    trust: Annotated[
        str,
        typer.Option(
            metavar="LEVEL",
            help="The most that its facts are trusted: user_said for an installation of your own, "
            "imported for somebody else's.",
        ),
    ],
) -> None:
    """Take the facts of another installation from now on."""
    from memory_butler.engine.exchange import peers

    tenant = place.principal().tenant
    peer = peers.accept(place.settings().data_dir, tenant, name, key, parse_trust(trust).label)
    print(f"Facts of {peer.name} are taken, trusted as {peer.trust.label} at most.")


def remove(
    place: Place, name: Annotated[str, typer.Argument(metavar="NAME", help="As in `peers list`.")]
) -> None:
    """Take nothing more from another installation; what came from it stays."""
    from memory_butler.engine.exchange import peers

    peers.remove(place.settings().data_dir, place.principal().tenant, name)
    print(f"Nothing more is taken from {name}.")


def _is_url(where: str) -> bool:
    return where.startswith(("http://", "https://"))


def _client(memory: "Memory", place: Place) -> "MemoryClient":
    from memory_butler.client import MemoryClient

    # A standby may not have yet what was just taken.
    return MemoryClient.of(replace(memory, replica=None), place.principal())


@asynccontextmanager
async def _there(url: str, token_env: str | None) -> "AsyncIterator[MemoryClient]":
    from memory_butler.client import MemoryClient

    token = None
    if token_env is not None:
        token = os.environ.get(token_env)
        if not token:
            raise InvalidInput(f"the environment variable {token_env} is not set")
    async with MemoryClient.connect(url, token=token) as there:
        yield there


def _sealing(place: Place) -> "Sealing":
    """Files are encrypted with the key of the tenant, where keys are set up."""
    from memory_butler.engine.keys import keys_of
    from memory_butler.engine.memory import utc_now
    from memory_butler.integrations import exchange
    from memory_butler.vault import sealed

    keys, tenant = keys_of(place.settings()), place.principal().tenant

    def seal(data: bytes) -> bytes:
        return data if keys is None else sealed.seal(data, "facts", keys, utc_now(), tenant=tenant)

    def unseal(data: bytes) -> bytes:
        if not sealed.is_sealed(data):
            return data
        if keys is None:
            raise InvalidInput("it is encrypted, and no keys are set up here")
        return sealed.unseal(data, "facts", keys)

    def is_alike(data: bytes) -> bool:
        return sealed.is_sealed(data) == (keys is not None)

    return exchange.Sealing(seal, unseal, is_alike)


def _show(report: "Report", as_json: bool) -> None:
    counts = report.counts
    if as_json:
        print(json.dumps({**counts, "problems": report.problems}, indent=2))
    else:
        told = [
            (counts["new"], "new"),
            (counts["changed"], "changed"),
            (counts["gone"], "forgotten, because erased there"),
            (counts["kept"], "kept, because trusted more or worded otherwise"),
            (counts["refused"], "refused, because erased, undone, damaged or not allowed there"),
        ]
        said = ", ".join(f"{count:,} {what}" for count, what in told if count)
        print(f"Facts: {said}." if said else "Up to date.")
        if counts["conflicts"]:
            waiting = counted(counts["conflicts"], "conflict", "wait")
            complain(f"{waiting} for you where it was taken: memory-butler conflicts")
    for one in report.problems:
        complain(one)
    if report.problems:
        raise typer.Exit(1)
