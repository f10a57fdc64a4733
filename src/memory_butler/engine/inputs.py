"""What callers may send: checked once, here, before anything is embedded or written.

Every limit is one that PostgreSQL would enforce later and less clearly: an index entry holds 2,704
bytes, so the texts that stand together in one unique index must stay below that in sum.
"""

import contextlib
import json
import math
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any, Final
from uuid import UUID
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from memory_butler.domain.errors import InvalidInput
from memory_butler.domain.facts import end_of_day
from memory_butler.domain.invisible import visible
from memory_butler.domain.text import storable

# Of a text that has no bound of its own; that of contents is configured (C-140).
DEFAULT_CONTENT_BYTES: Final = 64 * 1024
MAX_SUBJECT_BYTES: Final = 1000
MAX_NAME_BYTES: Final = 500
MAX_QUERY_CHARS: Final = 100_000
MAX_LIMIT: Final = 200
MAX_OFFSET: Final = 1_000_000
MAX_TAGS: Final = 100
MAX_TURN: Final = 2**31 - 1
MAX_METADATA_DEPTH: Final = 32
# The scale of importance: what lies outside would outweigh every other part of a score (C-150).
MIN_IMPORTANCE: Final = 1.0
MAX_IMPORTANCE: Final = 10.0
MAX_METADATA_BYTES: Final = 16 * 1024
MAX_METADATA_KEYS: Final = 256

_INFINITE: Final = (datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC))


def text(name: str, value: str, max_bytes: int = DEFAULT_CONTENT_BYTES) -> str:
    """A text to be stored: NULs removed, lone surrogates replaced, not too long.

    What has nothing that a person sees is refused: screening would leave an empty text of it.
    """
    if not isinstance(value, str):
        raise InvalidInput(f"{name} must be a text, not {type(value).__name__}")
    clean = storable(value)
    if not visible(clean)[0].strip():
        raise InvalidInput(
            f"{name} is empty; give a value, or leave it out where it may be left out"
        )
    size = len(clean.encode())
    if size > max_bytes:
        raise InvalidInput(
            f"{name} has {size:,} bytes, at most {max_bytes:,} are stored; shorten or split it"
        )
    return clean


def line(name: str, value: str, max_bytes: int = MAX_SUBJECT_BYTES) -> str:
    """A subject or a predicate: a `text` on one line, without spaces around it."""
    return " ".join(text(name, value, max_bytes).split())


def content(value: str, max_bytes: int) -> str:
    """What a memory says; `max_bytes` is the configured bound, which the refusal names."""
    clean = text("content", value, sys.maxsize)
    size = len(clean.encode())
    if size > max_bytes:
        raise InvalidInput(
            f"content has {size:,} bytes, at most {max_bytes:,} are stored "
            "(max_content_bytes in [modules.memory]); shorten or split it"
        )
    return clean


def name(what: str, value: str, max_bytes: int = MAX_NAME_BYTES) -> str:
    """A butler, a scope, a speaker, an entity or a token: a `line` that holds what one sees.

    Models read names beside memories, so no text may hide in one. What is dropped is not counted:
    a name says the same without it.
    """
    return " ".join(visible(text(what, value, max_bytes))[0].split())


def key(what: str, value: str) -> str:
    """A name that a program keeps its own values under, to the letter."""
    return text(what, value, MAX_NAME_BYTES)


def scope(value: str) -> str:
    """For whom a memory is; "global" is for all, however a model writes it (C-468)."""
    given = name("scope", value)
    return "global" if given.casefold() == "global" else given


def optional_name(what: str, value: str | None) -> str | None:
    """A name, or None."""
    return None if value is None else name(what, value)


def query(what: str, value: str) -> str:
    """A question; longer than any that makes sense is refused."""
    if len(value) > MAX_QUERY_CHARS:
        raise InvalidInput(
            f"{what} has {len(value):,} characters, at most {MAX_QUERY_CHARS:,} are searched for"
        )
    return value


def importance(value: float) -> float:
    """How important a memory is: 1 to 10."""
    given = number("importance", value)
    if not MIN_IMPORTANCE <= given <= MAX_IMPORTANCE:
        raise InvalidInput(
            f"importance must be between {MIN_IMPORTANCE:g} (trivial) and {MAX_IMPORTANCE:g} "
            f"(vital), not {given:g}"
        )
    return given


def number(what: str, value: float) -> float:
    """A finite number, as given."""
    try:
        if not isinstance(value, bool) and math.isfinite(value):
            return float(value)
    except OverflowError:  # an integer beyond the range of a float
        pass
    raise InvalidInput(f"{what} must be a finite number, not {str(value)[:40]}")


def turn(value: int | None) -> int | None:
    """A place in a session, counted from 0, or None."""
    if value is not None and not 0 <= value <= MAX_TURN:
        raise InvalidInput(f"turn must be between 0 and {MAX_TURN}, not {value}")
    return value


def limit(value: int) -> int:
    """How many results: 1 to 200."""
    if not 1 <= value <= MAX_LIMIT:
        raise InvalidInput(f"limit must be between 1 and {MAX_LIMIT}, not {value}")
    return value


def share(what: str, value: float) -> float:
    """A number from 0 to 1."""
    if not 0.0 <= value <= 1.0:
        raise InvalidInput(f"{what} must be between 0 and 1, not {value}")
    return value


