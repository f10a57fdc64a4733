"""Former conversations with other programs, as lines for a journal, in the order of their moments.

Read are the data exports of ChatGPT and Claude, transcripts of Claude Code, chats of SillyTavern
and character cards. All else is taken as the lines themselves (`journal.importing`).
"""

import base64
import binascii
import json
import re
import struct
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from operator import itemgetter
from pathlib import Path
from typing import Any, BinaryIO, Final

from dateutil import parser  # type: ignore[import-untyped]  # ships none

from memory_butler.domain.errors import InvalidInput
from memory_butler.domain.text import whole
from memory_butler.engine.import_format import BadLine, EpisodeLine, LeftOut
from memory_butler.engine.importers.formats import detect, open_export
from memory_butler.engine.importers.source import moment
from memory_butler.journal import events

MAX_CARD_BYTES: Final = 64 * 1024 * 1024
MAX_CHAT_BYTES: Final = 512 * 1024 * 1024

_PNG: Final = b"\x89PNG\r\n\x1a\n"
_CARD_CHUNKS: Final = (b"ccv3", b"chara")  # the newer one first
# "2023-5-5 @15h 12m 30s 123ms", as older versions wrote it.
_OLD_DATE: Final = re.compile(
    r"^(\d{4})-(\d{1,2})-(\d{1,2}) ?@(\d{1,2})h ?(\d{1,2})m ?(\d{1,2})s(?: ?\d{1,3}ms)?$"
)
_SOME_DAY: Final = datetime(2001, 1, 1)  # noqa: DTZ001 -- what is read may have no zone
_ANOTHER_DAY: Final = datetime(2002, 2, 2)  # noqa: DTZ001
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
class Former:
    """A former conversation.

    Attributes:
        lines: its messages as JSON Lines, in order of time.
        bad: what is wrong in its files, and left out.
        left_out: by kind, how much of it is no message.
    """

    lines: bytes
    bad: tuple[BadLine, ...]
    left_out: Counter[str]


@dataclass(frozen=True, slots=True)
class _Said:
    number: int
    file: str
    at: datetime | None
    actor: str
    text: str


def former_conversation(path: Path, roles: Roles, zone: tzinfo, now: datetime) -> Former | None:
    """The conversation at a path; None where it holds none of a known program.

    A message without a time gets that of the one before it, and the first ones that of the first
    which has one.

    Raises:
        InvalidInput: it cannot be read, or no message of it has a time.
    """
    bad: list[BadLine] = []
    left_out: Counter[str] = Counter()
    if path.is_file() and (chat := _tavern_chat(path)) is not None:
        said = list(_of_tavern(chat, path.name, roles, zone))
    else:
        format = detect(path)
        if format is None or format.name not in {"chatgpt", "claude", "claude-code"}:
            return None
        said = []
        for found in open_export(path, format).candidates("journal"):
            match found.line:
                case BadLine():
                    bad.append(found.line)
                case LeftOut(what):
                    left_out[what] += 1
                case EpisodeLine(turn=None):
                    left_out["note"] += 1
                case EpisodeLine() as line:
                    actor = roles.user if line.speaker == "user" else roles.companion
                    at = line.occurred_at
                    said.append(_Said(found.number, found.file, at, actor, line.content))
    lines = []
    for at, one in sorted(_dated(said, now), key=itemgetter(0)):
        text = whole(one.text)
        if (why := _refused(at, text, one.actor, now)) is not None:
            bad.append(BadLine(one.number, why, one.file))
            continue
        line_of_it = {"ts": at.isoformat(), "actor": one.actor, "content": text}
        lines.append(json.dumps(line_of_it).encode() + b"\n")
    return Former(b"".join(lines), tuple(bad), left_out)


def _refused(at: datetime, text: str, actor: str, now: datetime) -> str | None:
    """Why a message cannot be in a journal, if so."""
    if at > now:
        return f"its time, {at:%Y-%m-%d}, lies in the future"
    try:
        events.check(text, actor, None)
    except InvalidInput as error:
        return str(error)
    return None


def _dated(found: Sequence[_Said], now: datetime) -> Iterator[tuple[datetime, _Said]]:
    known = next((one.at for one in found if one.at is not None and one.at <= now), None)
    if known is None and found:
        raise InvalidInput("no message of it has a time, so its place in the journal is unknown")
    for one in found:
        if one.at is not None and one.at <= now:
            known = one.at
        at = one.at or known
        assert at is not None  # noqa: S101 -- the first ones have that of a later one
        yield at.astimezone(UTC), one


def _tavern_chat(path: Path) -> list[tuple[int, dict[str, Any]]] | None:
    """The entries of a chat of SillyTavern, each with its line; None if it is none."""
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


def _entries(file: BinaryIO, name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(file, 2):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InvalidInput(f"{name}, line {number} is not JSON") from error
        if not isinstance(entry, dict):
            raise InvalidInput(f"{name}, line {number} is not an object")
        yield number, entry


def _of_tavern(
    chat: Iterable[tuple[int, dict[str, Any]]], name: str, roles: Roles, zone: tzinfo
) -> Iterator[_Said]:
    for number, entry in chat:
        text = entry.get("mes")
        if entry.get("is_system") or not isinstance(text, str) or not text.strip():
            continue
        actor = roles.user if entry.get("is_user") else roles.companion
        yield _Said(number, name, _sent(entry.get("send_date"), zone), actor, text)


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
        read: datetime = parser.parse(value, default=_SOME_DAY)
        if read != parser.parse(value, default=_ANOTHER_DAY):
            return None  # a time without its day
        return (read if read.tzinfo is not None else read.replace(tzinfo=zone)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


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
    name = " ".join("".join(sign for sign in found["name"] if sign not in "<>[]:").split())
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
    return _USER.sub("the user", _CHARACTER.sub(lambda _: name, whole(text)))


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
