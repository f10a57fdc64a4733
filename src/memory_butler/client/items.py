"""The operations of `operations/items.py`, as methods. Written by tools/make_docs.py."""

from typing import Any

from memory_butler.client.sender import Sender
from memory_butler.client.transport import UNSET, Unset, left_in
from memory_butler.operations import items as operations
from memory_butler.operations.items import (
    AppendItemsOutput,
    ClearItemsOutput,
    GetItemsOutput,
    ItemChange,
    ItemName,
    NamespaceMatch,
    NamespacesOutput,
    PopItemOutput,
    PutItemsOutput,
    SearchItemsOutput,
    TailItemsOutput,
)


class Items(Sender):
    """What the client can do about items."""

    async def items_put(
        self,
        items: list[ItemChange],
    ) -> PutItemsOutput:
        """Write records.

        Write records of a program's own, each in place of the one of its name, or delete them.
        They are no memories: nothing is learned from them and recall does not see them.
        """
        return await self._send(
            operations.PUT,
            left_in(items=items),
        )

    async def items_get(
        self,
        names: list[ItemName],
        *,
        refresh: bool | Unset = UNSET,
    ) -> GetItemsOutput:
        """Read records.

        Records of a program's own, by their names.

        Args:
            refresh: Whether their time to live begins anew.
        """
        return await self._send(
            operations.GET,
            left_in(names=names, refresh=refresh),
        )

    async def items_search(
        self,
        *,
        prefix: list[str] | Unset = UNSET,
        query: str | Unset | None = UNSET,
        filter: dict[str, Any] | Unset | None = UNSET,
        limit: int | Unset = UNSET,
        offset: int | Unset = UNSET,
        refresh: bool | Unset = UNSET,
    ) -> SearchItemsOutput:
        """Search records.

        Records of a program's own below a namespace, by meaning, by members of their values, or
        both. What is known about people and the world is found by memory_recall.

        Args:
            prefix: Below this namespace; everywhere if left out.
            query: What they should mean, in any words.
            filter: What members of the value must be: {"colour": "red", "size": {"$gte":
                3}}; $eq, $ne, $gt, $gte, $lt, $lte.
            limit: How many, at most 200.
            offset: How many to pass over.
            refresh: Whether the time to live of what is found begins anew.
        """
        return await self._send(
            operations.SEARCH,
            left_in(
                prefix=prefix,
                query=query,
                filter=filter,
                limit=limit,
                offset=offset,
                refresh=refresh,
            ),
        )

    async def items_namespaces(
        self,
        *,
        under: list[str] | Unset = UNSET,
        matches: list[NamespaceMatch] | Unset = UNSET,
        max_depth: int | Unset | None = UNSET,
        limit: int | Unset = UNSET,
        offset: int | Unset = UNSET,
    ) -> NamespacesOutput:
        """List the namespaces of records.

        The namespaces that have records of a program's own.

        Args:
            under: Below this one; all if left out.
            matches: What must hold of what follows; all of them.
            max_depth: Cut to so many labels.
            limit: How many, at most 200.
            offset: How many to pass over.
        """
        return await self._send(
            operations.NAMESPACES,
            left_in(under=under, matches=matches, max_depth=max_depth, limit=limit, offset=offset),
        )

    async def items_append(
        self,
        namespace: list[str],
        values: list[dict[str, Any]],
    ) -> AppendItemsOutput:
        """Append records.

        Write records of a program's own behind the last one of a namespace, under keys that
        count on: a conversation, a log.

        Args:
            namespace: Like folders: ["users", "ana"]; 1 to 20 labels.
            values: JSON objects, in their order.
        """
        return await self._send(
            operations.APPEND,
            left_in(namespace=namespace, values=values),
        )

    async def items_tail(
        self,
        namespace: list[str],
        *,
        before: str | Unset | None = UNSET,
        limit: int | Unset = UNSET,
    ) -> TailItemsOutput:
        """Read the last records.

        The last records of exactly one namespace, in the order of their keys.

        Args:
            namespace: Like folders: ["users", "ana"]; 1 to 20 labels.
            before: Only those before this key.
            limit: How many, at most 200.
        """
        return await self._send(
            operations.TAIL,
            left_in(namespace=namespace, before=before, limit=limit),
        )

    async def items_pop(
        self,
        namespace: list[str],
    ) -> PopItemOutput:
        """Take the last record.

        Remove the last record of exactly one namespace and tell it; of several callers each
        gets another one.

        Args:
            namespace: Like folders: ["users", "ana"]; 1 to 20 labels.
        """
        return await self._send(
            operations.POP,
            left_in(namespace=namespace),
        )

    async def items_clear(
        self,
        namespace: list[str],
    ) -> ClearItemsOutput:
        """Delete the records of a namespace.

        Delete every record of exactly one namespace; those of namespaces below it stay.

        Args:
            namespace: Like folders: ["users", "ana"]; 1 to 20 labels.
        """
        return await self._send(
            operations.CLEAR,
            left_in(namespace=namespace),
        )
