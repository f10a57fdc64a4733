"""Ids at the command line: the beginning of one is enough where it is the only one.

A token and an entity have a name, too.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from memory_butler.domain.errors import NotFound
from memory_butler.domain.mistakes import named

if TYPE_CHECKING:
    from memory_butler.domain.principals import Principal
    from memory_butler.engine.memory import Memory

# What an input is the id of: a kind, or the kind that another input names.
_KINDS: Final[Mapping[str, str]] = {
    "fact_id": "fact",
    "earlier_id": "fact",
    "later_id": "fact",
    "rule_id": "rule",
    "episode_id": "episode",
    "episode_ids": "episode",
    "without": "memory",
    "entity_id": "entity",
    "source_entity_id": "entity",
    "target_entity_id": "entity",
    "receipt_id": "context",
    "source_episode_id": "episode",
    "event_id": "event",
    "run_id": "run",
    "token_id": "token",
}
_NAMED_BY: Final[Mapping[str, str]] = {
    "memory_id": "memory_type",
    "source_id": "source_type",
    "target_id": "target_type",
}


def beginnings(given: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs with less than a whole id, each with what it is the id of.

    Raises:
        InvalidInput: one is too little of an id.
    """
    from memory_butler.engine.prefixes import WHAT, is_prefix, refuse_short

    kinds = {name: _KINDS.get(name) or given.get(_NAMED_BY.get(name, "")) for name in given}
    found = {}
    for name, kind in kinds.items():
        if kind in ("token", "entity"):
            if given[name] is not None and not _is_whole(given[name]):
                found[name] = kind
        elif kind in WHAT:
            for one in _listed(given[name]):
                refuse_short(name, one)
                if is_prefix(one):
                    found[name] = kind
    return found


async def completed(memory: "Memory", who: "Principal", given: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs of `beginnings` with their whole ids.

    Raises:
        NotFound: no id begins so, and no token or entity is called so.
        InvalidInput: more than one does, or is.
    """
    from memory_butler.engine.prefixes import is_prefix, whole_id

    found: dict[str, Any] = {}
    for name, kind in beginnings(given).items():
        if kind == "token" and (token := await _token(memory, who, given[name])) is not None:
            found[name] = str(token)
            continue
        if kind == "entity" and (entity := await _entity(memory, who, name, given[name])):
            found[name] = str(entity)
            continue
        whole = [
            str(await whole_id(memory, who, kind, one)) if is_prefix(one) else one
            for one in _listed(given[name])
        ]
        found[name] = whole if isinstance(given[name], list) else whole[0]
    return found


async def _token(memory: "Memory", who: "Principal", text: str) -> UUID | None:
    """The token that is called so; None where `text` can only be the beginning of an id."""
    from memory_butler.engine.prefixes import is_prefix
    from memory_butler.engine.tokens import token_named

    found = await token_named(memory, who.tenant, text)
    if found is None and not is_prefix(text):
        raise NotFound(
            f"no valid token is called {named(text)}, and no id begins so; "
            "`memory-butler token list` shows both"
        )
    return found


async def _entity(memory: "Memory", who: "Principal", name: str, text: str) -> UUID | None:
    """The entity that is called so; None where `text` can only be the beginning of an id."""
    from memory_butler.engine.prefixes import entity_named, is_prefix, refuse_short

    found = await entity_named(memory, who, text)
    if found is None and not is_prefix(text):
        refuse_short(name, text)
        raise NotFound(
            f"no entity, or more than one, is called {named(text)}; "
            "`memory-butler entities resolve NAME` finds those like it"
        )
    return found


def _is_whole(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True


def _listed(value: Any) -> list[str]:
    return [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, str)]
