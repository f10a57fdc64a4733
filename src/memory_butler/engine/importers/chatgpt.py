"""The data export of ChatGPT: `conversations.json`, a list of conversations, each a tree.

An edited question or a regenerated answer is a branch of the tree; only the branch that the person
kept, from `current_node` upwards, is history.
"""

from collections.abc import Iterator
from typing import Any

from memory_butler.engine.importers.conversations import Conversation, Message, read_conversations
from memory_butler.engine.importers.source import Document, Found, moment, own_id


def recognises(first: Any) -> bool:
    """Whether it is a conversation of this format."""
    return isinstance(first, dict) and isinstance(first.get("mapping"), dict)


def read(document: Document, butler: str) -> Iterator[Found]:
    """What was said, conversation by conversation."""
    return read_conversations(document, butler, "chatgpt", _conversation)


def _conversation(found: Any) -> Conversation:
    id = found.get("conversation_id") or found["id"]
    return Conversation(own_id(id), str(found.get("title") or ""), list(_messages(found)))


def _messages(found: Any) -> Iterator[Message]:
    mapping = found["mapping"]
    branch: list[Any] = []
    node = mapping.get(found.get("current_node") or _last(mapping))
    while node is not None and len(branch) <= len(mapping):  # a loop would be a broken export
        branch.append(node)
        node = mapping.get(node.get("parent"))
    for node in reversed(branch):
        message = node.get("message")
        if not isinstance(message, dict):
            continue
        role = message["author"]["role"]
        hidden = (message.get("metadata") or {}).get("is_visually_hidden_from_conversation")
        # "recipient" is a tool where the assistant calls one.
        if role not in {"user", "assistant"} or hidden or message.get("recipient", "all") != "all":
            continue
        content = message.get("content") or {}
        if content.get("content_type") not in {"text", "multimodal_text"}:
            continue
        parts = [part for part in content.get("parts") or [] if isinstance(part, str)]
        said = "\n\n".join(part.strip() for part in parts if part.strip())
        if said:
            yield Message(own_id(message["id"]), role, said, moment(message.get("create_time")))


def _last(mapping: dict[str, Any]) -> str | None:
    """Exports of some years name no current node; the last one made is a leaf."""
    return next(reversed(mapping), None)
