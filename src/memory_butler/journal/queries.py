"""Named queries: the SQL beside each module, by name; a block begins with `-- name: some_name`.

A block `-- fragment: some_name` is a list of columns: `{some_name}` in later blocks stands for it.
The journal has its own reader, because it depends on the domain alone.
"""

import re
from collections.abc import Mapping
from importlib.resources import files
from types import MappingProxyType

_HEADING = re.compile(r"^-- (name|fragment): (\w+)\s*$", re.MULTILINE)


def text_of(file: str) -> str:
    """The text of an SQL file of this package."""
    return files(__package__).joinpath(file).read_text(encoding="utf-8")


def load(noun: str) -> Mapping[str, str]:
    """The queries of `<noun>.sql`."""
    parts = _HEADING.split(text_of(f"{noun}.sql"))[1:]
    queries: dict[str, str] = {}
    fragments: dict[str, str] = {}
    for kind, name, body in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        for fragment, columns in fragments.items():
            body = body.replace(f"{{{fragment}}}", columns)
        (fragments if kind == "fragment" else queries)[name] = body.strip()
    return MappingProxyType(queries)
