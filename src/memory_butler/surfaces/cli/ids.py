"""Ids at the command line: the beginning of one is enough where it is the only one."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from memory_butler.surfaces.cli.place import Place, with_memory

if TYPE_CHECKING:
    from memory_butler.engine.memory import Memory

# What an input is the id of: a kind, or the kind that another input names.
_KINDS: Final[Mapping[str, str]] = {
    "fact_id": "fact",
    "earlier_id": "fact",
    "later_id": "fact",
    "rule_id": "rule",
    "episode_id": "episode",
    "entity_id": "entity",
    "source_entity_id": "entity",
    "target_entity_id": "entity",
}
_NAMED_BY: Final[Mapping[str, str]] = {
    "memory_id": "memory_type",
    "source_id": "source_type",
    "target_id": "target_type",
}


def completed(place: Place, given: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs, each beginning of an id as the whole id; the memory is opened where there is one.

    Raises:
        NotFound: no id begins so.
        InvalidInput: more than one does.
    """
    from memory_butler.domain.links import MEMORY_TYPES
    from memory_butler.engine.prefixes import is_prefix, whole_id

    kinds: dict[str, Any] = {
        name: _KINDS.get(name) or given.get(_NAMED_BY.get(name, "")) for name in given
    }
    wanted = {
        name: kind
        for name, kind in kinds.items()
        if kind in (*MEMORY_TYPES, "entity")
        and isinstance(given[name], str)
        and is_prefix(given[name])
    }
    if not wanted:
        return dict(given)

    async def find(memory: "Memory") -> dict[str, Any]:
        who = place.principal()
        return {
            name: str(await whole_id(memory, who, kind, given[name]))
            for name, kind in wanted.items()
        }

    return {**given, **with_memory(place, find)}
