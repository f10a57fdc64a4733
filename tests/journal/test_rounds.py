"""Plans that repeat: the phrases that say so, what `done`, `skip` and `drop` do to them, and when
they come round again."""

import time
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

import pytest

from conftest import Clock
from memory_butler.journal.due import due_date, schedule
from memory_butler.journal.file import JournalFile
from memory_butler.journal.items import Item
from memory_butler.journal.live import LiveJournal
from memory_butler.journal.memory import Change
from memory_butler.journal.policy import JournalPolicy
from memory_butler.journal.rounds import is_rule, next_round
from memory_butler.journal.wording import change_lines, come_due_words, repeats_words

BERLIN = JournalPolicy(zone=ZoneInfo("Europe/Berlin"))
NOW = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)  # a Wednesday, 13:00 in Berlin
COMPANION = "assistant"

# Three times that each comes round, done on time; a date alone stands for its last second.
REPEATING = (
    ("swimming every tuesday at 7pm", "2026-03-10T19:00 2026-03-17T19:00 2026-03-24T19:00"),
    ("take vitamins daily", "2026-03-04 2026-03-05 2026-03-06"),
    ("stretch daily at 7am", "2026-03-05T07:00 2026-03-06T07:00 2026-03-07T07:00"),
    ("run every morning at 7", "2026-03-05T07:00 2026-03-06T07:00 2026-03-07T07:00"),
    ("jog every morning", "2026-03-05T12:00 2026-03-06T12:00 2026-03-07T12:00"),
    ("pay the rent on the 1st of every month", "2026-04-01 2026-05-01 2026-06-01"),
    ("pay the rent every month on the 31st", "2026-03-31 2026-04-30 2026-05-31"),
    ("rent is due on the last day of each month", "2026-03-31 2026-04-30 2026-05-31"),
    ("stand-up every weekday at 9:30", "2026-03-05T09:30 2026-03-06T09:30 2026-03-09T09:30"),
    ("read on weekdays", "2026-03-04 2026-03-05 2026-03-06"),
    ("bins out every other thursday", "2026-03-05 2026-03-19 2026-04-02"),
    ("bins out every second thursday", "2026-03-05 2026-03-19 2026-04-02"),
    ("gym every tuesday and thursday at 6pm", "2026-03-05T18:00 2026-03-10T18:00 2026-03-12T18:00"),
    ("choir mondays, wednesdays and fridays", "2026-03-04 2026-03-06 2026-03-09"),
    ("call mum on sundays", "2026-03-08 2026-03-15 2026-03-22"),
    ("review the budget weekly on friday", "2026-03-06 2026-03-13 2026-03-20"),
    ("tidy the desk once a week", "2026-03-08 2026-03-15 2026-03-22"),
    ("book club every first monday of the month", "2026-04-06 2026-05-04 2026-06-01"),
    ("book club every second monday of the month", "2026-03-09 2026-04-13 2026-05-11"),
    ("drinks on the last friday of every month", "2026-03-27 2026-04-24 2026-05-29"),
    ("water the ferns every 3 days", "2026-03-07 2026-03-10 2026-03-13"),
    ("turn the mattress every 3 months", "2026-06-04 2026-09-04 2026-12-04"),
    ("renew the pass every year on 4 april", "2026-04-04 2027-04-04 2028-04-04"),
    ("party every year on february 29", "2027-02-28 2028-02-29 2029-02-28"),
    ("party on 29 february every year", "2027-02-28 2028-02-29 2029-02-28"),
    ("party, feb 29th at 6pm, annually", "2027-02-28T18:00 2028-02-29T18:00 2029-02-28T18:00"),
    ("party yearly on the last day of february", "2027-02-28 2028-02-29 2029-02-28"),
    ("pay the insurance every year on the last day of june", "2026-06-30 2027-06-30 2028-06-30"),
    ("olympics every 4 years on 29 february", "2028-02-29 2032-02-29 2036-02-29"),
    ("games on 29 february, every 4 years", "2028-02-29 2032-02-29 2036-02-29"),
    ("dad's birthday on 29 october, every year", "2026-10-29 2027-10-29 2028-10-29"),
    ("dad's birthday, october 29th every year", "2026-10-29 2027-10-29 2028-10-29"),
    ("dad's birthday every 29 october", "2026-10-29 2027-10-29 2028-10-29"),
    (
        "dad's birthday every october 29th at 9am",
        "2026-10-29T09:00 2027-10-29T09:00 2028-10-29T09:00",
    ),
    (
        "dad's birthday on 29 october, every year at 9am",
        "2026-10-29T09:00 2027-10-29T09:00 2028-10-29T09:00",
    ),
    ("pay the rent every month, starting 5 november", "2026-11-05 2026-12-05 2027-01-05"),
    ("pay the rent on 5 november, then monthly", "2026-11-05 2026-12-05 2027-01-05"),
    ("bins out every 2 weeks, starting friday", "2026-03-06 2026-03-20 2026-04-03"),
    ("write to the aunts every year at christmas", "2026-12-25 2027-12-25 2028-12-25"),
    ("dad's birthday, yearly on 29 october", "2026-10-29 2027-10-29 2028-10-29"),
    ("dad's birthday, annually on october 29", "2026-10-29 2027-10-29 2028-10-29"),
    ("dad's birthday, 29 october (yearly)", "2026-10-29 2027-10-29 2028-10-29"),
    ("call mum on friday at 5pm, weekly", "2026-03-06T17:00 2026-03-13T17:00 2026-03-20T17:00"),
    ("call mum friday every two weeks", "2026-03-06 2026-03-20 2026-04-03"),
    ("call mum weekly, friday 5pm", "2026-03-06T17:00 2026-03-13T17:00 2026-03-20T17:00"),
    ("take the pill tomorrow at 8am, daily", "2026-03-05T08:00 2026-03-06T08:00 2026-03-07T08:00"),
    ("pay the rent on 31 march, every month", "2026-03-31 2026-04-30 2026-05-31"),
    ("dad's birthday 2026-10-29, repeats every year", "2026-10-29 2027-10-29 2028-10-29"),
    ("take the pills every 8 hours", "2026-03-04T21:00 2026-03-05T05:00 2026-03-05T13:00"),
    ("every monday to friday at 9 stand-up", "2026-03-05T09:00 2026-03-06T09:00 2026-03-09T09:00"),
    ("every day from monday to friday: read", "2026-03-04 2026-03-05 2026-03-06"),
    ("every sunday to monday at 9 stand-up", "2026-03-08T09:00 2026-03-09T09:00 2026-03-15T09:00"),
    # Without some days of the week; what is one day alone is no such day.
    ("water the plants every day except friday", "2026-03-04 2026-03-05 2026-03-07"),
    (
        "run every morning at 7 except on fridays",
        "2026-03-05T07:00 2026-03-07T07:00 2026-03-08T07:00",
    ),
    (
        "every day except friday at 8am feed Rex",
        "2026-03-05T08:00 2026-03-07T08:00 2026-03-08T08:00",
    ),
    ("read daily except on thursdays and fridays", "2026-03-04 2026-03-07 2026-03-08"),
    ("read every day but friday", "2026-03-04 2026-03-05 2026-03-07"),
    ("read every weekday except for friday", "2026-03-04 2026-03-05 2026-03-09"),
    ("read every day except weekends", "2026-03-04 2026-03-05 2026-03-06"),
    ("read every day except tomorrow", "2026-03-04 2026-03-05 2026-03-06"),
    ("read every day except this week", "2026-03-04 2026-03-05 2026-03-06"),
)
# All times that it comes round, up to its end.
ENDING = (
    ("choir every monday until easter", "2026-03-09 2026-03-16 2026-03-23 2026-03-30"),
    ("ice the knee every night for 3 nights", "2026-03-04 2026-03-05 2026-03-06"),
    ("for two evenings, water the roses every evening", "2026-03-04 2026-03-05"),
    ("every day except friday until sunday: read", "2026-03-04 2026-03-05 2026-03-07 2026-03-08"),
    ("this week, every evening: drops", "2026-03-04 2026-03-05 2026-03-06 2026-03-07 2026-03-08"),
    ("until 6 march, water the plants every day", "2026-03-04 2026-03-05 2026-03-06"),
    ("yoga every tuesday at 7pm for two weeks", "2026-03-10T19:00 2026-03-17T19:00"),
    ("ointment every day at 8 for 3 days", "2026-03-05T08:00 2026-03-06T08:00 2026-03-07T08:00"),
    ("the pills every 12 hours for a day", "2026-03-05T01:00 2026-03-05T13:00"),
    ("the pills every 12 hours until tomorrow", "2026-03-05T01:00 2026-03-05T13:00"),
    (
        "walk the dog every day this week at 6pm",
        "2026-03-04T18:00 2026-03-05T18:00 2026-03-06T18:00 2026-03-07T18:00 2026-03-08T18:00",
    ),
    ("drink water every hour until 3pm", "2026-03-04T14:00 2026-03-04T15:00"),
    ("yoga from tomorrow every day for 2 days", "2026-03-05 2026-03-06"),
    (
        "the pills every 8 hours until 6pm tomorrow",
        "2026-03-04T21:00 2026-03-05T05:00 2026-03-05T13:00",
    ),
    ("the pills every 8 hours until tomorrow 5am", "2026-03-04T21:00 2026-03-05T05:00"),
    ("yoga every tuesday in the next two weeks", "2026-03-10 2026-03-17"),
    ("yoga every tuesday until friday 20 march", "2026-03-10 2026-03-17"),
    ("yoga every day from tomorrow until friday", "2026-03-05 2026-03-06"),
    ("yoga every day at 8pm starting friday for 2 days", "2026-03-06T20:00 2026-03-07T20:00"),
    ("drink every hour for 3 hours", "2026-03-04T14:00 2026-03-04T15:00 2026-03-04T16:00"),
    ("yoga every thursday and friday at 6pm this week", "2026-03-05T18:00 2026-03-06T18:00"),
    ("take pills daily until friday", "2026-03-04 2026-03-05 2026-03-06"),
    ("yoga on friday, weekly until 20 march", "2026-03-06 2026-03-13 2026-03-20"),
    ("yoga on friday, every week for two weeks", "2026-03-06 2026-03-13"),
    ("feed the fish every day from 10 to 12 march", "2026-03-10 2026-03-11 2026-03-12"),
)
# Their length, another thing to do, and a month without such a day.
ENDLESS = (
    "piano every monday for two hours",
    "ski every year for two weeks",
    "call mum every sunday; the report until friday",
    "call mum every sunday and finish the report until friday",
    "service it once a year, in october",
    "fair every monday at 8 until friday at 5",
)
NOT_REPEATING = (
    "read the daily news by friday",
    "write a weekly report by friday",
    "walk 8000 steps a day",
    "every second counts",
    "enjoy every minute of it",
    "call mum on friday",
    "do it every 0 days",
    "file the report of 3 may; every year it is late",
    "dentist on friday, every day a walk is too much",
    "team lunch friday (monthly)",
)


