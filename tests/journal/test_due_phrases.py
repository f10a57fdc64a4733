"""Due dates against the table of phrases; and that the table is what it says it is."""

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest

from memory_butler.journal.due import due_date
from memory_butler.journal.policy import JournalPolicy

from .due_phrases import DEVELOPED, KEPT, PHRASES, TRIED_LATER

BERLIN = JournalPolicy(zone=ZoneInfo("Europe/Berlin"))
NOW = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)


def told(phrase: str) -> str | None:
    due = due_date(None, phrase, NOW, BERLIN)
    if due is None:
        return None
    local = due.astimezone(BERLIN.zone).replace(tzinfo=None).isoformat(timespec="seconds")
    return local.removesuffix("T23:59:59").removesuffix(":00")


def test_the_table_is_large_and_each_phrase_is_told_once() -> None:
    assert len(PHRASES) >= 120
    assert len({phrase for phrase, _ in PHRASES}) == len(PHRASES)
    assert abs(len(DEVELOPED) - len(KEPT)) <= 1
    for _, due in PHRASES:
        assert due is None or datetime.fromisoformat(due).date() >= date(2026, 3, 4)


@pytest.mark.requirement("JSCH-09")
@pytest.mark.parametrize(("phrase", "due"), DEVELOPED)
def test_the_phrases_that_the_reader_was_made_with(phrase: str, due: str | None) -> None:
    assert told(phrase) == due


@pytest.mark.requirement("JSCH-09")
@pytest.mark.parametrize(("phrase", "due"), TRIED_LATER)
def test_the_phrases_that_were_tried_later(phrase: str, due: str | None) -> None:
    assert told(phrase) == due


@pytest.mark.requirement("JSCH-09")
def test_of_the_kept_phrases_nearly_all_are_right_and_none_has_a_wrong_date() -> None:
    read = [(phrase, told(phrase), due) for phrase, due in KEPT]
    assert [one for one in read if one[1] not in (None, one[2])] == []
    assert sum(found == due for _, found, due in read) >= 0.95 * len(KEPT)
