"""Named queries: the SQL beside each module, by name.

A `.sql` file holds blocks that begin with `-- name: some_name`. A block that begins with
`-- fragment: some_name` is not a query; `{some_name}` in the queries stands for it, so that a list
of columns is written once. A test prepares every query against the migrated schema.
"""

import re
from collections.abc import Iterator, Mapping
from importlib.resources import files

_HEADING = re.compile(r"^-- (name|fragment): (\w+)\s*$", re.MULTILINE)


class Queries(Mapping[str, str]):
    """The queries of one noun; an unknown name is a KeyError naming the file."""

    def __init__(self, noun: str, text: str) -> None:
        self._noun = noun
        fragments: dict[str, str] = {}
        self._by_name: dict[str, str] = {}
        parts = _HEADING.split(text)[1:]
        for kind, name, body in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
            for fragment, columns in fragments.items():
                body = body.replace(f"{{{fragment}}}", columns)
            (fragments if kind == "fragment" else self._by_name)[name] = body.strip()

    def __getitem__(self, name: str) -> str:
        try:
            return self._by_name[name]
        except KeyError:
            raise KeyError(f"{self._noun}.sql has no query named {name!r}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)


def load(noun: str) -> Queries:
    """The queries of `store/<noun>.sql`."""
    return Queries(noun, files(__package__).joinpath(f"{noun}.sql").read_text(encoding="utf-8"))
