"""The keys of an installation, as its settings say: where the master key is, and the keyring."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from memory_butler.config import Settings
from memory_butler.domain.errors import ConfigurationError, Conflict
from memory_butler.vault import keyring
from memory_butler.vault.keyring import Keyring
from memory_butler.vault.master import (
    CommandMaster,
    LocalMaster,
    Master,
    master_of_file,
    master_of_text,
    new_master,
    write_master,
)

_VARIABLE: Final = "MEMORY_BUTLER_MASTER_KEY"


def folder_of(data_dir: Path) -> Path:
    """Where the keyring lies, in a data directory."""
    return data_dir.expanduser().resolve() / keyring.FOLDER


def keys_of(settings: Settings) -> Keyring | None:
    """The keyring, ready to be used; None: no keys are set up.

    Raises:
        ConfigurationError: there is a keyring without its master key, or a master key without a
            keyring.
    """
    folder = folder_of(settings.data_dir)
    if not keyring.is_there(folder):
        # The keyring was lost: backups and journals must not be readable from now on.
        if _configured(settings) or any(folder.glob(_own(folder, "*").name)):
            raise ConfigurationError(
                f"there is no keyring in {folder}, but a master key: `memory-butler keys import` "
                "brings a keyring back, `memory-butler keys init` makes a new one"
            )
        return None
    return Keyring(folder, _master(settings, folder))


@dataclass(slots=True)
class KeysWhenAsked:
    """The keyring of an installation, read when it is first asked for, and kept until the master
    key is replaced: a key management service is asked once for each key."""

    settings: Settings
    _found: Keyring | None = field(default=None, init=False, repr=False)

    def __call__(self) -> Keyring | None:
        """As `keys_of`."""
        if self._found is None or not self._found.is_current():
            self._found = keys_of(self.settings)
        return self._found


def keys_to_read(settings: Settings, source: Path) -> Keyring:
    """The keyring for reading an encrypted file.

    Raises:
        ConfigurationError: there is none.
    """
    found = keys_of(settings)
    if found is None:
        raise ConfigurationError(
            f"{source} is encrypted, and there is no keyring here: bring back that of the "
            "installation that wrote it, with `memory-butler keys import`, and its master key"
        )
    return found


def set_up(settings: Settings) -> Keyring:
    """Make a keyring, and a master key where there is none yet.

    Raises:
        Conflict: there is a keyring already.
        ConfigurationError: the configured master key cannot be used.
    """
    folder = folder_of(settings.data_dir)
    if keyring.is_there(folder):
        raise Conflict(f"there is a keyring already: {folder / keyring.FILE}")
    path = settings.master_key_file
    if not _configured(settings) or (path is not None and not path.expanduser().exists()):
        made = new_master()
        write_master(made, _own(folder, made.id) if path is None else path.expanduser())
        return keyring.create(folder, made)
    return keyring.create(folder, _master(settings, folder))


def rotate(settings: Settings, target: Path | None) -> tuple[Keyring, Path | None]:
    """Wrap all keys with another master key; the keyring, and the file of the new master key.

    Args:
        target: a file with the new master key, made where there is none; None: a new one in the
            place of the old one, or, with a command, whatever the command wraps with now.

    Raises:
        ConfigurationError: no keys are set up; or the master key is configured, so that nobody
            would find a new one: name its file.
    """
    keys = keys_of(settings)
    if keys is None:
        raise ConfigurationError("no keys are set up: `memory-butler keys init` does it")
    if target is None and isinstance(keys.master, CommandMaster):
        return keys.rewrap(keys.master), None
    if target is None and _configured(settings):
        raise ConfigurationError(
            "the configuration names the master key: give the file of the new one with --to, then "
            "set master_key_file to it"
        )
    if target is not None and target.exists():
        return keys.rewrap(master_of_file(target)), target
    made = new_master()
    path = _own(keys.folder, made.id) if target is None else target
    # The new master key first: whatever happens between, the keyring has the one that it needs.
    write_master(made, path)
    renewed = keys.rewrap(made)
    if not _configured(settings):
        _own(keys.folder, keys.master.id).unlink(missing_ok=True)
    return renewed, path


def master_place(settings: Settings) -> str:
    """Where the master key is, in words for a person."""
    if settings.master_key is not None:
        return f"the variable {_VARIABLE}"
    if settings.master_key_command:
        return f"the command {settings.master_key_command[0]}"
    if settings.master_key_file is not None:
        return str(settings.master_key_file.expanduser())
    folder = folder_of(settings.data_dir)
    return str(_own(folder, keyring.read(folder).master))


def readable_by_others(settings: Settings) -> bool:
    """Whether the file of the master key can be read by other users of the machine."""
    if settings.master_key is not None or settings.master_key_command:
        return False
    return bool(Path(master_place(settings)).stat().st_mode & 0o077)


def _configured(settings: Settings) -> bool:
    named = (settings.master_key_file, settings.master_key, settings.master_key_command or None)
    given = sum(one is not None for one in named)
    if given > 1:
        raise ConfigurationError(
            "give one of master_key_file, master_key and master_key_command, not several"
        )
    return given == 1


def _master(settings: Settings, folder: Path) -> Master:
    if not _configured(settings):
        return _own_master(folder)
    if settings.master_key is not None:
        return master_of_text(settings.master_key.get_secret_value(), _VARIABLE)
    if settings.master_key_file is not None:
        return master_of_file(settings.master_key_file.expanduser())
    return CommandMaster(settings.master_key_command)


def _own_master(folder: Path) -> LocalMaster:
    path = _own(folder, keyring.read(folder).master)
    if not path.is_file():
        raise ConfigurationError(
            f"the master key of the keyring is not there: put it at {path}, or set "
            f"master_key_file, {_VARIABLE} or master_key_command"
        )
    return master_of_file(path)


def _own(folder: Path, id: str) -> Path:
    """The file of the master key that the keyring names, where the configuration names none."""
    return folder / f"master-{id}.key"
