"""The README's example is what the commands really print."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from cli.installation import Installation

README = Path(__file__).parents[2] / "README.md"
_EXAMPLE = re.compile(r"<!-- The tests run these lines.*?-->\n```console\n(.*?)```", re.DOTALL)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def test_the_example_prints_what_it_says(installation: Installation) -> None:
    wide = replace(installation, extra={"COLUMNS": "102"})
    commands = list(_commands())
    assert len(commands) == 4
    for words, printed in commands:
        assert words[0] == "memory-butler"
        answer = wide.run(*words[1:], "--tenant", "readme")
        assert _comparable(answer.out) == _comparable(printed)


def _commands() -> Iterator[tuple[list[str], str]]:
    """Each command of the example, and what it prints."""
    example = _EXAMPLE.search(README.read_text(encoding="utf-8"))
    assert example is not None
    for step in re.split(r"^\$ ", example.group(1), flags=re.MULTILINE)[1:]:
        line, _, printed = step.partition("\n")
        yield shlex.split(line), printed


def _comparable(text: str) -> list[str]:
    """Lines without ids, which differ each time, and without the padding at their ends."""
    return [_UUID.sub("an id", line).rstrip() for line in text.strip().splitlines()]
