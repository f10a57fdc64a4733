"""What the exports of chat programs share: a document with a list of conversations."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from memory_butler.domain.errors import InvalidInput
from memory_butler.engine.import_format import BadLine, EpisodeLine, LeftOut
from memory_butler.engine.importers.source import Document, Found, present, read_json, session

_SPEAKERS: Final = ("user", "assistant")


@dataclass(frozen=True, slots=True)
class Message:
    """Something that was said.

    Attributes:
        speaker: "user" or "assistant"; anything else is a role that no reader knows.
        text: empty where there were attachments alone.
        attachments: the names of files that came with it.
        repeated: it stands in many conversations, under the same id, and is read once.
    """

    id: str
    speaker: str
    text: str
    at: datetime | None
    attachments: tuple[str, ...] = ()
    repeated: bool = False


@dataclass(frozen=True, slots=True)
class Conversation:
    """What was said, in order; `began` is when the export says that it did."""

    id: str
    title: str
    messages: list[Message]
    began: datetime | None = None


def conversations(document: Document) -> list[Any]:
    """The list that the document is.

    Raises:
        InvalidInput: it is not JSON, or no list.
    """
    found = read_json(document)
    if not isinstance(found, list):
        raise InvalidInput(f"{document.name} is not a list of conversations")
    return found


def read_conversations(
    document: Document, butler: str, format: str, understand: Callable[[Any], Conversation]
) -> Iterator[Found]:
    """The messages of all conversations; one that cannot be understood is told and passed over."""
    try:
        found = conversations(document)
    except InvalidInput as error:
        yield Found(1, "", BadLine(1, str(error), document.name), document.size)
        return
    read: set[str] = set()
    for number, one in enumerate(found, 1):
        reached = document.size * number // len(found)
        try:
            conversation = understand(one)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            said = f"the conversation is not understood: {type(error).__name__} {error}"
            yield Found(number, "", BadLine(number, said, document.name), reached)
            continue
        turn = 0
        for message in _dated(conversation):
            if message.speaker not in _SPEAKERS:
                yield Found(number, "", LeftOut("unknown speaker's message"), reached)
                continue
            for _ in message.attachments:
                yield Found(number, "", LeftOut("attachment"), reached)
            if not message.text or message.id in read:
                continue
            if message.repeated:
                read.add(message.id)
                yield Found(
                    number, f"{format}/{message.id}", _once(message, butler, format), reached
                )
                continue
            line = EpisodeLine(
                kind="episode",
                id=message.id,
                content=message.text,
                butler=butler,
                speaker=message.speaker,
                turn=turn,
                metadata={
                    "imported_from": format,
                    "conversation": conversation.id,
                    **present(
                        title=conversation.title or None,
                        attachments=list(message.attachments) or None,
                    ),
                },
                **present(occurred_at=message.at, session_id=session(conversation.id)),
            )
            turn += 1
            key = f"{format}/{conversation.id}/{message.id}"
            yield Found(number, key, line, reached)


def _dated(conversation: Conversation) -> Iterator[Message]:
    """The messages, each without a time with that of the one before it.

    The first ones have that of the first which has one, else of the conversation. Without, they
    would be of the day of the import.
    """
    times = (one.at for one in conversation.messages if one.at is not None)
    at = next(times, conversation.began)
    for one in conversation.messages:
        at = one.at or at
        yield replace(one, at=at)


def _once(message: Message, butler: str, format: str) -> EpisodeLine:
    return EpisodeLine(
        kind="episode",
        id=message.id,
        content=message.text,
        butler=butler,
        speaker=message.speaker,
        metadata={"imported_from": format},
        **present(occurred_at=message.at),
    )
