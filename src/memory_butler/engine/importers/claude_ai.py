"""The data export of Claude: `conversations.json`, a list of conversations with their messages."""

from collections.abc import Iterator
from typing import Any, Final

from memory_butler.engine.importers.claude_code import spoken
from memory_butler.engine.importers.conversations import Conversation, Message, read_conversations
from memory_butler.engine.importers.source import Document, Found, moment, own_id

_SPEAKERS: Final = {"human": "user", "assistant": "assistant"}


def recognises(first: Any) -> bool:
    """Whether it is a conversation of this format."""
    return isinstance(first, dict) and isinstance(first.get("chat_messages"), list)


def read(document: Document, butler: str) -> Iterator[Found]:
    """What was said, conversation by conversation."""
    return read_conversations(document, butler, "claude", _conversation)


def _conversation(found: Any) -> Conversation:
    messages = list(_messages(found["chat_messages"]))
    return Conversation(own_id(found["uuid"]), str(found.get("name") or ""), messages)


def _messages(found: list[Any]) -> Iterator[Message]:
    for message in found:
        speaker = _SPEAKERS.get(message["sender"])
        # `content` holds the blocks; in older exports there is `text` alone.
        said = spoken(message.get("content")) or spoken(message.get("text"))
        if speaker is not None and said:
            when = moment(message.get("created_at"))
            yield Message(own_id(message["uuid"]), speaker, said, when)
