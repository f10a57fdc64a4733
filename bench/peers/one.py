"""One peer on one set, in the peer's own environment.

    python -m bench.peers.one PEER SET DATA [CONVERSATIONS]

Prints its scores as one line of JSON.
"""

import json
import sys
import time
from dataclasses import asdict
from pathlib import Path

from bench.datasets import SETS
from bench.peers.stores import PEERS
from bench.results import DEPTH, Result
from memory_butler.inference.minilm import EmbeddingEngine


def main() -> None:
    """Store each conversation in a store of its own, and ask."""
    peer, name, data, *rest = sys.argv[1:]
    engine = EmbeddingEngine()
    engine.embed("load the model")
    result, items, seconds = Result(), 0, 0.0
    for conversation in list(SETS[name](Path(data)))[: int(rest[0]) if rest else None]:
        store = PEERS[peer][0](engine)
        told = [(turn.id, turn.rendered()) for turn in conversation.turns if turn.text]
        began = time.perf_counter()
        store.ingest(told)
        seconds += time.perf_counter() - began
        items += len(told)
        for question in conversation.questions:
            asked = time.perf_counter()
            ranked = store.search(question.text, DEPTH)
            result.add(ranked, question, time.perf_counter() - asked)
    result.items_per_second = items / seconds
    print(json.dumps(asdict(result)))


if __name__ == "__main__":
    main()
