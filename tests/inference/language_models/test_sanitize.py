"""What is left of another program's error output."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_butler.inference.language_models.sanitize import MAX_TAIL_CHARACTERS, tail


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("key sk-ant-api03-abcdef123456 refused", "abcdef123456"),
        ("Authorization: Bearer abc.def.ghi", "abc.def"),
        ("?key=AIzaSyA-0123456789-0123456789-0123456&x", "0123456789"),
        ('{"api_key": "hunter2hunter2"}', "hunter2"),
        ("OPENAI_API_KEY=hunter2", "hunter2"),
        ("password: hunter2", "hunter2"),
        ("https://ada:hunter2@proxy:8080/", "hunter2"),
        ("jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.sig", "eyJ"),
        ("ghp_0123456789abcdefghij", "0123456789"),
    ],
)
def test_what_looks_like_a_key_is_masked(text: str, secret: str) -> None:
    assert secret in text
    assert secret not in tail(text)
    assert "***" in tail(text)


def test_a_known_secret_is_masked_whatever_it_looks_like() -> None:
    assert tail("using correct horse now", secrets=["correct horse", ""]) == "using *** now"


def test_lines_out_of_the_prompt_are_left_out() -> None:
    prompt = "Facts:\n  Ada keeps\tthe money behind the clock.\nBe brief."
    text = "error at line 3\n> Ada keeps the money behind\nexit"
    assert tail(text, private=[prompt]) == "error at line 3 […] exit"


def test_ordinary_errors_stay_readable() -> None:
    text = "Error: unknown option '--restricted'\n(run with --help)"
    assert tail(text) == "Error: unknown option '--restricted' (run with --help)"


@given(st.text(), st.text(min_size=8))
def test_the_end_is_bounded_and_one_line(text: str, secret: str) -> None:
    shown = tail(text * 50, secrets=[secret])
    assert len(shown) <= MAX_TAIL_CHARACTERS + 1
    assert len(shown.splitlines()) <= 1
