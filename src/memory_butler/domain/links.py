"""Light provenance between memories: which relations there are, and between what (LINK-03..09)."""

from typing import Final, Literal, TypeAlias, get_args
from uuid import UUID

from memory_butler.domain.choices import choose

# derived_from: fact or rule -> its episode; supports: fact -> rule; contradicts: fact <-> fact or
# rule; supersedes: new fact -> old fact; related_to: any association (LINK-09).
Relation = Literal["derived_from", "supports", "contradicts", "supersedes", "related_to"]
RELATIONS: Final[tuple[Relation, ...]] = get_args(Relation)

MemoryType = Literal["episode", "fact", "rule"]
MEMORY_TYPES: Final[tuple[MemoryType, ...]] = get_args(MemoryType)

# A memory, by its type and id.
Item: TypeAlias = tuple[MemoryType, UUID]

# outgoing: the memory is the source; incoming: the target; both: either (LINK-08).
Direction = Literal["outgoing", "incoming", "both"]
DIRECTIONS: Final[tuple[Direction, ...]] = get_args(Direction)


def parse_relation(value: str) -> Relation:
    """The relation named `value`; `InvalidInput` lists all five (LINK-07)."""
    return choose(value, RELATIONS, "relation")


def parse_memory_type(value: str) -> MemoryType:
    """The memory type named `value`; `InvalidInput` lists all three (LINK-07)."""
    return choose(value, MEMORY_TYPES, "memory type")


def parse_direction(value: str) -> Direction:
    """The direction named `value`; `InvalidInput` lists all three (LINK-08)."""
    return choose(value, DIRECTIONS, "direction")
