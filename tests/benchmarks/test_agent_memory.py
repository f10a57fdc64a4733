"""The adapter for the Agent Memory Benchmark, with a stand-in for the benchmark written by hand.

The benchmark is no dependency; `bench/agent_memory.py` runs with the real one.
"""

import asyncio
import json
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from bench.agent_memory import other_weights, provider, turns_of

from surfaces.serving import Served

pytestmark = pytest.mark.anyio


@dataclass
class Document:
    """As the benchmark has it."""

    id: str
    content: str
    user_id: str | None = None
    messages: list[dict[str, str]] | None = None
    timestamp: str | None = None


class MemoryProvider:
    """The hooks that an adapter may leave out."""


class Hybrid:
    """What of the benchmark's hybrid baseline knows its weights."""

    def ingest(self: Any, texts: list[str]) -> None:
        self._init_models()
        self.dense, self.sparse = self._dense(texts), self._sparse(texts)


def test_a_documents_turns() -> None:
    messages = [{"role": "user", "content": "I moved."}, {"role": "assistant", "content": ""}]
    assert turns_of(Document("1", "…", messages=messages)) == [("user", "I moved.")]
    told = json.dumps([{"speaker": "Ana", "text": "I moved."}, {"speaker": "Bo", "text": ""}])
    assert turns_of(Document("2", told)) == [("Ana", "I moved.")]
    spoken = "[USER] I moved.\n\nTo Porto.\n\n[ASSISTANT] Fine."
    assert turns_of(Document("3", spoken)) == [
        ("user", "I moved.\n\nTo Porto."),
        ("assistant", "Fine."),
    ]
    assert turns_of(Document("4", "[not JSON\n\nA note.")) == [("", "[not JSON"), ("", "A note.")]


@pytest.mark.parametrize("mode", ["hybrid", "deep"])
async def test_what_a_user_told_is_found_by_that_user_alone(
    served: Served, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    monkeypatch.setenv("MEMORY_BUTLER_URL", served.url)
    adapter: Any = provider(MemoryProvider, Document, mode)()
    spoken = "[USER] I keep bees on the roof.\n\n[ASSISTANT] How many?"
    documents = [
        Document("a", spoken, user_id="Ana", timestamp="2026-02-03T10:00:00+00:00"),
        Document("b", "[USER] I keep goats in the valley.", user_id="Bo"),
    ]

    def run() -> tuple[list[Document], list[Document], None]:
        adapter.initialize()
        adapter.ingest(documents)
        found, raw = adapter.retrieve("What animals do I keep?", k=5, user_id="Ana")
        others, _ = adapter.retrieve("What animals do I keep?", k=1, user_id="Bo")
        adapter.cleanup()
        return found, others, raw

    found, others, raw = await asyncio.to_thread(run)
    assert found[0] == Document("a", "[2026-02-03] user: I keep bees on the roof.", user_id="Ana")
    assert not any("goats" in one.content for one in found)
    assert [one.content.partition("user: ")[2] for one in others] == ["I keep goats in the valley."]
    assert raw is None


def test_the_hybrid_baseline_takes_other_weights() -> None:
    models = SimpleNamespace(SparseVector=SimpleNamespace)
    baseline: Any = other_weights(SimpleNamespace(HybridSearchMemoryProvider=Hybrid, models=models))
    weather = "It rained in the valley. " * 60
    hybrid = baseline()
    hybrid.ingest([weather, f"{weather}My aunt keeps bees on the roof."])
    rained, bees = np.array(hybrid.dense) @ hybrid._dense(["Who keeps bees?"], is_query=True)[0]
    assert bees > rained + 0.1  # the end of a chunk is read

    hybrid.ingest(["Bees, bees.", "bees goats"])
    (asked,) = hybrid._sparse(["Goats or bees?"])
    assert asked.values == [1, 1, 1]
    kept = [dict(zip(one.indices, one.values, strict=True)) for one in hybrid.sparse]
    scores = [sum(one.get(word, 0) for word in asked.indices) for one in kept]
    assert scores == pytest.approx([0.2507, 0.1823 + 0.6931], abs=1e-4)
