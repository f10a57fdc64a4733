"""Memory as the memory service of agents of Google's Agent Development Kit (ADK).

Runner(..., memory_service=MemoryService(lambda user_id: memory))
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final, Literal
from uuid import UUID, uuid5

from google.adk.events import Event
from google.adk.memory import BaseMemoryService
from google.adk.memory.base_memory_service import SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.sessions import Session
from google.genai.types import Content, Part

from memory_butler.client import MemoryClient, shapes
from memory_butler.domain.errors import InvalidInput, Unavailable

_EPISODES: Final = UUID("0f5bb0c4-6a0e-4a7c-9f0f-7b4f8f1d2c35")
_USER: Final = "user"
# The speaker of what the user did not say, by which evidence is weighed. The agent's name is kept
# in the metadata.
_ASSISTANT: Final = "assistant"
_AUTHOR: Final = "author"
# Of ADK's own memory service.
_FOUND: Final = 10
# Episodes that need not be sent again; beyond this a session that is added anew is sent anew.
_REMEMBERED: Final = 10_000
_log = logging.getLogger(__name__)


class MemoryService(BaseMemoryService):
    """A `BaseMemoryService` whose memory is this server's.

    What is said in a session becomes episodes, one an event, from which facts and rules are drawn;
    a search finds episodes, facts and rules. The app's name is the butler's: a search finds global
    memories and those of this app.

    A session may be added again and again, and an event is stored once. Where memory cannot store
    one now, that is logged, and it is stored when the session is added the next time. An event that
    memory refuses (its text is too long, or holds a secret that may not be stored) is logged and
    left out.

    Args:
        memory_of: the memory of a user, by the user's id: a client of that user's own tenant. Users
            who are given one client share one memory, and are told what the others said.
    """

    def __init__(self, memory_of: Callable[[str], MemoryClient]) -> None:
        self._memory_of = memory_of
        self._stored: dict[UUID, None] = {}

    async def add_session_to_memory(self, session: Session) -> None:
        """Store what was said in a session, as far as it is not stored."""
        await self.add_events_to_memory(
            app_name=session.app_name,
            user_id=session.user_id,
            events=session.events,
            session_id=session.id,
        )

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Store what was said in some events of a session, with the metadata."""
        memory = self._memory_of(user_id)
        session = uuid5(_EPISODES, f"{app_name}/{user_id}/{session_id or ''}")
        for event in events:
            said, id = _said(event.content), uuid5(session, event.id)
            if not said or event.partial or id in self._stored:
                continue
            by_user = event.author == _USER
            try:
                await memory.store_episode(
                    said,
                    app_name,
                    session_id=session,
                    speaker=_USER if by_user else _ASSISTANT,
                    trust="user_said" if by_user else "agent_inferred",
                    occurred_at=datetime.fromtimestamp(event.timestamp, UTC),
                    metadata=dict(custom_metadata or {})
                    | ({} if by_user else {_AUTHOR: event.author}),
                    episode_id=id,
                )
            except (Unavailable, RuntimeError) as error:  # or a client of another event loop
                _log.warning("the session is not stored as a whole: %s", error)
                return
            except InvalidInput as error:
                # It would be refused each time, and keep out all that was said after it.
                _log.warning("event %s is left out: %s", event.id, error)
            self._stored[id] = None
            if len(self._stored) > _REMEMBERED:
                del self._stored[next(iter(self._stored))]

    async def search_memory(
        self, *, app_name: str, user_id: str, query: str
    ) -> SearchMemoryResponse:
        """The memories that bear on a question, at most 10, best first."""
        if not query.strip():
            return SearchMemoryResponse()
        found = await self._memory_of(user_id).search(query, scope=app_name, limit=_FOUND)
        return SearchMemoryResponse(memories=[_entry(one) for one in found.results])

    async def delete_memory(
        self, *, app_name: str, user_id: str, memory_id: str | None = None
    ) -> None:
        """Forget a memory; it stays recoverable for the user.

        Raises:
            InvalidInput: the id is not one of an entry that was found.
            NotFound: there is no such memory.
        """
        if not memory_id:
            return
        kind, _, id = memory_id.partition("/")
        try:
            await self._memory_of(user_id).forget(_kind(kind), UUID(id))
        except ValueError:
            raise InvalidInput(f"{memory_id!r} is not the id of an entry that was found") from None


def _kind(text: str) -> Literal["episode", "fact", "rule"]:
    match text:
        case "episode" | "fact" | "rule":
            return text
    raise ValueError(text)


def _said(content: Content | None) -> str:
    """The text of an event, without calls, results and the model's thoughts."""
    parts = (content and content.parts) or ()
    texts = (part.text for part in parts if part.text and not part.thought)
    return "\n".join(texts).replace("\0", "").strip()


def _entry(one: shapes.Episode | shapes.Fact | shapes.Rule) -> MemoryEntry:
    author = when = None
    text = one.content
    match one:
        case shapes.Episode():
            author, when = one.speaker, one.occurred_at
            if author == _ASSISTANT:
                author = str(one.metadata.get(_AUTHOR, author))
        case shapes.Fact():
            text, when = f"{one.subject} {one.predicate}: {one.content}", one.valid_from
    return MemoryEntry(
        id=f"{one.memory_type}/{one.id}",
        content=Content(role=_USER if author == _USER else "model", parts=[Part(text=text)]),
        author=author,
        timestamp=None if when is None else when.isoformat(timespec="seconds"),
        custom_metadata={"type": one.memory_type, "trust": one.trust},
    )
