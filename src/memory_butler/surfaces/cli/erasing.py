"""Erasing for good, and checking the certificate of it."""

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final
from uuid import UUID

import typer

from memory_butler.domain.errors import InvalidInput
from memory_butler.domain.links import MEMORY_TYPES, parse_memory_type
from memory_butler.surfaces.cli.as_json import print_json
from memory_butler.surfaces.cli.backing_up import AdminDsn, checked
from memory_butler.surfaces.cli.cleaning import short
from memory_butler.surfaces.cli.counting import counted
from memory_butler.surfaces.cli.examples import epilog
from memory_butler.surfaces.cli.place import AsJson, Place, with_memory
from memory_butler.surfaces.cli.problems import complain

if TYPE_CHECKING:
    from memory_butler.erasure.erasing import Preview
    from memory_butler.erasure.scope import Target

ERASE_EXAMPLES = epilog(
    "memory-butler erase --entity 6f1c… --sources --mentions --preview",
    "memory-butler erase --writer token:laptop",
    "memory-butler erase --memory fact 6f1c… --yes",
    "memory-butler erase --message luna 4711",
    "memory-butler erase --everything --tenant acme",
)
VERIFY_EXAMPLES = epilog(
    "memory-butler verify erasure.json",
    "memory-butler verify erasure.json --key signing-key.pub",
)

_GOES_ON: Final = "Where the erasure had begun, the same command ends it and certifies it."
# Of each kind, and of what stays, so many are printed; --json and certificates have more.
_SHOWN: Final = 20
_FINDING_IDS: Final = {
    "--memory": "search TEXT --json",
    "--entity": "entities resolve NAME --json",
    "--session": "sessions --json",
}
_ONE: Final = {"episodes": "episode", "facts": "fact", "rules": "rule", "entities": "entity"}


def erase(
    place: Place,
    memory: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="TYPE ID", help=f"A memory: {', '.join(MEMORY_TYPES)}, and its id."),
    ] = None,
    entity: Annotated[
        str | None, typer.Option(metavar="ID", help="An entity, with every fact about it.")
    ] = None,
    session: Annotated[
        str | None, typer.Option(metavar="ID", help="The episodes of a session.")
    ] = None,
    message: Annotated[
        tuple[str, int] | None,
        typer.Option(
            metavar="COMPANION ID",
            help="A message of a journal, and the episodes of the sessions that hold it.",
        ),
    ] = None,
    writer: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="All that a butler stored, or a token: token:laptop."),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--everything", help="All that the tenant has, its tokens too.")
    ] = False,
    sources: Annotated[
        bool,
        typer.Option("--sources", help="The episodes that an erased fact was drawn from, too."),
    ] = False,
    mentions: Annotated[
        bool,
        typer.Option("--mentions", help="What else names the entity, by a name or alias, too."),
    ] = False,
    preview: Annotated[
        bool, typer.Option("--preview", help="Only tell what would go; no memory is changed.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    admin_dsn: AdminDsn = None,
    as_json: AsJson = False,
) -> None:
    """Erase for good what a person has a right to have forgotten, and certify it.

    With it goes all that was drawn from it alone: facts, rules, links, past states, what was
    served, messages of a journal, and the bytes in files. What rests on other evidence too is told
    and stays. Cut off, the same command finishes it. What is merely wrong: `forget` it.
    """
    from memory_butler.erasure import erasing
    from memory_butler.erasure.scope import Target

    target = Target(
        None if memory is None else (parse_memory_type(memory[0]), _id("--memory", memory[1])),
        None if entity is None else _id("--entity", entity),
        None if session is None else _id("--session", session),
        everything,
        sources,
        message,
        mentions,
        writer,
    )
    who, admin = place.principal(), checked(admin_dsn)

    async def work(opened: Any) -> erasing.Preview | erasing.Erased | None:
        if preview:
            return await erasing.preview(opened, who, target)
        waiting = await erasing.finish(opened, who, target, admin_dsn=admin, tell=complain)
        for one in waiting:
            if one.certificate["target"] == target.as_json():
                return one
        asks = not yes and alone is None
        if asks and not _agreed(await erasing.preview(opened, who, target), place.tenant):
            return None
        return await erasing.erase(opened, who, target, admin_dsn=admin, tell=complain)

    def done() -> erasing.Preview | erasing.Erased | None:
        # To look, or to ask first, makes no database where there is none.
        if alone is not None and (preview or not (yes or _agreed(alone, place.tenant))):
            return alone if preview else None
        return with_memory(place, work, create=alone is not None)

    alone = _in_journals_alone(place, target)
    try:
        found = done()
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_GOES_ON) from None
    if found is None:
        print("Nothing was erased.")
    elif as_json:
        from memory_butler.operations.erasure import erased, previewed

        print_json(previewed(found) if isinstance(found, erasing.Preview) else erased(found))
    elif isinstance(found, erasing.Preview):
        _show_preview(found)
    else:
        _show_certificate(found.certificate)
        print(f"The certificate: {found.path}")


