"""The benchmark of retrieval fails where deep search finds less than it did."""

from bench.results import Result
from bench.retrieval import below


def _found(*shares: float) -> Result:
    return Result(rows=[{"any@10": share} for share in shares])


def test_a_fall_of_more_than_a_question_is_named() -> None:
    recorded = {"any@10": 75.0}
    assert below(recorded, _found(1.0, 1.0, 1.0, 0.0), "a") == []
    assert below(recorded, _found(1.0, 1.0, 0.0, 0.0), "a") == []
    assert below(recorded, _found(1.0, 0.0, 0.0, 0.0), "a") == ["a any@10 25.0 instead of 75.0"]


def test_among_many_questions_a_point_is_too_much() -> None:
    hits = [1.0] * 738
    assert below({"any@10": 75.0}, _found(*hits, *[0.0] * 262), "a") == [
        "a any@10 73.8 instead of 75.0"
    ]
    assert below({"any@10": 75.0}, _found(*hits, *[0.0] * 256), "a") == []
