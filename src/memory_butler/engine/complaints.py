"""What is wrong with an input, for people and for models that have to correct it."""

from collections.abc import Sequence
from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

# Enough to correct it; a page of complaints would not help more.
_MAX: Final = 5


def complaints(error: ValidationError, whole: str, *, below: int = 0) -> str:
    """What is wrong, key by key, without repeating the values.

    Args:
        whole: what to call the input where no key is at fault.
        below: how many keys lead to the input within what was validated.
    """
    return told(error.errors(include_input=False, include_url=False), whole, below=below)


def told(found: Sequence[ErrorDetails], whole: str, *, below: int = 0) -> str:
    """The same of errors that a framework hands on without what raised them."""
    lines = [
        f"{'.'.join(str(part) for part in one['loc'][below:]) or whole}: {_reason(one)}"
        for one in found[:_MAX]
    ]
    more = [f"and {len(found) - _MAX} more"] if len(found) > _MAX else []
    return "; ".join([*lines, *more])


def _reason(one: ErrorDetails) -> str:
    """Pydantic's own words, but where they speak of its insides."""
    known: dict[str, Any] = one.get("ctx", {})
    chosen_by = str(known.get("discriminator")).strip("'")
    match one["type"]:
        case "uuid_parsing" | "uuid_type":
            return "must be a UUID, such as 3f0c9d6e-5a41-4b6b-9d0e-2f1c7a8b9e10"
        case "datetime_type" | "datetime_parsing" | "datetime_from_date_parsing":
            return "must be a date and time, such as 2026-11-25T18:00:00Z, or a date"
        case "union_tag_not_found":
            return f"{chosen_by} is missing"
        case "union_tag_invalid":
            return f"{chosen_by} must be one of {known['expected_tags']}"
        case "model_attributes_type":
            return "must be a JSON object"
        case "json_invalid":
            return f"invalid JSON: {known['error']}"
        case "value_error":
            return str(known["error"])
        case _:
            return one["msg"]
