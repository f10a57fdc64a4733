"""Rows as plain dictionaries of Python values, column by column."""

from collections.abc import Iterable, Mapping
from typing import Any

Row = dict[str, Any]


def optional(record: Mapping[str, Any] | None) -> Row | None:
    """One row, or None where there is none."""
    return None if record is None else dict(record)


def rows(records: Iterable[Mapping[str, Any]]) -> list[Row]:
    """All rows."""
    return [dict(record) for record in records]