def verify(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A certificate.")],
    key: Annotated[
        str | None,
        typer.Option(
            metavar="KEY|FILE",
            help="The public key that is expected: erasures/signing-key.pub of the installation.",
        ),
    ] = None,
) -> None:
    """Check the certificate of an erasure, without network or database."""
    from memory_butler.erasure.certificate import fingerprint
    from memory_butler.erasure.certificate import verify as check
    from memory_butler.surfaces.cli.problems import reporting

    with reporting(debug=False):
        found = check(file, key)
        _show_certificate(found.certificate)
        named = fingerprint(found.public_key)
        if found.pinned:
            print(f"The signature holds, by the key expected ({named}).")
        else:
            print(
                f"The signature holds, by the key {named}; pin it with --key to know whose it is."
            )


def command_of(target: Mapping[str, Any], tenant: str) -> str:
    """The line to type that erases what a certificate names."""
    match target["by"]:
        case "tenant":
            what = "--everything"
        case "memory":
            what = f"--memory {target['memory_type']} {target['id']}"
        case "message":
            what = f"--message {target['companion']} {target['id']}"
        case by:
            what = f"--{by} {shlex.quote(target['id'])}"
    more = "".join(f" --{one}" for one in ("sources", "mentions") if target.get(one))
    return f"memory-butler erase {what}{more} --tenant {tenant}"


def _in_journals_alone(place: Place, target: "Target") -> "Preview | None":
    """What would go of journals, where there is no database: who only talks with a companion has
    had none so far. None where there is one, or no such journal."""
    from memory_butler.companions.opening import names
    from memory_butler.engine.opening import has_cluster
    from memory_butler.erasure.erasing import Preview, require_message
    from memory_butler.erasure.scope import NOTHING
    from memory_butler.surfaces.cli.journal.opened import companion

    settings = place.settings()
    found = names(settings.data_dir, place.principal().tenant)
    if has_cluster(settings):
        return None
    if target.everything and found:
        return Preview(NOTHING, tuple(found), {})
    if target.message is None or target.message[0] not in found:
        return None
    with companion(place, target.message[0], settings) as one:
        require_message(one, target.message[1])
    return Preview(NOTHING, (), {}, target.message)


def _agreed(found: Any, tenant: str) -> bool:
    """Whether the person at the terminal agrees to what would go."""
    if not sys.stdin.isatty():
        raise InvalidInput("not a terminal; look with --preview, then rerun with --yes")
    _show_preview(found)
    return typer.confirm(f"Erase this for good, of tenant {tenant}?")


def _show_preview(found: Any) -> None:

    doomed = found.scope.doomed
    kinds = {name: getattr(doomed, name) for name in _ONE}
    for name, ids in kinds.items():
        for id in ids[:_SHOWN]:
            print(f"goes   {_ONE[name]}: {id}  {short(found.labels.get(id, ''))}".rstrip())
        if (more := len(ids) - _SHOWN) > 0:
            print(f"goes   {more:,} more {name}")
    for name in found.journals:
        print(f"goes   journal: {name}")
    if found.message is not None:
        print("goes   message: {1} of {0}".format(*found.message))
    for one in found.scope.kept[:_SHOWN]:
        print(f"stays  {one.kind}: {one.id}  {short(found.labels.get(one.id, ''))}: {one.why}")
    if (more := len(found.scope.kept) - _SHOWN) > 0:
        print(f"stays  {more:,} more")
    said = ", ".join(counted(len(ids), _ONE[name]) for name, ids in kinds.items())
    print(f"Would erase {said}, and all that speaks of them.")


def _show_certificate(said: Mapping[str, Any]) -> None:
    target = said["target"]
    named = ("by", "memory_type", "companion", "id")
    what = " ".join(str(target[name]) for name in named if name in target)
    rows = ", ".join(f"{count} {name}" for name, count in sorted(said["rows"].items()) if count)
    # What a journal held follows by itself.
    told = rows or ("" if said["journals"] else "nothing")
    print(f"Erased by {what}, of tenant {said['tenant']}{': ' if told else ''}{told}.")
    for one in said["journals"]:
        print(f"Journal {one['companion']}: {_messages(one.get('messages'))}.")
        for key in one.get("fragments_kept", ()):
            print(f"stays  fragment: {key}, which rests on other messages too")
    for one in said["probes"]:
        again = f", {one['elsewhere']} other rows say the same" if one["elsewhere"] else ""
        print(f"Probe by {one['path']}: asked {one['asked']}, found {one['found']}{again}.")
    rewritten = said["bytes"]["tables_rewritten"]
    log = "renewed" if said["bytes"]["log_renewed"] else "not renewed"
    print(f"Bytes: {counted(len(rewritten), 'table')} rewritten, write-ahead log {log}.")
    for id in said.get("keys_destroyed", ()):
        print(f"Key {id} destroyed: backups and exports encrypted with it cannot be read again.")
    if said["kept"]["total"]:
        kept = counted(said["kept"]["total"], "memory", "stay")
        print(f"{kept}. Look at what may still say it:")
        for one in said["kept"]["items"][:_SHOWN]:
            print(f"stays  {one['kind']}: {one['id']}, {one['why']}")


def _messages(count: int | None) -> str:
    return "all messages" if count is None else counted(count, "message")


def _id(option: str, text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise InvalidInput(
            f"{option} {text[:60]!r} is not a whole id; what is erased for good is named in full. "
            f"`memory-butler {_FINDING_IDS[option]}` finds it"
        ) from None
