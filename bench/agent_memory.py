"""This memory in the Agent Memory Benchmark, beside its baselines as far as no model must be paid.

Needs a checkout of https://github.com/vectorize-io/agent-memory-benchmark, whose interface
`MemoryProvider` is what is written here. Without a judge, with the parts of it that stand alone:

    .venv/bin/uv pip install --target .amb --no-deps rank-bm25==0.2.2 \\
        qdrant-client==1.20.0 grpcio==1.85.3 portalocker==4.4.2
    PYTHONPATH=.amb python bench/agent_memory.py CHECKOUT [--sets locomo beam realtalk personamem]

By default a part of each set, which takes minutes; all of it, which takes hours, with
`--conversations 100 --questions 10000 --users 37`. Progress goes to standard error.

The hybrid baseline has other weights here, since its own have to be fetched (`other_weights`).

Evidence: the turns that hold the answer are looked for in the beginning of what a model would be
given, of 500, 1,000, 2,000 and 4,000 tokens (4 characters each, as the benchmark counts a context).
PersonaMem: of the four replies the one is chosen that is nearest to anything in 2,000 tokens
of context. That judges retrieval, and is no answer of a model: a quarter is right by chance.

With the benchmark's own models and judge (its requirements, and a key for Gemini):

    cd CHECKOUT
    uv run --with-editable MEMORY_BUTLER python MEMORY_BUTLER/bench/agent_memory.py . \\
        run --dataset personamem --split 32k --memory memory-butler-deep

Each run has a server of its own, unless `MEMORY_BUTLER_URL` names one. One user of the benchmark is
one butler.
"""

import argparse
import gzip
import hashlib
import importlib
import json
import math
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import local
from types import ModuleType
from typing import Any, Final
from zlib import crc32

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.datasets import DEFAULT_DATA, SETS, Conversation
from bench.metrics import mean, paired_difference, percentile
from bench.server import Client, machine, running_server
from memory_butler.inference.minilm import DIMENSIONS, EmbeddingEngine

WRITERS: Final = 4
# A turn is a few dozen tokens, where the chunks of the benchmark's baselines are 512 of them.
FOUND: Final = 100
CHARACTERS: Final = 4  # a token, as the benchmark counts a context
BUDGETS: Final = (500, 1_000, 2_000, 4_000)
CHOICE_TOKENS: Final = 2_000
WINDOW: Final = 800  # characters that the embedding model reads of a text
_WORD: Final = re.compile(r"\w+")
_SPOKEN: Final = re.compile(r"^\[(SYSTEM|USER|ASSISTANT)\] ", re.MULTILINE)
# Of a turn at the edge of a chunk, so much has to be there.
_BEGIN: Final = 60
MODES: Final = ("hybrid", "deep")
BM25, HYBRID = "bm25", "its hybrid, other weights"
_TOLD: Final = 50
# As Lucene has them: how soon a repeated word counts no more, and how much a long text is put down.
_K1, _B = 1.2, 0.75


def _tell(progress: str) -> None:
    print(progress, file=sys.stderr, flush=True)


def turns_of(document: Any) -> list[tuple[str, str]]:
    """Who said what in a document of the benchmark: its turns, or its paragraphs without a speaker.

    A document has `messages`, or its content is a list of turns as JSON, or is written as
    `[USER] …`; what is none of these is cut at empty lines.
    """
    if document.messages:
        return [(one["role"], one["content"]) for one in document.messages if one["content"]]
    text: str = document.content
    if text.startswith("["):
        try:
            told = [(one.get("speaker", ""), one.get("text", "")) for one in json.loads(text)]
            return [(who, said) for who, said in told if said]
        except (ValueError, AttributeError):
            pass
    parts = _SPOKEN.split(text)
    if len(parts) > 1:
        spoken = zip(parts[1::2], parts[2::2], strict=True)
        return [(who.lower(), said.strip()) for who, said in spoken if said.strip()]
    return [("", one.strip()) for one in re.split(r"\n\s*\n", text) if one.strip()]


