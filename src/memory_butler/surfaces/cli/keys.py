"""Keys: encryption of journals, backups and exports, and what to keep to read them again."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memory_butler.domain.errors import ConfigurationError, MemoryButlerError, Unavailable
from memory_butler.surfaces.cli.counting import counted
from memory_butler.surfaces.cli.examples import epilog
from memory_butler.surfaces.cli.place import AsJson, Place
from memory_butler.surfaces.cli.problems import complain
from memory_butler.surfaces.cli.progress import progress

if TYPE_CHECKING:
    from memory_butler.config import Settings

INIT_EXAMPLES = epilog(
    "memory-butler keys init",
    "MEMORY_BUTLER_MASTER_KEY_FILE=/mnt/usb/master.key memory-butler keys init",
)
ROTATE_EXAMPLES = epilog(
    "memory-butler keys rotate", "memory-butler keys rotate --to /mnt/usb/new-master.key"
)
SEAL_EXAMPLES = epilog(
    "memory-butler keys seal-journals", "memory-butler keys seal-journals --undo"
)
EXPORT_EXAMPLES = epilog("memory-butler keys export keyring-copy.json")
IMPORT_EXAMPLES = epilog("memory-butler keys import keyring-copy.json")


def init(place: Place) -> None:
    """Set up keys: from then on new journals, backups and exports are encrypted.

    It makes a master key, unless one is configured, and a keyring. Whoever loses one of the two has
    lost every encrypted journal, backup and export. Journals that are there already are encrypted
    by `keys seal-journals`.
    """
    from memory_butler.engine.keys import set_up

    settings = place.settings()
    made = set_up(settings)
    _warn(settings, made.folder)


def status(place: Place, as_json: AsJson = False) -> None:
    """Show whether keys are set up and can be read; the ids, never the keys."""
    from memory_butler.engine.keys import folder_of, keys_of, master_place
    from memory_butler.vault.keyring import read

    settings = place.settings()
    keys = keys_of(settings)
    if keys is None:
        if as_json:
            print(json.dumps({"set_up": False}, indent=2))
        else:
            print(
                f"No keys in {folder_of(settings.data_dir)}: `memory-butler keys init` makes them."
            )
            print("Journals and backups are not encrypted.")
        return
    keys.check()
    content = read(keys.folder)
    if as_json:
        tenants = {key.tenant: id for id, key in content.keys.items() if key.tenant}
        answer = {
            "set_up": True,
            "master": content.master,
            "keys": tenants,
            "destroyed": sorted(content.destroyed),
            "exported": content.exported,
        }
        print(json.dumps(answer, indent=2))
        return
    print(f"Master key {content.master}: {master_place(settings)}")
    for id, key in sorted(content.keys.items(), key=lambda one: one[1].tenant):
        whose = f"tenant {key.tenant}" if key.tenant else "what belongs to no tenant"
        print(f"  {id}  {whose}, since {key.made_at:%Y-%m-%d}")
    for id, gone in sorted(content.destroyed.items()):
        print(f"  {id}  destroyed {gone.at:%Y-%m-%d} by the erasure {gone.erasure}")
    if not content.exported:
        complain("The keyring has changed since it was exported: memory-butler keys export FILE")


def seal_journals(
    place: Place,
    undo: Annotated[bool, typer.Option("--undo", help="Make them plain files again.")] = False,
) -> None:
    """Encrypt the journals that are there, each with the key of its tenant.

    It may be cut off, and run again. Servers may go on; who writes waits for some seconds.
    """
    from memory_butler.companions.opening import everyone
    from memory_butler.engine.keys import KeysWhenAsked
    from memory_butler.journal.converting import seal, unseal
    from memory_butler.journal.file import journal_path

    settings = place.settings()
    keys = KeysWhenAsked(settings)
    if keys() is None:
        raise ConfigurationError("no keys are set up: `memory-butler keys init` does it")
    change, does = (unseal, "plain") if undo else (seal, "encrypted")
    failed = 0
    for tenant, name in everyone(settings.data_dir):
        path = journal_path(settings.data_dir, tenant, name)
        try:
            with progress(f"{tenant}/{name}", "row") as told:
                done = change(path, keys, told)
        except MemoryButlerError as error:
            complain(f"{tenant}/{name}: {error}")
            failed += 1
            continue
        print(f"{tenant}/{name}: {does}" if done else f"{tenant}/{name}: was {does} already")
    if failed:
        raise Unavailable(f"{counted(failed, 'journal')} unchanged: run this again")


def rotate(
    place: Place,
    to: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="The file of the new master key; made where there is none."
        ),
    ] = None,
) -> None:
    """Replace the master key. Keys of tenants stay, so that older backups can still be read.

    With a command, it wraps all keys again with what the command wraps with now.
    """
    from memory_butler.engine.keys import rotate as change

    settings = place.settings()
    keys, path = change(settings, to)
    print(f"The keyring now needs the master key {keys.master.id}.")
    if path is not None:
        print(f"  It is in {path}: copy it to where you keep the old one.")
    if to is not None:
        complain(f"Set master_key_file to {to}, and remove the former setting.")
    complain(
        "A copy of the keyring from before still opens with the old master key: export it anew, "
        "and delete the old copy."
    )


def export(
    place: Place,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to; it is replaced.")],
) -> None:
    """Copy the keyring to a file. Its keys stay wrapped: it is of no use without the master key.

    Keep the newest copy only, and not beside the backups: a copy from before an erasure still has
    the key that the erasure destroyed.
    """
    from memory_butler.engine.keys import folder_of, master_place
    from memory_butler.vault import keyring

    settings = place.settings()
    count = keyring.export(folder_of(settings.data_dir), file)
    print(f"{file}: {counted(count, 'key')}. Delete older copies.")
    complain(f"The master key is not in it. It is in {master_place(settings)}: keep it elsewhere.")


def import_(
    place: Place,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What `keys export` wrote.")],
) -> None:
    """Bring back keys from a copy of the keyring. One that an erasure destroyed stays destroyed."""
    from memory_butler.engine.keys import folder_of, keys_of
    from memory_butler.vault import keyring

    settings = place.settings()
    count = keyring.bring_back(folder_of(settings.data_dir), file)
    print(f"{counted(count, 'key', 'are')} new.")
    try:
        keys = keys_of(settings)
        if keys is not None:
            keys.check()
    except ConfigurationError as error:
        complain(f"They cannot be used yet: {error}")


def _warn(settings: "Settings", folder: Path) -> None:
    from memory_butler.engine.keys import master_place
    from memory_butler.vault.keyring import FILE

    print("New journals, backups, exports and spools of butlers are encrypted from now on.")
    print(f"  The master key: {master_place(settings)}")
    print(f"  The keyring:    {folder / FILE}")
    for line in (
        "LOSING A KEY IS LOSING THE DATA: without both, nobody can read an encrypted journal or "
        "backup again. Neither is in a backup.",
        "1. Copy the master key to a safe place, apart from the backups.",
        "2. Run `memory-butler keys export FILE` after the first backup, and after each new tenant "
        "or erasure. Keep the newest copy only.",
        "3. Run `memory-butler keys seal-journals`, if there are journals already.",
        "Memories in the database stay readable on this machine.",
    ):
        complain(line)