def written(moment: datetime, zone: tzinfo) -> str:
    local = moment.astimezone(zone).replace(tzinfo=None)
    return local.isoformat(timespec="seconds").removesuffix("T23:59:59").removesuffix(":00")


@pytest.mark.parametrize(("text", "times"), REPEATING)
def test_what_repeats_comes_round_when_it_says(text: str, times: str) -> None:
    found = schedule(None, text, NOW, BERLIN)
    assert found is not None
    assert found.repeats is not None
    dues = [found.due]
    while len(dues) < 3:
        dues.append(next_round(found.repeats, dues[-1], dues[-1], ZoneInfo("Europe/Berlin")))
    assert [written(due, ZoneInfo("Europe/Berlin")) for due in dues] == times.split()
    # The attribute says it as well as the text does; and a date there is the first time.
    assert schedule(text, "something", NOW, BERLIN) == found
    dated = schedule("2026-07-07 10:00", text, NOW, BERLIN)
    assert dated is not None
    assert dated.repeats is not None
    assert written(dated.due, ZoneInfo("Europe/Berlin")) == "2026-07-07T10:00"


@pytest.mark.parametrize(("text", "times"), ENDING)
def test_what_repeats_ends_when_it_says(text: str, times: str) -> None:
    found = schedule(None, text, NOW, BERLIN)
    assert found is not None
    assert found.repeats is not None
    assert is_rule(found.repeats)
    dues = [found.due]
    for _ in range(times.count(" ")):
        dues.append(next_round(found.repeats, dues[-1], dues[-1], BERLIN.zone))
    assert " ".join(written(one, BERLIN.zone) for one in dues) == times
    with pytest.raises(OverflowError):
        next_round(found.repeats, dues[-1], dues[-1], BERLIN.zone)


