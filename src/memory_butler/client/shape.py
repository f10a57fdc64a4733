"""What answers are made of: plain typed values, read from JSON and written as JSON.

No models of the server: to import those takes longer than most requests. Which fields a shape has,
and of what kind, is looked up when the first answer of that shape arrives.
"""

import math
from collections.abc import Mapping
from datetime import UTC, date, datetime
from types import NoneType, UnionType
from typing import (
    Any,
    Final,
    Literal,
    TypeVar,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)
from uuid import UUID

from memory_butler.domain.errors import InvalidInput, Unavailable

AnyShape = TypeVar("AnyShape", bound="Shape")


@dataclass_transform(kw_only_default=True)
class Shape:
    """A value with named fields; two are equal where type and fields are."""

    def __init__(self, **values: Any) -> None:
        kinds = _kinds(type(self))
        if unknown := values.keys() - kinds.keys():
            raise TypeError(f"{type(self).__name__} has no {', '.join(sorted(unknown))}")
        missing = [one for one in kinds if one not in values and not hasattr(type(self), one)]
        if missing:
            raise TypeError(f"{type(self).__name__} needs {', '.join(missing)}")
        self.__dict__.update(values)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.model_dump() == other.model_dump()

    def __repr__(self) -> str:
        fields = (f"{name}={getattr(self, name)!r}" for name in _kinds(type(self)))
        return f"{type(self).__name__}({', '.join(fields)})"

    def model_dump(self, *, mode: Literal["python", "json"] = "python") -> dict[str, Any]:
        """All fields as a dictionary, shapes within it too; with "json", what JSON can hold."""
        fields = {name: _plain(getattr(self, name)) for name in _kinds(type(self))}
        return as_json(fields) if mode == "json" else fields


def read(kind: type[AnyShape], answer: Mapping[str, Any]) -> AnyShape:
    """An answer as its shape. Fields that only a newer server knows are ignored.

    Raises:
        Unavailable: a field is missing, or cannot be read: the server is of another version.
    """
    kinds = _kinds(kind)
    try:
        return kind(**{n: _value(kinds[n], one) for n, one in answer.items() if n in kinds})
    except (TypeError, ValueError, AttributeError) as error:
        raise Unavailable(
            f"the server's answer is no {kind.__name__} ({error}): update the older of the two, "
            "client or server"
        ) from error


def as_json(value: Any) -> Any:
    """What JSON can hold of a value that a program gives; of a shape the fields that were set.

    A date stays one, which a server reads in UTC: as midnight, or as that day if it ends something.

    Raises:
        InvalidInput: a moment without a time zone, which may mean any clock; or a value that JSON
            cannot hold.
    """
    match value:
        case datetime() if value.tzinfo is None:
            raise InvalidInput(f"needs a time zone, for example {value.isoformat()}Z")
        case datetime() if value.strftime("%z")[5:]:
            return _in_utc(value)
        case date():
            return value.isoformat()
        case UUID():
            return str(value)
        case Shape():
            return as_json(vars(value))
        case Mapping():
            return {name: as_json(one) for name, one in value.items()}
        case list() | tuple() | set() | frozenset():
            return [as_json(one) for one in value]
        case float() if not math.isfinite(value):
            raise InvalidInput(f"{value} cannot be sent; give a finite number")
        case None | str() | int() | float():
            return value
    raise InvalidInput(f"a {type(value).__name__} cannot be sent; give text, a number or a date")


def _in_utc(moment: datetime) -> str:
    """A moment of a zone with seconds, as before there were time zones; ISO 8601 has minutes."""
    try:
        return moment.astimezone(UTC).isoformat()
    except OverflowError:  # which the server refuses, with the reason
        return moment.replace(tzinfo=UTC).isoformat()


def _kinds(shape: type[Shape]) -> dict[str, Any]:
    """The fields of a shape and their types, those that it inherits first."""
    if shape not in _KINDS:
        _KINDS[shape] = get_type_hints(shape)
    return _KINDS[shape]


_KINDS: Final[dict[type[Shape], dict[str, Any]]] = {}


def _value(kind: Any, value: Any) -> Any:
    """JSON as a value of this type."""
    if value is None:
        return None
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return _value(_chosen([one for one in inner if one is not NoneType], value), value)
    if origin is list:
        return [_value(inner[0], one) for one in value]
    if origin is dict:
        return {name: _value(inner[1], one) for name, one in value.items()}
    if kind is datetime:
        return datetime.fromisoformat(value)
    if kind in (UUID, float):
        return kind(value)
    if isinstance(kind, type) and issubclass(kind, Shape):
        return read(kind, value)
    return value


def _chosen(kinds: list[Any], value: Any) -> Any:
    """The type that is meant: memories say theirs, and of numbers JSON knows the type."""
    if len(kinds) == 1:
        return kinds[0]
    said = value.get("memory_type") if isinstance(value, dict) else None
    return next((one for one in kinds if said and one.memory_type == said), Any)


def _plain(value: Any) -> Any:
    match value:
        case Shape():
            return value.model_dump()
        case dict():
            return {name: _plain(one) for name, one in value.items()}
        case list():
            return [_plain(one) for one in value]
    return value
