"""What each part of a deep search is worth, and whether it helps where nobody fitted it.

    python bench/ranking.py [--data FOLDER] [--sets locomo beam realtalk]

Offline: the turns of three public sets, their vectors and words (parsed by an embedded PostgreSQL),
and the parts of `domain/deep.py` for each question. Prints any@10 / all@10 of

* the shipped weights, all parts and one part left out at a time, with paired bootstrap intervals;
* weights fitted on two sets and asked on the third, which they have not seen: the parts added one
  after the other. A part stays where it helps the sets that are left out.

The fit maximises the probability of the evidence among all turns (softmax over a question's turns),
each set weighing alike. Periods are left out: their words stand in the indexed dates.
"""

import argparse
import asyncio
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncpg
import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.datasets import DEFAULT_DATA, SETS, Conversation, Turn
from bench.metrics import paired_difference, score
from memory_butler.domain import deep
from memory_butler.domain.episodes import search_text
from memory_butler.domain.relevance import likely_mean, likely_spread
from memory_butler.inference.minilm import EmbeddingEngine
from memory_butler.store import embedded

Array = npt.NDArray[np.float64]

PARTS = {
    "meaning": deep.NEARNESS,
    "words": 1.0,
    "neighbours": deep.NEIGHBOUR,
    "session": deep.SESSION,
    "coverage": deep.COVERAGE,
    "length": deep.LENGTH,
    "speaker": deep.SPEAKER,
    "reply": deep.REPLY,
    "first_person": deep.FIRST_PERSON,
}
ORDER = (
    ("meaning", "words"),
    ("neighbours", "session"),
    "coverage",
    "length",
    "speaker",
    "reply",
    "first_person",
)
DEPTH = 100
NEXT = 2  # turns are beside each other within so many
STEPS = 400

_OF_SELF = re.compile(rf"\b({deep.TELLER_WORDS})\b")

# ts_rank of one word that stands n times in a text, all of weight D.
_TS_RANK = 0.1 * np.cumsum([1 / (n + 1) ** 2 for n in range(256)]) / 1.64493406685


@dataclass(frozen=True, slots=True)
class Case:
    """A question: each part of each turn, shape (turns, parts), and which are candidates.

    `sessions` numbers the session of each turn, `shares` says how much of it is its own words,
    0.0 to 1.0: what it gives up beside a better turn.
    """

    parts: Array
    candidates: npt.NDArray[np.bool_]
    sessions: npt.NDArray[np.int_]
    shares: Array
    ids: Sequence[str]
    gold: frozenset[str]


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DEFAULT_DATA)
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)  # PostgreSQL does not run as root
        with embedded.acquire(folder / "data", cluster_root=folder / "clusters") as lease:
            dsn = lease.endpoint.dsn("postgres")
            cases = {
                name: asyncio.run(_cases(list(SETS[name](given.data)), dsn)) for name in given.sets
            }
    _print_shipped(cases)
    if len(cases) > 1:
        _print_left_out(cases)


async def _cases(conversations: Sequence[Conversation], dsn: str) -> list[Case]:
    engine = EmbeddingEngine()
    connection = await asyncpg.connect(dsn)
    cases = []
    for conversation in conversations:
        turns = [turn for turn in conversation.turns if turn.text]
        texts = [search_text(turn.text, turn.speaker, turn.said_at) for turn in turns]
        questions = [question.text for question in conversation.questions]
        if not questions:
            continue
        vectors = np.asarray(engine.embed_arrays([*texts, *questions]), dtype=np.float64)
        words = [await _words(connection, text) for text in [*texts, *questions]]
        lengths = np.array([max(1, len(of)) for of in words[: len(texts)]], dtype=np.float64)
        shares = lengths / (deep.CONTEXT_WORDS + lengths)
        number: dict[str, int] = {}
        sessions = np.array([number.setdefault(turn.session, len(number)) for turn in turns])
        for place, question in enumerate(conversation.questions, start=len(texts)):
            parts, candidates = _parts(
                sessions,
                turns,
                question.text,
                vectors[: len(texts)] @ vectors[place],
                words,
                words[place],
            )
            ids = [turn.id for turn in turns]
            cases.append(Case(parts, candidates, sessions, shares, ids, question.gold))
    await connection.close()
    return cases


async def _words(connection: Any, text: str) -> dict[str, int]:
    """How often each word stands in a text, as PostgreSQL stems it."""
    rows = await connection.fetch(
        "SELECT lexeme, cardinality(positions) AS times FROM unnest(to_tsvector('english', $1))",
        text,
    )
    return {row["lexeme"]: row["times"] for row in rows}