@pytest.mark.parametrize(
    ("due", "text", "then"),
    [
        (None, "gym every month on the 31st until 20 march", "2026-03-31"),
        ("2026-03-25", "gym every day until 20 march", "2026-03-25"),
        ("every day until 1 march 2026", "gym", "2026-03-04"),
        (None, "gym every day until today", "2026-03-04"),
    ],
)
def test_what_ends_by_its_first_time_is_due_once(due: str | None, text: str, then: str) -> None:
    found = schedule(due, text, NOW, BERLIN)
    assert found is not None
    assert found.repeats is None
    assert written(found.due, BERLIN.zone) == then


@pytest.mark.parametrize("text", ENDLESS)
def test_what_names_no_end_repeats_for_good(text: str) -> None:
    found = schedule(None, text, NOW, BERLIN)
    assert found is not None
    assert "UNTIL" not in (found.repeats or "UNTIL")


@pytest.mark.parametrize("text", NOT_REPEATING)
def test_what_does_not_repeat(text: str) -> None:
    found = schedule(None, text, NOW, BERLIN)
    assert found is None or found.repeats is None


@pytest.mark.parametrize(
    ("due", "text", "rule"),
    [
        ("29 October", "dad's birthday, every year", "FREQ=YEARLY;BYMONTH=10;BYMONTHDAY=29;"),
        ("friday at 5pm", "call mum every week", "FREQ=WEEKLY;BYDAY=FR;"),
        ("5 April", "pay the rent monthly", "FREQ=MONTHLY;BYMONTHDAY=5;"),
    ],
)
def test_what_only_says_how_often_comes_round_on_the_given_day(
    due: str, text: str, rule: str
) -> None:
    found = schedule(due, text, NOW, BERLIN)
    assert found is not None
    assert (found.repeats or "").startswith(rule)


