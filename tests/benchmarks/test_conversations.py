"""Real conversations: the loaders read them, and memory answers questions about them.

The data is not part of the repository. Where it is absent these tests skip and say so; in CI its
absence is a failure.
"""

import os
from pathlib import Path

import pytest
from bench.datasets import DEFAULT_DATA, SETS, Conversation, beam, locomo
from bench.metrics import mean, paired_difference, percentile, score

from long_profile import NIGHTLY
from memory_butler.domain.principals import Principal
from memory_butler.engine.memory import Memory
from memory_butler.engine.recall import search
from memory_butler.engine.remember import store_episode

_BY_DAY = 150  # turns of the first conversation, and the questions about them


@pytest.fixture(scope="module")
def data() -> Path:
    if DEFAULT_DATA.is_dir():
        return DEFAULT_DATA
    if os.environ.get("CI"):
        pytest.fail(f"the benchmark data is missing from {DEFAULT_DATA}")
    pytest.skip(f"no benchmark data in {DEFAULT_DATA}")


def test_every_locomo_question_has_its_evidence_among_the_turns(data: Path) -> None:
    conversations = list(locomo(data))
    assert len(conversations) == 5
    assert all(one.questions and one.turns for one in conversations)
    assert all(turn.said_at is not None for one in conversations for turn in one.turns)
    _gold_is_known(conversations)


def test_every_beam_question_has_its_evidence_among_the_turns(data: Path) -> None:
    conversations = list(beam(data))
    assert len(conversations) == 4
    _gold_is_known(conversations)


def _gold_is_known(conversations: list[Conversation]) -> None:
    for conversation in conversations:
        known = {turn.id for turn in conversation.turns}
        assert len(known) == len(conversation.turns)
        assert all(one.gold and one.gold <= known for one in conversation.questions)


@pytest.mark.anyio
async def test_no_question_about_a_real_conversation_is_answered_with_nothing(
    data: Path, memory: Memory, principal: Principal
) -> None:
    conversation = next(locomo(data))
    said = conversation.turns if NIGHTLY else conversation.turns[:_BY_DAY]
    known = {turn.id for turn in said}
    turns = {}
    for place, turn in enumerate(said):
        id = await store_episode(
            memory,
            principal,
            turn.text,
            "bench",
            speaker=turn.speaker,
            turn=place,
            occurred_at=turn.said_at,
        )
        turns[id] = turn.id
    rows = []
    for question in conversation.questions:
        if not question.gold <= known:
            continue
        hits = await search(memory, principal, question.text, types=["episode"], limit=20)
        assert hits
        rows.append(score([turns[hit.row["id"]] for hit in hits], question.gold))
    assert len(rows) >= 30
    # A coarse net for breakage, far below the figures of docs/benchmarks.md.
    assert mean(rows, "any@10") > 55


@pytest.mark.parametrize("name", SETS)
def test_a_folder_without_the_data_is_no_set_without_questions(name: str, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        list(SETS[name](tmp_path))


def test_metrics_agree_with_their_definitions() -> None:
    ranked = ["a", "b", "c"]
    found = score(ranked, frozenset({"b", "z"}))
    assert found["any@1"] == 0
    assert found["any@5"] == 1
    assert found["all@5"] == 0
    # One of two relevant items, at place 2: (1/log2(3)) / (1/log2(2) + 1/log2(3)).
    assert found["ndcg@10"] == pytest.approx(0.6309 / 1.6309, abs=1e-4)
    assert percentile([4.0, 1.0, 3.0, 2.0], 0.5) == 2.0
    assert percentile([1.0], 0.99) == 1.0


def test_a_paired_difference_is_of_the_same_questions() -> None:
    better = [{"any@10": float(n % 4 > 0)} for n in range(400)]
    worse = [{"any@10": float(n % 2)} for n in range(400)]
    gain = paired_difference(better, worse, "any@10")
    assert gain.mean == pytest.approx(25.0)
    assert 20.0 < gain.low < 25.0 < gain.high < 30.0
    assert str(paired_difference(worse, worse, "any@10")) == "+0.0 (+0.0 … +0.0)"
