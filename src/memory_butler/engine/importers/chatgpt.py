"""The data export of ChatGPT: `conversations.json`, a list of conversations, each a tree.

An edited question or a regenerated answer is a branch of the tree; only the branch that the person
kept, from `current_node` upwards, is history. Of a spoken turn its transcription is read. Custom
instructions stand in every conversation that was held under them, and are read once.
"""

from collections.abc import Iterator
from hashlib import sha256
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
    title, began = str(found.get("title") or ""), moment(found.get("create_time"))
    return Conversation(own_id(id), title, list(_messages(found)), began)


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
        content = message.get("content") or {}
        if content.get("content_type") == "user_editable_context":
            yield from _instructions(message)
            continue
        hidden = (message.get("metadata") or {}).get("is_visually_hidden_from_conversation")
        # "recipient" is a tool where the assistant calls one.
        if role in {"system", "tool"} or hidden or message.get("recipient", "all") != "all":
            continue
        if content.get("content_type") not in {"text", "multimodal_text"}:
            continue
        parts = content.get("parts") or []
        said = "\n\n".join(text for part in parts if (text := _text(part)))
        attached = _attached(message, parts)
        if said or attached:
            when = moment(message.get("create_time"))
            yield Message(own_id(message["id"]), role, said, when, attached)


def _text(part: Any) -> str:
    if isinstance(part, dict) and part.get("content_type") == "audio_transcription":
        part = part.get("text")
    return part.strip() if isinstance(part, str) else ""


def _attached(message: Any, parts: list[Any]) -> tuple[str, ...]:
    listed = (message.get("metadata") or {}).get("attachments") or []
    if listed:
        return tuple(str(one.get("name") or "unnamed") for one in listed if isinstance(one, dict))
    pictures = (part for part in parts if isinstance(part, dict))
    return tuple(
        str(part.get("asset_pointer") or "unnamed")
        for part in pictures
        if part.get("content_type") == "image_asset_pointer"
    )


def _instructions(message: Any) -> Iterator[Message]:
    """What the person told the program to know of them, and how to answer."""
    content = message["content"]
    given = (message.get("metadata") or {}).get("user_context_message_data") or {}
    about = given.get("about_user_message") or content.get("user_profile")
    manner = given.get("about_model_message") or content.get("user_instructions")
    told = {"About me": about, "How to answer me": manner}
    said = "\n\n".join(
        f"{heading}: {text.strip()}"
        for heading, text in told.items()
        if isinstance(text, str) and text.strip()
    )
    if said:
        id = f"custom-instructions/{sha256(said.encode('utf-8', 'replace')).hexdigest()[:16]}"
        yield Message(id, "user", said, moment(message.get("create_time")), repeated=True)


def _last(mapping: dict[str, Any]) -> str | None:
    """Exports of some years name no current node; the last one made is a leaf."""
    return next(reversed(mapping), None)