def test_every_day_and_another_thing_on_a_day_are_two() -> None:
    found = schedule(None, "vitamins every day, dentist on friday", NOW, BERLIN)
    assert found is not None
    assert written(found.due, BERLIN.zone) == "2026-03-04"
    assert (found.repeats or "").startswith("FREQ=DAILY;")


def test_a_part_of_the_day_gives_way_to_a_time() -> None:
    due = due_date(None, "jog tomorrow morning at 9", NOW, BERLIN)
    assert due == datetime(2026, 3, 5, 8, 0, tzinfo=UTC)


def test_its_time_stays_when_the_clocks_change() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    for text, start, local in (
        ("run every day at 7am", datetime(2026, 3, 27, 12, tzinfo=UTC), "07:00"),
        ("run every day at 7am", datetime(2026, 10, 23, 12, tzinfo=UTC), "07:00"),
        # There is no 2:30 on 29 March: that day it is an hour later, and the next day as before.
        ("feed the cat every day at 2:30am", datetime(2026, 3, 27, 12, tzinfo=UTC), "02:30"),
    ):
        found = schedule(None, text, start, BERLIN)
        assert found is not None
        assert found.repeats is not None
        dues = [found.due]
        while len(dues) < 5:
            dues.append(next_round(found.repeats, dues[-1], dues[-1], berlin))
        days = [one.astimezone(berlin).date() for one in dues]
        assert [days[0] + timedelta(days=one) for one in range(5)] == days
        clocks = [f"{one.astimezone(berlin):%H:%M}" for one in dues]
        assert clocks[0] == clocks[-1] == local
        assert set(clocks) <= {local, "03:30"}
        assert clocks.count(local) >= 4
    # Hours are real time.
    found = schedule(None, "pills every 8 hours", datetime(2026, 3, 28, 21, tzinfo=UTC), BERLIN)
    assert found is not None
    assert found.due == datetime(2026, 3, 29, 5, tzinfo=UTC)


def test_what_never_comes_is_no_rule_and_takes_no_search_of_millennia() -> None:
    assert is_rule("FREQ=DAILY;BYMONTH=2;BYMONTHDAY=29;BYDAY=FR")
    begun = time.process_time()
    assert not is_rule("FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30")
    assert time.process_time() - begun < 0.5


