"""The first conversation: it asks who talks with whom, where they live and in which manner."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from memory_butler.domain.errors import InvalidInput
from memory_butler.surfaces.cli.journal.terminal import asked, note

if TYPE_CHECKING:
    from memory_butler.companions.opening import Companion
    from memory_butler.config import Settings

HOW_TO_ANSWER = (
    "Enter leaves an answer as it stands, a dash takes it back, Ctrl-D ends the questions."
)


def first_time(companion: "Companion") -> bool:
    """Whether nobody has said or written anything here, and somebody is there to be asked."""
    from memory_butler.journal.texts import WAKE

    there = sys.stdin.isatty() and sys.stderr.isatty()
    unknown = not (companion.file.texts_dir / WAKE).exists()
    return there and unknown and companion.live.extent()[0] == 0


def introduce(companion: "Companion", settings: "Settings") -> "Companion":
    """Ask, keep the answers, and go on with them; Ctrl-D or Ctrl-C leaves the rest as it is."""
    from memory_butler.companions.opening import introduced
    from memory_butler.journal import introduction
    from memory_butler.journal.live import utc_now

    policy = companion.policy
    old = introduction.introduction_of(companion.file)
    user, name, zone, manner = old.user, old.name, old.zone, old.manner
    try:
        user = _answer(
            "Your name",
            user,
            lambda text: introduction.name_of(text, (*policy.assistant_actors, old.name)),
        )
        name = _answer(
            "The companion's name",
            name,
            lambda text: introduction.name_of(text, (*policy.user_actors, *filter(None, [user]))),
        )
        zone = _answer("Your time zone", zone or str(policy.zone), introduction.zone_of)
        manner = _answer(
            'How it should talk, such as "warm and brief, in German"',
            manner,
            introduction.manner_of,
        )
    except EOFError:
        pass
    given = introduction.Introduction(name, user, zone, manner)
    written = introduction.introduce(companion.file, given, utc_now())
    if written is not None:
        note(f"Who it is stands in {written}; change it as you like. /self asks again.")
    else:
        note(
            "Names and time zone count from now on. wake-context.md is as you wrote it: change "
            "it there, too."
        )
    return introduced(companion, given, settings.memory.journal)


def _answer(question: str, given: str, read: Callable[[str], str]) -> str:
    """What is answered, once it can be read; what is `given` for Enter alone, '' for a dash.

    Raises:
        EOFError: there are no more answers.
    """
    while (line := asked(f"{question} [{given}]: " if given else f"{question}: ")) is not None:
        said = line.strip()
        if said.startswith("/"):
            note(f"{HOW_TO_ANSWER} Commands come after that.")
            continue
        try:
            return given if not said else read("" if said == "-" else said)
        except InvalidInput as error:
            note(f"{error}.")
    raise EOFError
