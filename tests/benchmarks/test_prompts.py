"""What merely tells something finds what bears on it, and less of what does not."""

import pytest
from bench.prompts import Told, asked, figures

from memory_butler.engine.memory import Memory

pytestmark = pytest.mark.anyio


async def test_a_family_s_statements_and_questions(memory: Memory) -> None:
    told = [one async for one in asked(memory, "family")]
    assert len(told) == 120
    statements = figures(one for one in told if one.form == "statement")
    # 93.3 and 14.2; where statements are weighed as questions are, 86.7 and 16.4.
    assert statements["any"] >= 90
    assert statements["idle lines"] <= 15.5
    questions = figures(one for one in told if one.form == "question")
    assert questions["any"] >= 95
    assert questions["silent"] >= 60


def test_figures() -> None:
    needs, nothing = frozenset({"f1", "f2"}), frozenset[str]()
    told = [
        Told("s", "a", "question", needs, nothing, ("f1", "f3")),
        Told("s", "b", "question", needs, nothing, ("f3",)),
        Told("s", "c", "question", nothing, nothing, ()),
        Told("s", "d", "question", nothing, frozenset({"f3"}), ("f3",)),
    ]
    assert figures(told) == {
        "needing": 2,
        "any": 50.0,
        "needs": 25.0,
        "lines": 1.5,
        "idle": 2,
        "silent": 50.0,
        "idle lines": 0.5,
    }
    assert figures([])["any"] == 0.0
