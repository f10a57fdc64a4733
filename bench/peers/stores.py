"""Other memories under the same questions, each with vectors of the same weights as ours.

One class a peer: it opens an empty store for one conversation, takes items, and answers with the
ids of the best. Its library is imported when it is opened, because each lives in an environment of
its own (`bench/peers/run.py`).
"""

import tempfile
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from memory_butler.inference.embedder import Embedder

Item = tuple[str, str]  # id and text


class Peer(Protocol):
    """What is measured."""

    def ingest(self, items: Sequence[Item]) -> None:
        """Store everything; searchable when this returns."""

    def search(self, question: str, limit: int) -> list[str]:
        """The ids of the best, best first."""


class Chroma:
    """Chroma, persistent client, cosine HNSW as it comes."""

    def __init__(self, engine: Embedder) -> None:
        import chromadb

        self._engine = engine
        client = chromadb.PersistentClient(
            tempfile.mkdtemp(prefix="peer-chroma-"),
            settings=chromadb.Settings(anonymized_telemetry=False),
        )
        self._collection = client.create_collection(
            "turns", embedding_function=None, metadata={"hnsw:space": "cosine"}
        )

    def ingest(self, items: Sequence[Item]) -> None:
        for start in range(0, len(items), 64):
            ids, texts = zip(*items[start : start + 64], strict=True)
            vectors = self._engine.embed_arrays(texts)
            self._collection.add(ids=list(ids), documents=list(texts), embeddings=vectors)

    def search(self, question: str, limit: int) -> list[str]:
        vector = self._engine.embed_arrays([question])
        found = self._collection.query(query_embeddings=vector, n_results=limit, include=[])
        ids: list[str] = found["ids"][0]
        return ids


class LangGraph:
    """LangGraph's store, in memory, with its index over the text."""

    def __init__(self, engine: Embedder) -> None:
        from langgraph.store.memory import InMemoryStore

        def embed(texts: Sequence[str]) -> list[list[float]]:
            return engine.embed_batch(list(texts))

        self._store: Any = InMemoryStore(
            index={"embed": embed, "dims": engine.dimensions, "fields": ["text"]}
        )

    def ingest(self, items: Sequence[Item]) -> None:
        from langgraph.store.base import PutOp

        for start in range(0, len(items), 64):
            part = items[start : start + 64]
            self._store.batch([PutOp(("turns",), id, {"text": text}) for id, text in part])

    def search(self, question: str, limit: int) -> list[str]:
        return [one.key for one in self._store.search(("turns",), query=question, limit=limit)]


class Bm25s:
    """bm25s, words alone, English stop words and stemming: no vectors."""

    def __init__(self, _engine: Embedder) -> None:
        import bm25s
        import Stemmer

        self._library, self._stemmer = bm25s, Stemmer.Stemmer("english")
        self._ids: list[str] = []

    def _tokens(self, texts: list[str]) -> Any:
        return self._library.tokenize(
            texts, stopwords="en_plus", stemmer=self._stemmer, show_progress=False
        )

    def ingest(self, items: Sequence[Item]) -> None:
        self._ids = [id for id, _ in items]
        self._index = self._library.BM25()
        self._index.index(self._tokens([text for _, text in items]), show_progress=False)

    def search(self, question: str, limit: int) -> list[str]:
        limit = min(limit, len(self._ids))
        places, scores = self._index.retrieve(
            self._tokens([question]), k=limit, show_progress=False
        )
        return [
            self._ids[place] for place, score in zip(places[0], scores[0], strict=True) if score > 0
        ]


# Peer, and what its environment is made of.
PEERS: dict[str, tuple[Callable[[Embedder], Peer], tuple[str, ...]]] = {
    "chroma": (Chroma, ("chromadb",)),
    "langgraph": (LangGraph, ("langgraph",)),
    "bm25s": (Bm25s, ("bm25s", "PyStemmer")),
}
