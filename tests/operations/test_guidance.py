"""What the tools tell a model to do next: the loop by which memory learns what holds."""

import pytest

from memory_butler.operations import retrieval, rule_changes
from memory_butler.surfaces.mcp import instructions


@pytest.mark.requirement("RCL-04")
@pytest.mark.parametrize("text", [retrieval.memory_recall.description, instructions(["memory"])])
def test_a_model_is_told_to_confirm_what_it_used_without_contradiction(text: str) -> None:
    words = " ".join(text.split())
    before, told, _ = words.partition("memory_confirm")
    assert told
    assert "contradicted" in before


def test_marks_tell_how_harm_weighs() -> None:
    assert "four times" in rule_changes.memory_mark_harmful.description
