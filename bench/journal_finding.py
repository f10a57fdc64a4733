"""What a search of a journal finds, in conversations of people with labelled evidence.

    python bench/journal_finding.py [--data FOLDER] [--hits 5]

Each public conversation of `datasets.py` becomes a journal; each of its questions is searched for
as a companion would, with the real embedding model. Told is how often a message with the answer
is among the hits or stands beside one, as `search` shows them. "In other words" are the
questions whose evidence has less than a quarter of their words, weighed by how rare these are.
"""

import argparse
import math
import re
import sys
import tempfile
from collections import Counter, defaultdict
from datetime import UTC, datetime, timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench import datasets
from bench.datasets import DEFAULT_DATA, Conversation, Question
from memory_butler.inference.embedder import Embedder, get_embedding_engine
from memory_butler.journal import events
from memory_butler.journal.file import JournalFile
from memory_butler.journal.live import LiveJournal
from memory_butler.journal.meaning import embed_new
from memory_butler.journal.policy import JournalPolicy
from memory_butler.journal.search import MAX_HITS, Questions
from memory_butler.journal.words import stems

READERS = {"LoCoMo": datasets.locomo, "REALTALK": datasets.realtalk, "BEAM": datasets.beam}
POLICY = JournalPolicy(untagged_reply_is_say=True)
OTHER_WORDS = 0.25
_SOME_WORD = re.compile(r"\w")


def main() -> None:
    """Search every conversation, print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DEFAULT_DATA)
    parser.add_argument("--hits", type=int, default=MAX_HITS)
    arguments = parser.parse_args()
    data = arguments.data
    engine = get_embedding_engine()
    found: dict[str, list[bool]] = defaultdict(list)
    for name, read in READERS.items():
        for conversation in read(data):
            with tempfile.TemporaryDirectory(prefix="mb-journal-") as folder:
                _search(Path(folder), conversation, engine, name, found, arguments.hits)
    print("| questions | number | answer shown, % |")
    print("|---|---|---|")
    for name, those in found.items():
        print(f"| {name} | {len(those)} | {100 * sum(those) / len(those):.1f} |")


def _search(
    folder: Path,
    conversation: Conversation,
    engine: Embedder,
    name: str,
    found: dict[str, list[bool]],
    hits: int,
) -> None:
    ids = {turn.id: number for number, turn in enumerate(conversation.turns, 1)}
    with JournalFile.open(folder, "bench", "talk") as file:
        at, session = datetime(2026, 1, 1, tzinfo=UTC), ""
        with file.writing() as db:
            for turn in conversation.turns:
                at += timedelta(days=1) if turn.session != session else timedelta(minutes=1)
                session = turn.session
                actor = "user" if turn.speaker == conversation.turns[0].speaker else "assistant"
                events.append(db, at, turn.text or " ", actor, None, [])
        embed_new(file, POLICY, engine)
        live = LiveJournal(file, POLICY, questions=Questions(lambda: engine))
        said = {ids[turn.id]: stems(turn.text) for turn in conversation.turns}
        spread = Counter(word for words in said.values() for word in words)
        for question in conversation.questions:
            gold = {ids[one] for one in question.gold}
            shown = {
                event.id
                for hit in live.search(question.text, hits)
                for event in (hit.before, hit.event, hit.after)
                if event is not None
            }
            kind = "in other words" if _is_other(question, gold, said, spread) else "in its words"
            for row in (name, kind):
                found[row].append(bool(gold & shown))


def _is_other(
    question: Question, gold: set[int], said: dict[int, frozenset[str]], spread: Counter[str]
) -> bool:
    weights = {
        word: math.log1p(len(said) / max(1, spread[word]))
        for word in stems(question.text)
        if _SOME_WORD.search(word)
    }
    total = sum(weights.values()) or 1.0
    best = max(sum(weights[word] for word in weights if word in said[one]) for one in gold)
    return best / total < OTHER_WORDS


if __name__ == "__main__":
    main()
