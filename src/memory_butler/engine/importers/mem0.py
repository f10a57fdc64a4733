"""Memories of mem0, as its `get_all` or an export of its platform gives them.

Each is a sentence that mem0 took to be true, so each becomes a fact: of its user, and with its id
in the predicate, because mem0 has no predicates and two sentences must not supersede each other. A
memory that mem0 has updated since comes in once more, and supersedes its former text.
"""

from collections.abc import Iterator
from typing import Any

from memory_butler.domain.errors import InvalidInput
from memory_butler.engine.import_format import BadLine, FactLine
from memory_butler.engine.importers.source import (
    Document,
    Found,
    end,
    moment,
    own_id,
    present,
    read_json,
)


def memories(found: Any) -> list[Any] | None:
    """The list of memories in a document, None if it holds none."""
    within = [found.get("results"), found.get("memories")] if isinstance(found, dict) else [found]
    return next((one for one in within if isinstance(one, list)), None)


def listed(document: Document) -> list[Any]:
    """The memories of a document, as they stand there.

    Raises:
        InvalidInput: it is not JSON, or has no list.
    """
    found = memories(read_json(document))
    if found is None:
        raise InvalidInput(f"{document.name} has no list of memories")
    return found


def recognises(first: Any) -> bool:
    """Whether it is a memory of this format."""
    if not isinstance(first, dict) or not isinstance(first.get("memory"), str):
        return False
    return first.get("id") not in (None, "")


def read(document: Document, butler: str) -> Iterator[Found]:
    """The memories, in order."""
    try:
        found = listed(document)
    except InvalidInput as error:
        yield Found(1, "", BadLine(1, str(error), document.name), document.size)
        return
    for number, one in enumerate(found, 1):
        reached = document.size * number // len(found)
        if not recognises(one):
            bad = BadLine(number, "it has no memory or no id", document.name)
            yield Found(number, "", bad, reached)
            continue
        yield Found(number, _key(one), _fact(one, butler), reached)


def _key(found: dict[str, Any]) -> str:
    updated = found.get("updated_at")
    version = f"/{updated}" if updated and updated != found.get("created_at") else ""
    return f"mem0/{found['id']}{version}"


def _fact(found: dict[str, Any], butler: str) -> FactLine:
    owner = found.get("user_id") or found.get("agent_id") or found.get("run_id") or "user"
    categories = found.get("categories")
    tags = [str(one) for one in categories] if isinstance(categories, list) else None
    since = moment(found.get("updated_at")) or moment(found.get("created_at"))
    return FactLine(
        kind="fact",
        id=own_id(found["id"]),
        subject=str(owner),
        predicate=f"memory {found['id']}",
        content=found["memory"],
        source_butler=butler,
        metadata={
            "imported_from": "mem0",
            **present(
                agent_id=found.get("agent_id"),
                run_id=found.get("run_id"),
                created_at=found.get("created_at"),
                metadata=found.get("metadata") or None,
            ),
        },
        **present(tags=tags, valid_from=since, valid_until=end(found.get("expiration_date"))),
    )
