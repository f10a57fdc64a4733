"""Programs' own records: a namespace and a key to a JSON object, and what they are searched by."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from memory_butler.domain.errors import InvalidInput

Operator = Literal["eq", "ne", "gt", "gte", "lt", "lte"]

_OPERATORS: Final[Mapping[str, Operator]] = {
    "$eq": "eq",
    "$ne": "ne",
    "$gt": "gt",
    "$gte": "gte",
    "$lt": "lt",
    "$lte": "lte",
}
MAX_CONDITIONS: Final = 50


@dataclass(frozen=True, slots=True)
class Condition:
    """What the member at `path` of a value must be, compared with `value`.

    A member that is missing counts as null. What is ordered is a number or a text, and is compared
    with its own kind alone.
    """

    path: tuple[str, ...]
    operator: Operator
    value: Any


def conditions(wanted: Mapping[str, Any]) -> tuple[Condition, ...]:
    """The conditions of a filter such as `{"colour": "red", "size": {"$gte": 3}}`; all must hold.

    An object without operators says of each of its members what it must be.

    Raises:
        InvalidInput: an operator is unknown or cannot be applied, or there are too many conditions.
    """
    found = tuple(_conditions((), wanted))
    if len(found) > MAX_CONDITIONS:
        raise InvalidInput(
            f"the filter has {len(found)} conditions, at most {MAX_CONDITIONS} are applied"
        )
    return found


def _conditions(path: tuple[str, ...], wanted: Mapping[str, Any]) -> Iterator[Condition]:
    for name, value in wanted.items():
        if name.startswith("$"):
            yield _compared(path, name, value)
        elif isinstance(value, Mapping) and value:
            yield from _conditions((*path, name), value)
        else:
            yield Condition((*path, name), "eq", value)


def _compared(path: tuple[str, ...], name: str, value: Any) -> Condition:
    operator = _OPERATORS.get(name)
    if operator is None or not path:
        raise InvalidInput(
            f"the filter has the operator {name[:40]!r}; inside a member these are known: "
            + ", ".join(_OPERATORS)
        )
    ordered = isinstance(value, str | int | float) and not isinstance(value, bool)
    if operator not in ("eq", "ne") and not ordered:
        raise InvalidInput(f"{name} compares with a number or a text, not {type(value).__name__}")
    return Condition(path, operator, value)
