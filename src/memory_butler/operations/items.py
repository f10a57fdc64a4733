"""Programs' own records: for the stores of agent frameworks (docs/integrations.md)."""

from typing import Any, Final, Literal

from pydantic import Field

from memory_butler.domain.json_values import Moment, Rounded
from memory_butler.domain.principals import Principal
from memory_butler.engine import items as engine
from memory_butler.engine.inputs import MAX_LIMIT, MAX_OFFSET
from memory_butler.engine.memory import Memory
from memory_butler.operations.operation import Route, operation
from memory_butler.operations.views import Input, Output

PLACE: Final = 'Like folders: ["users", "ana"]; 1 to 20 labels.'


class ItemName(Input):
    """Where a record lies."""

    namespace: list[str] = Field(description=PLACE)
    key: str = Field(description="Its name there.")


class ItemChange(ItemName):
    """A record to write or to delete."""

    value: dict[str, Any] | None = Field(description="A JSON object; null deletes the record.")
    text: str | None = Field(
        None, description="What it is to be found by; without it it is not found by meaning."
    )
    ttl_minutes: float | None = Field(
        None, gt=0, description="How long it is kept after it was last read or written."
    )


class StoredItem(Output):
    """A record."""

    namespace: list[str]
    key: str
    value: dict[str, Any]
    created_at: Moment
    updated_at: Moment


class FoundItem(StoredItem):
    """A record that was searched for."""

    score: Rounded | None = Field(
        description="Cosine similarity with the query; null where there is nothing to compare."
    )


class PutItemsInput(Input):
    """All of them or none; of several of one name the last one counts."""

    items: list[ItemChange] = Field(max_length=engine.MAX_ITEMS)


class PutItemsOutput(Output):
    """How many names were written or deleted."""

    changed: int


@operation(
    "Write records", Route("POST", "/api/items"), needs="write", idempotent=True, destructive=True
)
async def items_put(memory: Memory, principal: Principal, given: PutItemsInput) -> PutItemsOutput:
    """Write records of a program's own, each in place of the one of its name, or delete them. They
    are no memories: nothing is learned from them and recall does not see them."""
    changes = [
        engine.Change(one.namespace, one.key, one.value, one.text, one.ttl_minutes)
        for one in given.items
    ]
    await engine.put_items(memory, principal, changes)
    return PutItemsOutput(changed=len({(tuple(one.namespace), one.key) for one in given.items}))


class GetItemsInput(Input):
    """Which records."""

    names: list[ItemName] = Field(max_length=engine.MAX_ITEMS)
    refresh: bool = Field(True, description="Whether their time to live begins anew.")


class GetItemsOutput(Output):
    """In the order of the names; null for each that there is not."""

    items: list[StoredItem | None]


@operation("Read records", Route("POST", "/api/items/get"), needs="read")
async def items_get(memory: Memory, principal: Principal, given: GetItemsInput) -> GetItemsOutput:
    """Records of a program's own, by their names."""
    names = [(one.namespace, one.key) for one in given.names]
    found = await engine.get_items(memory, principal, names, given.refresh)
    return GetItemsOutput(items=[row and StoredItem.model_validate(row) for row in found])


class SearchItemsInput(Input):
    """Where, and what for."""

    prefix: list[str] = Field([], description="Below this namespace; everywhere if left out.")
    query: str | None = Field(None, description="What they should mean, in any words.")
    filter: dict[str, Any] | None = Field(
        None,
        description=(
            'What members of the value must be: {"colour": "red", "size": {"$gte": 3}}; $eq, $ne, '
            "$gt, $gte, $lt, $lte."
        ),
    )
    limit: int = Field(10, ge=1, le=MAX_LIMIT, description="How many, at most 200.")
    offset: int = Field(0, ge=0, le=MAX_OFFSET, description="How many to pass over.")
    refresh: bool = Field(
        True, description="Whether the time to live of what is found begins anew."
    )


class SearchItemsOutput(Output):
    """The nearest first, then what cannot be compared, the latest first."""

    items: list[FoundItem]


@operation("Search records", Route("POST", "/api/items/search"), needs="read")
async def items_search(
    memory: Memory, principal: Principal, given: SearchItemsInput
) -> SearchItemsOutput:
    """Records of a program's own below a namespace, by meaning, by members of their values, or
    both. What is known about people and the world is found by memory_recall."""
    found = await engine.search_items(
        memory,
        principal,
        given.prefix,
        given.query,
        given.filter,
        limit=given.limit,
        offset=given.offset,
        refresh=given.refresh,
    )
    return SearchItemsOutput(items=[FoundItem.model_validate(row) for row in found])


