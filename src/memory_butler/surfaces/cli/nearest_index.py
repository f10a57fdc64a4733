"""The approximate index of vectors: how it stands, build it, drop it."""

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Final

import typer

from memory_butler.domain.choices import choose
from memory_butler.surfaces.cli.examples import epilog
from memory_butler.surfaces.cli.place import AsJson, Place, complete
from memory_butler.surfaces.cli.progress import progress

if TYPE_CHECKING:
    from memory_butler.engine.nearest_index import State, Table

EXAMPLES = epilog("memory-butler index status", "memory-butler index build facts")

_TABLES: Final = ("episodes", "facts", "rules")
Tables = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="TABLE",
        help="episodes, facts or rules; left out, all that it is worth it for.",
        autocompletion=lambda: list(_TABLES),
    ),
]


def status(place: Place, as_json: AsJson = False) -> None:
    """Show which tables are searched by an approximate index."""
    from memory_butler.engine.nearest_index import status as look

    found = complete(look(place.settings()))
    if as_json:
        print(json.dumps([asdict(one) for one in found], indent=2))
        return
    for one in found:
        # A table of which nobody has counted the rows yet is small.
        counted = f"about {one.memories:,}" if one.memories else "no or few"
        print(f"{one.table:10}{counted:>18} memories   {_told(one)}")


def _told(state: "State") -> str:
    from memory_butler.engine.nearest_index import WORTHWHILE

    size = f"approximate where a tenant has many, {state.bytes / 1e6:,.0f} MB"
    if state.building:
        return "an index is being built"
    if state.unfinished:
        return f"{size if state.built else 'exact'}; an interrupted build is left, build again"
    if state.outgrown:
        return f"{size}; built for fewer, `memory-butler index build` finds more of the nearest"
    if state.built:
        return size
    worth = state.memories >= WORTHWHILE
    return "exact; `memory-butler index build` makes it faster" if worth else "exact"


def build(place: Place, tables: Tables = None) -> None:
    """Build the approximate index, for stores of some thousand memories and more.

    Finds 99 of 100 of the nearest in a tenth of the time. Searches and writes go on meanwhile, and
    small tenants are still searched exactly. Interrupted, run it again.
    """
    from memory_butler.engine.nearest_index import WORTHWHILE
    from memory_butler.engine.nearest_index import build as make

    chosen = _chosen(tables)
    with progress("Building the index", "vector") as told:
        built = complete(make(place.settings(), chosen, told))
    for one in built:
        print(f"{one.table}: built, {one.bytes / 1e6:,.0f} MB.")
    if not built:
        print(
            f"No table has {WORTHWHILE:,} memories: exact search is fast enough. Name one to build "
            "its index all the same."
        )


def drop(place: Place, tables: Tables = None) -> None:
    """Drop the approximate index: searches are exact again, and writes a little faster."""
    from memory_butler.engine.nearest_index import drop as undo

    complete(undo(place.settings(), _chosen(tables)))
    print("Searches are exact.")


def _chosen(tables: list[str] | None) -> "list[Table]":
    from memory_butler.engine.nearest_index import TABLES

    return [choose(one, TABLES, "table") for one in tables or []]
