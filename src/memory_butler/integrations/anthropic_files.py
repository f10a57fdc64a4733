"""The files of Anthropic's memory tool: each command as what it asks of memory, and what it says.

The texts are those of the tool's documentation.
"""

import re
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from anthropic.lib.tools import ToolError
from anthropic.types.beta import (
    BetaMemoryTool20250818CreateCommand,
    BetaMemoryTool20250818DeleteCommand,
    BetaMemoryTool20250818InsertCommand,
    BetaMemoryTool20250818RenameCommand,
    BetaMemoryTool20250818StrReplaceCommand,
    BetaMemoryTool20250818ViewCommand,
)

from memory_butler.engine.inputs import MAX_LIMIT, MAX_SUBJECT_BYTES
from memory_butler.engine.screening import KEEP_IT

ROOT: Final = "/memories"
# A file is a fact of this predicate and tag, whose subject is the path and whose content the text.
PREDICATE: Final = "file"
TAG: Final = "memory-file"
# Each command lists all files first: five pages of 200.
MAX_FILES: Final = 1_000
_MAX_LINES: Final = 999_999
_DEPTH: Final = 2
_AROUND: Final = 2
_ENCODED: Final = re.compile("%(2e|2f|5c)", re.IGNORECASE)

# What a command asks of memory, one operation after the other, and what it says at the end. Both
# tools run the same steps.
Steps = Generator[tuple[str, dict[str, Any]], dict[str, Any], str]
Listing = Generator[tuple[str, dict[str, Any]], dict[str, Any], dict[str, "_File"]]
Reading = Generator[tuple[str, dict[str, Any]], dict[str, Any], "_Text"]


@dataclass(frozen=True, slots=True)
class _File:
    """A file as it is listed; `size` in bytes, of a long one by its beginning."""

    id: str
    size: int


@dataclass(frozen=True, slots=True)
class _Text:
    """A file as it was read."""

    id: str
    revision: str
    content: str