def test_rounds_that_were_missed_are_left_out_and_the_step_is_kept() -> None:
    found = schedule(None, "bins out every other thursday", NOW, BERLIN)
    assert found is not None
    assert found.repeats is not None
    # Done early, on time, and three weeks late.
    for at, then in (
        (NOW, "2026-03-19"),
        (found.due, "2026-03-19"),
        (found.due + timedelta(days=1), "2026-03-19"),
        (found.due + timedelta(days=21), "2026-04-02"),
    ):
        due = next_round(found.repeats, found.due, at, ZoneInfo("Europe/Berlin"))
        assert written(due, ZoneInfo("Europe/Berlin")) == then
    # Hours count from when it was done.
    found = schedule(None, "pills every 8 hours", NOW, BERLIN)
    assert found is not None
    assert found.repeats is not None
    late = found.due + timedelta(hours=3)
    assert next_round(found.repeats, found.due, late, BERLIN.zone) == late + timedelta(hours=8)


@pytest.fixture
def live(file: JournalFile, clock: Clock) -> LiveJournal:
    clock.now = NOW
    return LiveJournal(file, BERLIN, clock)


SWIMMING = "swimming every tuesday at 7pm"


def told(changes: Iterable[Change]) -> list[tuple[str, str]]:
    return [
        (one.event, written(one.due, ZoneInfo("Europe/Berlin")) if one.due else "")
        for one in changes
    ]


def plan(live: LiveJournal) -> Item:
    (one,) = live.plans()
    return one.item


def test_done_ends_this_time_and_the_next_one_begins(live: LiveJournal, clock: Clock) -> None:
    kept = live.log('<plan due="every tuesday at 7pm">swim</plan>').changes
    assert change_lines(kept, BERLIN) == [
        "kept plan: swim, due Tuesday, 10 March 2026, 19:00, and again every Tuesday"
    ]
    live.undo()
    live.log(f"<plan>{SWIMMING}</plan>")
    clock.now = datetime(2026, 3, 10, 17, 0, tzinfo=UTC)
    at = "(due Tuesday, 10 March 2026, 19:00; approaching)"
    assert f"- [plan, user, every Tuesday] {SWIMMING} {at}" in live.assemble().user
    clock.now = datetime(2026, 3, 10, 19, 0, tzinfo=UTC)
    done = live.log("plan>done went swimming", COMPANION).changes
    assert told(done) == [("done", "2026-03-10T19:00"), ("again", "2026-03-17T19:00")]
    assert [one.status for one in live.history(2)] == ["active", "resolved"]
    assert change_lines(done, BERLIN) == [
        f"done plan: {SWIMMING}",
        f"next time of plan: {SWIMMING}, due Tuesday, 17 March 2026, 19:00",
    ]
    # The model is told, too; and it is silent until two days before.
    live.log("And now?", "user")
    prompt = live.assemble().user
    assert f"ended for this time: {SWIMMING}\n- its next time: Tuesday, 17 March 2026" in prompt
    assert "## Lingering" not in prompt
    clock.now = datetime(2026, 3, 15, 19, 0, tzinfo=UTC)
    assert SWIMMING in live.assemble().user


@pytest.mark.parametrize(
    ("due", "often"),
    [
        ("every friday at 8pm", "every Friday"),
        ("every 2 weeks", "every 2 weeks on Wednesday"),
        ("every other friday", "every 2 weeks on Friday"),
        ("on weekdays", "every Monday, Tuesday, Wednesday, Thursday and Friday"),
        ("daily at 8am", "every day"),
        ("every 8 hours", "every 8 hours"),
        ("every 1.5 hours", "every 90 minutes"),
        ("hourly", "every hour"),
        ("every first monday", "every month"),
        ("every 3 months", "every 3 months"),
        ("every year on 5 may", "every year"),
        ("every 8 hours until tuesday", "every 8 hours until 10 March 2026"),
        ("every friday until easter", "every Friday until 5 April 2026"),
    ],
)
def test_the_prompt_tells_how_often(due: str, often: str) -> None:
    found = schedule(due, "take it", datetime(2026, 3, 4, 12, 0, tzinfo=UTC), BERLIN)
    assert found is not None
    assert repeats_words(found.repeats or "") == often


