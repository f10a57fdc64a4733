"""What is wrong with an input, in words for whoever has to correct it."""

from collections.abc import Mapping
from typing import Any, Final

_UUID: Final = "must be a UUID, such as 3f0c9d6e-5a41-4b6b-9d0e-2f1c7a8b9e10"
_MOMENT: Final = "must be a date and time, such as 2026-11-25T18:00:00Z, or a date"
_WHOLE: Final = "must be a whole number"
_NUMBER: Final = "must be a number"
_BOOLEAN: Final = "must be true or false"
_OBJECT: Final = "must be a JSON object"
_UNKNOWN: Final = "unknown name; is it misspelled?"

# By pydantic's types; what a message says in braces is of the mistake's context.
_SAID: Final[Mapping[str, str]] = {
    "missing": "is required",
    "extra_forbidden": _UNKNOWN,
    "unexpected_keyword_argument": _UNKNOWN,
    "uuid_parsing": _UUID,
    "uuid_type": _UUID,
    "datetime_type": _MOMENT,
    "datetime_parsing": _MOMENT,
    "datetime_from_date_parsing": _MOMENT,
    "model_attributes_type": _OBJECT,
    "model_type": _OBJECT,
    "dict_type": _OBJECT,
    "dataclass_type": _OBJECT,
    "int_type": _WHOLE,
    "int_parsing": _WHOLE,
    "int_from_float": _WHOLE,
    "float_type": _NUMBER,
    "float_parsing": _NUMBER,
    "bool_type": _BOOLEAN,
    "bool_parsing": _BOOLEAN,
    "string_type": "must be a text",
    "list_type": 'must be a list, such as ["one"]',
    "literal_error": "must be {expected}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "too_short": "must have {min_length} or more items",
    "too_long": "must have {max_length} items at most",
    "string_too_short": "must have {min_length} or more characters",
    "string_too_long": "must have {max_length} characters at most",
    "union_tag_not_found": "{discriminator} is missing",
    "union_tag_invalid": "{discriminator} must be one of {expected_tags}",
    "json_invalid": "invalid JSON: {error}",
    "value_error": "{error}",
}


# Of a name out of an input: what is looked at, and what is shown.
_LOOKED_AT: Final = 1000
_SHOWN: Final = 60


def named(name: object) -> str:
    """A name that somebody's input has, as an error may show it: one line, short, secrets masked.

    In damaged input a whole document may stand where a name should.
    """
    # Imported here: its patterns take longer than most commands.
    from memory_butler.domain import secrets

    said = str(name)[:_LOOKED_AT]
    said = " ".join("".join(one if one.isprintable() else " " for one in said).split())
    said = secrets.masked(said, [one for one in secrets.find(said) if one.level == "mask"])
    return said if len(said) <= _SHOWN else f"{said[: _SHOWN - 2].rstrip()} …"


def reason(mistake: Mapping[str, Any]) -> str:
    """What a mistake is that pydantic found, without the value; its words where we have none.

    Args:
        mistake: with `type` and `msg`, and what these speak of as `ctx`.
    """
    known = {name: _plain(name, value) for name, value in mistake.get("ctx", {}).items()}
    try:
        return _SAID[mistake["type"]].format_map(known)
    except KeyError:
        return str(mistake["msg"])


def _plain(name: str, value: Any) -> str:
    if name == "discriminator":
        return str(value).strip("'")
    match value:
        case float():
            return f"{value:,g}"
        case int():
            return f"{value:,}"
        case _:
            return str(value)
