import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_butler.domain.errors import InvalidInput
from memory_butler.domain.sketch import MAX_WORDS, shingle_hashes

words = st.lists(st.text(alphabet="abcde", min_size=1, max_size=3), max_size=80)


def test_a_sketch_is_the_same_in_every_process() -> None:
    # Sketches are stored: this number may never change.
    assert shingle_hashes("The quick brown fox") == (-5_127_689_295_611_288_256,)


def test_case_punctuation_and_layout_do_not_count() -> None:
    one = shingle_hashes("User prefers TEA, over coffee; always!")
    assert shingle_hashes("user prefers\n\n(tea) over_coffee - Always") == one
    assert shingle_hashes("STRASSE") == shingle_hashes("straße")


def test_a_short_text_is_one_shingle_and_an_empty_one_none() -> None:
    assert len(shingle_hashes("tea")) == len(shingle_hashes("one two three four")) == 1
    assert len(shingle_hashes("one two three four five")) == 2
    assert shingle_hashes("") == shingle_hashes("\n -- !") == ()


def test_what_follows_the_first_words_does_not_count() -> None:
    text = " ".join(str(number) for number in range(MAX_WORDS))
    assert shingle_hashes(f"{text} and more") == shingle_hashes(text)


def test_a_quotation_shares_its_shingles_with_the_text_around_it() -> None:
    quoted = "the user is allergic to peanuts and shellfish"
    around = f"Earlier you were told: {quoted}. Please reply."
    assert set(shingle_hashes(quoted)) <= set(shingle_hashes(around))


@pytest.mark.parametrize(("width", "keep"), [(0, 1), (1, 0)])
def test_sizes_below_one_are_refused(width: int, keep: int) -> None:
    with pytest.raises(InvalidInput, match="1 or more"):
        shingle_hashes("x", width=width, keep=keep)


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_any_text_has_a_sketch_of_distinct_ascending_bigints(text: str) -> None:
    sketch = shingle_hashes(text)
    assert len(sketch) <= 64
    assert list(sketch) == sorted(set(sketch))
    assert all(-(2**63) <= number < 2**63 for number in sketch)


@given(words, st.integers(1, 6), st.integers(1, 20))
def test_a_smaller_sketch_is_the_head_of_a_larger_one(
    words: list[str], width: int, keep: int
) -> None:
    text = " ".join(words)
    whole = shingle_hashes(text, width=width, keep=10_000)
    assert shingle_hashes(text, width=width, keep=keep) == whole[:keep]
    runs = {tuple(words[start : start + width]) for start in range(len(words) - width + 1)}
    assert len(whole) == (len(runs) or bool(words))