def test_who_comes_back_after_weeks_hears_how_often_it_was(live: LiveJournal, clock: Clock) -> None:
    live.log("I take it every Friday evening.")
    live.log('<plan due="every friday at 8pm">take the methotrexate</plan>', COMPANION)
    clock.now = datetime(2026, 3, 27, 9, 0, tzinfo=UTC)
    often = "every Friday, next on Friday, 27 March 2026, 20:00"
    told = f"take the methotrexate (due Friday, 6 March 2026, 20:00; {often})"
    assert come_due_words(live.greeting().plans, BERLIN) == [f"overdue: {told}"]
    live.log("I am back.")
    assert f"overdue: {told}" in live.assemble().user
    assert f"- [plan, assistant, {often}] take the methotrexate (due" in live.assemble().user


@pytest.mark.parametrize(
    ("due", "when"),
    [
        # Not a day late, ended meanwhile, and of hours, which count from when it is done.
        ("every friday at 8pm", datetime(2026, 3, 7, 12, tzinfo=UTC)),
        ("every friday at 8pm until 13 march", datetime(2026, 3, 27, 9, tzinfo=UTC)),
        ("every 8 hours", datetime(2026, 3, 27, 9, tzinfo=UTC)),
    ],
)
def test_no_next_time_is_told_where_none_is_sure(
    live: LiveJournal, clock: Clock, due: str, when: datetime
) -> None:
    live.log("I take it.")
    live.log(f'<plan due="{due}">take the methotrexate</plan>', COMPANION)
    clock.now = when
    live.log("I am back.")
    assert "overdue: take the methotrexate" in live.assemble().user
    assert "next on" not in live.assemble().user


def test_said_twice_on_a_day_it_is_done_once(live: LiveJournal, clock: Clock) -> None:
    live.log(f"<plan>{SWIMMING}</plan>")
    clock.now = datetime(2026, 3, 10, 18, 30, tzinfo=UTC)
    live.log("<plan>vitamins every day</plan>")
    live.log("plan>done swimming\nplan>done vitamins")
    twice = live.log("plan>done swimming\nplan>done vitamins", COMPANION)
    assert twice.changes == ()
    assert ["done today already" in one.why() for one in twice.unmatched] == [True, True]
    # The next day it is the next time, however early.
    clock.now += timedelta(days=1)
    assert told(live.log("plan>done swimming").changes)[1] == ("again", "2026-03-24T19:00")
    # What is done again after an undo is no second time.
    clock.now += timedelta(minutes=1)
    live.undo()
    assert told(live.log("plan>done swimming").changes)[1] == ("again", "2026-03-24T19:00")


def test_drop_ends_it_for_good_and_skip_this_time(live: LiveJournal, clock: Clock) -> None:
    live.log(f"<plan>{SWIMMING}</plan>")
    skipped = live.log("plan>skip swimming", COMPANION).changes
    assert told(skipped) == [("skip", "2026-03-10T19:00"), ("again", "2026-03-17T19:00")]
    dropped = live.log("plan>drop swimming", COMPANION).changes
    assert told(dropped) == [("cancel", "2026-03-17T19:00")]
    assert change_lines(dropped, BERLIN) == [
        f"cancelled plan: {SWIMMING}, with all its times to come"
    ]
    assert live.plans() == ()
    live.log("And now?")
    assert f"ended for good: {SWIMMING}\n- it does not come round again" in live.assemble().user
    assert told(live.undo()) == [("tag", "2026-03-17T19:00")]
    # What comes back still repeats, and forgetting it ends it, too.
    clock.now = datetime(2026, 3, 18, 8, 0, tzinfo=UTC)
    assert told(live.log("plan>done swimming").changes)[1] == ("again", "2026-03-24T19:00")
    assert told([live.forget(plan(live))]) == [("forget", "2026-03-24T19:00")]
    assert live.plans() == ()


def test_the_next_time_can_be_skipped_on_the_day_of_the_last(
    live: LiveJournal, clock: Clock
) -> None:
    live.log(f"<plan>{SWIMMING}</plan>")
    clock.now = datetime(2026, 3, 10, 19, 0, tzinfo=UTC)
    live.log("plan>done swimming")
    clock.now += timedelta(minutes=1)
    skipped = live.log("plan>skip swimming").changes
    assert told(skipped) == [("skip", "2026-03-17T19:00"), ("again", "2026-03-24T19:00")]


