"""Dates in words, in the user's own time zone."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_butler.journal.due import due_date, in_zone, window
from memory_butler.journal.policy import JournalPolicy

BERLIN = JournalPolicy(zone=ZoneInfo("Europe/Berlin"))
NOW = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)  # a Wednesday


def local(moment: datetime | None, policy: JournalPolicy = BERLIN) -> str | None:
    return moment.astimezone(policy.zone).isoformat() if moment else None


@pytest.mark.requirement("JSCH-09", "JLOOK-06")
@pytest.mark.parametrize(
    ("text", "due"),
    [
        ("call mum on friday at 5pm", "2026-03-06T17:00:00+01:00"),
        ("organize desk by tuesday", "2026-03-10T23:59:59+01:00"),
        ("dentist on march 12 2026 at 10:30", "2026-03-12T10:30:00+01:00"),
        ("lunch tomorrow at quarter to one", "2026-03-05T12:45:00+01:00"),
        ("pay rent on the 1st", "2026-04-01T23:59:59+02:00"),
        ("water the plants in 3 days", "2026-03-07T23:59:59+01:00"),
        ("meeting at 9am", "2026-03-05T09:00:00+01:00"),
        ("finish by next week", "2026-03-15T23:59:59+01:00"),
        ("call Ada in ten days", "2026-03-14T23:59:59+01:00"),
        ("tidy up by 2026-03-29", "2026-03-29T23:59:59+02:00"),
        ("call at 5pm UTC", "2026-03-04T18:00:00+01:00"),
        ("see them today", "2026-03-04T23:59:59+01:00"),
        ("book a table for new year's\neve", "2026-12-31T23:59:59+01:00"),
        ("leave in half  an hour", "2026-03-04T13:30:00+01:00"),
        # Past, or no date at all.
        ("remember 2020-01-01", None),
        ("buy 2 kg of flour", None),
        ("I may go to the sun", None),
        ("read ten pages a day", None),
        ("mon ami, sat on the couch", None),
        ("build the 4th wall", None),
        ("", None),
    ],
)
def test_due_dates_within_a_text(text: str, due: str | None) -> None:
    assert local(due_date(None, text, NOW, BERLIN)) == due


@pytest.mark.requirement("JSCH-09")
def test_the_attribute_comes_first() -> None:
    text = "call mum on friday"
    assert local(due_date("2026-03-09T10:00", text, NOW, BERLIN)) == "2026-03-09T10:00:00+01:00"
    assert local(due_date("gibberish", text, NOW, BERLIN)) == "2026-03-06T23:59:59+01:00"
    span = due_date("2026-03-09 14:00-15:00", text, NOW, BERLIN)
    assert local(span) == "2026-03-09T14:00:00+01:00"
    assert due_date("2025-01-01", text, NOW, BERLIN) is None


# On Wednesday, 4 March, at 13:00.
@pytest.mark.requirement("JSCH-09", "JLOOK-06")
@pytest.mark.parametrize(
    ("phrase", "day"),
    [
        # A date of today is today's, not next year's.
        ("4 March", "2026-03-04"),
        ("march 4", "2026-03-04"),
        ("by 4.3.", "2026-03-04"),
        ("wednesday, march 4", "2026-03-04"),
        ("3 March", "2027-03-03"),
        # "Next" and the name of today are a week away.
        ("next wednesday", "2026-03-11"),
        ("coming wednesday", "2026-03-11"),
        ("this wednesday", "2026-03-04"),
        ("on wednesday", "2026-03-04"),
        ("next thursday", "2026-03-05"),
        ("the wednesday after next", "2026-03-18"),
        ("the friday after next", "2026-03-13"),
        ("friday week", "2026-03-13"),
        ("a week today", "2026-03-11"),
        ("two weeks tomorrow", "2026-03-19"),
        # Days of some month.
        ("the first monday of the month", "2026-04-06"),
        ("the first wednesday of this month", "2026-03-04"),
        ("the second tuesday of next month", "2026-04-14"),
        ("last friday of the month", "2026-03-27"),
        ("first monday in may", "2026-05-04"),
        ("the first monday of february", "2027-02-01"),
        ("the last sunday of march 2027", "2027-03-28"),
        # Figures alone.
        ("3.5.", "2026-05-03"),
        ("03.05.", "2026-05-03"),
    ],
)
def test_the_day_that_is_meant(phrase: str, day: str) -> None:
    due = local(due_date(phrase, "do it", NOW, BERLIN))
    assert due is not None
    assert due.startswith(f"{day}T23:59:59")
    span = window(phrase, NOW, BERLIN)
    assert span is not None
    assert (local(span.end - timedelta(seconds=1)) or "").startswith(day)


@pytest.mark.requirement("JSCH-09")
@pytest.mark.parametrize(
    ("language", "text", "day"),
    [
        ("de", "Mama anrufen 4. März", "2026-03-04"),
        ("de", "Miete am 5. März zahlen", "2026-03-05"),
        ("de", "am Freitag zum Arzt", "2026-03-06"),
        ("de", "am 3.5. Miete zahlen", "2026-05-03"),
        ("de", "Miete zahlen 4. März 2027", "2027-03-04"),
        ("fr", "appeler maman le 4 mars", "2026-03-04"),
        ("es", "llamar a mamá el 4 de marzo", "2026-03-04"),
        ("es", "renovar el pasaporte en un año", "2027-12-31"),
    ],
)
def test_a_day_in_another_language(language: str, text: str, day: str) -> None:
    policy = JournalPolicy(zone=ZoneInfo("Europe/Berlin"), languages=(language,))
    assert (local(due_date(None, text, NOW, policy)) or "").startswith(day)


@pytest.mark.requirement("JSCH-09")
@pytest.mark.parametrize(
    ("phrase", "due"),
    [
        ("4 March at 5pm", "2026-03-04T17:00:00+01:00"),
        # Past today: a birthday comes again.
        ("4 March at 9am", "2027-03-04T09:00:00+01:00"),
        ("next wednesday at 5pm", "2026-03-11T17:00:00+01:00"),
        ("next wednesday morning at 9", "2026-03-11T09:00:00+01:00"),
        ("Thursday (5 March) 10:30", "2026-03-05T10:30:00+01:00"),
        ("Thursday (March 5) at 10:30", "2026-03-05T10:30:00+01:00"),
        ("4 March 2026 at 9am", None),
        ("tonight at 1am", "2026-03-05T01:00:00+01:00"),
        ("at 1 tonight", "2026-03-05T01:00:00+01:00"),
        ("tonight at 12", "2026-03-05T00:00:00+01:00"),
        ("tonight at 12:30", "2026-03-05T00:30:00+01:00"),
        ("at 12:15 tonight", "2026-03-05T00:15:00+01:00"),
        ("tonight at 9", "2026-03-04T21:00:00+01:00"),
    ],
)
def test_the_moment_that_is_meant(phrase: str, due: str | None) -> None:
    assert local(due_date(phrase, "do it", NOW, BERLIN)) == due


@pytest.mark.requirement("JLOOK-06")
@pytest.mark.parametrize(
    ("phrase", "start", "end"),
    [
        ("next tuesday", "2026-03-10T00:00:00+01:00", "2026-03-11T00:00:00+01:00"),
        ("today", "2026-03-04T00:00:00+01:00", "2026-03-05T00:00:00+01:00"),
        ("yesterday", "2026-03-03T00:00:00+01:00", "2026-03-04T00:00:00+01:00"),
        ("friday at 5pm", "2026-03-06T00:00:00+01:00", "2026-03-07T00:00:00+01:00"),
        ("the 15th", "2026-03-15T00:00:00+01:00", "2026-03-16T00:00:00+01:00"),
        ("this week", "2026-03-02T00:00:00+01:00", "2026-03-09T00:00:00+01:00"),
        ("next week", "2026-03-09T00:00:00+01:00", "2026-03-16T00:00:00+01:00"),
        ("next month", "2026-04-01T00:00:00+02:00", "2026-05-01T00:00:00+02:00"),
        # The clocks change on this day: 23 hours.
        ("march 29", "2026-03-29T00:00:00+01:00", "2026-03-30T00:00:00+02:00"),
        # What lasts, to its end.
        ("from 12 to 14 march", "2026-03-12T00:00:00+01:00", "2026-03-15T00:00:00+01:00"),
        ("march 12-14", "2026-03-12T00:00:00+01:00", "2026-03-15T00:00:00+01:00"),
        ("from 28 april to 3 may", "2026-04-28T00:00:00+02:00", "2026-05-04T00:00:00+02:00"),
        ("from friday to tuesday", "2026-03-06T00:00:00+01:00", "2026-03-11T00:00:00+01:00"),
        ("from monday to friday", "2026-03-09T00:00:00+01:00", "2026-03-14T00:00:00+01:00"),
    ],
)
def test_windows_are_whole_local_days(phrase: str, start: str, end: str) -> None:
    span = window(phrase, NOW, BERLIN)
    assert span is not None
    assert (local(span.start), local(span.end)) == (start, end)
    assert span.holds(span.start)
    assert not span.holds(span.end)
    assert not span.holds(None)


@pytest.mark.requirement("JLOOK-06")
@pytest.mark.parametrize("zone", ["Pacific/Auckland", "America/Los_Angeles", "UTC"])
def test_a_day_is_the_users_day(zone: str) -> None:
    policy = JournalPolicy(zone=ZoneInfo(zone))
    span = window("today", NOW, policy)
    assert span is not None
    today = NOW.astimezone(policy.zone).date()
    assert span.start.astimezone(policy.zone).date() == today
    assert span.end - span.start == timedelta(days=1)
    assert span.holds(NOW)


@pytest.mark.requirement("JLOOK-06")
def test_what_is_no_date_has_no_window() -> None:
    for phrase in ("", "gibberish", "2026-13-45", "in 99999999 years", "the 32nd"):
        assert window(phrase, NOW, BERLIN) is None


@pytest.mark.requirement("JLOOK-06")
@settings(max_examples=60)
@given(
    st.text(max_size=40)
    | st.lists(
        st.sampled_from(
            "in on next the 1st 31 99 of february week days years ago : / - 5pm".split()
        ),
        max_size=6,
    ).map(" ".join)
)
def test_no_phrase_raises_and_no_due_date_is_past(text: str) -> None:
    span = window(text, NOW, BERLIN)
    assert span is None or span.start < span.end
    due = due_date(text, text, NOW, BERLIN)
    assert due is None or due > NOW


ZONES = [
    "Pacific/Honolulu",
    "America/New_York",
    "America/St_Johns",
    "UTC",
    "Europe/Berlin",
    "Asia/Kathmandu",
    "Asia/Tokyo",
    "Pacific/Auckland",
]


@pytest.mark.parametrize("there", ZONES)
@pytest.mark.parametrize("here", ZONES)
def test_what_is_due_on_a_day_is_due_on_that_day_wherever_one_travels(
    here: str, there: str
) -> None:
    for day in ("1 April 2026", "3 October 2026"):
        due = due_date(None, f"call mum on {day}", NOW, JournalPolicy(zone=ZoneInfo(here)))
        assert due is not None
        local = in_zone(due, ZoneInfo(there)).astimezone(ZoneInfo(there))
        assert f"{local.day} {local:%B %Y %H:%M:%S}" == f"{day} 23:59:59"
        # A time of day is a moment.
        at = due_date(None, f"call mum on {day} at 6pm", NOW, JournalPolicy(zone=ZoneInfo(here)))
        assert at is not None
        assert in_zone(at, ZoneInfo(there)) == at
    soon = NOW.replace(second=59, microsecond=5) + timedelta(minutes=59)
    assert in_zone(soon, ZoneInfo(there)) == soon


@pytest.mark.parametrize(
    ("now", "text", "due"),
    [
        # It is 02:30 in summer time, and 02:00 comes again in half an hour.
        ("2026-10-25T00:30Z", "ring in 30 minutes", "2026-10-25T02:00:00+01:00"),
        ("2026-10-25T00:30Z", "ring in 2 hours", "2026-10-25T03:30:00+01:00"),
        ("2026-10-25T00:30Z", "ring at 2:45am", "2026-10-25T02:45:00+02:00"),
        ("2026-10-25T01:30Z", "ring at 2:45am", "2026-10-25T02:45:00+01:00"),
        ("2026-10-25T01:30Z", "ring at 2:15am", "2026-10-26T02:15:00+01:00"),
        ("2026-10-25T01:30Z", "ring every hour", "2026-10-25T03:30:00+01:00"),
        ("2026-10-25T01:30Z", "ring today", "2026-10-25T23:59:59+01:00"),
    ],
)
def test_what_is_soon_is_no_past_while_the_clocks_go_back(now: str, text: str, due: str) -> None:
    said = datetime.fromisoformat(now)
    assert local(due_date(None, text, said, BERLIN)) == due
