"""The formats of other programs that can be imported, and telling which one a path holds."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from memory_butler.domain.choices import choose
from memory_butler.domain.errors import InvalidInput
from memory_butler.engine.import_format import BadLine, Candidate, begins_as_ours, memory_id
from memory_butler.engine.importers import basic_memory, chatgpt, claude_ai, claude_code, mem0
from memory_butler.engine.importers.source import Document, Found, documents, read_json

_NOBODY: Final = UUID(int=0)
# A folder whose first files are of no known format is of none.
_LOOKED_AT: Final = 100


Read = Callable[[Document, str], Iterator[Found]]


@dataclass(frozen=True, slots=True)
class Format:
    """What can be imported from another program.

    Attributes:
        name: as one says it at the command line; also the butler whose memories they become.
        suffix: of the files that hold it.
        recognises: a document by its name and how it begins.
        holds: whether anything in a document is of it, or nothing is in it; for who names it.
        reader: of all documents of an export, what reads one of them.
    """

    name: str
    suffix: str
    said: str
    recognises: Callable[[Document], bool]
    holds: Callable[[Document], bool]
    reader: Callable[[Sequence[Document]], Read]


def _named(recognises: Callable[[Any], bool], *names: str) -> Callable[[Document], bool]:
    """What tells a JSON document by its name, or its folder's, and by the first thing in it."""

    def recognises_document(document: Document) -> bool:
        parts = document.name.split("/")
        if not parts[-1].endswith(".json") or not any(one.startswith(names) for one in parts):
            return False
        found = read_json(document)
        first = found[0] if isinstance(found, list) and found else found
        return recognises(first)

    return recognises_document


def _any(recognises: Callable[[Any], bool]) -> Callable[[Document], bool]:
    """Whether the JSON document is an empty list, or one such thing is in it."""

    def holds(document: Document) -> bool:
        found = read_json(document)
        listed = found if isinstance(found, list) else [found]
        return not listed or any(map(recognises, listed))

    return holds


def _one_by_one(read: Read) -> Callable[[Sequence[Document]], Read]:
    """For a document that is read without a look at the others."""
    return lambda _: read


def _is_mem0(document: Document) -> bool:
    if not document.name.endswith(".json"):
        return False
    found = mem0.memories(read_json(document))
    return found is not None and any(mem0.recognises(one) for one in found[:1])


def _holds_mem0(document: Document) -> bool:
    found = mem0.listed(document)
    return not found or any("memory" in one for one in found if isinstance(one, dict))


FORMATS: Final[tuple[Format, ...]] = (
    Format(
        "claude-code",
        ".jsonl",
        "transcripts of Claude Code, usually ~/.claude/projects",
        claude_code.recognises,
        claude_code.holds,
        _one_by_one(claude_code.read),
    ),
    Format(
        "chatgpt",
        ".json",
        "the data export of ChatGPT, the zip or its conversations.json",
        _named(chatgpt.recognises, "conversations"),
        _any(chatgpt.recognises),
        _one_by_one(chatgpt.read),
    ),
    Format(
        "claude",
        ".json",
        "the data export of Claude, the zip or its conversations.json",
        _named(claude_ai.recognises, "conversations", "memories", "projects"),
        _any(claude_ai.recognises),
        _one_by_one(claude_ai.read),
    ),
    Format(
        "mem0",
        ".json",
        "what mem0's get_all returns, as JSON",
        _is_mem0,
        _holds_mem0,
        _one_by_one(mem0.read),
    ),
    Format(
        "basic-memory",
        ".md",
        "a folder of notes of basic-memory",
        basic_memory.recognises,
        # Notes may be all prose.
        lambda document: document.name.endswith(".md"),
        basic_memory.reader,
    ),
)


def format_named(name: str, *own: str) -> Format:
    """The format; InvalidInput lists them all, `own` among them."""
    chosen = choose(name, (*own, *(one.name for one in FORMATS)), "format")
    return next(one for one in FORMATS if one.name == chosen)


def detect(path: Path) -> Format | None:
    """Which of the formats a path holds; None: none of them, so perhaps our own."""
    for format in FORMATS:
        for document in islice(documents(path, format.suffix), _LOOKED_AT):
            try:
                if format.recognises(document):
                    return format
            except (InvalidInput, OSError):
                continue
    return None


def why_unknown(path: Path) -> InvalidInput:
    """What is wrong with a file that is of none of the formats, and not of our own."""
    names = ", ".join(one.name for one in FORMATS)
    for document in islice(documents(path, ".json"), _LOOKED_AT):
        if document.name.endswith(".json"):
            try:
                read_json(document)
            except InvalidInput as error:
                return InvalidInput(f"{error}. It may be damaged, or only the beginning of a file")
    own = '{"kind": "fact", "subject": "user", "predicate": "tea", "content": "Prefers green tea"}'
    return InvalidInput(
        f"{path} is of no known format; name it with --format: {names}. "
        f"Memories of your own are one JSON object a line: {own}"
    )


@dataclass(frozen=True, slots=True)
class Export:
    """An export that was found; `size` in bytes, the unit in which its reading is told."""

    format: Format
    documents: tuple[Document, ...]

    @property
    def size(self) -> int:
        return sum(one.size for one in self.documents)

    def candidates(self, tenant: str, butler: str | None = None) -> Iterator[Candidate]:
        """Everything in it, with the ids that it gets: the same whenever it is exported again."""
        before = 0
        read = self.format.reader(self.documents)
        for document in self.documents:
            for found in self._read(read, document, butler or self.format.name):
                id = memory_id(tenant, found.key) if found.key else _NOBODY
                at = before + found.reached
                yield Candidate(found.number, id, found.line, at, document.name)
            before += document.size

    @staticmethod
    def _read(read: Read, document: Document, butler: str) -> Iterator[Found]:
        try:
            yield from read(document, butler)
        except OSError as error:
            said = f"it cannot be read: {error.strerror}"
            yield Found(1, "", BadLine(1, said, document.name), document.size)


def open_export(path: Path, format: Format) -> Export:
    """The documents of an export.

    Raises:
        InvalidInput: none of them is of the format.
    """
    found = tuple(documents(path, format.suffix))
    if format.suffix == ".json" and len(found) > 1:  # a folder or zip holds other JSON as well
        found = tuple(one for one in found if format.recognises(one))
    if not any(_may_hold(format, one) for one in found):
        raise why_not(path, format.name, format.said)
    return Export(format, found)


def _may_hold(format: Format, document: Document) -> bool:
    try:
        return format.holds(document)
    except (InvalidInput, OSError):
        return _fitting(document.path) is None  # else told when it is read


def why_not(path: Path, name: str, said: str) -> InvalidInput:
    """What to do where a path holds nothing of the format that somebody named."""
    fits = _fitting(path)
    told = f"{path} holds nothing of the format {name}: {said}"
    return InvalidInput(f"{told}. It holds {fits}: leave --format out" if fits else told)


def _fitting(path: Path) -> str | None:
    if (format := detect(path)) is not None:
        return format.name
    if not path.is_file():
        return None
    with path.open("rb") as file:
        return "jsonl" if begins_as_ours(file) else None
