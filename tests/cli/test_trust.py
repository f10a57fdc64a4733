"""The worked examples of docs/trust.md are what the commands really print, each at its moment."""

import re
import shlex
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from unittest import mock

import pytest

from cli.installation import Installation
from conftest import Clock
from memory_butler.engine import opening
from memory_butler.engine.memory import Memory

PAGE = Path(__file__).parents[2] / "docs" / "trust.md"
_EXAMPLE = re.compile(
    r"<!-- The tests run each of these lines.*?-->\n```console\n(.*?)```", re.DOTALL
)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_STEP = re.compile(r"^# (?P<at>\d{4}-\d\d-\d\d)\n|^\$ (?P<line>.*)\n", re.MULTILINE)


# What a word of the examples stands for: the first id that the last such command printed.
_IDS = {"contexts": "ID", "store-fact": "FACT", "store-rule": "RULE"}
_SHOWN = [
    {"recall", "diff", "explain", "replay"},
    {"conflicts"},
    {"context-without", "calibration"},
]


@pytest.mark.parametrize("place", range(len(_SHOWN)))
def test_the_examples_print_what_they_say(
    installation: Installation, tenant: str, place: int
) -> None:
    clock, ids = Clock(), dict[str, str]()
    steps = list(_steps(_EXAMPLE.findall(PAGE.read_text(encoding="utf-8"))[place]))
    assert {line.split()[1] for _, line, _ in steps} >= _SHOWN[place]
    for at, line, printed in steps:
        clock.now = at
        words = [ids.get(word, word) for word in shlex.split(line)]
        with mock.patch.object(opening, "Memory", partial(Memory, clock=clock)):
            answer = installation.inside(*words[1:], "--tenant", tenant).out
        assert _comparable(answer) == _comparable(printed), answer
        if words[1] in _IDS:
            ids[_IDS[words[1]]] = _UUID.findall(answer)[0]
        if words[1] == "store-fact":
            ids |= {"EARLIER": ids.get("LATER", ""), "LATER": ids["FACT"]}


def _steps(example: str) -> Iterator[tuple[datetime, str, str]]:
    """Each command with its moment, and what it prints."""
    at = datetime.min.replace(tzinfo=UTC)
    found = list(_STEP.finditer(example))
    for step, following in zip(found, [*found[1:], None], strict=True):
        if step["at"]:
            at = datetime.fromisoformat(f"{step['at']}T09:00:00+00:00")
        else:
            end = len(example) if following is None else following.start()
            yield at, step["line"], example[step.end() : end]


def _comparable(text: str) -> list[str]:
    """Lines without ids, which differ each time, and without the padding at their ends."""
    return [_UUID.sub("an id", line).rstrip() for line in text.strip().splitlines()]
