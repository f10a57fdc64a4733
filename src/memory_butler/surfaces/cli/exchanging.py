"""Sharing facts and rules with other installations: pull, push, and whose facts are taken."""

import json
import os
from collections.abc import Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memory_butler.domain.errors import InvalidInput, PermissionDenied
from memory_butler.domain.trust import parse_trust
from memory_butler.surfaces.cli.counting import counted
from memory_butler.surfaces.cli.examples import epilog
from memory_butler.surfaces.cli.importing import embed
from memory_butler.surfaces.cli.place import AsJson, Place, tell_unknown_tenant, with_memory
from memory_butler.surfaces.cli.problems import complain

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from memory_butler.client import MemoryClient, shapes
    from memory_butler.domain.exchange import Scopes as Agreed
    from memory_butler.engine.exchange.peers import Peer
    from memory_butler.engine.memory import Memory
    from memory_butler.integrations.exchange import Report, Sealing

PULL_EXAMPLES = epilog(
    "memory-butler pull https://memory.example.org --token-env MEMORY_TOKEN",
    "memory-butler pull ~/Sync/memory",
)
PUSH_EXAMPLES = epilog(
    "memory-butler push https://memory.example.org --token-env MEMORY_TOKEN",
    "memory-butler push ~/Sync/memory",
    "memory-butler push ~/Sync/office --scope work --scope global",
)
ACCEPT_EXAMPLES = epilog(
    "memory-butler peers accept laptop 5f0c… --trust user_said",
    "memory-butler peers accept office 91ab… --trust imported --scope work",
)

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
Scopes = Annotated[
    list[str] | None,
    typer.Option(
        "--scope",
        metavar="SCOPE",
        help="Exchange this scope alone, such as global, or a butler's name; repeatable.",
    ),
]
PlainFiles = Annotated[
    bool,
    typer.Option("--plain", help="In a folder: do not encrypt, although keys are set up."),
]


def pull(
    place: Place,
    where: Where,
    token_env: TokenEnv = None,
    scope: Scopes = None,
    as_json: AsJson = False,
) -> None:
    """Take facts and rules of other installations that are not here yet, and changes of the others.

    Only what is signed with an accepted key is taken (`memory-butler peers accept`). What both
    sides said meanwhile is shown as a conflict. Safe to repeat, for example by a timer.
    """
    from memory_butler.engine.exchange import peers
    from memory_butler.integrations import exchange

    async def use(memory: "Memory") -> "Report":
        here = _client(memory, place)
        if not _is_url(where):
            data_dir, tenant = place.settings().data_dir, place.principal().tenant
            agreed = {key: one.scopes for key, one in peers.accepted(data_dir, tenant).items()}
            sealing = _sealing(place)
            report = await exchange.read_files(here, Path(where), sealing, scope or None, agreed)
        else:
            async with _there(where, token_env) as there:
                scopes, told = await _agreed(memory, place, there, scope)
                report = await exchange.carry(there, here, scopes, giver_state=told)
        if report.counts["new"] or report.counts["changed"]:  # a rule's text is changed in place
            await embed(memory)
        return report

    _show(with_memory(place, use, create=True), as_json)


def push(
    place: Place,
    where: Where,
    token_env: TokenEnv = None,
    scope: Scopes = None,
    plain: PlainFiles = False,
    as_json: AsJson = False,
) -> None:
    """Give the facts and rules of this installation to another one, or write them into a folder.

    The other installation must have accepted the key of this one (`memory-butler peers list` prints
    it). Files in a folder are encrypted where keys are set up; others then need the same keyring.
    """
    from memory_butler.integrations import exchange

    if not _is_url(where):

        async def write(memory: "Memory") -> int:
            await tell_unknown_tenant(memory, place)
            sealing = exchange.PLAIN if plain else _sealing(place)
            scopes, _ = await _agreed(memory, place, None, scope)
            return await exchange.write_files(_client(memory, place), Path(where), sealing, scopes)

        changed = with_memory(place, write)
        print(json.dumps({"files": changed}) if as_json else f"{counted(changed, 'file')} written.")
        return

    async def use(memory: "Memory") -> "Report":
        async with _there(where, token_env) as there:
            await tell_unknown_tenant(memory, place)
            scopes, told = await _agreed(memory, place, there, scope)
            here = _client(memory, place)
            return await exchange.carry(here, there, scopes, taker_state=told)

    _show(with_memory(place, use), as_json)


