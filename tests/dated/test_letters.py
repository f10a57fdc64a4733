"""Letters that a pattern takes for others, and accents that stand apart, hide no date."""

import re
import unicodedata
from datetime import UTC, date, datetime

import pytest

from memory_butler.domain.days_ahead import days_ahead
from memory_butler.domain.named_days import is_regular_on, names_one_of, with_english_dates
from memory_butler.domain.periods import period_of
from memory_butler.domain.text import as_matched, plain
from memory_butler.domain.wording import with_parts
from memory_butler.domain.written_dates import Days
from memory_butler.inference.dates import in_english

from . import sentences

NOW = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)
ODD = [str.maketrans("si", "ſı"), str.maketrans("iI", "İİ")]
TEXTS = [
    *sentences.NO_DATES,
    *(one[0] for one in (*sentences.DATES, *sentences.REGULAR, *sentences.ASKED)),
    *(
        "le 3 mars, puis le 12 septembre 1789|Januar; erster Dienstag im Januar"
        "|le 3 mars, le 4 avril 2020|on 3 September|every first Friday|in six weeks"
        "|on Sunday at six"
        "|first Thursday of the month|on the first Monday of April|twice in six months"
    ).split("|"),
]


@pytest.mark.parametrize("odd", ODD)
def test_of_odd_letters_every_text_can_be_read(odd: dict[int, int]) -> None:
    days = Days(date(2026, 1, 1), date(2026, 12, 31))
    for text in TEXTS:
        said = text.translate(odd)
        with_parts(said)
        known = with_english_dates(said, {})
        names_one_of(days, known)
        is_regular_on(days, known)
        days_ahead(f"{said}?", NOW.date(), is_foreign=True)
        period_of(f"{said}?", NOW)


def test_a_date_in_old_letters_is_read() -> None:
    assert with_parts("le 3 mars, puis le 12 ſeptembre 1789").endswith("3 March 12 September")
    assert "first Tuesday January" in with_parts("Januar; erster Dienſtag im Januar")


@pytest.mark.anyio
async def test_accents_that_stand_apart_are_read() -> None:
    text = unicodedata.normalize("NFD", "Il est né le 3 février 2020")
    assert "3 February 2020" in with_parts(text)
    asked = unicodedata.normalize("NFD", "Qu'est-ce qui est prévu en février ?")
    ahead = days_ahead(await in_english(asked), NOW.date(), is_foreign=True)
    assert ahead is not None
    assert ahead.days.first == date(2027, 2, 1)


def test_what_a_pattern_takes_for_a_letter_is_put_for_it() -> None:
    for letter in "abcdefghijklmnopqrstuvwxyzäöüéèç":
        alike = re.compile(letter, re.IGNORECASE)
        for code in range(0x20000):
            if alike.match(chr(code)):
                assert as_matched(chr(code)).lower() == letter
                assert plain(chr(code)).lower() == plain(letter)
