"""Sessions of the endless conversation: stretches without a long silence (C-86).

What another memory is to be given is read from the log itself, which is the only spool: a state row
says how far it has got, and another which session is on its way. So nothing is lost while that
memory is away, and a session that was interrupted on its way is the same one again.
"""

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Final

from memory_butler.journal import events, state
from memory_butler.journal.file import JournalFile
from memory_butler.journal.items import Event
from memory_butler.journal.policy import JournalPolicy
from memory_butler.journal.tags import read
from memory_butler.journal.wording import conversation_line, shown_pieces

# A longer session is handed over in parts of so many messages.
MAX_MESSAGES: Final = 200
MAX_MESSAGE_CHARS: Final = 4_000

_HANDED_OVER = "handed_over_to"
_ON_ITS_WAY = "handing_over"
_ENDED = "session_ended"


@dataclass(frozen=True, slots=True)
class Session:
    """The messages from id `first` to `last`; `transcript` is what they show, '' where nothing."""

    first: int
    last: int
    started_at: datetime
    ended_at: datetime
    transcript: str


def end(file: JournalFile, now: datetime) -> None:
    """Say that the conversation is over for now; what comes next is another session."""
    with file.writing() as db:
        state.put(db, _ENDED, str(events.newest_id(db)), now)


def is_over(file: JournalFile, now: datetime, silence: timedelta) -> bool:
    """Whether the latest session is closed: by `end`, or by a silence of that length."""
    with file.reading() as db:
        newest, latest = events.newest_id(db), events.extent(db)[1]
        ended = int(state.get(db, _ENDED) or "0")
    return latest is not None and (newest <= ended or now - latest >= silence)


def take(
    file: JournalFile, policy: JournalPolicy, now: datetime, silence: timedelta
) -> Session | None:
    """The oldest closed session that was not handed over; None where there is none.

    Closed is what a silence of that length follows, or `end`. Taken again before `handed_over`, it
    is the same session, whatever was said or configured meanwhile.
    """
    with file.writing() as db:
        way = state.get(db, _ON_ITS_WAY)
        if way is not None:
            last = int(way)
            messages = [one for one in _waiting(db) if one.id <= last]
        else:
            messages = _first_closed(db, now, silence)
            if messages:
                state.put(db, _ON_ITS_WAY, str(messages[-1].id), now)
    if not messages:
        return None
    transcript = "\n".join(line for one in messages for line in _lines(one, policy))
    first, last_one = messages[0], messages[-1]
    return Session(first.id, last_one.id, first.ts, last_one.ts, transcript)


def handed_over(file: JournalFile, session: Session, now: datetime) -> None:
    """The session has arrived; the next one may go."""
    with file.writing() as db:
        done = int(state.get(db, _HANDED_OVER) or "0")
        state.put(db, _HANDED_OVER, str(max(done, session.last)), now)
        if state.get(db, _ON_ITS_WAY) == str(session.last):
            state.drop(db, _ON_ITS_WAY)


def waiting(file: JournalFile) -> int:
    """How many messages have not been handed over, closed or not; counted up to a limit."""
    with file.reading() as db:
        return len(_waiting(db))


def _waiting(db: sqlite3.Connection) -> list[Event]:
    done = int(state.get(db, _HANDED_OVER) or "0")
    # One more than a session holds: whether something follows decides whether it is closed.
    return events.appended_after(db, done, MAX_MESSAGES + 1)


def _first_closed(db: sqlite3.Connection, now: datetime, silence: timedelta) -> list[Event]:
    messages = _waiting(db)
    ended = int(state.get(db, _ENDED) or "0")
    for place, (one, following) in enumerate(pairwise(messages), 1):
        if abs(following.ts - one.ts) >= silence or one.id == ended or place == MAX_MESSAGES:
            return messages[:place]
    over = messages and (now - messages[-1].ts >= silence or messages[-1].id <= ended)
    return messages if over else []


def _lines(event: Event, policy: JournalPolicy) -> Iterator[str]:
    """What the conversation shows of a message; neither thinking nor secrets are."""
    reading = read(event.content, (*policy.assistant_actors, *policy.user_actors))
    for piece in shown_pieces(event.actor, reading.pieces, event.tags, policy):
        line = conversation_line(event.actor, piece, False, policy)
        yield line if len(line) <= MAX_MESSAGE_CHARS else f"{line[:MAX_MESSAGE_CHARS]} […]"
