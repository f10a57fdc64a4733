"""The id that begins with some digits, for people who type one."""

import re
from collections.abc import Mapping
from typing import Final, Literal
from uuid import UUID

from memory_butler.domain.errors import InvalidInput, NotFound
from memory_butler.domain.links import MemoryType
from memory_butler.domain.principals import Principal
from memory_butler.engine.memory import Memory
from memory_butler.store import entities, prefixes
from memory_butler.store.transaction import Transaction, transaction

# Of ten thousand memories with random ids, two begin alike in one store of eighty-six.
MIN_DIGITS: Final = 8
_DIGITS: Final = 32
_PREFIX: Final = re.compile(r"[0-9a-f]+")

Kind = MemoryType | Literal["memory", "entity", "context", "event", "run", "token"]
# Each kind as an error names it.
WHAT: Final[Mapping[Kind, str]] = {
    "fact": "fact",
    "rule": "rule",
    "episode": "episode",
    "memory": "memory",
    "entity": "entity",
    "context": "context",
    "event": "event",
    "run": "consolidation run",
    "token": "token",
}

# A token is a secret's name: nobody is told that an id is of one.
_HAVE_IDS: Final[tuple[Kind, ...]] = (
    "fact",
    "rule",
    "episode",
    "entity",
    "event",
    "run",
    "context",
)


def is_prefix(text: str) -> bool:
    """Whether it may be the beginning of an id: enough of its digits, and not all."""
    digits = _digits(text)
    return MIN_DIGITS <= len(digits) < _DIGITS and _PREFIX.fullmatch(digits) is not None


def refuse_short(name: str, text: str) -> None:
    """Raise `InvalidInput` where an input is the beginning of an id, and too little of one."""
    digits = _digits(text)
    if len(digits) < MIN_DIGITS and _PREFIX.fullmatch(digits):
        raise InvalidInput(
            f"{name}: {text} is too little of an id: type at least its first {MIN_DIGITS} digits"
        )


async def whole_id(memory: Memory, principal: Principal, kind: Kind, prefix: str) -> UUID:
    """The one id of this kind that begins with `prefix`, for which `is_prefix` holds.

    Raises:
        NotFound: none begins so.
        InvalidInput: more than one does.
    """
    async with transaction(memory.pool, principal.tenant) as tx:
        found = await prefixes.two_between(tx, kind, *_range(prefix))
        if not found:
            other = await kind_of(tx, prefix)
            does = "" if other is None else f"; that of {an(other)} does"
            raise NotFound(f"there is no {WHAT[kind]} whose id begins with {prefix}{does}")
    if len(found) > 1:
        named = WHAT[kind]
        raise InvalidInput(f"more than one {named} has an id that begins with {prefix}; type more")
    return found[0]


async def entity_named(memory: Memory, principal: Principal, name: str) -> UUID | None:
    """The one entity that has this name or alias, whatever its case; None without one."""
    async with transaction(memory.pool, principal.tenant) as tx:
        return await entities.exactly_named(tx, name)


async def kind_of(tx: Transaction, id: UUID | str) -> Kind | None:
    """What has this id, or one that begins so: what to say where another kind was looked for."""
    for kind in _HAVE_IDS:
        if await prefixes.two_between(tx, kind, *_range(str(id))):
            return kind
    return None


def an(kind: Kind) -> str:
    """The kind as an error names one."""
    return f"an {WHAT[kind]}" if WHAT[kind][0] in "aeiou" else f"a {WHAT[kind]}"


def _range(prefix: str) -> tuple[UUID, UUID]:
    first, last = (UUID(_digits(prefix).ljust(_DIGITS, filler)) for filler in "0f")
    return first, last


def _digits(text: str) -> str:
    return text.lower().replace("-", "")
