"""A LangGraph graph that remembers its users: beside `memory-butler serve`.

python examples/langgraph_store.py http://127.0.0.1:8150
"""

import asyncio
import sys
from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.store.base import BaseStore

from memory_butler.client import MemoryClient
from memory_butler.integrations.langgraph import MemoryStore


class Turn(TypedDict):
    """One turn of a conversation."""

    user: str
    said: str
    known: list[str]


async def remember(state: Turn, *, store: BaseStore) -> dict[str, list[str]]:
    """Recall what fits what was said, then keep it too; a graph of yours would ask a model."""
    namespace = ("users", state["user"], "said")
    found = await store.asearch(namespace, query=state["said"], limit=3)
    await store.aput(namespace, state["said"], {"text": state["said"]}, index=["text"])
    return {"known": [item.value["text"] for item in found]}


async def main(url: str) -> list[str]:
    """Tell the graph something, then ask it in a run that shares nothing but the store."""
    async with MemoryClient.connect(url) as memory:
        builder = StateGraph(Turn)
        builder.add_node("remember", remember)
        builder.add_edge(START, "remember")
        graph = builder.compile(store=MemoryStore(memory))
        for said in ("I take my tea without milk.", "My train leaves at nine.", "How is my tea?"):
            turn = await graph.ainvoke({"user": "ana", "said": said, "known": []})
        known: list[str] = turn["known"]
        return known


if __name__ == "__main__":
    print("\n".join(asyncio.run(main(sys.argv[1]))))
