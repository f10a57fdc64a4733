"""Former conversations with other programs, as lines for a journal, in the order of their moments.

Read are the data exports of ChatGPT and Claude, transcripts of Claude Code, chats of SillyTavern
and character cards. All else is taken as the lines themselves (`journal.importing`).
"""

import base64
import binascii
import json
import re
import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any, BinaryIO, Final

from dateutil import parser  # type: ignore[import-untyped]  # ships none

from memory_butler.domain.errors import InvalidInput
from memory_butler.engine.import_format import EpisodeLine
from memory_butler.engine.importers.formats import detect, open_export
from memory_butler.engine.importers.source import moment

MAX_CARD_BYTES: Final = 64 * 1024 * 1024
MAX_CHAT_BYTES: Final = 512 * 1024 * 1024

_PNG: Final = b"\x89PNG\r\n\x1a\n"
_CARD_CHUNKS: Final = (b"ccv3", b"chara")  # the newer one first
# "2023-5-5 @15h 12m 30s 123ms", as older versions wrote it.
_OLD_DATE: Final = re.compile(
    r"^(\d{4})-(\d{1,2})-(\d{1,2}) ?@(\d{1,2})h ?(\d{1,2})m ?(\d{1,2})s(?: ?\d{1,3}ms)?$"
)
_CHARACTER: Final = re.compile(r"\{\{char\}\}|<bot>", re.IGNORECASE)
_USER: Final = re.compile(r"\{\{user\}\}|<user>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Roles:
    """The actors of a journal: who speaks for the user, and who for the companion."""

    user: str
    companion: str


@dataclass(frozen=True, slots=True)
class Card:
    """A character: what the companion knows of itself, and how it greets.

    Attributes:
        greeting: '' where it has none.
    """

    name: str
    description: str
    greeting: str


@dataclass(frozen=True, slots=True)
class _Said:
    at: datetime | None
    actor: str
    text: str


def former_lines(path: Path, roles: Roles, zone: tzinfo) -> bytes | None:
    """JSON Lines of a former conversation; None where the path holds none of a known program.

    A message without a time gets that of the one before it, and the first ones that of the first
    which has one.

    Raises:
        InvalidInput: it cannot be read, or no message of it has a time.
    """
    if path.is_file() and (chat := _tavern_chat(path)) is not None:
        said = list(_of_tavern(chat, roles, zone))
    else:
        format = detect(path)
        if format is None or format.name not in {"chatgpt", "claude", "claude-code"}:
            return None
        lines = (one.line for one in open_export(path, format).candidates("journal"))
        # What is of no turn is no part of a conversation, such as custom instructions.
        turns = (one for one in lines if isinstance(one, EpisodeLine) and one.turn is not None)
        said = [
            _Said(
                one.occurred_at,
                roles.user if one.speaker == "user" else roles.companion,
                one.content,
            )
            for one in turns
        ]
    return b"".join(
        json.dumps(
            {"ts": one.at.astimezone(UTC).isoformat(), "actor": one.actor, "content": one.text}
        ).encode()
        + b"\n"
        for one in sorted(_dated(said), key=_moment_of)
        if one.at is not None
    )


def _moment_of(one: _Said) -> datetime:
    assert one.at is not None  # noqa: S101 -- `_dated` gave it one
    return one.at


def _dated(said: Iterable[_Said]) -> Iterator[_Said]:
    found = list(said)
    known = next((one.at for one in found if one.at is not None), None)
    if known is None and found:
        raise InvalidInput("no message of it has a time, so its place in the journal is unknown")
    for one in found:
        known = one.at or known
        yield _Said(known, one.actor, one.text)


def _tavern_chat(path: Path) -> list[dict[str, Any]] | None:
    """The entries of a chat of SillyTavern below its first line; None if it is none."""
    with path.open("rb") as file:
        try:
            first = json.loads(file.readline(MAX_CARD_BYTES))
        except (ValueError, RecursionError):
            return None
        if not isinstance(first, dict) or "character_name" not in first:
            return None
        if path.stat().st_size > MAX_CHAT_BYTES:
            raise InvalidInput(f"{path.name} is larger than {MAX_CHAT_BYTES:,} bytes")
        return list(_entries(file, path.name))


def _entries(file: BinaryIO, name: str) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(file, 2):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InvalidInput(f"{name}, line {number} is not JSON") from error
        if not isinstance(entry, dict):
            raise InvalidInput(f"{name}, line {number} is not an object")
        yield entry


def _of_tavern(chat: Iterable[dict[str, Any]], roles: Roles, zone: tzinfo) -> Iterator[_Said]:
    for entry in chat:
        text = entry.get("mes")
        if entry.get("is_system") or not isinstance(text, str) or not text.strip():
            continue
        actor = roles.user if entry.get("is_user") else roles.companion
        yield _Said(_sent(entry.get("send_date"), zone), actor, text)


def _sent(value: Any, zone: tzinfo) -> datetime | None:
    """When a chat says that something was sent: ISO 8601, milliseconds, or words in local time."""
    if isinstance(value, int | float):
        return moment(value / 1000)
    if not isinstance(value, str):
        return None
    old = _OLD_DATE.match(value.strip())
    if old:
        value = "{}-{}-{} {}:{}:{}".format(*old.groups())
    try:
        read: datetime = parser.parse(value)
    except (ValueError, OverflowError):
        return None
    return read if read.tzinfo is not None else read.replace(tzinfo=zone)


def read_card(path: Path) -> Card | None:
    """The character of a card, a PNG or JSON file; None if it is no card.

    Raises:
        InvalidInput: it is one that cannot be read.
    """
    if path.suffix.lower() not in {".png", ".json"} or not path.is_file():
        return None
    if path.stat().st_size > MAX_CARD_BYTES:
        return None
    data = path.read_bytes()
    if data.startswith(_PNG):
        packed = _chunk(data)
        if packed is None:
            raise InvalidInput(f"{path.name} is a picture without a character")
        try:
            data = base64.b64decode(packed, validate=True)
        except binascii.Error as error:
            raise InvalidInput(f"the character in {path.name} is damaged") from error
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        if path.suffix.lower() == ".png":
            raise InvalidInput(f"the character in {path.name} is damaged") from error
        return None
    if not isinstance(found, dict):
        return None
    # Since the second version all lies in `data`.
    return _card(found["data"] if isinstance(found.get("data"), dict) else found)


def _card(found: Mapping[str, Any]) -> Card | None:
    if not isinstance(found.get("name"), str) or "first_mes" not in found:
        return None
    name = found["name"].strip()
    told = (found.get(key) for key in ("description", "personality", "scenario"))
    described = (text.strip() for text in told if isinstance(text, str) and text.strip())
    greeting = found.get("first_mes")
    return Card(
        name,
        _addressed("\n\n".join(described), name),
        _addressed(greeting.strip(), name) if isinstance(greeting, str) else "",
    )


def _addressed(text: str, name: str) -> str:
    """The text with its placeholders filled."""
    return _USER.sub("the user", _CHARACTER.sub(lambda _: name, text))


def _chunk(png: bytes) -> bytes | None:
    """The text of the chunk that holds a character."""
    found: dict[bytes, bytes] = {}
    at = len(_PNG)
    while at + 8 <= len(png):
        length, kind = struct.unpack_from(">I4s", png, at)
        if kind == b"tEXt":
            keyword, _, text = png[at + 8 : at + 8 + length].partition(b"\0")
            found[keyword.lower()] = text
        at += 12 + length
    return next((found[one] for one in _CARD_CHUNKS if one in found), None)
