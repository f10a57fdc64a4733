"""Find phrases that docs/style.md replaces: in pages, strings, docstrings and the dashboard.

    .venv/bin/python tools/plain_english.py

Prints one line for each finding, with what to write instead. The exit status is 1 if there is one.
"""

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parents[1]

# Regular expressions, case ignored, a space for any white space; and what to write instead.
PHRASES: Final = {
    r"arms? of words": "keyword retriever, keyword search",
    r"arms? of meaning": "vector retriever, vector search",
    r"arms?": "retriever",
    r"answered with nothing": "no results",
    r"(?:had|has|have) (?:had )?(?:its|their) time": "expired",
    r"com(?:e|es|ing) into being": "is created",
    r"whom (?:does )?a name (?:may )?means?": "the entity that a name refers to",
    r"likeliest": "best match",
    r"half an? (?:emoji|character)": "an unpaired surrogate",
    r"that trying again would not mend": "permanent failure",
    r"mend(?:s|ed|ing)?": "fix",
    r"to its maker|tells its maker": "telemetry",
    r"is no time zone": "unknown time zone",
    r"is no moment": "is not a date",
    r"is no (?:JSON|TOML|UUID|cron|array)": "is not …",
    r"tell(?:s|ing)? of": "report, show, describe",
    r"told of": "report to, show",
    r"of ours|of yours|of theirs": "our own, your own, their own",
    r"whence|whither|thereof|therein": "plain words: from where, to where, of it, in it",
    r"gone since": "deleted since",
    r"goes? unpromoted": "expires without being consolidated",
    r"utilize[sd]?|leverag(?:e|es|ed|ing)": "use",
    r"in order to": "to",
}
# Pages that quote other texts, or show the phrases themselves.
QUOTING: Final = {"docs/requirements.md", "docs/decisions.md", "docs/style.md"}
# Generated; and a table of ids.
LEFT_OUT: Final = (
    "src/memory_butler/client/generated/",
    "src/memory_butler/dashboard/",
    "src/memory_butler/journal/lifecycle.py",
)

_PATTERNS: Final = {
    re.compile(r"\b(?:" + phrase.replace(" ", r"\s+") + r")\b", re.IGNORECASE): instead
    for phrase, instead in PHRASES.items()
}
_BARE_ID: Final = re.compile(r"[A-Z]{1,5}-\d+[,.:]")
_AREA: Final = re.compile(r"^## ([A-Z]+):", re.MULTILINE)


class Finding(NamedTuple):
    """A phrase in a file, at a line that counts from 1, and what to write instead."""

    path: str
    line: int
    phrase: str
    instead: str


def findings(text: str, path: str = "", first_line: int = 1) -> Iterator[Finding]:
    """Phrases of the list in a text; of overlapping ones the first in the list."""
    taken: list[tuple[int, int]] = []
    for pattern, instead in _PATTERNS.items():
        for match in pattern.finditer(text):
            if all(match.end() <= start or end <= match.start() for start, end in taken):
                taken.append(match.span())
                line = first_line + text.count("\n", 0, match.start())
                yield Finding(path, line, " ".join(match[0].split()), instead)


def requirement_ids(text: str, path: str, areas: Iterable[str]) -> Iterator[Finding]:
    """Ids of requirements and decisions, which no page for users shows."""
    for match in re.finditer(rf"\b(?:C|{'|'.join(areas)})-\d+", text):
        line = 1 + text.count("\n", 0, match.start())
        yield Finding(path, line, match[0], "say what holds, without the id")


def in_python(source: str, path: str = "") -> Iterator[Finding]:
    """Phrases in the string literals of a module, and docstrings that begin with an id."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from findings(node.value, path, node.lineno)
            if match := _BARE_ID.match(node.value):
                yield Finding(path, node.lineno, match[0], "say what it does, then the id")


def everywhere() -> Iterator[Finding]:
    """Every finding in the repository's pages, package and dashboard."""
    areas = _AREA.findall((ROOT / "docs" / "requirements.md").read_text(encoding="utf-8"))
    for path in sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]):
        name = path.relative_to(ROOT).as_posix()
        if name not in QUOTING and not name.startswith(LEFT_OUT):
            text = path.read_text(encoding="utf-8")
            yield from findings(text, name)
            if name != "CONTRIBUTING.md":
                yield from requirement_ids(text, name, areas)
    sources = [*(ROOT / "src").rglob("*.py"), *(ROOT / "frontend" / "src").rglob("*.ts*")]
    for path in sorted(sources):
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith(LEFT_OUT):
            read = in_python if path.suffix == ".py" else findings
            yield from read(path.read_text(encoding="utf-8"), name)


if __name__ == "__main__":
    found = list(everywhere())
    for one in found:
        print(f'{one.path}:{one.line}: "{one.phrase}": write instead: {one.instead}')
    sys.exit(1 if found else 0)
