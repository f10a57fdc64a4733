import time
from datetime import UTC, date, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_butler.domain.errors import InvalidInput
from memory_butler.domain.facts import (
    VALIDITIES,
    FactKey,
    FactPeriod,
    Validity,
    end_of_day,
    last_day,
    lifecycle_state,
    search_text,
    validity_period,
)

from .moments import NOW, days_ago, moments

ENTITY = UUID(int=1)
OTHER_ENTITY = UUID(int=2)
words = st.text(alphabet="ab\x00\"',[] ", max_size=4)


@pytest.mark.requirement("LIFE-04")
def test_without_an_entity_the_subject_is_the_key() -> None:
    key = FactKey.of("global", "favorite_color", "user")
    assert key == FactKey("global", "favorite_color", "user", None)
    assert key != FactKey.of("global", "favorite_color", "guest")
    assert key != FactKey.of("health", "favorite_color", "user")


@pytest.mark.requirement("LIFE-04")
def test_with_an_entity_the_subject_does_not_count() -> None:
    key = FactKey.of("global", "favorite_color", "user", ENTITY)
    assert key == FactKey.of("global", "favorite_color", "the user", ENTITY)
    assert key != FactKey.of("global", "favorite_color", "user", OTHER_ENTITY)
    assert key != FactKey.of("global", "favorite_color", "user")


@pytest.mark.parametrize(("subject", "entity"), [("user", ENTITY), (None, None)])
def test_a_key_has_a_subject_or_an_entity(subject: str | None, entity: UUID | None) -> None:
    with pytest.raises(InvalidInput, match="exactly one"):
        FactKey("global", "name", subject, entity)


def test_a_key_has_the_form_of_what_is_stored() -> None:
    assert FactKey.of("global", "na\x00me", "us\x00er\ud800") == FactKey.of(
        "global", "name", "user\ufffd"
    )


def test_a_lock_id_is_the_same_in_every_process() -> None:
    # Processes of two releases must take the same lock: this number may never change.
    assert FactKey.of("global", "name", "user").lock_id("default") == 819_036_712_202_674_933


@given(words, words, words, words, words, words)
def test_different_keys_have_different_locks(
    scope: str, predicate: str, subject: str, scope2: str, predicate2: str, subject2: str
) -> None:
    one, other = FactKey.of(scope, predicate, subject), FactKey.of(scope2, predicate2, subject2)
    assert (one == other) == (one.lock_id("t") == other.lock_id("t"))


@given(st.text(), st.text(), st.text(), st.text(), st.none() | st.uuids())
def test_a_lock_id_fits_bigint_and_depends_on_the_tenant(
    tenant: str, scope: str, predicate: str, subject: str, entity: UUID | None
) -> None:
    key = FactKey.of(scope, predicate, subject, entity)
    assert -(2**63) <= key.lock_id(tenant) < 2**63
    assert key.lock_id(tenant) == FactKey.of(scope, predicate, subject, entity).lock_id(tenant)
    assert key.lock_id(tenant) != key.lock_id(tenant + "x")


@pytest.mark.requirement("LIFE-01")
@pytest.mark.parametrize("validity", VALIDITIES)
def test_only_an_active_fact_can_be_fading(validity: Validity) -> None:
    marked = lifecycle_state(validity, {"status": "fading"})
    assert marked == ("fading" if validity == "active" else validity)
    assert lifecycle_state(validity, {}) == validity
    assert lifecycle_state(validity, {"status": None}) == validity


def test_all_three_parts_of_a_fact_are_searched() -> None:
    assert search_text("user", "favorite_color", "blue") == "user favorite_color blue"


def test_a_fact_is_true_from_now_on_unless_told_otherwise() -> None:
    assert validity_period(None, None, NOW) == FactPeriod(NOW, None, "active")


def test_a_fact_that_has_ended_is_born_superseded() -> None:
    begin, end = days_ago(30), days_ago(1)
    assert validity_period(begin, end, NOW) == FactPeriod(begin, end, "superseded")
    assert validity_period(begin, NOW, NOW).validity == "superseded"


def test_a_fact_that_will_end_is_active() -> None:
    end = NOW + timedelta(microseconds=1)
    assert validity_period(None, end, NOW) == FactPeriod(NOW, end, "active")


def test_a_fact_cannot_begin_in_the_future() -> None:
    with pytest.raises(InvalidInput, match="future"):
        validity_period(NOW + timedelta(minutes=1, microseconds=1), None, NOW)


@pytest.mark.parametrize("ahead", [timedelta(microseconds=1), timedelta(minutes=1)])
def test_a_fact_that_begins_now_by_a_clock_that_is_ahead_begins_now(ahead: timedelta) -> None:
    assert validity_period(NOW + ahead, None, NOW) == FactPeriod(NOW, None, "active")


@pytest.mark.parametrize("end", [days_ago(2), days_ago(3)])
def test_a_fact_ends_after_it_began(end: datetime) -> None:
    with pytest.raises(InvalidInput, match="later than valid_from"):
        validity_period(days_ago(2), end, NOW)


def test_an_ended_fact_needs_to_say_when_it_began() -> None:
    with pytest.raises(InvalidInput, match="give the valid_from"):
        validity_period(None, days_ago(1), NOW)


@pytest.mark.parametrize("which", ["valid_from", "valid_until"])
def test_a_moment_needs_a_time_zone(which: str) -> None:
    naive = days_ago(1).replace(tzinfo=None)
    begin, end = (naive, None) if which == "valid_from" else (None, naive)
    with pytest.raises(InvalidInput, match=f"{which} has no time zone"):
        validity_period(begin, end, NOW)


@given(st.none() | moments, st.none() | moments)
def test_every_accepted_period_is_sound(begin: datetime | None, end: datetime | None) -> None:
    try:
        period = validity_period(begin, end, NOW)
    except InvalidInput:
        start = begin or NOW
        assert start > NOW or (end is not None and end <= start)
        return
    assert period.valid_from <= NOW
    assert period.valid_until is None or period.valid_from < period.valid_until
    ended = period.valid_until is not None and period.valid_until <= NOW
    assert period.validity == ("superseded" if ended else "active")


@pytest.mark.parametrize(
    ("zone", "end"),
    [
        ("UTC", "2026-03-13T00"),
        ("America/Los_Angeles", "2026-03-13T07"),
        ("Asia/Tokyo", "2026-03-12T15"),
    ],
)
def test_a_day_as_an_end_is_over_where_the_server_is(
    monkeypatch: pytest.MonkeyPatch, zone: str, end: str
) -> None:
    with monkeypatch.context() as here:
        here.setenv("TZ", zone)
        time.tzset()
        ended = datetime.fromisoformat(f"{end}:00+00:00")
        assert end_of_day("2026-03-12") == ended
        assert last_day(ended) == date(2026, 3, 12)
        # As it was stored before, and where there is no later day.
        assert last_day(datetime(2026, 3, 13, tzinfo=UTC)) == date(2026, 3, 12)
        assert last_day(datetime.max.replace(tzinfo=UTC)) == date.max
    time.tzset()
    assert end_of_day("2026-03-12T10:00") is None