def list_peers(place: Place, as_json: AsJson = False) -> None:
    """Show the key of this installation and tenant, and whose facts are taken."""
    from memory_butler.engine.exchange import packs, peers

    tenant = place.principal().tenant

    async def key_of(memory: "Memory") -> str:
        return packs.own_key(memory, tenant)

    key = with_memory(place, key_of, create=True)
    found = peers.accepted(place.settings().data_dir, tenant)
    if as_json:
        listed = [
            {"name": one.name, "key": one.key, "trust": one.trust.label, "scopes": one.scopes}
            for one in found.values()
        ]
        print(json.dumps({"key": key, "peers": listed}, indent=2))
        return
    print(f"The key of this installation: {key}")
    for one in found.values():
        print(f"{one.name}: {one.key}, trusted as {one.trust.label} at most{_only(one)}")
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
    scope: Scopes = None,
) -> None:
    """Take the facts and rules of another installation from now on.

    With `--scope`, facts of other scopes are neither taken from it nor given to it. For its pulls,
    make a token of its name: `memory-butler token create --name NAME --scope exchange`.
    """
    from memory_butler.engine.exchange import peers

    tenant = place.principal().tenant
    level = parse_trust(trust).label
    known = peers.accepted(place.settings().data_dir, tenant)
    before = known.get(key) or next((one for one in known.values() if one.name == name), None)
    peer = peers.accept(place.settings().data_dir, tenant, name, key, level, scope)
    print(f"Facts of {peer.name} are taken, trusted as {peer.trust.label} at most{_only(peer)}.")
    if before is not None and before.scopes is not None and peer.scopes is None:
        print(f"It was of these scopes alone: {', '.join(before.scopes)}. Now it is of all.")


def remove(
    place: Place, name: Annotated[str, typer.Argument(metavar="NAME", help="As in `peers list`.")]
) -> None:
    """Take nothing more from another installation; what came from it stays."""
    from memory_butler.engine.exchange import peers

    peers.remove(place.settings().data_dir, place.principal().tenant, name)
    print(f"Nothing more is taken from {name}.")


def _only(peer: "Peer") -> str:
    return "" if peer.scopes is None else f"; of these scopes alone: {', '.join(peer.scopes)}"


async def _agreed(
    memory: "Memory", place: Place, there: "MemoryClient | None", asked: Sequence[str] | None
) -> "tuple[Agreed, shapes.Statement | None]":
    """What is exchanged with another installation, or with a folder: what was agreed of it.

    With it that installation's state, where it was asked for.

    Raises:
        PermissionDenied: it is not known who that is, or nothing was agreed.
    """
    from memory_butler.client import UNSET
    from memory_butler.domain.exchange import common
    from memory_butler.engine.exchange import packs, peers

    tenant, named = place.principal().tenant, peers.chosen(asked)
    data_dir = place.settings().data_dir
    if not peers.has_scopes(data_dir, tenant):
        return named, None
    known = peers.accepted(data_dir, tenant)
    if there is None:
        if named is None:
            raise PermissionDenied(
                "peers have scopes here, and a folder is for everybody who can read it: name with "
                "--scope what goes there"
            )
        return named, None
    own = packs.own_key(memory, tenant)
    answer = await there.exchange_state(scopes=UNSET if named is None else list(named), to=own)
    said = packs.opened(packs.Signed(answer.statement, answer.signature))
    peer, is_for_us = known.get(said["key"]), said.get("to") == own
    # A statement that somebody else was given shows nothing of who this is: it may only narrow.
    if peer is not None and (is_for_us or peer.scopes is not None):
        return common(named, peer.scopes), answer
    if peer is not None and named is None:
        raise PermissionDenied(
            f"the token that is used there is of another peer, and so {peer.name} cannot be told "
            "from somebody who passes its words on: take one of this installation's name there, or "
            "name with --scope what is exchanged"
        )
    if named is None:
        raise PermissionDenied(
            f"peers have scopes here, and nobody has accepted the key {said['key']}: name with "
            "--scope what is exchanged, or accept it (memory-butler peers accept)"
        )
    return named, answer


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
        if report.others == 0:
            print(
                "No other installation has written into this folder yet; `memory-butler push` "
                "there does."
            )
        else:
            nothing = "Nothing was exchanged." if report.problems else "Up to date."
            print(f"Facts and rules: {said}." if said else nothing)
        if counts["conflicts"]:
            waiting = counted(counts["conflicts"], "conflict", "wait")
            complain(
                f"{waiting} for you where it was taken: memory-butler conflicts, or, of rules, "
                "memory-butler rules list --state disabled"
            )
    for one in report.problems:
        complain(one)
    if report.problems:
        raise typer.Exit(1)