def provider(base: type, document: type, mode: str) -> type:
    """The benchmark's `MemoryProvider`, of this memory: each turn an episode."""

    class MemoryButler(base):  # type: ignore[misc]
        name = "memory-butler" if mode == "hybrid" else f"memory-butler-{mode}"
        description = f"Each turn an episode, found by a {mode} search. No model is called."
        kind = "local"
        searching = mode

        def initialize(self) -> None:
            self._stack = ExitStack()
            self._local = local()
            self._clients: list[Client] = []
            self._url = os.environ.get("MEMORY_BUTLER_URL", "")
            if not self._url:
                self._url, _ = self._stack.enter_context(running_server(caching=False))

        def cleanup(self) -> None:
            for client in self._clients:
                client.close()
            self._stack.close()

        @property
        def _client(self) -> Client:
            if not hasattr(self._local, "client"):
                self._local.client = Client(self._url)
                self._clients.append(self._local.client)
            client: Client = self._local.client
            return client

        def ingest(self, documents: Sequence[Any]) -> None:
            told = [
                (one, place, who, said)
                for one in documents
                for place, (who, said) in enumerate(turns_of(one))
            ]
            with ThreadPoolExecutor(WRITERS) as writers:
                stored = writers.map(lambda one: self._store(*one), told)
                for number, _ in enumerate(stored):
                    if number % (10 * _TOLD) == 0:
                        _tell(f"  turn {number} of {len(told)}")

        def _store(self, one: Any, place: int, who: str, said: str) -> None:
            when = {"occurred_at": one.timestamp} if one.timestamp else {}
            self._client.call(
                "memory_store_episode",
                content=said,
                butler=_butler(one.user_id),
                speaker=who or None,
                turn=place,
                metadata={"document": one.id},
                **when,
            )

        def retrieve(
            self,
            query: str,
            k: int = FOUND,
            user_id: str | None = None,
            query_timestamp: str | None = None,
        ) -> tuple[list[Any], None]:
            answer = self._client.call(
                "memory_search",
                query=query,
                types=["episode"],
                scope=_butler(user_id),
                mode=self.searching,
                limit=k,
            )
            found = []
            for one in answer["results"]:
                who = f"{one['speaker']}: " if one.get("speaker") else ""
                when = f"[{one['occurred_at'][:10]}] " if one.get("occurred_at") else ""
                content = f"{when}{who}{one['content']}"
                found.append(document(one["metadata"]["document"], content, user_id=user_id))
            return found, None

    return MemoryButler


def _butler(user_id: str | None) -> str:
    return f"user-{hashlib.sha256((user_id or '').encode()).hexdigest()[:16]}"


def _words(texts: Sequence[str]) -> list[Counter[int]]:
    """How often each word is in each text; a word is a number."""
    return [Counter(crc32(word.encode()) for word in _WORD.findall(one.lower())) for one in texts]


def _bm25_weights(texts: Sequence[str]) -> list[dict[int, float]]:
    """The weight of each word in each text: the sum over a question's words is its BM25 score."""
    counted = _words(texts)
    having = Counter(word for one in counted for word in one)
    rarity = {word: math.log((len(texts) + 1) / (n + 0.5)) for word, n in having.items()}
    usual = sum(one.total() for one in counted) / len(texts)
    return [
        {
            word: rarity[word] * n * (_K1 + 1) / (n + _K1 * (1 - _B + _B * one.total() / usual))
            for word, n in one.items()
        }
        for one in counted
    ]


def _windows(text: str) -> list[str]:
    return [text[at : at + WINDOW] for at in range(0, len(text), WINDOW)] or [""]


def other_weights(hybrid: Any) -> type:
    """The benchmark's hybrid provider, of its module: with weights that need not be fetched.

    Dense: our embedding model in place of Qwen3-Embedding-0.6B, as the mean of a chunk's windows,
    because it reads no whole chunk. Sparse: BM25 in place of BM42, of words without punctuation.
    Its chunks, its Qdrant and its fusion of ranks stay.
    """
    hybrid._DENSE_DIMS = DIMENSIONS

    class OtherWeights(hybrid.HybridSearchMemoryProvider):  # type: ignore[misc]
        def _init_models(self) -> None:
            self._dense_model = EmbeddingEngine()

        def ingest(self, documents: Sequence[Any]) -> None:
            self._sparse_model: Any = _bm25_weights
            super().ingest(documents)
            self._sparse_model = _words

        def _dense(self, texts: Sequence[str], is_query: bool = False) -> list[list[float]]:
            embedded = (self._dense_model.embed_arrays(_windows(text)) for text in texts)
            means: list[list[float]] = [vectors.mean(axis=0).tolist() for vectors in embedded]
            return means

        def _sparse(self, texts: Sequence[str]) -> list[Any]:
            weights = self._sparse_model(texts)
            vector = hybrid.models.SparseVector
            return [vector(indices=list(one), values=list(one.values())) for one in weights]

    return OtherWeights


