"""The examples of README and docs are what the commands really print."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from cli.installation import Installation

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
TRUST = ROOT / "docs" / "trust.md"
_EXAMPLE = re.compile(r"<!-- The tests run these lines.*?-->\n```console\n(.*?)```", re.DOTALL)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d")


def test_the_example_prints_what_it_says(installation: Installation) -> None:
    wide = replace(installation, extra={"COLUMNS": "102"})
    (example,) = _examples(README)
    commands = list(_commands(example))
    assert len(commands) == 4
    for number, (words, printed) in enumerate(commands, 1):
        assert words[0] == "memory-butler"
        # The last, which recalls, is typed as a process.
        typed = wide.run if number == len(commands) else wide.inside
        answer = typed(*words[1:], "--tenant", "readme")
        assert _comparable(answer.out) == _comparable(printed)


@pytest.mark.parametrize("place", range(len(_EXAMPLE.findall(TRUST.read_text("utf-8")))))
def test_the_examples_of_trust_print_what_they_say(
    installation: Installation, tenant: str, place: int
) -> None:
    for words, printed in _commands(_examples(TRUST)[place]):
        answer = installation.inside(*words[1:], "--tenant", tenant)
        # The folder first: its random name may hold the tenant's.
        told = answer.out.replace(str(installation.data_dir), "DATA").replace(tenant, "acme")
        assert _comparable(told) == _comparable(printed)


def _examples(page: Path) -> list[str]:
    return _EXAMPLE.findall(page.read_text(encoding="utf-8"))


def _commands(example: str) -> Iterator[tuple[list[str], str]]:
    """Each command of an example, and what it prints."""
    for step in re.split(r"^\$ ", example, flags=re.MULTILINE)[1:]:
        line, _, printed = step.partition("\n")
        yield shlex.split(line), printed


def _comparable(text: str) -> list[str]:
    """Lines without ids and times, which differ each time, and without padding at their ends."""
    return [
        _TIME.sub("a time", _UUID.sub("an id", line)).rstrip() for line in text.strip().splitlines()
    ]
