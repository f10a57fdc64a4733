"""A home for one request: a program finds its login in it, and nothing else of its user's."""

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class OwnHome:
    """A folder of settings made for one request, in place of the user's.

    Nothing of the user's is read then but the login: no instructions, skills, hooks or servers.
    """

    # The variable that moves the folder, and where in that folder the settings are.
    variable: str
    inside: str
    # Where the user's are, below HOME, when that variable is not set.
    usual: str
    # The files that a login consists of. They are linked, so that a renewed login is the user's.
    login: Sequence[str]
    # Our settings, by file name, given the user's folder and environment.
    settings: Callable[[Path, Mapping[str, str]], Mapping[str, str]]

    def of_user(self, environment: Mapping[str, str]) -> Path | None:
        """The user's folder of settings; None if there is no home."""
        if moved := environment.get(self.variable):
            return Path(moved) / self.inside
        return Path(home) / self.usual if (home := environment.get("HOME")) else None


def home_in(scratch: Path) -> Path:
    """Where the home is, in the folder of a request."""
    return scratch / "home"


def make_home(own: OwnHome, home: Path, environment: Mapping[str, str]) -> str:
    """Make the folder at `home`; the path, as the variable takes it."""
    folder = home / own.inside
    folder.mkdir(parents=True)
    user = own.of_user(environment) or folder
    for name in own.login:
        if (user / name).is_file():
            (folder / name).symlink_to((user / name).resolve())
    for name, text in own.settings(user, environment).items():
        (folder / name).write_text(text, encoding="utf-8")
    return str(home)


def keep_login(own: OwnHome, home: Path, environment: Mapping[str, str]) -> None:
    """Give the user a login that the tool replaced instead of writing through the link.

    Without this the user would be logged out: a renewed login makes the former one worthless.
    """
    user, folder = own.of_user(environment), home / own.inside
    for name in own.login:
        if user is not None and (folder / name).is_file() and not (folder / name).is_symlink():
            beside = user / f".{name}.{os.getpid()}"
            user.mkdir(parents=True, exist_ok=True)
            shutil.copy2(folder / name, beside)
            beside.replace((user / name).resolve())
