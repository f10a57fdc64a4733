import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_butler.domain.errors import InvalidInput
from memory_butler.domain.fusion import MAX_RRF, RRF_K, Fused, fuse, relevance, rrf_score

arms = st.lists(st.integers(0, 60), unique=True, max_size=30)
limits = st.integers(1, 40)


@pytest.mark.requirement("RRF-01", "RRF-02")
def test_the_score_is_the_sum_of_both_reciprocals() -> None:
    assert RRF_K == 60
    assert rrf_score(1, 1) == 1 / 61 + 1 / 61
    assert rrf_score(3, 7) == 1 / 63 + 1 / 67


@pytest.mark.requirement("RRF-03")
def test_a_missing_rank_is_one_past_the_limit() -> None:
    assert fuse(["a"], ["b"], limit=10) == [
        Fused("a", 1 / 61 + 1 / 71, 1, 11),
        Fused("b", 1 / 71 + 1 / 61, 11, 1),
    ]


@pytest.mark.requirement("RRF-04")
def test_equal_scores_go_by_the_semantic_rank() -> None:
    fused = fuse(["z", "a"], ["a", "z"], limit=10)
    assert fused[0].rrf == fused[1].rrf
    assert [one.id for one in fused] == ["z", "a"]


@pytest.mark.requirement("RRF-01")
def test_agreement_of_both_arms_beats_the_top_of_one() -> None:
    assert fuse(["a", "both"], ["b", "both"], limit=10)[0].id == "both"


def test_an_arm_counts_no_deeper_than_the_limit_and_an_id_once() -> None:
    fused = fuse(["a", "a", "b", "c"], [], limit=2)
    assert [(one.id, one.semantic_rank) for one in fused] == [("a", 1), ("b", 2)]


def test_two_empty_arms_give_nothing() -> None:
    assert fuse([], [], limit=1) == []


def test_a_depth_below_one_is_refused() -> None:
    with pytest.raises(InvalidInput, match="at least 1"):
        fuse(["a"], [], limit=0)


@pytest.mark.requirement("SCORE-03")
def test_relevance_is_the_share_of_the_best_possible_score() -> None:
    assert relevance(rrf_score(1, 1)) == 1.0
    assert relevance(1 / 61 + 1 / 71) == pytest.approx(0.9296, abs=5e-5)
    assert relevance(2 * MAX_RRF) == 1.0
    assert relevance(0.0) == 0.0


@pytest.mark.requirement("RRF-02", "RRF-03", "RRF-04")
@given(arms, arms, limits)
def test_every_result_has_its_ranks_and_its_place(
    semantic: list[int], keyword: list[int], limit: int
) -> None:
    fused = fuse(semantic, keyword, limit)
    assert {one.id for one in fused} == {*semantic[:limit], *keyword[:limit]}
    for one in fused:
        for arm, rank in ((semantic, one.semantic_rank), (keyword, one.keyword_rank)):
            assert rank == (arm.index(one.id) + 1 if one.id in arm[:limit] else limit + 1)
        assert one.rrf == rrf_score(one.semantic_rank, one.keyword_rank)
        assert 0.0 < relevance(one.rrf) <= 1.0
    places = [(-one.rrf, one.semantic_rank, one.keyword_rank, one.id) for one in fused]
    assert places == sorted(places)


@given(st.integers(1, 1000), st.integers(1, 1000), st.integers(1, 1000))
def test_a_better_rank_never_scores_less(rank: int, other: int, gain: int) -> None:
    assert rrf_score(rank, other) > rrf_score(rank + gain, other)
    assert rrf_score(rank, other) == rrf_score(other, rank)


@given(arms, arms, limits, st.sets(st.integers(0, 60)))
def test_those_asked_for_have_the_place_that_they_have_among_all(
    semantic: list[int], keyword: list[int], limit: int, among: set[int]
) -> None:
    everything = fuse(semantic, keyword, limit)
    assert fuse(semantic, keyword, limit, among) == [one for one in everything if one.id in among]