def _parts_that_stand_alone(checkout: Path) -> tuple[type, type, dict[str, type]]:
    """`MemoryProvider`, `Document` and the baselines, without what the others want.

    Its chunks are of 512 tokens by OpenAI's encoding, which has to be fetched; here a token is four
    characters, of which a chunk has 2,048.
    """
    for name in ("memory_bench", "memory_bench.memory"):
        package = ModuleType(name)
        package.__path__ = [str(checkout / "src" / name.replace(".", "/"))]
        sys.modules[name] = package
    utils: Any = ModuleType("memory_bench.utils")
    size = 512 * CHARACTERS
    utils.chunk_text = lambda text: [text[at : at + size] for at in range(0, len(text), size)]
    sys.modules["memory_bench.utils"] = utils
    # Gigabytes that only its own weights need.
    sentences: Any = ModuleType("sentence_transformers")
    sentences.SentenceTransformer = None
    sys.modules["sentence_transformers"] = sentences
    base = importlib.import_module("memory_bench.memory.base")
    models = importlib.import_module("memory_bench.models")
    bm25 = importlib.import_module("memory_bench.memory.bm25")
    hybrid = importlib.import_module("memory_bench.memory.hybrid_search")
    baselines = {BM25: bm25.BM25MemoryProvider, HYBRID: other_weights(hybrid)}
    return base.MemoryProvider, models.Document, baselines


def _documents(conversation: Conversation, document: type) -> list[Any]:
    """As the benchmark's LoCoMo has a conversation: a session is a document, of turns as JSON."""
    sessions: dict[str, list[Any]] = {}
    for turn in conversation.turns:
        sessions.setdefault(turn.session, []).append(turn)
    return [
        document(
            f"{conversation.name}_{session}",
            json.dumps([{"speaker": turn.speaker, "text": turn.text} for turn in turns]),
            user_id=conversation.name,
            timestamp=turns[0].said_at.isoformat() if turns[0].said_at else None,
        )
        for session, turns in sessions.items()
    ]


def _context(found: Sequence[Any], tokens: int) -> str:
    return "\n\n".join(one.content for one in found)[: tokens * CHARACTERS]


def _holds(context: str, text: str) -> bool:
    """Whether the beginning of a turn is there, as it is or as JSON."""
    begin = text[:_BEGIN]
    return begin in context or json.dumps(begin)[1:-1] in context


