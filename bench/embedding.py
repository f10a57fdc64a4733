"""The embedding model in float32 and in 8 bits: what a text costs, and what is found by either.

    python bench/embedding.py [--data FOLDER] [--sets locomo beam] [--rounds 7] [--texts 256]

Both are loaded in one process and compute in turn, so that the ratios hold on a machine that does
other things too: milliseconds of the processor, medians of the rounds. Then every turn of the
conversations and every question is embedded in both, and each question asked of its conversation by
meaning alone, in all combinations: any@10 and all@10, with paired bootstrap intervals against
float32 for both. No server and no database runs.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Final, get_args

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from bench.datasets import DEFAULT_DATA, SETS, Conversation
from bench.metrics import mean, paired_difference, percentile
from bench.results import DEPTH, Result
from bench.server import machine
from memory_butler.domain.episodes import search_text
from memory_butler.inference.eight_bits import Precision
from memory_butler.inference.embedder import Vectors
from memory_butler.inference.minilm import EmbeddingEngine

PRECISIONS: Final[tuple[Precision, ...]] = get_args(Precision)
REFERENCE: Final = ("float32", "float32")

Engines = dict[Precision, EmbeddingEngine]


def main() -> None:
    """Run and print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=DEFAULT_DATA)
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    parser.add_argument("--rounds", type=int, default=7, help="of timing; 0 times nothing")
    parser.add_argument("--texts", type=int, default=256, help="how many are timed")
    given = parser.parse_args()
    sets = {name: list(SETS[name](given.data)) for name in given.sets}
    print(f"Machine: {machine()}\n")
    first = next(iter(sets.values()))
    turns = [turn.text for one in first for turn in one.turns if turn.text][: given.texts]
    questions = [asked.text for one in first for asked in one.questions][: given.texts]
    if given.rounds:
        _print_costs(questions, turns, given.rounds)
    engines: Engines = {one: EmbeddingEngine(precision=one) for one in PRECISIONS}
    for name, conversations in sets.items():
        _print_found(name, conversations, engines)


def _print_costs(questions: Sequence[str], turns: Sequence[str], rounds: int) -> None:
    spent: dict[tuple[str, Precision], list[float]] = {}
    for _ in range(rounds):
        engines: Engines = {}
        for precision in PRECISIONS:
            began = time.process_time()
            engines[precision] = EmbeddingEngine(precision=precision)
            engines[precision].embed("load the model")
            _note(spent, "load, ms", precision, began, 1)
        for precision, engine in engines.items():
            _refuse_other(engine, precision)
            began = time.process_time()
            for question in questions:
                engine.embed_arrays([question])
            _note(spent, "a question, ms", precision, began, len(questions))
            for size in (1, 8, 32):
                began = time.process_time()
                for start in range(0, len(turns), size):
                    engine.embed_arrays(turns[start : start + size])
                _note(spent, f"a turn, {size} at once, ms", precision, began, len(turns))
    print("| the processor's time | float32 | int8 | ratio |")
    print("|---|---|---|---|")
    for what in dict.fromkeys(what for what, _ in spent):
        full, eight = (statistics.median(spent[what, one]) for one in PRECISIONS)
        ratios = [e / f for f, e in zip(*(spent[what, one] for one in PRECISIONS), strict=True)]
        print(f"| {what} | {full:.2f} | {eight:.2f} | {statistics.median(ratios):.2f} |")


def _note(
    spent: dict[tuple[str, Precision], list[float]],
    what: str,
    precision: Precision,
    began: float,
    texts: int,
) -> None:
    took = (time.process_time() - began) * 1000 / texts
    spent.setdefault((what, precision), []).append(took)


def _refuse_other(engine: EmbeddingEngine, precision: Precision) -> None:
    """A figure of the one must not stand under the name of the other."""
    if engine.running.precision != precision:
        sys.exit(engine.running.reason)


def _print_found(name: str, conversations: Sequence[Conversation], engines: Engines) -> None:
    results = {pair: Result() for pair in product(PRECISIONS, PRECISIONS)}
    cosines: list[float] = []
    for conversation in conversations:
        told = [turn for turn in conversation.turns if turn.text]
        ids = [turn.id for turn in told]
        # What of an episode is embedded.
        texts = [search_text(turn.text, turn.speaker, turn.said_at) for turn in told]
        turns = _vectors(engines, texts)
        asked = _vectors(engines, [one.text for one in conversation.questions])
        cosines += np.sum(turns["float32"] * turns["int8"], axis=1).tolist()
        for (of_questions, of_turns), result in results.items():
            near = asked[of_questions] @ turns[of_turns].T
            for question, row in zip(conversation.questions, near, strict=True):
                best = np.argsort(-row, kind="stable")[:DEPTH]
                result.add([ids[place] for place in best], question, 0.0)
    reference = results[REFERENCE]
    print(f"\n## {name}: {len(cosines)} turns, {len(reference.rows)} questions\n")
    print(
        f"Cosine of the two vectors of a turn: mean {statistics.fmean(cosines):.4f}, "
        f"1 % below {percentile(cosines, 0.01):.4f}, smallest {min(cosines):.4f}\n"
    )
    print("| questions | memories | any@10 | difference (95 %) | all@10 | difference (95 %) |")
    print("|---|---|---|---|---|---|")
    for pair, result in results.items():
        cells = [
            f"{mean(result.rows, column):.1f} | "
            + ("" if pair == REFERENCE else str(_difference(result, reference, column)))
            for column in ("any@10", "all@10")
        ]
        print(f"| {' | '.join((*pair, *cells))} |")


def _difference(result: Result, reference: Result, column: str) -> object:
    return paired_difference(result.rows, reference.rows, column)


def _vectors(engines: Engines, texts: Sequence[str]) -> dict[Precision, Vectors]:
    return {precision: engine.embed_arrays(texts) for precision, engine in engines.items()}


if __name__ == "__main__":
    main()
