"""The bridge between a journal and memory, off by default (C-86).

One way a closed session becomes an episode; the other way memory adds what it recalls to a prompt.
The journal never waits for memory: what cannot be handed over stays in the log until it can.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Final
from uuid import UUID, uuid5

from memory_butler.companions.opening import Companion, use
from memory_butler.domain.errors import MemoryButlerError
from memory_butler.domain.principals import Principal
from memory_butler.domain.secrets import find
from memory_butler.engine.memory import Memory
from memory_butler.engine.recall import Hit, recall
from memory_butler.engine.remember import store_episode
from memory_butler.journal import sessions
from memory_butler.journal.lookups import Answer
from memory_butler.journal.sessions import Session
from memory_butler.logs import get_logger

log = get_logger()

# Sessions handed over at once; the rest goes with the next call.
MAX_SESSIONS: Final = 50
# What memory is asked: the beginning of a message says what it is about.
_MAX_TOPIC_CHARS: Final = 1_000
# The name space of the episodes' ids: a session has the same id however often it is handed over.
_EPISODES: Final = UUID("6d3f5f1e-4c0b-5b52-9d0a-3f1f5a0e7c11")


@dataclass(frozen=True, slots=True)
class HandedOver:
    """Sessions that are episodes now; `waiting` messages are not, `problem` says why if not by
    choice."""

    stored: int
    waiting: int
    problem: str | None = None


async def hand_over(memory: Memory, principal: Principal, companion: str) -> HandedOver:
    """Make an episode of each closed session, the oldest first; nothing is lost or stored twice.

    Raises:
        NotFound: there is no such companion.
    """
    stored = 0
    problem = None
    silence = timedelta(minutes=memory.config.journal.bridge.session_minutes)

    def take(one: Companion) -> Session | None:
        return sessions.take(one.file, one.policy, memory.clock(), silence)

    for _ in range(MAX_SESSIONS):
        session = await use(memory, principal, companion, take)
        if session is None:
            break
        try:
            if session.transcript:
                await _store(memory, principal, companion, session)
                stored += 1
        except MemoryButlerError as error:
            problem = str(error)
            log.warning("a session waits for memory", companion=companion, code=error.code)
            break
        await use(memory, principal, companion, partial(_arrived, session, memory.clock()))
    left = await use(memory, principal, companion, lambda one: sessions.waiting(one.file))
    return HandedOver(stored, left, problem)


async def recalled(memory: Memory, principal: Principal, message: str) -> list[Answer]:
    """What memory has to say on a message; nothing while it is away, or cannot answer."""
    try:
        hits = await recall(
            memory,
            principal,
            message[:_MAX_TOPIC_CHARS],
            limit=memory.config.journal.bridge.recall_limit,
        )
    except MemoryButlerError as error:
        log.warning("memory adds nothing to a journal's prompt", code=error.code)
        return []
    if not hits:
        return []
    return [Answer("memory", tuple(map(_line, hits)))]


def _line(hit: Hit) -> str:
    """A memory as a context has it: without its subject a fact would be anybody's."""
    if hit.memory_type != "fact":
        return str(hit.row["content"])
    return f"[{hit.row['subject']}] [{hit.row['predicate']}]: {hit.row['content']}"


def _arrived(session: Session, now: datetime, companion: Companion) -> None:
    sessions.handed_over(companion.file, session, now)


async def _store(memory: Memory, principal: Principal, companion: str, session: Session) -> None:
    key = f"{principal.tenant}/{companion}/{session.first}-{session.last}/{session.started_at}"
    session_id = uuid5(_EPISODES, key)
    parts = _parts(session.transcript, memory.config.max_content_bytes)
    for number, part in enumerate(parts):
        await store_episode(
            memory,
            principal,
            part,
            memory.config.journal.bridge.butler,
            id=uuid5(_EPISODES, f"{key}/{number}") if number else session_id,
            session_id=session_id,
            occurred_at=session.started_at,
            metadata={
                "journal": companion,
                "first_event": session.first,
                "last_event": session.last,
            },
        )


def _parts(text: str, most: int) -> Iterator[str]:
    """A text in parts of at most so many bytes, divided between lines where it can be, and never
    within a secret: a half of one would be stored unmasked.

    One that was refused for its length would keep all later sessions waiting.
    """
    at, encoded = 0, text.encode()
    found = find(text) if len(encoded) > most else []
    while len(encoded) > most:
        part = encoded[:most].decode(errors="ignore")
        part = part[: part.rfind("\n") + 1] or part
        cut = at + len(part)
        for one in reversed(found):
            if at < one.start < cut < one.end:
                # With its line: what stands there may tell that it is one.
                line = text.rfind("\n", at, one.start) + 1
                cut = line if line > at else one.start
        part, at = text[at:cut], cut
        encoded = encoded[len(part.encode()) :]
        if part.strip():
            yield part.rstrip("\n")
    yield text[at:]