def test_without_words_it_is_not_what_only_came_round(live: LiveJournal, clock: Clock) -> None:
    live.log(f"<plan>{SWIMMING}</plan>")
    live.log("<plan>buy stamps</plan>")
    clock.now = datetime(2026, 3, 10, 19, 0, tzinfo=UTC)
    live.log("plan>done swimming")
    done = live.log("plan>done").changes
    assert [one.content for one in done] == ["buy stamps"]


def test_undo_takes_back_the_next_time_with_the_done(live: LiveJournal, clock: Clock) -> None:
    live.log(f"<plan>{SWIMMING}</plan>")
    clock.now = datetime(2026, 3, 11, 8, 0, tzinfo=UTC)
    live.log("plan>done swimming", COMPANION)
    assert told(live.undo()) == [("forget", "2026-03-17T19:00"), ("tag", "2026-03-10T19:00")]
    one = plan(live)
    assert written(one.due or NOW, ZoneInfo("Europe/Berlin")) == "2026-03-10T19:00"
    assert one.repeats is not None
    # As it was known in between, it was the next one.
    assert told(live.log("plan>done swimming").changes)[1] == ("again", "2026-03-17T19:00")


def test_what_was_missed_and_is_told_again_in_other_words_is_one(
    live: LiveJournal, clock: Clock
) -> None:
    live.log("<plan>take the pill every morning at 8</plan>", "user")
    clock.now = datetime(2026, 3, 9, 20, 0, tzinfo=UTC)
    live.log("I forget the pill all the time.", "user")
    again = live.log('<plan due="every morning at 8">take your pill</plan>', COMPANION)
    assert told(again.changes) == [("retag", "2026-03-10T08:00")]
    before = live.at(datetime(2026, 3, 9, 19, 0, tzinfo=UTC)).plans()
    assert [written(one.item.due, BERLIN.zone) for one in before if one.item.due] == [
        "2026-03-05T08:00"
    ]
    now = live.at(datetime(2026, 3, 9, 21, 0, tzinfo=UTC))
    assert written(plan(now).due or NOW, BERLIN.zone) == "2026-03-10T08:00"
    clock.now = datetime(2026, 3, 10, 8, 0, tzinfo=UTC)
    done = live.log("plan>done take the pill", COMPANION)
    assert done.unmatched == ()
    # Another time of day is another plan.
    live.log('<plan due="every evening at 8pm">take the pill</plan>', COMPANION)
    assert len(live.plans()) == 2


def test_an_edit_keeps_the_rule_unless_the_text_has_a_date(live: LiveJournal) -> None:
    live.log('<plan due="every tuesday at 7pm">swimming</plan>')
    first = plan(live)
    live.edit(first, "swimming with Ada")
    assert plan(live).repeats == first.repeats is not None
    live.edit(plan(live), "swimming with Ada every friday at 6pm")
    assert (plan(live).repeats or "").startswith("FREQ=WEEKLY;BYDAY=FR;BYHOUR=18")
    live.edit(plan(live), "swimming with Ada tomorrow")
    assert plan(live).repeats is None


def test_putting_off_one_time_keeps_the_others(live: LiveJournal, clock: Clock) -> None:
    live.log(f"<plan>{SWIMMING}</plan>")
    live.log(f'<plan due="2026-03-12 18:00">{SWIMMING}</plan>', COMPANION)
    assert written(plan(live).due or NOW, ZoneInfo("Europe/Berlin")) == "2026-03-12T18:00"
    clock.now = datetime(2026, 3, 12, 20, 0, tzinfo=UTC)
    assert told(live.log("plan>done swimming").changes)[1][1].startswith("2026-03-17")
    # Which can be taken back one by one.
    live.undo()
    assert told(live.undo()) == [("retag", "2026-03-10T19:00")]


def test_where_somebody_lives_now_decides(
    live: LiveJournal, file: JournalFile, clock: Clock
) -> None:
    live.log(f"<plan>{SWIMMING}</plan>")
    tokyo = replace(BERLIN, zone=ZoneInfo("Asia/Tokyo"))
    clock.now = datetime(2026, 3, 10, 20, 0, tzinfo=UTC)
    (_, again) = LiveJournal(file, tokyo, clock).log("plan>done swimming").changes
    assert again.due is not None
    assert written(again.due, ZoneInfo("Asia/Tokyo")) == "2026-03-17T19:00"


