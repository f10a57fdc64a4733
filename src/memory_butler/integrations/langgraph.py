"""Memory as the store of a LangGraph graph: `graph.compile(store=MemoryStore(memory))`."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
    get_text_at_path,
    tokenize_path,
)

from memory_butler.client import MemoryClient, shapes
from memory_butler.engine.items import MAX_ITEMS

Index = Sequence[str] | Literal[False]

# LangGraph keeps this label from programs, so no namespace of theirs can reach out of it.
ROOT: Final = "langgraph"


class MemoryStore(BaseStore):
    """A `BaseStore` whose items are kept by Memory Butler, each tenant's by itself.

    Items are found by meaning without your own embedding model: the server embeds what `index`
    names, the whole value by default, as one text an item. Reads of a batch see what was there
    before its writes; its writes go 200 at a time, each time all or none.

    The synchronous methods are for other threads than that of the event loop in which the store was
    made.

    Args:
        client: of a server, or of a memory in this process.
        index: paths of the fields to embed, as LangGraph writes them; False: none.
        ttl: how long items are kept that do not say so themselves, in minutes.
        root: the first label of everything that the store keeps; stores of different roots know
            nothing of each other.
    """

    supports_ttl = True

    def __init__(
        self,
        client: MemoryClient,
        *,
        index: Index = ("$",),
        ttl: TTLConfig | None = None,
        root: str = ROOT,
    ) -> None:
        self.ttl_config = ttl
        self._client = client
        self._index = index
        self._root = root
        self._loop = asyncio.get_running_loop()

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Like `abatch`, from another thread than the event loop's.

        Raises:
            RuntimeError: it was called in the event loop, which it would block for ever.
        """
        try:
            blocked = asyncio.get_running_loop() is self._loop
        except RuntimeError:
            blocked = False
        if blocked:
            raise RuntimeError(
                "this store is asynchronous in its own event loop: await aget, aput, asearch, "
                "adelete, alist_namespaces or abatch here"
            )
        return asyncio.run_coroutine_threadsafe(self.abatch(ops), self._loop).result()

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Run the operations; one result each, None for a put."""
        asked = list(ops)
        results: list[Result] = [None] * len(asked)
        await self._get(asked, results)
        for place, op in enumerate(asked):
            match op:
                case SearchOp():
                    results[place] = await self._search(op)
                case ListNamespacesOp():
                    results[place] = await self._namespaces(op)
                case GetOp() | PutOp():
                    pass
                case _:
                    raise ValueError(f"unknown operation: {type(op).__name__}")
        await self._put([op for op in asked if isinstance(op, PutOp)])
        return results

    async def _get(self, asked: Sequence[Op], results: list[Result]) -> None:
        for refresh in (True, False):
            gets = [
                (place, op)
                for place, op in enumerate(asked)
                if isinstance(op, GetOp) and op.refresh_ttl is refresh
            ]
            for start in range(0, len(gets), MAX_ITEMS):
                some = gets[start : start + MAX_ITEMS]
                names = [
                    shapes.ItemName(namespace=self._inside(op.namespace), key=op.key)
                    for _, op in some
                ]
                found = await self._client.items_get(names, refresh=refresh)
                for (place, _), one in zip(some, found.items, strict=True):
                    results[place] = None if one is None else Item(**self._told(one))

    async def _search(self, op: SearchOp) -> list[SearchItem]:
        found: list[SearchItem] = []
        while len(found) < op.limit:
            wanted = min(op.limit - len(found), MAX_ITEMS)
            answer = await self._client.items_search(
                prefix=self._inside(op.namespace_prefix),
                query=op.query if self._index else None,
                filter=op.filter,
                limit=wanted,
                offset=op.offset + len(found),
                refresh=op.refresh_ttl,
            )
            found += [SearchItem(**self._told(one), score=one.score) for one in answer.items]
            if len(answer.items) < wanted:
                break
        return found

    async def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        matches = [
            shapes.NamespaceMatch(match=one.match_type, path=list(one.path))
            for one in op.match_conditions or ()
        ]
        found: list[tuple[str, ...]] = []
        while len(found) < op.limit:
            wanted = min(op.limit - len(found), MAX_ITEMS)
            answer = await self._client.items_namespaces(
                under=[self._root],
                matches=matches,
                max_depth=op.max_depth,
                limit=wanted,
                offset=op.offset + len(found),
            )
            found += [tuple(one) for one in answer.namespaces]
            if len(answer.namespaces) < wanted:
                break
        return found

    async def _put(self, puts: Sequence[PutOp]) -> None:
        latest = list({(op.namespace, op.key): op for op in puts}.values())
        for start in range(0, len(latest), MAX_ITEMS):
            await self._client.items_put(
                [self._change(op) for op in latest[start : start + MAX_ITEMS]]
            )

    def _change(self, op: PutOp) -> shapes.ItemChange:
        value = None if op.value is None else dict(op.value)
        index: Index = self._index if op.index is None else op.index
        text = None if value is None or not index else _text(value, index)
        return shapes.ItemChange(
            namespace=self._inside(op.namespace),
            key=op.key,
            value=value,
            text=text,
            ttl_minutes=op.ttl,
        )

    def _inside(self, namespace: tuple[str, ...]) -> list[str]:
        return [self._root, *namespace]

    def _told(self, one: shapes.StoredItem) -> dict[str, Any]:
        return {
            "namespace": tuple(one.namespace[1:]),
            "key": one.key,
            "value": one.value,
            "created_at": one.created_at,
            "updated_at": one.updated_at,
        }


def _text(value: Mapping[str, Any], index: Sequence[str]) -> str | None:
    """What stands at the paths, a line each; None where there is nothing."""
    found = [
        text
        for path in index
        for text in get_text_at_path(value, path if path == "$" else tokenize_path(path))
    ]
    return "\n".join(found) or None
