"""Moments at the command line, as people write them."""

from datetime import UTC, datetime, timedelta

import pytest

from cli.installation import Installation
from memory_butler.domain.errors import InvalidInput
from memory_butler.surfaces.cli.moments import read

NOW = datetime(2026, 11, 23, 17, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-11-16", "2026-11-16"),
        ("2026-11-16T18:00:00+01:00", "2026-11-16T18:00:00+01:00"),
        ("yesterday", "2026-11-22T00:00:00+00:00"),
        ("3 days ago", "2026-11-20T00:00:00+00:00"),
        ("2 hours ago", "2026-11-23T15:30:00+00:00"),
        ("yesterday at 5pm", "2026-11-22T17:00:00+00:00"),
        ("16 November", "2026-11-16T00:00:00+00:00"),
        ("24 December", "2025-12-24T00:00:00+00:00"),
        ("16.11.2026", "2026-11-16T00:00:00+00:00"),
        ("last monday", "2026-11-16T00:00:00+00:00"),
    ],
)
def test_moments_that_have_been(text: str, moment: str) -> None:
    assert read("--from", text, NOW, ahead=False) == moment


def test_a_day_that_is_to_come() -> None:
    assert read("--valid-until", "2 January", NOW, ahead=True) == "2027-01-02"
    at_noon = read("--valid-until", "2 January at 12:00", NOW, ahead=True)
    assert at_noon == "2027-01-02T12:00:00+00:00"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("11/12/2026", "may be two dates"),
        ("7", "is not a date"),
        ("2025", "is not a date"),
        ("soon", "is not a date"),
        ("", "is not a date"),
    ],
)
def test_what_is_no_moment_is_refused(text: str, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        read("--from", text, NOW, ahead=False)


def test_a_command_takes_words_for_a_moment(installation: Installation, tenant: str) -> None:
    of = ("--tenant", tenant, "--json")
    today = datetime.now(UTC).date()
    words = ("store-fact", "user", "city", "Lisbon", "--valid-from", "3 days ago")
    stored = installation.inside(*words, *of).json["id"]
    fact = installation.inside("facts", "show", stored, *of).json["fact"]
    assert fact["valid_from"][:10] == (today - timedelta(days=3)).isoformat()
    assert installation.inside("facts", "--from", "yesterday", *of).json["total"] == 1
    assert installation.inside("facts", "--to", "yesterday", *of).json["total"] == 0