def _parts(
    sessions: npt.NDArray[np.int_],
    turns: Sequence[Turn],
    question: str,
    similarities: Array,
    words: Sequence[Mapping[str, int]],
    asked: Mapping[str, int],
) -> tuple[Array, npt.NDArray[np.bool_]]:
    """Each part of each turn, in the units of `domain/deep.py` before its weights."""
    count = len(turns)
    lengths = np.array([max(1, len(of)) for of in words[:count]], dtype=np.float64)
    weights = np.array(
        [[_TS_RANK[min(of[w], 256) - 1] if w in of else 0.0 for w in asked] for of in words[:count]]
    ).reshape(count, len(asked))
    has = weights > 0
    hits, every = np.asarray(has.any(axis=1)), np.asarray(has.all(axis=1))
    rarity = _idf(int(hits.sum()), has.sum(axis=0))
    usual = lengths[hits].mean() if hits.any() else 1.0
    ranks = weights @ rarity / np.sqrt(lengths / usual)
    nearest = np.argsort(-similarities, kind="stable")[:DEPTH]
    matching = np.flatnonzero(hits)
    matching = matching[np.lexsort((-ranks[matching], ~every[matching]))][:DEPTH]
    meaning, by_words = np.zeros(count), np.zeros(count)
    meaning[nearest] = _standing_out(similarities[nearest], len(nearest))
    by_words[matching] = _standing_out(ranks[matching], max(len(matching), len(nearest)))
    own = meaning + by_words
    best = own.max() or 1.0
    around = np.zeros(count)
    candidates = own > 0
    candidates[nearest] = candidates[matching] = True
    for step in (1, 2):
        same = sessions[step:] == sessions[:-step]
        lift = np.zeros(count)
        lift[step:] = np.where(same, own[:-step], 0.0)
        lift[:-step] = np.maximum(lift[:-step], np.where(same, own[step:], 0.0))
        around += deep.STEP ** (step - 1) * lift
        candidates |= lift > 0
    talks = _sessions(has, sessions)[sessions]
    follows = np.array(
        [
            place > 0 and sessions[place] == sessions[place - 1] and "?" in turns[place - 1].text
            for place in range(count)
        ]
    )
    inherits = deep.CONTEXT_WORDS / (deep.CONTEXT_WORDS + lengths)
    speakers = deep.named_speakers(question, (turn.speaker for turn in turns))
    named = np.array([turn.speaker in speakers for turn in turns])
    of_self = np.array([bool(_OF_SELF.search(turn.text[:500])) for turn in turns])
    mean = likely_mean(float(similarities.mean()), count)
    spread = likely_spread(float(similarities.std()), count)
    return (
        np.stack(
            [
                np.maximum(0.0, similarities - mean) / spread,
                by_words / best,
                inherits * around / best,
                inherits * talks / (talks[candidates].max(initial=0.0) or 1.0),
                inherits * (has.mean(axis=1) if asked else 0.0),
                np.minimum(1.0, lengths / deep.ENOUGH_WORDS),
                inherits * named,
                inherits * follows,
                of_self * (np.minimum(1.0, own / best / deep.FOUND) if own.any() else 1.0),
            ],
            axis=1,
        ),
        candidates,
    )


def _idf(documents: int, holding: npt.NDArray[np.int_]) -> Array:
    rarity: Array = np.log(1 + (documents - holding + 0.5) / (holding + 0.5)) * (holding > 0)
    return rarity


def _sessions(has: npt.NDArray[np.bool_], sessions: npt.NDArray[np.int_]) -> Array:
    times = np.zeros((sessions.max() + 1, has.shape[1]))
    np.add.at(times, sessions, has.astype(float))
    idf = _idf(int(times.any(axis=1).sum()), (times > 0).sum(axis=0))
    result: Array = (2.2 * times / (times + 1.2)) @ idf
    return result


def _standing_out(values: Array, of: int) -> Array:
    pool = np.concatenate([values, np.zeros(max(0, of - len(values)))])
    if len(pool) < 2:
        return np.ones_like(values)
    deviation = pool.std()
    if deviation == 0:
        return np.zeros_like(values)
    above: Array = np.maximum(0.0, (values - pool.mean()) / deviation)
    return above


