"""The notes of basic-memory: a folder of Markdown files.

A line `- [category] text #tag (context)` is an observation, and becomes a fact about the note's
subject; `- relation [[Other note]]` is a relation, and becomes one too. All other text of a note,
fenced code as well, becomes an episode: it may hold what nobody has put into a fact yet.

A note is known by its permalink, or by its path. Its title is what its facts are about, unless
several notes have the same.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from pathlib import PurePosixPath
from typing import Final

from memory_butler.domain.errors import InvalidInput
from memory_butler.engine.import_format import BadLine, EpisodeLine, FactLine
from memory_butler.engine.importers.source import Document, Found, moment, present

MAX_NOTE_BYTES: Final = 8 * 1024 * 1024
_BEGINNING_BYTES: Final = 65_536

_FIELD: Final = re.compile(r"^(\w++):(.*)$")
_OBSERVATION: Final = re.compile(r"^\s*[-*]\s+\[(?P<category>[^\]\[]{2,})\]\s+(?P<text>\S.*)$")
_RELATION: Final = re.compile(
    r"^\s*+[-*]\s++(?P<relation>[^\s\[\]][^\[\]]*+)(?<=\s)\[\[(?P<target>[^\]]++)\]\]"
)
_FENCE: Final = re.compile(r"^\s{0,3}(```|~~~)")
_TAG: Final = re.compile(r"(?<!\S)#([\w/-]+)")


@dataclass(frozen=True, slots=True)
class _Statement:
    number: int
    category: str
    content: str
    tags: list[str]


def recognises(document: Document) -> bool:
    """Whether it is a note: it names its permalink, or makes an observation."""
    if not document.name.endswith(".md"):
        return False
    fields, lines = _beginning(document)
    return "permalink" in fields or any(_OBSERVATION.match(line) for line in lines)


def reader(documents: Sequence[Document]) -> Callable[[Document, str], Iterator[Found]]:
    """What reads one of these notes."""
    titles = Counter(_title(_beginning(one)[0], one).casefold() for one in documents)
    shared = frozenset(title for title, notes in titles.items() if notes > 1)
    return partial(_read_note, shared)


def _beginning(document: Document) -> tuple[dict[str, str], list[str]]:
    try:
        with document.open() as file:
            text = file.read(_BEGINNING_BYTES).decode("utf-8-sig", "replace")
    except (OSError, InvalidInput):  # told when the note is read
        text = ""
    fields, _, lines = _parted(text.splitlines())
    return fields, lines


def _title(fields: dict[str, str], document: Document) -> str:
    return fields.get("title") or PurePosixPath(document.name).stem


def _read_note(shared: frozenset[str], document: Document, butler: str) -> Iterator[Found]:
    """The note's prose, then its statements."""
    with document.open() as file:
        data = file.read(MAX_NOTE_BYTES + 1)
    if len(data) > MAX_NOTE_BYTES:
        said = f"the note is longer than {MAX_NOTE_BYTES:,} bytes"
        yield Found(1, "", BadLine(1, said, document.name), document.size)
        return
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        said = "the note is not UTF-8: save it as UTF-8 and import it again"
        yield Found(1, "", BadLine(1, said, document.name), document.size)
        return
    fields, first, lines = _parted(text.splitlines())
    title = _title(fields, document)
    own = fields.get("permalink") or document.name
    subject = own.removesuffix(".md") if title.casefold() in shared else title
    written = moment(fields.get("created") or fields.get("date")) or _changed(document)
    metadata = {"imported_from": "basic-memory", "note": document.name}
    prose, statements = _read(lines, first, title)
    if prose:
        digest = sha256(prose.encode()).hexdigest()[:16]
        line = EpisodeLine(
            kind="episode",
            content=f"{title}\n\n{prose}",
            butler=butler,
            occurred_at=written,
            metadata=metadata,
        )
        yield Found(first, f"basic-memory/{own}/{digest}", line, document.size)
    often = Counter(one.category for one in statements)
    for one in statements:
        digest = sha256(f"{one.category}/{one.content}".encode()).hexdigest()[:8]
        # Several of one category in a note are all true: none may supersede another.
        predicate = one.category if often[one.category] == 1 else f"{one.category} {digest}"
        fact = FactLine(
            kind="fact",
            subject=subject,
            predicate=predicate,
            content=one.content,
            source_butler=butler,
            metadata=metadata,
            **present(tags=one.tags or None, valid_from=written),
        )
        key = f"basic-memory/{own}/{digest}"
        yield Found(one.number, key, fact, document.size)


def _parted(lines: list[str]) -> tuple[dict[str, str], int, list[str]]:
    """The fields of the front matter, and the rest with the number of its first line."""
    if not lines or lines[0].strip() != "---" or "---" not in lines[1:]:
        return {}, 1, lines
    end = lines.index("---", 1)
    matches = [match for line in lines[1:end] if (match := _FIELD.match(line))]
    fields = {match[1].lower(): said for match in matches if (said := match[2].strip())}
    stated = {name: said.strip("'\"") for name, said in fields.items()}
    return stated, end + 2, lines[end + 1 :]


def _read(lines: list[str], first: int, title: str) -> tuple[str, list[_Statement]]:
    prose: list[str] = []
    statements: list[_Statement] = []
    fence = ""
    for number, line in enumerate(lines, first):
        if mark := _FENCE.match(line):
            fence = "" if fence == mark[1] else fence or mark[1]
        if fence or mark:
            prose.append(line)
        elif match := _OBSERVATION.match(line):
            tags = _TAG.findall(match["text"])
            statements.append(_Statement(number, match["category"].strip(), match["text"], tags))
        elif match := _RELATION.match(line):
            relation = match["relation"].strip()
            said = f"{title} {relation.replace('_', ' ')} {match['target']}"
            statements.append(_Statement(number, relation, said, []))
        elif not line.startswith("#"):  # a heading alone says nothing
            prose.append(line)
    return "\n".join(prose).strip(), statements


def _changed(document: Document) -> datetime:
    return datetime.fromtimestamp(document.path.stat().st_mtime, UTC)
