"""Who talks with whom: names, time zone and manner, as the first conversation asks for them.

The answers lie in the journal, so that every way in begins with the same. What of them the
companion is told is the beginning of its wake context.
"""

import json
import sqlite3
from collections.abc import Collection
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from memory_butler.domain.errors import InvalidInput
from memory_butler.domain.text import one_line
from memory_butler.journal import state
from memory_butler.journal.file import JournalFile
from memory_butler.journal.texts import name_by_file, replace_beginning

MAX_NAME_CHARS: Final = 40
MAX_MANNER_CHARS: Final = 300

_KEY: Final = "introduction"
# What makes up a prompt's own lines: "NAME: text", "[key] …", tags.
_OF_THE_PROMPT: Final = set("<>[]:")


@dataclass(frozen=True, slots=True)
class Introduction:
    """The companion's name, the user's, where the user lives, and how they want to be talked with.

    Each is '' where nobody has said. `zone` is a name such as "Europe/Lisbon".
    """

    name: str = ""
    user: str = ""
    zone: str = ""
    manner: str = ""

    def words(self) -> str:
        """What of it the wake context tells; '' where nobody has said anything that it could."""
        said = [
            f"Your name is {self.name}." if self.name else "",
            f"You talk with {self.user}." if self.user else "",
            f"How {self.user or 'the user'} wants you to talk: {self.manner}"
            if self.manner
            else "",
        ]
        text = " ".join(one for one in said if one)
        return text if not text or text[-1] in ".!?" else f"{text}."


def introduction_of(file: JournalFile) -> Introduction:
    """What has been answered so far; a companion without a name has that of its journal."""
    with file.reading() as db:
        return _introduction(db, file)


def introduce(file: JournalFile, given: Introduction, at: datetime) -> Path | None:
    """Keep the answers, and begin the wake context with them; where that lies.

    None where somebody has changed that beginning: then the file is left as it is.

    Raises:
        InvalidInput: both have the same name.
        Unavailable: the journal or its wake context cannot be written.
    """
    if given.name and given.name.casefold() == given.user.casefold():
        raise InvalidInput("the two of you need different names, or nobody knows who said what")
    with file.writing() as db:
        former = _introduction(db, file)
        state.put(db, _KEY, json.dumps(asdict(given)), at)
        # Within the transaction: without its wake context nothing of it is kept.
        return replace_beginning(file.texts_dir, former.words(), given.words())


def _introduction(db: sqlite3.Connection, file: JournalFile) -> Introduction:
    text = state.get(db, _KEY)
    given = Introduction(**json.loads(text)) if text else Introduction()
    return given if given.name else replace(given, name=name_by_file(file.path.stem))


def name_of(text: str, taken: Collection[str] = ()) -> str:
    """A name as it can stand before what somebody says; `taken` are names of the other side.

    Raises:
        InvalidInput: it is too long, holds signs of the prompt's own, or is taken.
    """
    name = one_line(text)
    if len(name) > MAX_NAME_CHARS or not name.isprintable() or set(name) & _OF_THE_PROMPT:
        raise InvalidInput(
            f"a name has {MAX_NAME_CHARS} characters at most, and none of the signs <>[]: in it"
        )
    if name and name.casefold() in {one.casefold() for one in taken}:
        raise InvalidInput(f"{name} is a name of the other side; choose another")
    return name


def manner_of(text: str) -> str:
    """How somebody wants to be talked with, on one line.

    Raises:
        InvalidInput: it is too long.
    """
    manner = one_line(text)
    if len(manner) > MAX_MANNER_CHARS:
        raise InvalidInput(
            f"say it in {MAX_MANNER_CHARS} characters; for more there is wake-context.md"
        )
    return manner


def zone_of(text: str) -> str:
    """The name of the time zone that a text means: the name itself, or its city, in any case.

    Raises:
        InvalidInput: it means none, or several.
    """
    said = "_".join(text.split()).casefold()
    if not said:
        return ""
    known = available_timezones()
    found = sorted(one for one in known if one.casefold() == said) or sorted(
        one for one in known if one.casefold().rpartition("/")[2] == said and "/" in one
    )
    if len(found) != 1:
        said_again = f"; is it one of {', '.join(found[:4])}?" if found else ""
        raise InvalidInput(
            f"unknown time zone {text.strip()[:60]!r}{said_again or '; example: Europe/Lisbon'}"
        )
    try:
        ZoneInfo(found[0])
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise InvalidInput(f"this machine does not know the time zone {found[0]}") from error
    return found[0]
