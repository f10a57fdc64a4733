"""What the real programs showed, for docs/integrations.md: noted by the tests.

`make clients-matrix` runs the tests and writes the table.
"""

import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from clients.toolbox import version

PAGE: Final = Path(__file__).parents[2] / "docs" / "integrations.md"
_BEGIN: Final = "<!-- programs that were run: `make clients-matrix` -->\n"
_END: Final = "<!-- end -->\n"
# The file that the tests note what they saw in; without this they note nothing.
VARIABLE: Final = "MEMORY_BUTLER_CLIENTS_NOTES"


def tokens(tools: Mapping[str, Any]) -> int:
    """What a model reads of tools as a request has them, four characters a token."""
    sent = (json.dumps(one, ensure_ascii=False, separators=(",", ":")) for one in tools.values())
    return sum(map(len, sent)) // 4


def note(program: str, tools: Mapping[str, Any], *, named: int) -> None:
    """Keep which of our tools a program described to its model, if somebody asked for it.

    Others may only be named.
    """
    if file := os.environ.get(VARIABLE):
        seen = {"program": program, "version": version(program), "named": named}
        seen |= {"described": len(tools), "tokens": tokens(tools)}
        with open(file, "a", encoding="utf-8") as notes:
            notes.write(json.dumps(seen) + "\n")


def table(notes: str, day: str) -> str:
    """The notes as a table."""
    rows = [json.loads(line) for line in notes.splitlines()]
    lines = [
        "| Program | Version | Tools named to its model | Described | Tokens of these | Run on |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    lines += [
        f"| `{one['program']}` | {one['version']} | {one['named']} | {one['described']} "
        f"| {one['tokens']:,} | {day} |"
        for one in sorted(rows, key=lambda one: str(one["program"]))
    ]
    return "\n".join(lines) + "\n"


def write(notes: Path) -> None:
    """Put the table into the page."""
    head, begin, rest = PAGE.read_text().partition(_BEGIN)
    if not begin:
        raise ValueError(f"{PAGE} has no line {_BEGIN!r}")
    made = table(notes.read_text(), datetime.now(UTC).date().isoformat())
    PAGE.write_text(f"{head}{begin}\n{made}\n{_END}{rest.partition(_END)[2]}")


if __name__ == "__main__":
    write(Path(os.environ[VARIABLE]))
