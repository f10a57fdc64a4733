"""What agents cannot do over MCP: bring a memory back, and link memories by hand."""

import json
from typing import Annotated, Any

import typer

from memory_butler.domain.links import DIRECTIONS, MEMORY_TYPES, RELATIONS
from memory_butler.surfaces.cli.examples import epilog
from memory_butler.surfaces.cli.place import AsJson, Place, with_memory

_TYPES = ", ".join(MEMORY_TYPES)
Type = Annotated[
    str,
    typer.Argument(
        metavar="TYPE", help=f"One of {_TYPES}.", autocompletion=lambda: list(MEMORY_TYPES)
    ),
]
Id = Annotated[str, typer.Argument(metavar="ID", help="Its id.")]
_SOURCE, _TARGET = "From which memory.", "To which memory."

LINK_EXAMPLES = epilog("memory-butler link fact 6f1c… rule 90ab… supports")


def restore(place: Place, memory_type: Type, memory_id: Id) -> None:
    """Bring a forgotten memory back."""
    from memory_butler.engine.curate import restore_memory

    with_memory(
        place, lambda memory: restore_memory(memory, place.principal(), memory_type, memory_id)
    )
    print(f"Restored {memory_type} {memory_id}.")


def link(
    place: Place,
    source_type: Annotated[str, typer.Argument(metavar="SOURCE_TYPE", help=f"One of {_TYPES}.")],
    source_id: Annotated[str, typer.Argument(metavar="SOURCE_ID", help=_SOURCE)],
    target_type: Annotated[str, typer.Argument(metavar="TARGET_TYPE", help=f"One of {_TYPES}.")],
    target_id: Annotated[str, typer.Argument(metavar="TARGET_ID", help=_TARGET)],
    relation: Annotated[
        str,
        typer.Argument(
            metavar="RELATION",
            help=f"One of {', '.join(RELATIONS)}.",
            autocompletion=lambda: list(RELATIONS),
        ),
    ],
) -> None:
    """Link two memories."""
    from memory_butler.engine.linking import create_link

    made = with_memory(
        place,
        lambda memory: create_link(
            memory, place.principal(), source_type, source_id, target_type, target_id, relation
        ),
    )
    what = f"{source_type} {source_id} to {target_type} {target_id}"
    if made:
        print(f"Linked {what}: {relation}.")
    else:
        print(f"There was a link from {what} before; it stays as it is.")


def links(
    place: Place,
    memory_type: Type,
    memory_id: Id,
    direction: Annotated[
        str,
        typer.Option(
            help=f"One of {', '.join(DIRECTIONS)}.",
            metavar="DIRECTION",
            autocompletion=lambda: list(DIRECTIONS),
        ),
    ] = "both",
    as_json: AsJson = False,
) -> None:
    """The links of a memory."""
    from memory_butler.engine.linking import get_links

    found = with_memory(
        place,
        lambda memory: get_links(memory, place.principal(), memory_type, memory_id, direction),
    )
    rows = [{**row, "created_at": row["created_at"].isoformat()} for row in found]
    if as_json:
        print(json.dumps({"links": rows}, default=str, indent=2))
        return
    _print_links(rows)


def _print_links(rows: list[dict[str, Any]]) -> None:
    from memory_butler.surfaces.cli.answers import console, table

    if not rows:
        print("No links.")
        return
    made = table("From", "Relation", "To", "Since")
    for row in rows:
        made.add_row(
            f"{row['source_type']}\n{row['source_id']}",
            row["relation"],
            f"{row['target_type']}\n{row['target_id']}",
            row["created_at"][:16].replace("T", " "),
        )
    console().print(made)
