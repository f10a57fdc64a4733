"""How often facts that repeat or contradict each other are told: precision and recall, by label.

The 252 pairs of `fact_pairs.jsonl` were written and labelled by hand, before the rules were and by
somebody who did not know them; half of them are held out. Each pair is compared as a store would:
by the words of both facts and the cosine of their stored vectors.

    python bench/likeness.py               # the half that the rules were made with
    python bench/likeness.py --held-out
"""

import argparse
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from memory_butler.domain.facts import search_text
from memory_butler.domain.likeness import compare
from memory_butler.domain.statements import Statement
from memory_butler.inference.minilm import EmbeddingEngine

PAIRS = Path(__file__).parent / "fact_pairs.jsonl"
FOUND = ("duplicate", "contradiction")


def read_pairs(held_out: bool) -> list[dict[str, Any]]:
    """The pairs of one half."""
    pairs = [json.loads(line) for line in PAIRS.read_text("utf-8").splitlines()]
    return [pair for pair in pairs if pair["held_out"] is held_out]


def judged(pairs: list[dict[str, Any]]) -> Counter[tuple[str, str, str]]:
    """How many pairs of a label and kind were taken for what."""
    engine = EmbeddingEngine()
    sides = ("first", "second")
    texts = [search_text(**pair[side]) for pair in pairs for side in sides]
    vectors = np.asarray(engine.embed_arrays(texts)).reshape(len(pairs), 2, -1)
    nearness = (vectors[:, 0] * vectors[:, 1]).sum(axis=1)
    found: Counter[tuple[str, str, str]] = Counter()
    for pair, near in zip(pairs, nearness, strict=True):
        first, second = (Statement(**pair[side]) for side in sides)
        told = compare(first, second, float(near)) or "compatible"
        found[pair["label"], pair["kind"], told] += 1
    return found


def table(found: Counter[tuple[str, str, str]]) -> str:
    """Precision and recall of each label and of both, and recall by kind, in Markdown."""
    lines = ["| | pairs | told | right | precision | recall |", "|---|---|---|---|---|---|"]
    for name, labels in (*((one, (one,)) for one in FOUND), ("either", FOUND)):
        meant = sum(count for (label, _, _), count in found.items() if label in labels)
        told = sum(count for (_, _, as_), count in found.items() if as_ in labels)
        right = sum(
            count for (label, _, as_), count in found.items() if {label, as_} <= set(labels)
        )
        lines.append(
            f"| {name} | {meant} | {told} | {right} | {right / max(1, told):.2f} "
            f"| {right / max(1, meant):.2f} |"
        )
    kinds = sorted({(label, kind) for label, kind, _ in found if label in FOUND})
    lines += ["", "| label | kind | found |", "|---|---|---|"]
    for label, kind in kinds:
        of_kind = {
            as_: n for (one, other, as_), n in found.items() if (one, other) == (label, kind)
        }
        lines.append(f"| {label} | {kind} | {of_kind.get(label, 0)} of {sum(of_kind.values())} |")
    return "\n".join(lines)


def main() -> None:
    """Print the table of one half."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--held-out", action="store_true", help="the half nobody tuned to")
    print(table(judged(read_pairs(parser.parse_args().held_out))))


if __name__ == "__main__":
    main()
