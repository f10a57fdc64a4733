"""What a person is told beside an answer, on standard error."""

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from cli.installation import Installation
from memory_butler.surfaces.cli import hints


@pytest.mark.parametrize(
    ("terminal", "trust", "permanence", "confirmed", "told"),
    [
        (True, None, None, None, True),
        (True, "agent_inferred", None, None, True),
        (True, "user_said", None, None, False),
        (True, None, "stable", None, False),
        (True, None, None, True, False),
        (False, None, None, None, False),
    ],
)
def test_who_types_a_rule_at_a_terminal_is_told_how_it_lasts(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    terminal: bool,
    trust: str | None,
    permanence: str | None,
    confirmed: bool | None,
    told: bool,
) -> None:
    monkeypatch.setattr(sys.stdin, "isatty", lambda: terminal)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal)
    asked = SimpleNamespace(trust=trust, permanence=permanence)
    hints.of_rule(asked, SimpleNamespace(confirmed=confirmed))
    written = capsys.readouterr()
    assert written.out == ""
    assert ("store-rule again with --trust user_said" in written.err) is told


@pytest.mark.parametrize("what", ["facts", "rules", "events"])
def test_a_period_that_ends_before_it_begins_is_told(
    installation: Installation, tenant: str, what: str
) -> None:
    installation.inside("store-rule", "Ask first", "--tenant", tenant)
    backwards = ("--from", "2026-12-01", "--to", "2026-11-01", "--tenant", tenant)
    said: Any = installation.inside(what, *backwards)
    assert said.out == f"No {what}.\n"
    assert said.told == "Nothing lies in that period: --from is not before --to.\n"
    assert installation.inside(what, *backwards, "--json").told == ""
    forwards = ("--from", "2001-01-01", "--to", "2001-02-01", "--tenant", tenant)
    assert installation.inside(what, *forwards).told == ""


@pytest.mark.parametrize("group", ["peers", "journal", "facts"])
def test_a_group_alone_lists(installation: Installation, group: str) -> None:
    assert installation.inside(group).out == installation.inside(group, "list").out
