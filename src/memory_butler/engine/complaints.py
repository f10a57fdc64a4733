"""What is wrong with an input, for people and for models that have to correct it."""

from collections.abc import Sequence
from typing import Final

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from memory_butler.domain.mistakes import named, reason

# Enough to correct it; a page of complaints would not help more.
_MAX: Final = 5


def complaints(error: ValidationError, whole: str, *, below: int = 0) -> str:
    """What is wrong, key by key, without repeating the values; keys shortened and masked.

    Args:
        whole: what to call the input where no key is at fault.
        below: how many keys lead to the input within what was validated.
    """
    return told(error.errors(include_input=False, include_url=False), whole, below=below)


def told(found: Sequence[ErrorDetails], whole: str, *, below: int = 0) -> str:
    """The same of errors that a framework hands on without what raised them."""
    lines = [
        f"{'.'.join(map(named, one['loc'][below:])) or whole}: {reason(one)}"
        for one in found[:_MAX]
    ]
    more = [f"and {len(found) - _MAX} more"] if len(found) > _MAX else []
    return "; ".join([*lines, *more])


def taken(found: Sequence[ErrorDetails], model: type[BaseModel], *, below: int = 0) -> str:
    """What to say behind complaints of unknown names: those that the input takes; else nothing.

    Args:
        below: how many keys lead to the input within what was validated.
    """
    if all((one["type"], len(one["loc"])) != ("extra_forbidden", below + 1) for one in found):
        return ""
    names = (field.alias or name for name, field in model.model_fields.items())
    return f" (it takes {', '.join(names)})"