def some(conversations: Sequence[Conversation], first: int, questions: int) -> list[Conversation]:
    """The first conversations, and of each equally many questions, spread over all of them."""
    kept = conversations[:first]
    each = max(1, questions // max(1, len(kept)))
    return [
        replace(one, questions=one.questions[:: max(1, len(one.questions) // each)][:each])
        for one in kept
    ]


def evidence(way: Any, conversations: Sequence[Conversation]) -> list[dict[str, float]]:
    """Of each question, by budget: is any of its evidence in the context, and is all of it."""
    rows: list[dict[str, float]] = []
    for conversation in conversations:
        texts = {turn.id: turn.text for turn in conversation.turns}
        for question in conversation.questions:
            if len(rows) % _TOLD == 0:
                _tell(f"  question {len(rows)}")
            began = time.perf_counter()
            found, _ = way.retrieve(question.text, user_id=conversation.name)
            row = {"ms": (time.perf_counter() - began) * 1000}
            for tokens in BUDGETS:
                context = _context(found, tokens)
                held = [_holds(context, texts[id]) for id in question.gold if texts.get(id)]
                row[f"any@{tokens}"] = float(any(held))
                row[f"all@{tokens}"] = float(all(held))
            rows.append(row)
    return rows


def choices(way: Any, questions: Sequence[Any], engine: EmbeddingEngine) -> list[dict[str, float]]:
    """Of each question of PersonaMem: whether the reply that is nearest to the context is right.

    Without a way: the reply that is nearest to the question.
    """
    rows = []
    for one in questions:
        asked, *replies = re.split(r"\n\n?(?=\([a-d]\) )", one["query"])
        began = time.perf_counter()
        if way is None:
            context = asked
        else:
            found, _ = way.retrieve(one["meta"]["retrieval_query"], user_id=one["user_id"])
            context = _context(found, CHOICE_TOKENS)
        taken = (time.perf_counter() - began) * 1000
        vectors = engine.embed_arrays([*replies, *_windows(context)])
        nearest = (vectors[: len(replies)] @ vectors[len(replies) :].T).max(axis=1)
        chosen = replies[int(nearest.argmax())]
        rows.append({"right": float(chosen in one["gold_answers"]), "ms": taken})
    return rows


def _sample(checkout: Path, name: str) -> Any:
    return json.loads(gzip.decompress((checkout / "data/personamem/32k" / name).read_bytes()))


def _print(title: str, columns: Sequence[str], ways: dict[str, list[dict[str, float]]]) -> None:
    """A table, and paired differences from the benchmark's baselines."""
    print(f"\n## {title}: {len(ways[BM25])} questions\n\n| way | {' | '.join(columns)} | ms p50 |")
    print(f"|{'---|' * (len(columns) + 2)}")
    for way, rows in ways.items():
        figures = " | ".join(f"{mean(rows, column):.1f}" for column in columns)
        print(f"| {way} | {figures} | {percentile([one['ms'] for one in rows], 0.5):.0f} |")
    for reference in (BM25, HYBRID):
        for way, rows in ways.items():
            if way not in (BM25, reference):
                told = [f"{one} {paired_difference(rows, ways[reference], one)}" for one in columns]
                print(f"\n{way} less {reference}: {', '.join(told)}")


Rows = list[dict[str, float]]


def _of_each(
    memory: type,
    baselines: dict[str, type],
    documents: Sequence[Any],
    ask: Callable[[Any], Rows],
) -> dict[str, Rows]:
    """What the baselines and each of our modes find, of the same documents."""
    results = {}
    for name, baseline in baselines.items():
        _tell(f" {name}")
        theirs: Any = baseline()
        with TemporaryDirectory() as folder:
            theirs.prepare(Path(folder))
            theirs.ingest(documents)
            results[name] = ask(theirs)
    ours: Any = memory()
    ours.initialize()
    try:
        ours.ingest(documents)
        for mode in MODES:
            _tell(f" {mode}")
            ours.searching = mode
            results[f"ours, {mode}"] = ask(ours)
    finally:
        ours.cleanup()
    return results


def _measured(given: argparse.Namespace) -> None:
    base, document, baselines = _parts_that_stand_alone(given.checkout)
    memory = provider(base, document, MODES[0])
    print(f"Machine: {machine()}")
    for name in [one for one in given.sets if one in SETS]:
        conversations = some(list(SETS[name](given.data)), given.conversations, given.questions)
        count = sum(len(one.questions) for one in conversations)
        _tell(f"{name}: {len(conversations)} conversations, {count} questions")
        documents = [one for each in conversations for one in _documents(each, document)]
        ask = partial(evidence, conversations=conversations)
        results = _of_each(memory, baselines, documents, ask)
        columns = [f"{kind}@{tokens}" for tokens in BUDGETS for kind in ("any", "all")]
        _print(f"{name}, evidence by tokens of context", columns, results)
    if "personamem" in given.sets:
        questions = _sample(given.checkout, "queries.json.gz")
        users = list(dict.fromkeys(one["user_id"] for one in questions))[: given.users]
        wanted = [one for one in questions if one["user_id"] in users]
        documents = [
            document(**one)
            for one in _sample(given.checkout, "documents.json.gz")
            if one["user_id"] in users
        ]
        engine = EmbeddingEngine()
        results = _of_each(memory, baselines, documents, lambda way: choices(way, wanted, engine))
        results["no memory"] = choices(None, wanted, engine)
        _print(f"personamem 32k, {len(users)} users, choices by similarity", ["right"], results)


def _judged(checkout: Path, words: list[str]) -> None:
    """The benchmark's own command line, which then knows this memory."""
    sys.path.insert(0, str(checkout / "src"))
    memory = importlib.import_module("memory_bench.memory")
    models = importlib.import_module("memory_bench.models")
    for mode in MODES:
        made: Any = provider(memory.MemoryProvider, models.Document, mode)
        memory.REGISTRY[made.name] = made
    importlib.import_module("memory_bench.cli").app(words)


def main() -> None:
    """Measure without a judge, or hand the rest of the command to the benchmark."""
    words = sys.argv[1:]
    if "run" in words[1:2]:
        _judged(Path(words[0]), words[1:])
        return
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--data", type=Path, default=DEFAULT_DATA)
    parser.add_argument(
        "--sets", nargs="+", choices=[*SETS, "personamem"], default=[*SETS, "personamem"]
    )
    parser.add_argument("--users", type=int, default=4, help="the first N of PersonaMem's 37")
    parser.add_argument("--conversations", type=int, default=2, help="the first N of each set")
    parser.add_argument("--questions", type=int, default=100, help="of each set, spread over it")
    _measured(parser.parse_args())


if __name__ == "__main__":
    main()
