"""Other memories under the same questions, each with vectors of the same weights as ours.

One class a peer: it opens an empty store for one conversation, takes items, and answers with the
ids of the best. Its library is imported when it is opened, because each lives in an environment and
a process of its own, with a home and a folder for temporary files that are thrown away afterwards
(`bench/peers/run.py`). What is not said here is the peer's own default.
"""

import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

from memory_butler.inference.embedder import Embedder

Item = tuple[str, str]  # id and text

# Where run.py tells peers that need one of a PostgreSQL with pgvector.
POSTGRES_VARIABLE: Final = "BENCH_PEERS_POSTGRES"


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
            vectors: list[list[float]] = engine.embed_arrays(texts).tolist()
            return vectors

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


class Mem0:
    """mem0 over pgvector, each item stored as it is (`infer=False`): no model extracts anything."""

    def __init__(self, engine: Embedder) -> None:
        os.environ |= {"MEM0_TELEMETRY": "False", "OPENAI_API_KEY": "no model is called"}
        from mem0 import Memory
        from mem0.configs.base import MemoryConfig
        from mem0.embeddings.base import EmbeddingBase

        class Ours(EmbeddingBase):  # type: ignore[misc]  # its library is not here to be checked
            def embed(self, text: str, memory_action: str | None = None) -> list[float]:
                vector: list[float] = engine.embed_arrays([text])[0].tolist()
                return vector

        vectors = {
            "provider": "pgvector",
            "config": {
                "connection_string": os.environ[POSTGRES_VARIABLE],
                "collection_name": f"turns_{os.getpid()}",
                "embedding_model_dims": engine.dimensions,
            },
        }
        history = str(Path(tempfile.mkdtemp()) / "history.db")
        self._memory = Memory(MemoryConfig(vector_store=vectors, history_db_path=history))
        self._memory.embedding_model = Ours()

    def ingest(self, items: Sequence[Item]) -> None:
        for id, text in items:
            self._memory.add(text, user_id="bench", metadata={"turn": id}, infer=False)

    def search(self, question: str, limit: int) -> list[str]:
        found = self._memory.search(question, top_k=limit, filters={"user_id": "bench"})
        return [one["metadata"]["turn"] for one in found["results"]]


class Txtai:
    """txtai with its content store and hybrid search (BM25 and vectors, half and half)."""

    def __init__(self, engine: Embedder) -> None:
        from txtai import Embeddings

        def embed(texts: list[str]) -> Any:
            return engine.embed_arrays(texts)

        self._embeddings = Embeddings(method="external", transform=embed, content=True, hybrid=True)

    def ingest(self, items: Sequence[Item]) -> None:
        self._embeddings.index(items)

    def search(self, question: str, limit: int) -> list[str]:
        return [one["id"] for one in self._embeddings.search(question, limit)]


class Shelfmark:
    """shelfmark: each item a note in a file, found as its `search_knowledge` finds: not reranked.

    It passes over notes of under 40 characters, and puts the words with which E5 models want to be
    asked before what is embedded, whatever the model.
    """

    def __init__(self, engine: Embedder) -> None:
        folder = Path(tempfile.mkdtemp())
        os.environ["RAG_HOME"] = str(folder / "home")
        import indexer

        import retrieval

        class Ours:
            """What it uses of a model of sentence-transformers."""

            def encode(self, texts: list[str], **_: object) -> Any:
                return engine.embed_arrays(texts)

        self._indexer, self._retrieval = indexer, retrieval
        self._model = retrieval._model = Ours()
        self._notes = folder / "notes"
        self._ids: dict[str, str] = {}

    def ingest(self, items: Sequence[Item]) -> None:
        self._notes.mkdir()
        for place, (id, text) in enumerate(items):
            note = self._notes / f"note-{place:05}.md"
            note.write_text(text, encoding="utf-8")
            self._ids[str(note.resolve())] = id
        connection = self._indexer.connect()
        files = [("memory", Path(note)) for note in self._ids]
        self._indexer.index_files(lambda _: connection, self._model, files, [])
        connection.close()

    def search(self, question: str, limit: int) -> list[str]:
        found = self._retrieval.search(
            question, top=limit, scope_types=["memory"], scope_repos=["all"], rerank=False
        )
        return [self._ids[one["path"]] for one in found]


class MemPalace:
    """MemPalace: each item a drawer, found by meaning and ordered anew by meaning and words."""

    def __init__(self, engine: Embedder) -> None:
        from chromadb.utils.embedding_functions import ONNXMiniLM_L6_V2
        from mempalace import embedding

        class Ours(ONNXMiniLM_L6_V2):  # type: ignore[misc]  # its library is not here to be checked
            """Named like the function that it takes the place of: the store remembers the name."""

            @staticmethod
            def name() -> str:
                return "default"

            def __call__(self, input: list[str]) -> Any:
                return list(engine.embed_arrays(input))

        ours = Ours()
        embedding.get_embedding_function = lambda *_, **__: ours
        from mempalace.palace import get_collection

        self._palace = tempfile.mkdtemp()
        self._drawers = get_collection(self._palace)

    def ingest(self, items: Sequence[Item]) -> None:
        for start in range(0, len(items), 64):
            ids, texts = zip(*items[start : start + 64], strict=True)
            where = [{"wing": "bench", "room": "talk", "source_file": id} for id in ids]
            self._drawers.upsert(ids=list(ids), documents=list(texts), metadatas=where)

    def search(self, question: str, limit: int) -> list[str]:
        from mempalace.searcher import search_memories

        found = search_memories(question, self._palace, n_results=limit)
        return [one["drawer_id"] for one in found["results"]]


@dataclass(frozen=True, slots=True)
class Installation:
    """How to open a peer, and what is installed for it, `alone` without what that requires."""

    opened: Callable[[Embedder], Peer]
    packages: tuple[str, ...]
    alone: tuple[str, ...] = ()
    on_postgres: bool = False


PEERS: Final[dict[str, Installation]] = {
    "chroma": Installation(Chroma, ("chromadb==1.5.9",)),
    "langgraph": Installation(LangGraph, ("langgraph==1.2.22",)),
    "bm25s": Installation(Bm25s, ("bm25s==0.3.16", "PyStemmer==3.1.0")),
    "mem0": Installation(Mem0, ("mem0ai==2.2.1", "psycopg[binary,pool]==3.3.9"), on_postgres=True),
    # PyTorch is there because the library imports it; nothing is computed with it.
    "txtai": Installation(Txtai, ("txtai==9.14.0", "torch==2.13.0")),
    # It requires sentence-transformers for the model that ours takes the place of.
    "shelfmark": Installation(
        Shelfmark, ("PyYAML==6.0.3", "rank-bm25==0.2.2"), alone=("shelfmark-rag==1.1.0",)
    ),
    "mempalace": Installation(MemPalace, ("mempalace==3.11.0",)),
}
