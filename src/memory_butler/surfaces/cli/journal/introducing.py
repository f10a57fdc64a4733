"""The first conversation: it asks who talks with whom, where they live and in which manner."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from memory_butler.domain.errors import InvalidInput
from memory_butler.surfaces.cli.journal.terminal import asked, note

if TYPE_CHECKING:
    from memory_butler.companions.opening import Companion
    from memory_butler.config import Settings


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
    user, name, zone, manner = old.user, old.name, old.zone or str(policy.zone), old.manner
    try:
        user = _answer(
            "Your name: ",
            user,
            lambda text: introduction.name_of(text, policy.assistant_actors),
        )
        name = _answer(
            "The companion's name: ",
            name,
            lambda text: introduction.name_of(text, (*policy.user_actors, *filter(None, [user]))),
        )
        zone = _answer("Your time zone: ", zone, introduction.zone_of)
        manner = _answer(
            'How it shall talk, such as "warm and brief, in German": ',
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
    """What is answered, once it can be read; at a terminal what is `given` can be changed.

    Elsewhere an empty line leaves what is given.

    Raises:
        EOFError: there are no more answers.
    """
    while (line := asked(question, given)) is not None:
        try:
            return read(line) if line.strip() or sys.stdin.isatty() else given
        except InvalidInput as error:
            note(f"{error}.")
    raise EOFError
