"""The data export of Claude: conversations, what it remembers of the person, and projects.

`conversations.json` is a list of conversations with their messages; `memories.json` (or a file each
account) what Claude wrote down of the person and of each project; `projects.json` (or a file each)
what a project is and how Claude should go about it. A project's documents are named as left out.
"""

from collections.abc import Iterator
from hashlib import sha256
from typing import Any, Final

from memory_butler.domain.errors import InvalidInput
from memory_butler.engine.import_format import BadLine, EpisodeLine, LeftOut
from memory_butler.engine.importers.claude_code import spoken
from memory_butler.engine.importers.conversations import Conversation, Message, read_conversations
from memory_butler.engine.importers.source import (
    Document,
    Found,
    moment,
    own_id,
    present,
    read_json,
)

_SPEAKERS: Final = {"human": "user", "assistant": "assistant"}


def recognises(first: Any) -> bool:
    """Whether it is a conversation, a memory or a project of this format."""
    if not isinstance(first, dict):
        return False
    is_project = "uuid" in first and isinstance(first.get("docs"), list)
    return isinstance(first.get("chat_messages"), list) or _is_memory(first) or is_project


def read(document: Document, butler: str) -> Iterator[Found]:
    """What was said, conversation by conversation, or what was kept besides."""
    if document.name.rpartition("/")[2].startswith("conversations"):
        yield from read_conversations(document, butler, "claude", _conversation)
        return
    try:
        found = read_json(document)
    except InvalidInput as error:
        yield Found(1, "", BadLine(1, str(error), document.name), document.size)
        return
    listed = found if isinstance(found, list) else [found]
    if any(isinstance(one, dict) and "chat_messages" in one for one in listed):
        # Under another name, as one gives to a file that one keeps.
        yield from read_conversations(document, butler, "claude", _conversation)
        return
    for number, one in enumerate(listed, 1):
        reached = document.size * number // len(listed)
        if not recognises(one):
            bad = BadLine(number, "it is no memory and no project", document.name)
            yield Found(number, "", bad, reached)
            continue
        reader = _memory if _is_memory(one) else _project
        for line in reader(one, butler):
            key = "" if isinstance(line, LeftOut) else f"claude/{line.id}"
            yield Found(number, key, line, reached)


def _is_memory(found: dict[str, Any]) -> bool:
    return isinstance(found.get("conversations_memory"), str)


def _memory(found: dict[str, Any], butler: str) -> Iterator[EpisodeLine]:
    """What Claude wrote down, section by section; the same text is the same memory."""
    of_projects = found.get("project_memories")
    of_projects = of_projects if isinstance(of_projects, dict) else {}
    for text in [found["conversations_memory"], *of_projects.values()]:
        for section in _sections(text if isinstance(text, str) else ""):
            digest = sha256(section.encode("utf-8", "replace")).hexdigest()[:16]
            yield _episode(f"memory/{digest}", section, "assistant", butler)


def _project(found: dict[str, Any], butler: str) -> Iterator[EpisodeLine | LeftOut]:
    name = str(found.get("name") or "unnamed")
    told = {"": found.get("description"), "Instructions: ": found.get("prompt_template")}
    said = "\n\n".join(f"{what}{text}" for what, text in told.items() if text)
    if said:
        when = moment(found.get("updated_at") or found.get("created_at"))
        id = f"project/{own_id(found['uuid'])}"
        yield _episode(id, f"Project {name}: {said}", "user", butler, occurred_at=when)
    for _ in found["docs"]:
        yield LeftOut("project document")


def _episode(id: str, text: str, speaker: str, butler: str, **more: Any) -> EpisodeLine:
    return EpisodeLine(
        kind="episode",
        id=id,
        content=text,
        butler=butler,
        speaker=speaker,
        metadata={"imported_from": "claude"},
        **present(**more),
    )


def _sections(text: str) -> Iterator[str]:
    """The paragraphs, each heading with the one that it stands above."""
    heading = ""
    for paragraph in map(str.strip, text.split("\n\n")):
        if paragraph.startswith(("#", "**")) and "\n" not in paragraph and len(paragraph) < 100:
            heading = paragraph.strip("#* ") + "\n\n"
        elif paragraph:
            yield heading + paragraph


def _conversation(found: Any) -> Conversation:
    messages = list(_messages(found["chat_messages"]))
    title, began = str(found.get("name") or ""), moment(found.get("created_at"))
    return Conversation(own_id(found["uuid"]), title, messages, began)


def _messages(found: list[Any]) -> Iterator[Message]:
    for message in found:
        speaker = _SPEAKERS.get(message["sender"], "")
        # `content` holds the blocks; in older exports there is `text` alone.
        said = spoken(message.get("content")) or spoken(message.get("text"))
        files = [*(message.get("attachments") or []), *(message.get("files") or [])]
        attached = tuple(str(one.get("file_name") or "unnamed") for one in files)
        if said or attached:
            when = moment(message.get("created_at"))
            yield Message(own_id(message["uuid"]), speaker, said, when, attached)
