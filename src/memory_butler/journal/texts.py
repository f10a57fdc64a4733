"""The texts beside a journal's file: who the companion is, how it handles a picture, what it knows.

People write the first two; the desk writes `ambient.md`.
"""

import os
from importlib.resources import files
from pathlib import Path
from typing import Final

from memory_butler.domain.errors import Unavailable
from memory_butler.files import replaced
from memory_butler.journal.assembly import Texts

WAKE: Final = "wake-context.md"
IMAGE: Final = "image-context.md"
AMBIENT: Final = "ambient.md"
# The journal of whoever gave none a name.
UNNAMED: Final = "default"


def read_texts(folder: Path) -> Texts:
    """The three texts; a file that is not there is '', but for the wake context.

    Without one the companion wakes to `first_wake`, whichever way in it has: a model that does not
    know the tags uses none. An empty file is an author's choice.

    Raises:
        Unavailable: a file cannot be read.
    """
    wake, image, ambient = (_read(folder / name) for name in (WAKE, IMAGE, AMBIENT))
    return Texts(first_wake(folder.name) if wake is None else wake, image or "", ambient or "")


def first_wake(name: str) -> str:
    """What a companion that nobody has described is told; `name` is its journal's."""
    called = name_by_file(name)
    return _beginning_with(f"Your name is {called}." if called else "")


def name_by_file(name: str) -> str:
    """The name of the companion of a journal, while nobody has given it one; '' for the default."""
    return "" if name == UNNAMED else name.capitalize()


def _beginning_with(words: str) -> str:
    text = files("memory_butler.skills").joinpath("journal", "WAKE.md").read_text("utf-8")
    return f"{words}\n\n{text}" if words else text


def _read(path: Path) -> str | None:
    try:
        # Some editors begin a file with a mark of its byte order.
        return path.read_text(encoding="utf-8-sig", errors="replace")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Unavailable(f"{path.name} cannot be read: {error.strerror}") from error


def write_ambient(folder: Path, text: str) -> None:
    """Replace `ambient.md` in one step, on disk when this returns: old or new, never half.

    Raises:
        Unavailable: it cannot be written.
    """
    _replace(folder / AMBIENT, text)


def remove_ambient(folder: Path) -> None:
    """Remove `ambient.md`; one that is not there is no error."""
    (folder / AMBIENT).unlink(missing_ok=True)


def _replace(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(mode=0o700, exist_ok=True)
        with replaced(path) as file:
            file.write(text.encode())
    except OSError as error:
        raise Unavailable(f"{path.name} cannot be written: {error.strerror}") from error


def replace_beginning(folder: Path, former: str, words: str) -> Path | None:
    """Begin `wake-context.md` with `words` instead of `former`, or write it; where it lies.

    None where it begins otherwise, and so is its author's: it is left as it is.

    Raises:
        Unavailable: it cannot be read or written.
    """
    path = folder / WAKE
    text = _read(path)
    if text is None or text == first_wake(folder.name):
        text = _beginning_with(words)
    elif former and text.startswith(former):
        text = f"{words}{text[len(former) :]}".lstrip("\n")
    elif not former and text == _beginning_with(""):
        text = _beginning_with(words)
    else:
        return None
    _replace(path, text)
    return path


def describe(folder: Path, description: str) -> bool:
    """Put what a companion is at the end of its wake context; False where there is nothing to put.

    Raises:
        Unavailable: it cannot be read or written.
    """
    path = folder / WAKE
    text = _read(path) or first_wake(folder.name)
    if not description or description in text:
        return bool(description)
    _replace(path, f"{text.rstrip()}\n\n{description}\n")
    return True


def begin_wake(folder: Path) -> Path | None:
    """Write `wake-context.md` where there is none, for its author to change; where it lies."""
    path = folder / WAKE
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(first_wake(folder.name))
    except FileExistsError:
        return None
    except OSError as error:
        raise Unavailable(f"{WAKE} cannot be written: {error.strerror}") from error
    return path