@dataclass(frozen=True, slots=True)
class Files:
    """The commands on the files of a butler, or of everybody."""

    butler: str | None

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> Steps:
        path = _checked(command.path)
        files = yield from self._all()
        if path not in files:
            if path != ROOT and not _below(path, files):
                raise ToolError(f"The path {path} does not exist. Please provide a valid path.")
            return _listed(path, files)
        lines = _lines((yield from self._read(files[path])).content)
        if len(lines) > _MAX_LINES:
            raise ToolError(f"File {path} exceeds maximum line limit of 999,999 lines.")
        first, last = _range(command.view_range, len(lines))
        shown = _numbered(lines, first, last)
        return f"Here's the content of {path} with line numbers:\n{shown}"

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> Steps:
        path, text = _checked(command.path), _worth_keeping(command.file_text)
        files = yield from self._all()
        _require_free(path, files, f"Error: File {path} already exists")
        if len(files) >= MAX_FILES:
            raise ToolError(
                f"Error: {ROOT} has {len(files):,} files, and cannot have more; delete or join some"
            )
        stored = yield (
            "memory_store_fact",
            {
                "subject": path,
                "predicate": PREDICATE,
                "content": text,
                "permanence": "permanent",  # a file does not fade
                "scope": self._scope,
                "source_butler": self.butler,
                "tags": [TAG],
                "trust": "agent_inferred",
            },
        )
        return _with_note(f"File created successfully at: {path}", stored)

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> Steps:
        path, old, new = _checked(command.path), command.old_str, command.new_str
        missing = f"Error: The path {path} does not exist. Please provide a valid path."
        read = yield from self._read(_found(path, (yield from self._all()), missing))
        places = _places(read.content, old)
        if not places:
            raise ToolError(
                f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}."
            )
        lines = [read.content.count("\n", 0, place) + 1 for place in places]
        if len(places) > 1:
            raise ToolError(
                f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: "
                f"{', '.join(map(str, lines))}. Please ensure it is unique"
            )
        text = read.content[: places[0]] + new + read.content[places[0] + len(old) :]
        edited = yield self._edit(read, text)
        kept = _lines(edited["fact"]["content"])
        last = lines[0] + new.count("\n") + _AROUND
        shown = _numbered(kept, max(1, lines[0] - _AROUND), min(len(kept), last))
        return _with_note(f"The memory file has been edited.\n{shown}", edited)

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> Steps:
        path, at, new = _checked(command.path), command.insert_line, command.insert_text
        missing = f"Error: The path {path} does not exist"
        read = yield from self._read(_found(path, (yield from self._all()), missing))
        lines = _lines(read.content)
        if not 0 <= at <= len(lines):
            raise ToolError(
                f"Error: Invalid `insert_line` parameter: {at}. It should be within the range of "
                f"lines of the file: [0, {len(lines)}]"
            )
        ended = read.content.endswith("\n") or at < len(lines)
        new = new if new.endswith("\n") or not ended else f"{new}\n"
        before = "".join(f"{line}\n" for line in lines[:at])
        edited = yield self._edit(read, before + new + read.content[len(before) :])
        return _with_note(f"The file {path} has been edited.", edited)

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> Steps:
        path = _checked(command.path)
        if path == ROOT:
            raise ToolError(f"Error: {ROOT} itself cannot be deleted")
        files = yield from self._all()
        doomed = [path] if path in files else _below(path, files)
        if not doomed:
            raise ToolError(f"Error: The path {path} does not exist")
        yield from self._forget(doomed, files)
        return f"Successfully deleted {path}"

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> Steps:
        old, new = _checked(command.old_path), _checked(command.new_path)
        if ROOT in (old, new):
            raise ToolError(f"Error: {ROOT} itself cannot be renamed")
        files = yield from self._all()
        moved = [old] if old in files else _below(old, files)
        if not moved:
            raise ToolError(f"Error: The path {old} does not exist")
        if moved[0] != old and new.startswith(f"{old}/"):
            raise ToolError(f"Error: {old} cannot be moved into itself")
        stay = {path: file for path, file in files.items() if path not in moved}
        _require_free(new, stay, f"Error: The destination {new} already exists")
        # The shorter ones first: where a folder moves up, a file may take another's former name.
        subjects = [
            {"fact_id": files[path].id, "subject": _checked(new + path.removeprefix(old))}
            for path in sorted(moved, key=len)
        ]
        if old != new:
            yield "facts_rename", {"subjects": subjects}
        return f"Successfully renamed {old} to {new}"

    def clear(self) -> Steps:
        files = yield from self._all()
        yield from self._forget(list(files), files)
        return "All memory cleared"

    @property
    def _scope(self) -> str:
        return self.butler or "global"

    def _all(self) -> Listing:
        """All files by their paths, in order."""
        found: dict[str, _File] = {}
        offset, total = 0, 1
        while offset < total:
            page = yield (
                "facts_list",
                {"tag": TAG, "scope": self._scope, "limit": MAX_LIMIT, "offset": offset},
            )
            for one in page["items"]:
                if one["predicate"] == PREDICATE:
                    found[one["subject"]] = _File(one["id"], _bytes(one))
            offset, total = offset + MAX_LIMIT, page["total"]
        return dict(sorted(found.items()))

    def _read(self, file: _File) -> Reading:
        answer = yield "fact_look", {"fact_id": file.id}
        return _Text(file.id, answer["revision"], answer["fact"]["content"])

    def _edit(self, read: _Text, text: str) -> tuple[str, dict[str, Any]]:
        given = {"fact_id": read.id, "expected_revision": read.revision}
        return "fact_edit", {**given, "content": _worth_keeping(text)}

    def _forget(self, paths: Sequence[str], files: dict[str, _File]) -> Steps:
        for path in paths:
            yield "memory_forget", {"memory_type": "fact", "memory_id": files[path].id}
        return ""


def _checked(path: str) -> str:
    """The path without a slash at its end; ToolError where it is none below `/memories`.

    Nothing is resolved: a path is a name in memory, and reaches no file of the machine. What looks
    like a way out is refused all the same, and so is what memory would not store as it is.
    """
    if not isinstance(path, str):
        raise ToolError(f"Error: the path {path!r} must be a text that starts with {ROOT}")
    parts = path.rstrip("/").split("/")
    if parts[:2] != ROOT.split("/"):
        raise ToolError(f"Error: the path {path} must start with {ROOT}")
    if {"", ".", ".."} & set(parts[2:]) or "\\" in path or _ENCODED.search(path):
        raise ToolError(f"Error: the path {path} would leave {ROOT}, or names no file")
    if not path.isprintable() or " ".join(path.split()) != path:
        raise ToolError(f"Error: the path {path!r} has control characters, or spaces in a row")
    if len(path.encode()) > MAX_SUBJECT_BYTES:
        raise ToolError(f"Error: the path is too long; it may have {MAX_SUBJECT_BYTES:,} bytes")
    return "/".join(parts)


