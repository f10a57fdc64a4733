"""Memory as the session of an agent of the OpenAI Agents SDK.

await Runner.run(agent, "Hello", session=MemorySession("ana", memory))
"""

import json
import logging
from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import UUID, uuid5

from agents import TResponseInputItem
from agents.memory import SessionSettings

from memory_butler.client import MemoryClient
from memory_butler.domain.errors import InvalidInput, Unavailable
from memory_butler.domain.text import storable
from memory_butler.engine.items import MAX_ITEMS

# The first label of everything that sessions keep.
ROOT: Final = "openai-agents"
_JSON: Final = "json"
_EPISODES: Final = UUID("5f7d3c1e-3b0a-4a55-9a7c-6f2f0f6b8a41")
_log = logging.getLogger(__name__)


class MemorySession:
    """A `Session` whose history Memory Butler keeps, each tenant's by itself.

    Several processes may share a session: what is added together stays together (200 items at a
    time), and an item is popped by one of them alone. Items come back as they were added, with any
    character that JSON can write; one item has at most 1 MiB as JSON.

    Args:
        session_id: names the conversation; up to 500 bytes.
        client: of a server, or of a memory in this process.
        butler: whose episodes the utterances of user and agent become as well, so that facts and
            rules are drawn from them. None: the history is kept, and nothing is learned from it.
            An episode stays when its item is popped or the session is cleared.
        session_settings: how many items a run reads at most, as the SDK has it.
    """

    def __init__(
        self,
        session_id: str,
        client: MemoryClient,
        *,
        butler: str | None = None,
        session_settings: SessionSettings | None = None,
    ) -> None:
        self.session_id = session_id
        self.session_settings = session_settings
        self._client = client
        self._butler = butler
        self._place = [ROOT, session_id]
        self._untold: list[dict[str, Any]] = []

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The history in order, or its last `limit` items."""
        if limit is None and self.session_settings is not None:
            limit = self.session_settings.limit
        found: list[TResponseInputItem] = []
        before: str | None = None
        while limit is None or len(found) < limit:
            wanted = MAX_ITEMS if limit is None else min(limit - len(found), MAX_ITEMS)
            page = (await self._client.items_tail(self._place, before=before, limit=wanted)).items
            found[:0] = [json.loads(one.value[_JSON]) for one in page]
            if len(page) < wanted:
                break
            before = page[0].key
        return found

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Put items behind the last one."""
        for start in range(0, len(items), MAX_ITEMS):
            some = items[start : start + MAX_ITEMS]
            # As text, because JSON in the database has no NUL and no order of members.
            added = await self._client.items_append(
                self._place, [{_JSON: json.dumps(one)} for one in some]
            )
            if self._butler is not None:
                self._untold += self._episodes(some, added.keys)
        await self._tell()

    async def pop_item(self) -> TResponseInputItem | None:
        """Remove the last item; it, or None where there is none."""
        popped = (await self._client.items_pop(self._place)).item
        if popped is None:
            return None
        item: TResponseInputItem = json.loads(popped.value[_JSON])
        return item

    async def clear_session(self) -> None:
        """Delete the history."""
        await self._client.items_clear(self._place)

    async def _tell(self) -> None:
        """Store the episodes that wait; where memory cannot, they go with the next items.

        What memory refuses stays in the history alone.

        The history has been kept by now, and a run that failed here would add it again.
        """
        while self._untold:
            try:
                await self._client.store_episode(**self._untold[0])
            except Unavailable as error:
                _log.warning("%d episodes wait to be stored: %s", len(self._untold), error)
                return
            except InvalidInput as error:
                # It would be refused each time, and keep out all that was said after it.
                _log.warning("an utterance is not stored as an episode: %s", error)
            del self._untold[0]

    def _episodes(
        self, items: Sequence[TResponseInputItem], keys: Sequence[str]
    ) -> list[dict[str, Any]]:
        """The utterances; an id of each follows from its place, so that a run which takes its items
        back and adds them again does not tell them twice."""
        session = uuid5(_EPISODES, self.session_id)
        return [
            {
                "content": said,
                "butler": self._butler,
                "session_id": session,
                "speaker": item.get("role"),
                "turn": int(key),
                "episode_id": uuid5(session, f"{key} {item.get('role')} {said}"),
            }
            for item, key in zip(items, keys, strict=True)
            if (said := _said(item))
        ]


def _said(item: Mapping[str, Any]) -> str:
    """The text of what the user or the agent said; empty for calls, results and instructions."""
    if item.get("role") not in ("user", "assistant"):
        return ""
    content = item.get("content")
    if not isinstance(content, str):
        parts = (part.get("text") or part.get("refusal") or "" for part in content or ())
        content = "\n".join(parts)
    return storable(content).strip()
