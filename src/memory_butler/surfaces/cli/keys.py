"""Keys: encryption of backups and exports, and what to keep so that they can be read again."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memory_butler.domain.errors import ConfigurationError
from memory_butler.surfaces.cli.examples import epilog
from memory_butler.surfaces.cli.place import AsJson, Place
from memory_butler.surfaces.cli.problems import complain

if TYPE_CHECKING:
    from memory_butler.config import Settings

INIT_EXAMPLES = epilog(
    "memory-butler keys init",
    "MEMORY_BUTLER_MASTER_KEY_FILE=/mnt/usb/master.key memory-butler keys init",
)
ROTATE_EXAMPLES = epilog(
    "memory-butler keys rotate", "memory-butler keys rotate --to /mnt/usb/new-master.key"
)
EXPORT_EXAMPLES = epilog("memory-butler keys export keyring-copy.json")
IMPORT_EXAMPLES = epilog("memory-butler keys import keyring-copy.json")


def init(place: Place) -> None:
    """Set up keys: from then on backups and exports are encrypted.

    It makes a master key, unless one is configured, and a keyring. Whoever loses one of the two has
    lost every encrypted backup and export.
    """
    from memory_butler.engine.keys import set_up

    settings = place.settings()
    made = set_up(settings)
    _warn(settings, made.folder)


def status(place: Place, as_json: AsJson = False) -> None:
    """Show whether keys are set up and can be read; the ids, never the keys."""
    from memory_butler.engine.keys import keys_of, master_place
    from memory_butler.vault.keyring import read

    settings = place.settings()
    keys = keys_of(settings)
    if keys is None:
        if as_json:
            print(json.dumps({"set_up": False}, indent=2))
        else:
            print("No keys: backups and exports are not encrypted. `memory-butler keys init`")
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
    print(f"{file}: {count} keys. Delete older copies.")
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
    print(f"{count} keys are new.")
    try:
        keys = keys_of(settings)
        if keys is not None:
            keys.check()
    except ConfigurationError as error:
        complain(f"They cannot be used yet: {error}")


def _warn(settings: "Settings", folder: Path) -> None:
    from memory_butler.engine.keys import master_place
    from memory_butler.vault.keyring import FILE

    print("Backups, exports and spools of butlers are encrypted from now on.")
    print(f"  The master key: {master_place(settings)}")
    print(f"  The keyring:    {folder / FILE}")
    for line in (
        "LOSING A KEY IS LOSING THE DATA: without both, nobody can read an encrypted backup again. "
        "Neither is in a backup.",
        "1. Copy the master key to a safe place, apart from the backups.",
        "2. Run `memory-butler keys export FILE` after the first backup, and after each new tenant "
        "or erasure. Keep the newest copy only.",
        "Memories in the database and in journals stay readable on this machine.",
    ):
        complain(line)
