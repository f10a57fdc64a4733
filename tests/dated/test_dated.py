"""Dates and roles in six languages; how many of the held-out ones are read."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta

import pytest

from memory_butler.domain.days_ahead import days_ahead
from memory_butler.domain.named_days import is_regular_on, names_one_of, with_english_dates
from memory_butler.domain.periods import period_of
from memory_butler.domain.persons import Known, by_name
from memory_butler.domain.wording import with_parts
from memory_butler.domain.written_dates import MONTHS, WEEKDAYS, Days
from memory_butler.inference import languages
from memory_butler.inference.dates import in_english

from . import sentences

pytestmark = pytest.mark.anyio

TODAY = date(2026, 11, 25)  # a Wednesday
DAY = timedelta(days=1)
YEAR = [date(2027, 1, 1) + timedelta(days=n) for n in range(365)]
Role = tuple[tuple[str, str, str], str, str | None]


def _named(text: str) -> str:
    known = with_english_dates(text, {})
    return " ".join(f"{day}" for day in YEAR if names_one_of(Days.of(day), known))


def _regular(text: str) -> str:
    """The day of the week, or the days of three months."""
    known = with_english_dates(text, {})
    days = [day for day in YEAR[:90] if is_regular_on(Days.of(day), known)]
    weekdays = {WEEKDAYS[day.weekday()] for day in days}
    return weekdays.pop() if len(days) > 9 and len(weekdays) == 1 else " ".join(map(str, days))


def _added(text: str) -> Iterator[str]:
    added = set(with_parts(text).lower().split()) - set(text.lower().split())
    return (one for one in added if one.rstrip("s") in {*MONTHS, *WEEKDAYS})


async def _asked(question: str) -> tuple[str, str] | None:
    is_foreign = languages.language(question, languages.NONE) not in (None, "en")
    ahead = days_ahead(await in_english(question), TODAY, is_foreign=is_foreign)
    return None if ahead is None else (f"{ahead.days.first}", f"{ahead.days.last}")


async def _looked_back(question: str) -> tuple[str, str] | None:
    period = period_of(await in_english(question), datetime.combine(TODAY, time(12), UTC))
    return None if period is None else (f"{period.start:%F}", f"{period.end - DAY:%F}")


def _is_put(role: Role) -> bool:
    fact, asked, name = role
    put = by_name(asked, [Known(*fact)])
    return put is None if name is None else put is not None and name in put


@pytest.mark.parametrize("text", sentences.NO_DATES)
def test_a_word_that_is_a_month_elsewhere_names_no_day(text: str) -> None:
    assert (_named(text), _regular(text), [*_added(text)]) == ("", "", [])


@pytest.mark.parametrize("question", sentences.NO_DAYS_ASKED)
async def test_a_question_with_such_a_word_asks_for_no_day(question: str) -> None:
    assert await _asked(question) is None


@pytest.mark.parametrize(("text", "days"), sentences.DATES)
def test_a_date_is_read(text: str, days: str) -> None:
    assert _named(text) == days


@pytest.mark.parametrize(
    ("text", "added"),
    [
        ("Passport expires on 25/11/2026", "25 November 2026"),
        ("Dentist on 25/11", "25 November"),
        ("Oma geb. 24.12.1961", "24 December 1961"),
        ("Fermé le 11 décembre 2026", "11 December 2026"),
        ("Chor: erster Mittwoch im August", "first Wednesday August"),
        ("Cena el último viernes del mes", "last Friday"),
        ("Basura: martes, jueves y sábados", "Tuesday Thursday Saturday"),
    ],
)
def test_a_date_is_indexed_once_and_with_its_year(text: str, added: str) -> None:
    assert with_parts(text) == f"{text} {added}"


@pytest.mark.parametrize(
    "text",
    [
        "Vacances du 3/4 au 10/4",
        "Vacaciones del 3/4 al 10/4",
        "Urlaub vom 3/4 bis 10/4",
        "Away from 03/04/2027 until 10/04/2027",
    ],
)
def test_a_stretch_with_slashes_counts_on_each_of_its_days(text: str) -> None:
    assert "2027-04-07" in _named(text).split()


def test_old_letters_are_no_date() -> None:
    assert _named("Written on 12 ſeptember 1789") in ("", "2027-09-12")


@pytest.mark.parametrize("text", ["Il ne travaille pas le vendredi", "Il n'est pas là le lundi"])
def test_what_does_not_happen_is_no_day_of_the_week(text: str) -> None:
    assert _regular(text) == ""


@pytest.mark.parametrize(("text", "days"), sentences.REGULAR)
def test_what_comes_again_is_on_its_days(text: str, days: str) -> None:
    assert _regular(text) == days
    assert [*_added(text)] or any(day in text.lower() for day in WEEKDAYS)


@pytest.mark.parametrize(("question", "first", "last"), sentences.ASKED)
async def test_the_days_that_are_asked_about(question: str, first: str, last: str) -> None:
    assert await _asked(question) == (first, last)


@pytest.mark.parametrize(("question", "first", "last"), sentences.LOOKED_BACK)
async def test_the_days_of_the_past_that_are_asked_about(
    question: str, first: str, last: str
) -> None:
    assert await _looked_back(question) == (first, last)
    assert await _asked(question) is None


@pytest.mark.parametrize("role", sentences.ROLES)
def test_who_is_called_by_a_role(role: Role) -> None:
    assert _is_put(role)


async def test_of_the_held_out_ones_nearly_all_are_read() -> None:
    missed = [
        *((text, _named(text)) for text, days in sentences.HELD_OUT_DATES if _named(text) != days),
        *(
            (text, _regular(text))
            for text, days in sentences.HELD_OUT_REGULAR
            if _regular(text) != days
        ),
        *[one for one in sentences.HELD_OUT_ASKED if await _asked(one[0]) != one[1:]],
        *(one for one in sentences.HELD_OUT_ROLES if not _is_put(one)),
    ]
    assert len(missed) <= 2, missed