def test_a_day_is_done_once_after_a_change_of_zone(
    live: LiveJournal, file: JournalFile, clock: Clock
) -> None:
    live.log("<plan>water the ferns every friday</plan>")
    new_york = ZoneInfo("America/New_York")
    away = LiveJournal(file, replace(BERLIN, zone=new_york), clock)
    clock.now = datetime(2026, 3, 6, 15, 0, tzinfo=UTC)
    (_, again) = away.log("plan>done water the ferns").changes
    assert again.due is not None
    assert written(again.due, new_york) == "2026-03-13"
    twice = away.log("plan>done water the ferns", COMPANION)
    assert ["done today already" in one.why() for one in twice.unmatched] == [True]


def test_a_plan_that_is_told_again_after_a_change_of_zone_is_one(
    live: LiveJournal, file: JournalFile, clock: Clock
) -> None:
    live.log("<plan>call the dentist by friday</plan>")
    live.log("<plan>phone Al by friday</plan>")
    away = LiveJournal(file, replace(BERLIN, zone=ZoneInfo("America/New_York")), clock)
    clock.now += timedelta(hours=1)
    (told_again,) = away.log('<plan due="friday">call the dentist</plan>', COMPANION).changes
    assert told_again.event == "retag"
    # And so is one that becomes the same by an edit.
    other = away.meant("phone Al").item
    assert other is not None
    assert [one.event for one in away.edit(other, "Call the dentist!")] == ["edit", "retag"]
    assert len(away.plans()) == 1


def test_the_past_had_the_time_of_then(live: LiveJournal, clock: Clock) -> None:
    live.log(f"<plan>{SWIMMING}</plan>")
    clock.now = datetime(2026, 3, 10, 20, 0, tzinfo=UTC)
    before = clock.now - timedelta(minutes=1)
    live.log("plan>done swimming")
    (was,) = live.at(before).plans()
    assert was.item.due == datetime(2026, 3, 10, 18, 0, tzinfo=UTC)
    assert was.item.status == "active"
    assert was.item.repeats == plan(live).repeats


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("medication every day at 8am and 8pm", "8pm"),
        ("medication daily at 8am, 2pm and 8pm", "2pm, 8pm"),
        ("call mum every friday at 18:00 and 20:30", "20:30"),
        ("call mum tomorrow at 9am or 5pm", "5pm"),
        ("medication every day at 8am/8pm", "8pm"),
        ("medication every day at 8 and 20", "20"),
        ("medication every day at 9 and at 21:00", "21:00"),
        ("medication every day at 8am, and again at 8pm", "8pm"),
        ("medication every morning at 8 and every evening at 8", "8 in the evening"),
        ("medication every evening at 8, every night at 11pm", "11pm at night"),
        ("medication every day at 8am", ""),
        ("stand-up every weekday at 9:30 to 10:00", ""),
        ("open from 9am to 5pm every day", ""),
        ("swim on tuesday at 7pm and call mum", ""),
    ],
)
def test_a_second_time_of_day_that_is_not_kept_is_told(
    live: LiveJournal, text: str, left: str
) -> None:
    _, changes = live.keep("plan", text)
    (line,) = change_lines(changes, BERLIN)
    assert "due " in line
    if left:
        assert line.endswith(f", but not at {left}: that needs a plan of its own")
    else:
        assert "but not" not in line
    undone = change_lines(live.undo(), BERLIN, taken_back=True)
    assert "but not" not in undone[0]


@pytest.mark.parametrize(
    ("due", "text", "left"),
    [
        ("every day at 8am and 8pm", "medication", "8pm"),
        ("tomorrow 8pm", "pills at 8am and 8pm", "8am"),
        ("tomorrow 8am", "pills at 8am and 8pm", "8pm"),
    ],
)
def test_so_is_one_beside_or_within_the_attribute(
    live: LiveJournal, due: str, text: str, left: str
) -> None:
    changes = live.log(f'<plan due="{due}">{text}</plan>').changes
    (line,) = change_lines(changes, BERLIN)
    assert line.endswith(f", but not at {left}: that needs a plan of its own")
