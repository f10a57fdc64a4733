"""The formats of other programs that can be imported, and telling which one a path holds."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from memory_butler.domain.choices import choose
from memory_butler.domain.errors import InvalidInput
from memory_butler.engine.import_format import BadLine, Candidate, memory_id
from memory_butler.engine.importers import basic_memory, chatgpt, claude_ai, claude_code, mem0
from memory_butler.engine.importers.source import Document, Found, documents, read_json

_NOBODY: Final = UUID(int=0)
# A folder whose first files are of no known format is of none.
_LOOKED_AT: Final = 100


@dataclass(frozen=True, slots=True)
class Format:
    """What can be imported from another program.

    Attributes:
        name: as one says it at the command line; also the butler whose memories they become.
        suffix: of the files that hold it.
    """

    name: str
    suffix: str
    said: str
    recognises: Callable[[Document], bool]
    read: Callable[[Document, str], Iterator[Found]]


def _of_conversations(recognises: Callable[[Any], bool]) -> Callable[[Document], bool]:
    def recognises_document(document: Document) -> bool:
        name = document.name.rpartition("/")[2]
        if not name.startswith("conversations") or not name.endswith(".json"):
            return False
        found = read_json(document)
        return isinstance(found, list) and bool(found) and recognises(found[0])

    return recognises_document


def _is_mem0(document: Document) -> bool:
    if not document.name.endswith(".json"):
        return False
    found = mem0.memories(read_json(document))
    return found is not None and any(mem0.recognises(one) for one in found[:1])


FORMATS: Final[tuple[Format, ...]] = (
    Format(
        "claude-code",
        ".jsonl",
        "transcripts of Claude Code, usually ~/.claude/projects",
        claude_code.recognises,
        claude_code.read,
    ),
    Format(
        "chatgpt",
        ".json",
        "the data export of ChatGPT, the zip or its conversations.json",
        _of_conversations(chatgpt.recognises),
        chatgpt.read,
    ),
    Format(
        "claude",
        ".json",
        "the data export of Claude, the zip or its conversations.json",
        _of_conversations(claude_ai.recognises),
        claude_ai.read,
    ),
    Format("mem0", ".json", "what mem0's get_all returns, as JSON", _is_mem0, mem0.read),
    Format(
        "basic-memory",
        ".md",
        "a folder of notes of basic-memory",
        basic_memory.recognises,
        basic_memory.read,
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
        for document in self.documents:
            for found in self._read(document, butler or self.format.name):
                id = memory_id(tenant, found.key) if found.key else _NOBODY
                at = before + found.reached
                yield Candidate(found.number, id, found.line, at, document.name)
            before += document.size

    def _read(self, document: Document, butler: str) -> Iterator[Found]:
        try:
            yield from self.format.read(document, butler)
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
    if not found:
        raise InvalidInput(f"{path} holds nothing of the format {format.name}: {format.said}")
    return Export(format, found)
