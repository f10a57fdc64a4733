"""Which days a question looks ahead to, and which texts name one."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_butler.domain.days_ahead import Ahead, days_ahead
from memory_butler.domain.named_days import (
    besides,
    is_regular_on,
    last_day_ahead,
    names_one_of,
    sought,
    with_english_dates,
)
from memory_butler.domain.periods import Period, days_of
from memory_butler.domain.written_dates import LONGEST, Days

TODAY = date(2026, 11, 25)  # a Wednesday


SURELY = [
    ("What's on today?", "2026-11-25", "2026-11-25"),
    ("what is on today", "2026-11-25", "2026-11-25"),
    ("whats on today", "2026-11-25", "2026-11-25"),
    ("Text the guests who arrive tomorrow", "2026-11-26", "2026-11-26"),
    ("Free the day after tomorrow?", "2026-11-27", "2026-11-27"),
    ("Free day after tomorrow?", "2026-11-27", "2026-11-27"),
    ("What did I plan for next week?", "2026-11-30", "2026-12-06"),
    ("What was I supposed to do tomorrow?", "2026-11-26", "2026-11-26"),
    ("What have we done this week?", "2026-11-23", "2026-11-29"),
    ("What do we have next week?", "2026-11-30", "2026-12-06"),
    ("Anything this weekend?", "2026-11-28", "2026-11-29"),
    ("What's due this month?", "2026-11-01", "2026-11-30"),
    ("bills of next month", "2026-12-01", "2026-12-31"),
    ("What happens in three days?", "2026-11-28", "2026-11-28"),
    ("Where are we in two weeks' time?", "2026-12-06", "2026-12-12"),
    ("How many appointments do I have in 3 days?", "2026-11-28", "2026-11-28"),
    ("birthdays in the next two weeks", "2026-11-25", "2026-12-09"),
    ("in the next few days", "2026-11-25", "2026-11-28"),
    ("What's coming up?", "2026-11-25", "2026-12-09"),
]
PERHAPS = [
    ("Do I have anything on Friday?", "2026-11-27", "2026-11-27"),
    ("Am I free Friday?", "2026-11-27", "2026-11-27"),
    ("What must be done by Monday?", "2026-11-25", "2026-11-30"),
    ("Who comes on Wednesday?", "2026-12-02", "2026-12-02"),
    ("What is planned for December?", "2026-12-01", "2026-12-31"),
    ("What's on the first of December?", "2026-12-01", "2026-12-31"),
    ("Any birthdays in March?", "2027-03-01", "2027-03-31"),
    ("Is there something on 3 December?", "2026-12-03", "2026-12-03"),
    ("Is there something on January 3rd?", "2027-01-03", "2027-01-03"),
    ("Is there something on 2026-12-03?", "2026-12-03", "2026-12-03"),
    ("Is there something on 3.12.?", "2026-12-03", "2026-12-03"),
    ("What's on 12 August 2028?", "2028-08-12", "2028-08-12"),
    ("Who visited us in March?", "2027-03-01", "2027-03-31"),  # the last one as well
    ("What is on the 11th?", "2026-12-11", "2026-12-11"),
    ("Do we have something on the 30th", "2026-11-30", "2026-11-30"),
    ("What is on the 31st?", "2026-12-31", "2026-12-31"),
    ("What's on from 28 December to 3 January?", "2026-12-28", "2027-01-03"),
    ("What's on from 10 to 20 December?", "2026-12-10", "2026-12-20"),
    ("What's on between the 10th and the 20th of December?", "2026-12-10", "2026-12-20"),
    ("What's on December 10-20?", "2026-12-10", "2026-12-20"),
    ("What's on from 30 to 10 December?", "2026-12-10", "2026-12-10"),
]


@pytest.mark.parametrize(("question", "first", "last"), SURELY)
def test_a_question_looks_ahead(question: str, first: str, last: str) -> None:
    days = Days(date.fromisoformat(first), date.fromisoformat(last))
    assert days_ahead(question, TODAY) == Ahead(days, surely=True)


@pytest.mark.parametrize(("question", "first", "last"), PERHAPS)
def test_a_question_may_look_ahead(question: str, first: str, last: str) -> None:
    days = Days(date.fromisoformat(first), date.fromisoformat(last))
    assert days_ahead(question, TODAY) == Ahead(days, surely=False)


@pytest.mark.parametrize(
    "question",
    [
        "What did we do on Friday?",
        "Who came on Monday?",
        "Who was here last week?",
        "What happened on 3 May 2026?",
        "Is there something on 3 May 2026?",  # over
        "May I have some tea?",
        "Who lives on the 3rd floor?",
        "What is on the 2nd shelf?",
        "I am 3rd in the queue",
        "It may 3 times fail",
        "What size shoes for April?",
        "What do we buy on Black Friday?",
        "Where do we eat on Easter Monday?",
        "Who is my dentist?",
        "Let us finish the parser today",
        "How do I get tomorrow's date in javascript?",
        "How many hours are in a week?",
        "how long is a day",
        "how much is two weeks of rent",
        "How often do I run in a month?",
        "What's tomorrow's date?",
        "What's the weather tomorrow?",
        "See you next week!",
        "Run 1.2.2026.1 on 192.168.1.12",
        "",
    ],
)
def test_other_questions_do_not(question: str) -> None:
    assert days_ahead(question, TODAY) is None


@given(st.text(max_size=200), st.dates())
def test_no_question_is_too_odd(question: str, today: date) -> None:
    ahead = days_ahead(question, today)
    assert ahead is None or (today <= ahead.days.last and 1 <= len(ahead.days) <= LONGEST)


NEXT_WEEK = Days(date(2026, 11, 30), date(2026, 12, 6))


@pytest.mark.parametrize(
    ("text", "is_named"),
    [
        ("Dentist on 3 December at 10:00", True),
        ("Dentist on December 3rd, 2026", True),
        ("Dentist on the 3rd of December 2026", True),
        ("Dentist 2026-12-03T10:00", True),
        ("Zahnarzt am 3.12.2026", True),
        ("Dentysta 3 grudnia", False),  # nobody said what else December is called
        ("Ida's birthday is 3 December 1988", True),
        ("Ida was born on 1988-12-03", True),
        ("The boiler was serviced on 3 December 2025", False),
        ("Dentist on 13 December", False),
        ("31 November", False),
        ("Conference 1-5 December 2026", True),
        ("Zahnarzt am 3.12. um zehn", True),
        ("born_on 1988-12-03", True),
        ("date_of_birth 3 December 1988", True),
        ("Zahnarzt am 3.12.2026.", True),
        ("geb. 3.12.1961", True),
        ("geboren am 3.12.1961", True),
        ("née le 3.12.1961", True),
        ("Am 3.12.1961 war Sturm", False),
        ("Python 3.12.1 is out", False),
        ("version 1.3.12.2026", False),
        ("December 10:30", False),
        ("Bins go out every Thursday", False),  # of a whole week that says nothing
    ],
)
def test_a_text_names_one_of_the_days(text: str, is_named: bool) -> None:
    assert names_one_of(NEXT_WEEK, with_english_dates(text, {})) is is_named


@pytest.mark.parametrize(
    ("text", "is_named"),
    [
        ("Away from 18 December to 6 January", True),
        ("Away from 18 December 2026 until 6 January 2027", True),
        ("Skiing, 20 December – 4 January 2027", True),
        ("Away Friday 18 December to Monday, 4 January", True),
        ("Away from the 20th to the 30th of December", True),
        ("Away between 20 and 30 December", True),
        ("Away December 20 to 30, 2026", True),
        ("Away 20-30 December", True),
        ("Away 2026-12-18 to 2027-01-06", True),
        ("Ferien vom 18.12. bis zum 6.1.2027", True),
        ("Ferien 18.12.–6.1.", True),
        ("Geschlossen vom 18. bis 31.12.", True),
        ("Geschlossen 18.-31.12.2026", True),
        ("Geschlossen vom 18. bis 26.12.", False),
        ("Open every year from 20 December 2020 to 6 January 2021", True),
        ("Open every year from 1 May to 30 November", False),
        ("Away from 18 December 2025 to 6 January 2026", False),
        ("Away 20–30 December", True),
        ("Zwischen dem 18. und dem 31. December", True),
        ("Leave from 1 October to 1 March", True),
        ("The inspection was moved from 18 December to 6 January", False),
        ("Away 20 to 26 December", False),
        ("They met on 18 December and on 6 January", False),
        ("At 10 to 9, 18 December", False),
        ("From 30 to 20 December", False),
        ("31 November to 40 December", False),
    ],
)
def test_what_lasts_from_one_day_to_another_is_on_those_between(text: str, is_named: bool) -> None:
    assert names_one_of(Days.of(date(2026, 12, 27)), with_english_dates(text, {})) is is_named


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Dentysta 3 grudnia o dziesiątej", "grudnia"),
        ("Dentysta 3. gru o dziesiątej", "gru"),
        ("Hammaslääkäri 3. joulukuuta 2026", "joulukuuta"),
    ],
)
def test_a_month_has_its_name_in_the_language_of_the_question(text: str, name: str) -> None:
    assert names_one_of(NEXT_WEEK, with_english_dates(text, {name: "december"}))
    assert not names_one_of(NEXT_WEEK, with_english_dates(text, {name: "october"}))


@pytest.mark.parametrize(
    ("text", "is_named"),
    [
        ("Bins go out every Thursday", True),
        ("Piano lessons on Thursdays at four", True),
        ("Choir every other thursday", True),
        ("Gym every Tuesday and Thursday", True),
        ("Frühstück jeden Donnerstag", True),
        ("Geht donnerstags in die Sauna", True),
        ("An jedem Donnerstag Chor", True),
        ("Gym every Monday, Wednesday and Thursday", True),
        ("The weekly Thursday call", True),
        ("Los Donnerstag viven en Lugo", False),  # a family
        ("War am Donnerstag in der Sauna", False),
        ("Nicht mehr jeden Donnerstag", False),
        ("Used to swim every Thursday as a child", False),
        ("No class every Thursday in August", False),
        ("It was two Thursdays ago", False),
        ("TGI Fridays is closed on Thursdays", False),
        ("No longer every Thursday", False),
        ("They met on Thursday", False),
        ("Bins go out every Tuesday", False),
    ],
)
def test_what_happens_every_week_is_on_its_day(text: str, is_named: bool) -> None:
    assert (
        is_regular_on(
            Days.of(date(2026, 11, 26)), with_english_dates(text, {"donnerstag": "thursday"})
        )
        is is_named
    )


@pytest.mark.parametrize(
    ("text", "day", "is_named"),
    [
        ("Rent is due on the first of the month", "2026-12-01", True),
        ("Rent is due on the first of the month", "2026-12-02", False),
        ("Rent is due on the 1st of every month", "2026-12-01", True),
        ("The cleaners are paid on the 15th of each month", "2026-12-15", True),
        ("The cleaners are paid on the 1st and the 15th of each month", "2026-12-01", True),
        ("Salaries go out every month on the 28th", "2026-12-28", True),
        ("Salaries go out monthly, on the 28th", "2026-12-28", True),
        ("Salaries go out monthly, on the 28th", "2026-12-08", False),
        ("Each month, by the 5th, the timesheets are handed in", "2026-12-05", True),
        ("The invoices go out at the end of the month", "2027-02-28", True),
        ("The invoices go out on the last day of each month", "2026-11-30", True),
        ("The invoices go out on the last day of each month", "2026-11-29", False),
        ("The last week of the month is quiet", "2026-11-30", False),
        ("In the first half of each month she travels", "2026-12-01", False),
        ("The first two weeks of the month are hers", "2026-12-01", False),
        ("The first Wednesday of the month is choir", "2026-12-01", False),
        ("Miete am Ersten des Monats", "2026-12-01", True),
        ("Miete am 15. jedes Monats", "2026-12-15", True),
        ("Miete zum Monatsersten", "2026-12-01", True),
        ("Abrechnung zum Monatsende", "2026-12-31", True),
        ("Rent is no longer due on the first of the month", "2026-12-01", False),
        ("He was here for a month, on the 1st floor", "2026-12-01", False),
    ],
)
def test_what_happens_each_month_is_on_its_day(text: str, day: str, is_named: bool) -> None:
    assert is_regular_on(Days.of(date.fromisoformat(day)), text) is is_named


def test_days_are_looked_for_as_they_are_written() -> None:
    days = Days(date(2026, 11, 30), date(2026, 12, 1))
    assert sought(days, {}) == (
        "((november | nov | '-11') & (30 | 30th | '-30'))"
        " | ((december | dec | '-12') & (1 | 01 | 1st | 1er | '-01' | '-1'))"
    )
    whole = Days(date(2026, 12, 1), date(2026, 12, 31))
    said = sought(whole, {"dezember": "december"})
    assert said == "(december | dec | dezember | '-12')"
    assert "sept" in sought(Days.of(date(2026, 9, 1)), {})


@pytest.mark.parametrize(
    ("text", "is_named"),
    [
        ("In March 2026 a missing index took it down", True),
        ("In March 2025 a missing index took it down", False),
        ("It went down on 12 March 2026", True),
        ("It went down in April 2026", False),
        ("It may go down in March", False),  # of which year?
    ],
)
def test_a_month_is_named_by_its_name_and_year(text: str, is_named: bool) -> None:
    assert (
        names_one_of(Days(date(2026, 3, 1), date(2026, 3, 31)), with_english_dates(text, {}))
        is is_named
    )
    assert not names_one_of(Days(date(2026, 3, 2), date(2026, 3, 8)), "In March 2026")


@pytest.mark.parametrize(
    ("first", "end", "days"),
    [
        ("2026-11-23", "2026-11-24", Days.of(date(2026, 11, 23))),
        ("2026-11-16", "2026-11-23", Days(date(2026, 11, 16), date(2026, 11, 22))),
        ("2026-11-25", "2026-11-26", None),  # today is not over
        ("2025-01-01", "2026-01-01", None),
    ],
)
def test_a_period_that_is_over_has_days(first: str, end: str, days: Days | None) -> None:
    start, over = (datetime.fromisoformat(one).replace(tzinfo=UTC) for one in (first, end))
    assert days_of(Period(start, over), TODAY) == days
    assert days_of(None, TODAY) is None


def test_what_is_on_and_names_none_of_the_days_is_looked_for() -> None:
    weekly, monthly, across, within = besides(Days(date(2026, 12, 29), date(2026, 12, 30)), {})
    assert weekly == "(tuesday | tuesdays | wednesday | wednesdays)"
    assert monthly == "(month | monat:*) & (29 | 29th | 30 | 30th)"
    # From one of three months before, or from December to one after it.
    assert across == (
        "((november | nov) | (october | oct) | (september | sep | sept))"
        " & ((december | dec) | (january | jan) | (february | feb) | (march | mar))"
        " | (december | dec) & ((january | jan) | (february | feb) | (march | mar))"
    )
    assert within == "(december | dec) & (30 | 30th | '-30' | 31 | 31st | '-31')"
    weekly, *_ = besides(Days.of(date(2026, 12, 29)), {"dienstag": "tuesday"})
    assert weekly == "(tuesday | tuesdays | dienstag | dienstags)"
    assert len([*besides(Days.of(date(2026, 12, 20), 12), {})]) == 2  # not what is weekly
    assert not [*besides(Days.of(date(2026, 12, 1), 31), {})]
    assert [*besides(Days.of(date.max), {})]


@given(st.dates(date(2000, 1, 1), date(2100, 1, 1)), st.integers(1, LONGEST))
def test_many_days_are_looked_for_in_few_words(first: date, count: int) -> None:
    assert len(sought(Days(first, first + timedelta(days=count - 1)), {}).split(" | ")) < 400


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("A party is planned on 19 December", date(2026, 12, 19)),
        ("Passport expires on 3 May 2028", date(2028, 5, 3)),
        ("Holiday from 20 December to 3 January", date(2027, 1, 3)),
        ("Dentist moved from 3 December to 8 December", date(2026, 12, 8)),
        # Over, or no day.
        ("Went to Rome on 3 October", None),
        ("Born on 3 May 1990", None),
        ("Version 2.10.3 since 3.11", None),
    ],
)
def test_the_last_day_to_come_that_a_text_names(text: str, day: date | None) -> None:
    assert last_day_ahead(text, date(2026, 10, 13)) == day
