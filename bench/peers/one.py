"""One peer on one conversation, in the peer's own environment.

    python -m bench.peers.one PEER SET DATA NUMBER

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
    """Store the conversation, and ask."""
    peer, name, data, number = sys.argv[1:]
    conversation = list(SETS[name](Path(data)))[int(number)]
    engine = EmbeddingEngine()
    engine.embed("load the model")
    store = PEERS[peer].opened(engine)
    told = [(turn.id, turn.rendered()) for turn in conversation.turns if turn.text]
    began = time.perf_counter()
    store.ingest(told)
    result = Result(items=len(told), storing=time.perf_counter() - began)
    for question in conversation.questions:
        asked = time.perf_counter()
        ranked = store.search(question.text, DEPTH)
        result.add(ranked, question, time.perf_counter() - asked)
    print(json.dumps(asdict(result)))


if __name__ == "__main__":
    main()