def _worth_keeping(text: str) -> str:
    if not text.strip():
        raise ToolError("Error: memory keeps no empty file; write something, or delete the file")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ToolError("Error: the text has an unpaired surrogate; leave it out") from error
    return text


def _found(path: str, files: dict[str, _File], missing: str) -> _File:
    if path not in files:
        raise ToolError(missing)
    return files[path]


def _below(folder: str, files: dict[str, _File]) -> list[str]:
    return [path for path in files if path.startswith(f"{folder}/")]


def _require_free(path: str, files: dict[str, _File], taken: str) -> None:
    """No file or folder has the name, and no file stands where a folder must be.

    Without case, because facts are compared so: a file of another case would be superseded.
    """
    wanted = path.lower()
    if path == ROOT or any(f"{one.lower()}/".startswith(f"{wanted}/") for one in files):
        raise ToolError(taken)
    above = next((one for one in files if wanted.startswith(f"{one.lower()}/")), None)
    if above is not None:
        raise ToolError(f"Error: {above} is a file, no folder")


def _listed(folder: str, files: dict[str, _File]) -> str:
    """The folder and what is in it down to two levels, with sizes."""
    sizes: dict[str, int] = {folder: 0}
    for path in _below(folder, files):
        parts = path.removeprefix(f"{folder}/").split("/")
        if any(part.startswith(".") or part == "node_modules" for part in parts):
            continue
        sizes[folder] += files[path].size
        for depth in range(1, min(len(parts), _DEPTH) + 1):
            name = f"{folder}/{'/'.join(parts[:depth])}" + "/" * (depth < len(parts))
            sizes[name] = sizes.get(name, 0) + files[path].size
    lines = (f"{_size(size)}\t{name}" for name, size in sorted(sizes.items()))
    return "\n".join(
        [
            f"Here're the files and directories up to 2 levels deep in {folder}, excluding hidden "
            "items and node_modules:",
            *lines,
        ]
    )


def _bytes(listed: dict[str, Any]) -> int:
    """How many bytes a file has; a list shows its beginning, and its length in characters."""
    shown: str = listed["content"]
    length: int = listed["content_length"]
    return round(len(shown.encode()) * length / max(len(shown), 1))


def _size(bytes: int) -> str:
    """For a person: 512B, 5.5K, 1.2M."""
    size, unit = float(bytes), "B"
    for larger in ("K", "M"):
        if size >= 1024:
            size, unit = size / 1024, larger
    return f"{size:.1f}".removesuffix(".0") + unit


def _lines(text: str) -> list[str]:
    """The lines, which "\\n" ends or parts; what else ends lines elsewhere is part of one."""
    return text.removesuffix("\n").split("\n")


def _range(given: Sequence[int] | None, count: int) -> tuple[int, int]:
    """The first and the last line to show; an end of -1 is the last."""
    if not given:
        return 1, count
    if len(given) == 2:
        first, last = max(1, given[0]), count if given[1] == -1 else min(given[1], count)
        if first <= last:
            return first, last
    raise ToolError(
        f"Error: Invalid `view_range` parameter: {list(given)}. It should be two line numbers "
        f"within the range of lines of the file: [1, {count}]"
    )


def _numbered(lines: Sequence[str], first: int, last: int) -> str:
    """The lines from the first to the last, from 1, as the model knows them: `     1<tab>text`."""
    return "\n".join(f"{at:6}\t{lines[at - 1]}" for at in range(first, last + 1))


def _places(text: str, wanted: str) -> list[int]:
    """Where the text stands, overlaps too."""
    if not wanted:
        return []
    places = [text.find(wanted)]
    while places[-1] >= 0:
        places.append(text.find(wanted, places[-1] + 1))
    return places[:-1]


def _with_note(said: str, answer: dict[str, Any]) -> str:
    """What memory masked belongs into the answer: the file is not as the model wrote it."""
    note = (answer.get("secrets") or "").replace(KEEP_IT, "").strip()
    return f"{said}\n{note}" if note else said