def _scores(
    cases: Sequence[Case], weights: Array, beside: float = deep.BESIDE
) -> list[dict[str, float]]:
    rows = []
    for case in cases:
        totals = np.where(case.candidates, case.parts @ weights, -np.inf)
        ranked = [case.ids[place] for place in _spread(case, totals, beside * totals.max())[:20]]
        rows.append(score(ranked, case.gold))
    return rows


def _spread(case: Case, totals: Array, most: float) -> list[int]:
    """The places, best first; a turn beside a better one gives up `most` of its own share."""
    left = totals.copy()
    losses = most * case.shares
    lost: set[int] = set()
    ranked: list[int] = []
    while len(ranked) < 20 and left.max() > -np.inf:
        place = int(np.argmax(left))
        if place not in lost and any(
            case.sessions[one] == case.sessions[place] and abs(one - place) <= NEXT
            for one in ranked
        ):
            lost.add(place)
            left[place] -= losses[place]
        else:
            ranked.append(place)
            left[place] = -np.inf
    return ranked


def _figures(rows: Sequence[Mapping[str, float]]) -> str:
    means = (100 * float(np.mean([row[key] for row in rows])) for key in ("any@10", "all@10"))
    return " / ".join(f"{mean:.1f}" for mean in means)


def _print_shipped(cases: Mapping[str, Sequence[Case]]) -> None:
    shipped = np.array(list(PARTS.values()))
    rows = {name: _scores(some, shipped) for name, some in cases.items()}
    print(f"\n| shipped weights | {' | '.join(f'{name} | change of any@10' for name in cases)} |")
    print(f"|{'---|' * (1 + 2 * len(cases))}")
    print(f"| all parts | {' | '.join(f'{_figures(rows[name])} | ' for name in cases)} |")
    for place, part in enumerate(PARTS):
        without = shipped.copy()
        without[place] = 0.0
        cells = []
        for name, some in cases.items():
            own = _scores(some, without)
            cells.append(f"{_figures(own)} | {paired_difference(own, rows[name], 'any@10')}")
        print(f"| without {part} | {' | '.join(cells)} |")
    cells = []
    for name, some in cases.items():
        own = _scores(some, shipped, beside=0.0)
        cells.append(f"{_figures(own)} | {paired_difference(own, rows[name], 'any@10')}")
    print(f"| without beside | {' | '.join(cells)} |")


def _print_left_out(cases: Mapping[str, Sequence[Case]]) -> None:
    print(f"\n| fitted on the other sets | {' | '.join(cases)} |\n|{'---|' * (1 + len(cases))}")
    names = list(PARTS)
    using: list[int] = []
    for added in ORDER:
        some = (added,) if isinstance(added, str) else added
        using += [names.index(part) for part in some]
        cells = []
        for left_out, asked in cases.items():
            weights = np.zeros(len(names))
            weights[using] = _fitted({n: c for n, c in cases.items() if n != left_out}, using)
            cells.append(_figures(_scores(asked, weights)))
        print(f"| + {' and '.join(some)} | {' | '.join(cells)} |")
    weights = _fitted(cases, using)
    told = ", ".join(
        f"{names[p]} {w / weights[0]:.2f}" for p, w in zip(using, weights, strict=True)
    )
    print(f"\nFitted on all sets, in units of meaning: {told}")


def _fitted(cases: Mapping[str, Sequence[Case]], using: Sequence[int]) -> Array:
    """Weights of the parts named, by Adam on the softmax over each question's turns."""
    batch = list(_batch(cases, using))
    weights, first, second = (np.zeros(len(using)) for _ in range(3))
    for step in range(1, STEPS + 1):
        slope = 2e-3 * weights
        for parts, gold, share in batch:
            logits = parts @ weights
            chances = np.exp(logits - logits.max())
            slope += share * ((chances / chances.sum() - gold) @ parts)
        first = 0.9 * first + 0.1 * slope
        second = 0.99 * second + 0.01 * slope**2
        weights -= 0.1 * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.99**step)) + 1e-8)
    return weights


def _batch(
    cases: Mapping[str, Sequence[Case]], using: Sequence[int]
) -> Iterator[tuple[Array, Array, float]]:
    for some in cases.values():
        for case in some:
            gold = np.array([id in case.gold for id in case.ids], dtype=np.float64)
            if (gold * case.candidates).any():
                parts = case.parts[:, using][case.candidates]
                held = gold[case.candidates]
                yield parts, held / held.sum(), 1 / len(some) / len(cases)


if __name__ == "__main__":
    main()