def uuid(what: str, value: UUID | str) -> UUID:
    """An id."""
    if isinstance(value, UUID):
        return value
    try:
        return UUID(value)
    except (ValueError, AttributeError, TypeError):
        raise InvalidInput(
            f"{what} {str(value)[:60]!r} is not a UUID; pass an id as memory returned it"
        ) from None


def optional_uuid(what: str, value: UUID | str | None) -> UUID | None:
    """An id, or None."""
    return None if value is None else uuid(what, value)


def two_entities(source: UUID | str, target: UUID | str) -> tuple[UUID, UUID]:
    """The two sides of a merge, which must differ."""
    sides = uuid("source_entity_id", source), uuid("target_entity_id", target)
    if sides[0] == sides[1]:
        raise InvalidInput("an entity cannot be merged into itself; give two different ids")
    return sides


def moment(what: str, value: datetime) -> datetime:
    """A point in time; a naive one is refused, because it means a different moment elsewhere.

    So are the first and the last one that Python knows: PostgreSQL's driver stores them as
    infinite, and reads those without a time zone. Programs in Go send the first one for "not set".
    """
    if value.tzinfo is None:
        raise InvalidInput(f"{what} needs a time zone, for example {value.isoformat()}Z")
    with contextlib.suppress(OverflowError):
        found = value.astimezone(UTC)
        if found not in _INFINITE:
            return found
    raise InvalidInput(f"{what} {value.isoformat()} is out of range; leave it out if it is not set")


def whole_day(value: object) -> object:
    """The end of a day, where an input has a date alone."""
    day = value.isoformat() if isinstance(value, date) else value
    if isinstance(day, str):
        with contextlib.suppress(OverflowError):  # the last day of all
            return end_of_day(day) or value
    return value


def time_zone(name: str) -> ZoneInfo:
    """A time zone by its IANA name."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise InvalidInput(f"unknown time zone {name[:60]!r}; example: Europe/Lisbon") from None


def tags(value: Sequence[str] | None) -> list[str]:
    """Up to 100 short texts."""
    found = list(value or ())
    if len(found) > MAX_TAGS:
        raise InvalidInput(f"{len(found)} tags are given, at most {MAX_TAGS} are kept")
    return [name("a tag", tag) for tag in found]


def joined_tags(known: Sequence[str], more: Sequence[str]) -> list[str]:
    """The known tags and, as far as there is room, more of them."""
    return list(dict.fromkeys([*known, *more]))[:MAX_TAGS]


def metadata(value: Mapping[str, Any] | None) -> dict[str, Any]:
    """A JSON object, its texts storable: at most 16 kB as JSON, with 256 keys on all levels.

    Its keys hold what one sees, as names do; its texts are screened with the memory.
    """
    given = value or {}
    if _keys(given, MAX_METADATA_DEPTH) > MAX_METADATA_KEYS:
        raise InvalidInput(f"metadata has more than {MAX_METADATA_KEYS} keys; keep fewer")
    clean = visible_json(json_value("metadata", dict(given)), keys_alone=True)
    assert isinstance(clean, dict)  # noqa: S101 -- what goes in as a dict comes out as one
    size = len(json.dumps(clean, ensure_ascii=False).encode())
    if size > MAX_METADATA_BYTES:
        raise InvalidInput(
            f"metadata has {size:,} bytes as JSON, at most {MAX_METADATA_BYTES:,} are kept; "
            "what is text belongs into content"
        )
    return clean


def kept_value(value: Any, max_bytes: int) -> Any:
    """A JSON value that is kept under one key."""
    clean = json_value("value", value)
    size = len(json.dumps(clean).encode())
    if size > max_bytes:
        raise InvalidInput(
            f"value has {size:,} bytes as JSON, at most {max_bytes:,} are kept under one key; "
            "split it"
        )
    return clean


def visible_json(value: Any, *, keys_alone: bool = False) -> Any:
    """A JSON value whose texts and keys, or keys alone, hold what one sees."""
    if isinstance(value, Mapping):
        clean = {
            visible(key)[0]: visible_json(one, keys_alone=keys_alone) for key, one in value.items()
        }
        if len(clean) < len(value):
            raise InvalidInput("two keys are one without the characters that nobody sees")
        return clean
    if isinstance(value, list):
        return [visible_json(one, keys_alone=keys_alone) for one in value]
    return visible(value)[0] if isinstance(value, str) and not keys_alone else value


def _keys(value: Any, depth: int) -> int:
    """How many keys all objects within have, counted only until they are too many."""
    count = len(value) if isinstance(value, Mapping) else 0
    within = value.values() if isinstance(value, Mapping) else value
    if depth and isinstance(value, Mapping | list | tuple):
        for one in within:
            if count > MAX_METADATA_KEYS:
                break
            count += _keys(one, depth - 1)
    return count


def json_value(what: str, value: Any) -> Any:
    """What JSON can express, its texts storable."""
    return _json(what, value, MAX_METADATA_DEPTH)


def _json(what: str, value: Any, depth: int) -> Any:
    if depth == 0:
        raise InvalidInput(f"{what} is nested deeper than {MAX_METADATA_DEPTH} levels")
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, float):
        return number(f"a number in {what}", value)
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, Mapping):
        return {storable(str(key)): _json(what, item, depth - 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_json(what, item, depth - 1) for item in value]
    raise InvalidInput(f"{what} holds a {type(value).__name__}, which JSON cannot express")
