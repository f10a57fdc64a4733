"""The deep score: every part, what they sum to, and what a memory inherits."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_butler.domain.deep import (
    POINTED_AT,
    DeepScore,
    Evidence,
    deep_scores,
    led_to,
    named_speakers,
    put_before,
)

unit = st.floats(0, 1)
evidence = st.builds(
    Evidence,
    similarity=st.none() | st.floats(-1, 1),
    text_rank=st.none() | unit,
    words=st.integers(0, 500),
    session_rank=unit,
    before=st.lists(st.integers(0, 9), max_size=2, unique=True),
    after=st.lists(st.integers(0, 9), max_size=2, unique=True),
    named=st.booleans(),
    in_period=st.booleans(),
    told=st.booleans(),
    coverage=unit,
    by_named=st.booleans(),
    asks=st.booleans(),
    of_self=st.booleans(),
    nearness=st.floats(-10, 10),
)


@given(st.dictionaries(st.integers(0, 9), evidence))
def test_the_parts_sum_to_the_score_and_only_what_stands_beside_takes_away(
    candidates: dict[int, Evidence[int]],
) -> None:
    scores = deep_scores(candidates)
    assert scores.keys() == candidates.keys()
    for score in scores.values():
        explained = score.explain()
        total = explained.pop("deep_score")
        assert total == score.total == sum(explained.values())
        assert explained.pop("beside") <= 0.0
        assert all(part >= 0.0 for part in [total, *explained.values()])
        assert score.meaning + score.words <= 1.0 + 1e-9
        assert score.session <= 1.0
    # The best episode is worth what its own words and meaning are, and never more than the best.
    told = [scores[id] for id, one in candidates.items() if one.told]
    assert all(score.total - score.period <= 1.0 + 1e-9 for score in told)
    # The same, whatever the order of the candidates.
    backwards = deep_scores(dict(reversed(candidates.items())))
    assert {id: one.total for id, one in backwards.items()} == pytest.approx(
        {id: one.total for id, one in scores.items()}
    )


def test_what_a_better_fact_led_to_counts_as_pointed_at_by_how_good_that_fact_is() -> None:
    scores = deep_scores({0: Evidence[int](0.9), 1: Evidence[int](0.1), 2: Evidence(named=True)})
    added = led_to(scores, {1: 0.5, 2: 0.5, 3: 1.0})
    assert added[0] == scores[0]
    assert added[1] == scores[1]._replace(named=0.5 * POINTED_AT)
    assert added[2] == scores[2]  # the question names it, which is more
    assert added[3] == DeepScore(named=POINTED_AT)  # nothing else found it


def test_the_arm_that_tells_memories_apart_decides() -> None:
    # Meaning finds all alike, words single one out; then the other way round.
    alike = [0.50, 0.51, 0.50, 0.51, 0.50]
    telling = [0.1, 0.1, 0.9, 0.1, 0.1]
    by_words = deep_scores({n: Evidence(alike[n], telling[n]) for n in range(5)})
    by_meaning = deep_scores({n: Evidence(telling[n], alike[n]) for n in range(5)})
    assert max(by_words, key=lambda n: by_words[n].total) == 2
    assert max(by_meaning, key=lambda n: by_meaning[n].total) == 2
    assert by_words[2].words > by_words[2].meaning
    assert by_meaning[2].meaning > by_meaning[2].words


def test_the_only_match_of_a_rare_word_stands_out() -> None:
    candidates: dict[int, Evidence[int]] = {
        n: Evidence(similarity=0.4 + n / 100) for n in range(20)
    }
    candidates[3] = Evidence(similarity=0.43, text_rank=0.01)
    scores = deep_scores(candidates)
    assert max(scores, key=lambda n: scores[n].total) == 3


def test_a_neighbour_inherits_less_for_each_step_and_the_more_it_says_itself() -> None:
    candidates: dict[str, Evidence[str]] = {
        "hit": Evidence(0.9, before=["short"], after=["long", "farther"]),
        "other": Evidence(0.1),
        "short": Evidence(words=0),
        "long": Evidence(words=100),
        "farther": Evidence(words=0),
    }
    scores = deep_scores(candidates)
    assert scores["hit"].total == 1.0
    assert scores["short"].neighbours == 0.75
    assert scores["long"].neighbours == 0.375
    assert scores["farther"].neighbours == 0.375
    assert scores["other"].total == 0.0


def test_two_neighbours_count_no_more_than_the_better_one() -> None:
    candidates: dict[str, Evidence[str]] = {
        "left": Evidence(0.9, after=["middle"]),
        "right": Evidence(0.8, before=["middle"]),
        "middle": Evidence(),
        "low": Evidence(0.1),
        "lower": Evidence(0.0),
    }
    assert deep_scores(candidates)["middle"].neighbours == 0.75


def test_a_session_adds_as_much_as_the_best_and_a_name_and_a_period_half_of_it() -> None:
    candidates: dict[int, Evidence[int]] = {
        1: Evidence(0.5, session_rank=8.0),
        2: Evidence(0.5, session_rank=4.0),
        3: Evidence(0.5, named=True),
        4: Evidence(0.5, in_period=True),
    }
    scores = deep_scores(candidates)
    assert [scores[n].total for n in (1, 2, 3, 4)] == [1.0, 0.5, 0.5, 0.5]


_TURN: Evidence[str] = Evidence(similarity=0.5, nearness=5.0, words=20, told=True)


def _said(similarity: float, words: int, **more: Any) -> Evidence[str]:
    """An episode of a store whose cosines spread by 0.1."""
    return Evidence(similarity, nearness=similarity / 0.1, words=words, told=True, **more)


def _order(candidates: dict[str, Evidence[str]]) -> list[str]:
    scores = deep_scores(candidates)
    return sorted(scores, key=lambda id: -scores[id].total)


def test_a_turn_with_more_of_the_questions_words_comes_first() -> None:
    assert _order({"none": _TURN, "all": _TURN._replace(coverage=1.0)})[0] == "all"


def test_a_turn_of_few_words_comes_after_one_that_says_something() -> None:
    turns = {"thanks": _TURN._replace(words=3), "says": _TURN._replace(words=30)}
    assert _order(turns) == ["says", "thanks"]


def test_a_turn_that_tells_of_its_speaker_comes_first() -> None:
    scores = deep_scores({"other": _TURN, "own": _TURN._replace(of_self=True)})
    assert scores["own"].total > scores["other"].total
    assert [id for id, score in scores.items() if score.first_person > 0] == ["own"]


def test_in_a_small_store_a_short_note_comes_before_turns_about_their_speakers() -> None:
    """ "Boiler serviced by Meyer" beside long turns with "I", asked who repaired the heating."""
    note = _said(0.45, words=5)
    for others in range(1, 8):
        turns = {f"turn {n}": _said(0.02 * n, words=25, of_self=True) for n in range(others)}
        plain = {id: turn._replace(of_self=False) for id, turn in turns.items()}
        with_self, without = _order({"note": note, **turns}), _order({"note": note, **plain})
        assert with_self.index("note") == without.index("note")


def test_a_turn_counts_by_its_cosine_though_the_vectors_did_not_find_it() -> None:
    unfound = _TURN._replace(similarity=None)
    nearer = _TURN._replace(similarity=None, nearness=6.0)
    assert _order({"unfound": unfound, "nearer": nearer}) == ["nearer", "unfound"]


def test_who_is_named_comes_first_and_a_turn_after_a_question() -> None:
    assert _order({"other": _TURN, "named": _TURN._replace(by_named=True)})[0] == "named"
    turns = {
        "statement": _TURN,
        "question": _TURN._replace(asks=True, before=["statement"], after=["answer", "next"]),
        "answer": _TURN,
        "next": _TURN,
    }
    scores = deep_scores(turns)
    assert [id for id, score in scores.items() if score.reply > 0] == ["answer"]


def test_a_long_turn_beside_a_better_one_comes_after_what_another_turn_says() -> None:
    turns = {
        "asks": _said(0.9, words=300, after=["answers", "thanks"]),
        "answers": _said(0.8, words=300, before=["asks"]),
        "elsewhere": _said(0.82, words=300),
        "far": _said(0.1, words=300),
    }
    scores = deep_scores(turns)
    assert _order(turns) == ["asks", "elsewhere", "answers", "far"]
    assert [id for id, score in scores.items() if score.beside < 0] == ["answers"]
    assert scores["answers"].total == pytest.approx(sum(scores["answers"].parts().values()))


def test_short_turns_beside_each_other_stay_together() -> None:
    turns = {
        "asks": _said(0.9, words=6, after=["answers"]),
        "answers": _said(0.8, words=6, before=["asks"]),
        "elsewhere": _said(0.79, words=6),
    }
    assert _order(turns)[-1] == "elsewhere"


def test_what_stands_beside_a_turn_that_gave_way_gives_up_nothing_for_it() -> None:
    # "middle" comes after "best"; "last" is beside "middle" alone, and better than it by then.
    turns = {
        "best": _said(0.9, words=300, after=["middle"]),
        "middle": _said(0.601, words=300),
        "last": _said(0.66, words=300, before=["middle"]),
        "far": _said(0.1, words=300),
    }
    scores = deep_scores(turns)
    assert [id for id, score in scores.items() if score.beside < 0] == ["middle"]


def test_no_turn_falls_below_nothing() -> None:
    turns = {
        n: Evidence(0.9 - 0.2 * n, words=500, told=True, after=[n + 1], before=[n - 1])
        for n in range(5)
    }
    assert all(score.total >= 0 for score in deep_scores(turns).values())


def test_the_best_episode_counts_as_much_as_what_it_says_itself() -> None:
    scores = deep_scores(
        {
            "fact": Evidence(0.9, words=5),
            "turn": Evidence(0.8, told=True, coverage=1.0, words=40, session_rank=3.0),
            "far": Evidence(0.1),
        }
    )
    alone = deep_scores({"fact": Evidence(0.9), "turn": Evidence(0.8), "far": Evidence(0.1)})
    assert scores["turn"].total == pytest.approx(alone["turn"].total)
    assert scores["fact"].total == 1.0


def test_an_episode_that_stands_out_less_counts_no_more() -> None:
    facts: dict[str, Evidence[str]] = {
        str(n): Evidence(similarity) for n, similarity in enumerate((0.9, 0.6, 0.55, 0.5, 0.5))
    }
    best = 0.0
    for similarity in (0.1, 0.2, 0.47, 0.6, 0.8, 0.9):
        turns: dict[str, Evidence[str]] = {
            name: Evidence(near, words=30, told=True, coverage=0.5)
            for name, near in (("best", similarity), ("other", 0.1), ("last", 0.05))
        }
        scores = deep_scores(facts | turns)
        assert scores["best"].total >= best
        best = scores["best"].total
    assert best > 0.5


@pytest.mark.parametrize(
    ("question", "speaker", "named"),
    [
        ("What did Ann bake?", "Ann", True),
        ("what did ann bake?", "Ann Smith", True),
        ("What did Anna bake?", "Ann", False),
        ("What will Ann do?", "Will Smith", False),
        ("What is the plan?", "The Assistant", False),
        ("张伟说了什么？", "张伟", True),
        ("What was baked?", None, False),
        ("What was baked?", " ", False),
    ],
)
def test_a_question_names_a_speaker_by_the_first_word_of_the_name(
    question: str, speaker: str | None, named: bool
) -> None:
    assert named_speakers(question, ["Zoe", speaker]) == ({speaker} if named else set())


@given(
    st.dictionaries(st.integers(0, 9), st.floats(0, 3), min_size=1),
    st.lists(st.tuples(st.integers(0, 4), st.integers(5, 9))),
)
def test_what_must_come_before_another_does_and_nothing_else_is_moved(
    totals: dict[int, float], pairs: list[tuple[int, int]]
) -> None:
    scores = {id: DeepScore(words=total) for id, total in totals.items()}
    pairs = [pair for pair in pairs if {*pair} <= scores.keys()]
    put = put_before(scores, pairs)
    assert all(put[first].total > put[second].total for first, second in pairs)
    firsts = {first for first, _ in pairs}
    assert all(put[id] == scores[id] for id in scores if id not in firsts)
    assert all(put[id].total >= scores[id].total for id in scores)
    assert all(put[id]._replace(named=0.0) == scores[id] for id in scores)
