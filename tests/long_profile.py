"""A pytest plugin: tests marked `nightly` run in the long profile, and where somebody names them.

Loaded by `-p long_profile` in pyproject.toml. `make test` leaves them out before anything else looks
at what was collected, so that a requirement which only they show counts as one without a test.
"""

import os
from collections.abc import Iterator
from typing import Final

import pytest

NIGHTLY: Final = os.environ.get("HYPOTHESIS_PROFILE") == "nightly"
_left = pytest.StashKey[int]()


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


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Of a run without workers: these collect for themselves."""
    if left := config.stash.get(_left, 0):
        terminalreporter.line(f"left out: {left} of the long profile, HYPOTHESIS_PROFILE=nightly")
