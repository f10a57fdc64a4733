"""docs/journal.md: the example runs and prints what the page says; the tables are the code's."""

import re
from pathlib import Path

import pytest

from memory_butler.domain.transitions import START
from memory_butler.journal.items import MEMORY_TYPES
from memory_butler.journal.lifecycle import STATUS_TRANSITIONS
from memory_butler.journal.policy import HALF_LIVES
from memory_butler.journal.tags import VERBS

PAGE = Path(__file__).parents[2] / "docs" / "journal.md"


def block_after(mark: str) -> str:
    match = re.search(rf"<!-- {mark} -->\n```\w+\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert match is not None, f"docs/journal.md has no block marked {mark}"
    return match[1]


def half_lives() -> str:
    rows = ["| Type | Hours | Turns |", "|---|---|---|"]
    for type in MEMORY_TYPES:
        half = HALF_LIVES.get(type)
        figures = f"{half.hours} | {half.turns}" if half else "no decay | no decay"
        rows.append(f"| `{type}` | {figures} |")
    return "\n".join(rows)


def transitions() -> str:
    rows = ["| From | Event | To | Only if |", "|---|---|---|---|"]
    for row in STATUS_TRANSITIONS:
        source = "(new)" if row.source == START else f"`{row.source}`"
        rows.append(f"| {source} | `{row.event}` | `{row.target}` | {row.guard} |")
    return "\n".join(rows)


@pytest.mark.requirement(
    "JASM-01", "JASM-03", "JASM-04", "JASM-05", "JASM-06", "JASM-07", "JASM-08", "JSCH-18"
)
def test_the_example_prints_what_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(block_after("example"), str(PAGE), "exec"), {})  # noqa: S102
    assert capsys.readouterr().out == block_after("output")


@pytest.mark.parametrize(
    ("mark", "table"), [("half-lives", half_lives()), ("transitions", transitions())]
)
def test_the_tables_are_those_of_the_code(mark: str, table: str) -> None:
    assert f"<!-- {mark} -->\n\n{table}\n" in PAGE.read_text("utf-8")


@pytest.mark.requirement("JSUP-03", "JSUP-04")
def test_every_verb_is_on_the_page() -> None:
    told = {
        (type, verb.strip()): effect
        for type, verbs, effect in re.findall(
            r"^\| `(\w+)` \| ([a-z, ]+) \| (\w+) \|$", PAGE.read_text("utf-8"), re.MULTILINE
        )
        for verb in verbs.split(",")
    }
    ends = {row.event: row.target for row in STATUS_TRANSITIONS}
    verbs = {
        (type, word): ends[verb] for type, words in VERBS.items() for word, verb in words.items()
    }
    assert told == verbs