class NamespaceMatch(Input):
    """How a namespace must begin or end."""

    match: Literal["prefix", "suffix"]
    path: list[str] = Field(description='Labels; "*" is any.')


class NamespacesInput(Input):
    """Which namespaces."""

    under: list[str] = Field([], description="Below this one; all if left out.")
    matches: list[NamespaceMatch] = Field(
        [], max_length=20, description="What must hold of what follows; all of them."
    )
    max_depth: int | None = Field(None, ge=1, description="Cut to so many labels.")
    limit: int = Field(100, ge=1, le=MAX_LIMIT, description="How many, at most 200.")
    offset: int = Field(0, ge=0, le=MAX_OFFSET, description="How many to pass over.")


class NamespacesOutput(Output):
    """In order; each is what follows `under`."""

    namespaces: list[list[str]]


@operation("List the namespaces of records", Route("POST", "/api/items/namespaces"), needs="read")
async def items_namespaces(
    memory: Memory, principal: Principal, given: NamespacesInput
) -> NamespacesOutput:
    """The namespaces that have records of a program's own."""
    found = await engine.list_namespaces(
        memory,
        principal,
        given.under,
        [engine.Match(one.match, one.path) for one in given.matches],
        max_depth=given.max_depth,
        limit=given.limit,
        offset=given.offset,
    )
    return NamespacesOutput(namespaces=found)


class AppendItemsInput(Input):
    """All of them or none."""

    namespace: list[str] = Field(description=PLACE)
    values: list[dict[str, Any]] = Field(
        max_length=engine.MAX_ITEMS, description="JSON objects, in their order."
    )


class AppendItemsOutput(Output):
    """The keys that they got: numbers of 18 digits, in order."""

    keys: list[str]


@operation("Append records", Route("POST", "/api/items/append"), needs="write")
async def items_append(
    memory: Memory, principal: Principal, given: AppendItemsInput
) -> AppendItemsOutput:
    """Write records of a program's own behind the last one of a namespace, under keys that count
    on: a conversation, a log."""
    keys = await engine.append_items(memory, principal, given.namespace, given.values)
    return AppendItemsOutput(keys=keys)


class TailItemsInput(Input):
    """Which records."""

    namespace: list[str] = Field(description=PLACE)
    before: str | None = Field(None, description="Only those before this key.")
    limit: int = Field(10, ge=1, le=MAX_LIMIT, description="How many, at most 200.")


class TailItemsOutput(Output):
    """In the order of their keys."""

    items: list[StoredItem]


@operation("Read the last records", Route("POST", "/api/items/tail"), needs="read")
async def items_tail(
    memory: Memory, principal: Principal, given: TailItemsInput
) -> TailItemsOutput:
    """The last records of exactly one namespace, in the order of their keys."""
    found = await engine.tail_items(
        memory, principal, given.namespace, before=given.before, limit=given.limit
    )
    return TailItemsOutput(items=[StoredItem.model_validate(row) for row in found])


class OneNamespaceInput(Input):
    """Which namespace."""

    namespace: list[str] = Field(description=PLACE)


class PopItemOutput(Output):
    """The record, which is no longer kept."""

    item: StoredItem | None = Field(description="Null where there was none.")


@operation("Take the last record", Route("POST", "/api/items/pop"), needs="write", destructive=True)
async def items_pop(
    memory: Memory, principal: Principal, given: OneNamespaceInput
) -> PopItemOutput:
    """Remove the last record of exactly one namespace and tell it; of several callers each gets
    another one."""
    row = await engine.pop_item(memory, principal, given.namespace)
    return PopItemOutput(item=row and StoredItem.model_validate(row))


class ClearItemsOutput(Output):
    """What was removed."""

    removed: int


@operation(
    "Delete the records of a namespace",
    Route("POST", "/api/items/clear"),
    needs="write",
    idempotent=True,
    destructive=True,
)
async def items_clear(
    memory: Memory, principal: Principal, given: OneNamespaceInput
) -> ClearItemsOutput:
    """Delete every record of exactly one namespace; those of namespaces below it stay."""
    return ClearItemsOutput(removed=await engine.clear_items(memory, principal, given.namespace))
