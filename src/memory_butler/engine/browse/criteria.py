"""What lists are asked for, checked, and the rows as people see them."""

import dataclasses
from datetime import datetime
from typing import Any, TypeVar

from memory_butler.domain.confidence import effective_confidence
from memory_butler.domain.facts import lifecycle_state
from memory_butler.domain.rules import rule_state
from memory_butler.domain.text import storable
from memory_butler.engine import inputs
from memory_butler.store.rows import Row

Filter = TypeVar("Filter", bound=Any)


def checked(wanted: Filter) -> Filter:
    """A filter with its names as they are stored and its moments in UTC.

    Raises:
        InvalidInput: a criterion that nothing could meet, such as a blank name.
    """
    clean: dict[str, Any] = {}
    for field in dataclasses.fields(wanted):
        value = getattr(wanted, field.name)
        if field.name == "text" and value is not None:
            clean["text"] = text(value)
        elif isinstance(value, str):
            clean[field.name] = inputs.name(field.name, value, inputs.MAX_SUBJECT_BYTES)
        elif isinstance(value, datetime):
            clean[field.name] = inputs.moment(field.name, value)
        elif field.name == "min_confidence" and value is not None:
            clean[field.name] = inputs.share(field.name, value)
    changed: Filter = dataclasses.replace(wanted, **clean)
    return changed


def text(value: str) -> str | None:
    """What a person typed into a filter; nothing is no filter."""
    return storable(inputs.query("q", value)).strip() or None


def fact_row(row: Row, now: datetime) -> Row:
    """A fact with the state and the confidence that it has now."""
    return faded(row, now) | {"lifecycle_state": lifecycle_state(row["validity"], row["metadata"])}


def rule_row(row: Row, now: datetime) -> Row:
    """A rule with the state and the confidence that it has now."""
    return faded(row, now) | {"state": rule_state(row["metadata"])}


def faded(row: Row, now: datetime) -> Row:
    """A fact or a rule with the confidence that it has now; an episode, which has none, as it is.

    Whatever shows a memory shows this beside the base: of a fact that nobody confirmed for a year
    the base still says 1.0.
    """
    if "confidence" not in row:
        return row
    confirmed = row["last_confirmed_at"]
    effective = effective_confidence(row["confidence"], row["decay_rate"], confirmed, now)
    return row | {"effective_confidence": effective}
