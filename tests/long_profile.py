"""A pytest plugin: tests marked `nightly` run in the long profile, and where somebody names them.

Loaded by `-p long_profile` in pyproject.toml. `make test` leaves them out before anything else
looks at what was collected: a requirement that only they show counts as one without a test.
"""

import os
from collections.abc import Iterable, Iterator
from typing import Any, Final

import pytest

NIGHTLY: Final = os.environ.get("HYPOTHESIS_PROFILE") == "nightly"
_left = pytest.StashKey[int]()


def by_day(every: Iterable[Any], *some: Any) -> list[Any]:
    """Cases for `parametrize`, of which only `some` run outside the long profile."""
    return [one if one in some else pytest.param(one, marks=pytest.mark.nightly) for one in every]


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Iterator[None]:
    named = tuple(given for given in config.args if "::" in given)
    run = [
        item
        for item in items
        if NIGHTLY or not item.get_closest_marker("nightly") or item.nodeid.startswith(named)
    ]
    config.stash[_left] = len(items) - len(run)
    items[:] = run
    return (yield)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker hands on how many it left out: who sums up collects nothing."""
    if (handed := getattr(session.config, "workeroutput", None)) is not None:
        handed["left_out"] = session.config.stash.get(_left, 0)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Each worker collects the same."""
    node.config.stash[_left] = getattr(node, "workeroutput", {}).get("left_out", 0)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say what was not run."""
    if left := config.stash.get(_left, 0):
        terminalreporter.line(f"left out: {left} of the long profile, HYPOTHESIS_PROFILE=nightly")
