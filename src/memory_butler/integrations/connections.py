"""Connecting a client: plan the edits of its files, show them, write them, and take them back.

What was written is recorded under the data directory, so that disconnecting gives each file back
exactly as it was, byte by byte, if nobody else has changed it since; otherwise only what is ours is
taken out of it.
"""

import difflib
import json
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from memory_butler.domain.errors import InvalidInput, unwritable
from memory_butler.files import rewrite
from memory_butler.integrations import jsonc, toml_table
from memory_butler.integrations.clients import CLIENTS, Client, Element, FileEdit, Member

# In a line of whatever installation and system.
_OUR_HOOK: Final = re.compile(r"plugin[\\/]+hooks[\\/]+memory_hook\.py")


@dataclass(frozen=True, slots=True)
class Change:
    """One file before and after; None: it is not there. `edits` are those that stand in `after`."""

    path: Path
    before: str | None = field(repr=False)
    after: str | None = field(repr=False)
    edits: tuple[Member | Element, ...] = field(default=(), repr=False)

    @property
    def diff(self) -> str:
        """For a person to read."""
        lines = difflib.unified_diff(
            (self.before or "").splitlines(keepends=True),
            (self.after or "").splitlines(keepends=True),
            f"{self.path}" if self.before is not None else "/dev/null",
            f"{self.path}" if self.after is not None else "/dev/null",
        )
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


@dataclass(frozen=True, slots=True)
class Connections:
    """The record of what was connected; a file a client, and the backups beside it.

    `folders.json` has the folders that were made for it, of all clients.
    """

    folder: Path

    def has(self, client: Client) -> bool:
        """Whether a client was connected from here."""
        return self._record(client).exists()

    def plan(self, client: Client, wanted: tuple[FileEdit, ...]) -> list[Change]:
        """What connecting would change; nothing where everything stands already.

        Raises:
            InvalidInput: a file cannot be read or edited; the message names it.
        """
        # Taken back first, so that connecting anew with another address leaves nothing behind.
        undone = {change.path: change for change in self.plan_undo(client)}
        changes = []
        for file in wanted:
            was = undone.pop(file.path, None)
            now = _read(file.path)
            clean = now if was is None else was.after
            after = _edited(file, clean or "")
            if after != now:
                changes.append(Change(file.path, now, after, file.edits))
        return [*changes, *undone.values()]

    def plan_undo(self, client: Client) -> list[Change]:
        """What disconnecting would change.

        Raises:
            InvalidInput: a file cannot be read or edited; the message names it.
        """
        changes = []
        for kept in self._kept(client):
            now = _read(kept.path)
            if now is None:
                continue
            after = kept.before if now == kept.after else _cleaned(kept, now)
            if after != now:
                changes.append(Change(kept.path, now, after))
        return changes

    def connect(self, client: Client, changes: list[Change]) -> list[Path]:
        """Write the changes, and record them; the backups of the files that were there."""
        kept = {one.path: one for one in self._kept(client)}
        backups = []
        for change in changes:
            former = kept.get(change.path)
            before = change.before
            if former is not None and change.before is not None:
                unchanged = change.before == former.after
                before = former.before if unchanged else _cleaned(former, change.before)
            if before is not None:
                before = _without_former_hooks(change.edits, before)
            kept[change.path] = Change(change.path, before, change.after, change.edits)
            if change.before is not None:
                backups.append(self._back_up(client, change))
        # The record first: what is written without one could not be taken back.
        self._note_missing(self._record(client), *(change.path for change in changes))
        self._keep(client, [one for one in kept.values() if one.edits])
        for change in changes:
            _write(change)
        return backups

    def disconnect(self, client: Client, changes: list[Change]) -> None:
        """Write the changes, and forget the connection and the folders that were made for it."""
        for change in changes:
            _write(change)
        self._record(client).unlink(missing_ok=True)
        made = self._made()
        self._folders.unlink(missing_ok=True)
        for folder in sorted(made, key=lambda one: len(one.parts), reverse=True):
            with suppress(OSError):  # something is in it
                folder.rmdir()
        # Two programs may share one, such as ~/.config: the last one's leaving removes it.
        if any(map(self.has, CLIENTS)):
            self._keep_made(one for one in made if one.is_dir())

    @property
    def _folders(self) -> Path:
        return self.folder / "folders.json"

    def _made(self) -> set[Path]:
        return {Path(one) for one in json.loads(_read(self._folders) or "[]")}

    def _keep_made(self, folders: Iterable[Path]) -> None:
        text = json.dumps(sorted(map(str, folders)), indent=2) + "\n"
        _write(Change(self._folders, None, text))

    def _note_missing(self, *files: Path) -> None:
        """Record which folders connecting makes, before it makes them."""
        missing = {
            folder for file in files for folder in file.resolve().parents if not folder.exists()
        }
        if missing:
            self._keep_made(self._made() | missing)

    def _record(self, client: Client) -> Path:
        return self.folder / f"{client.name}.json"

    def _back_up(self, client: Client, change: Change) -> Path:
        path = self.folder / f"{client.name}-{change.path.name.lstrip('.')}.backup"
        _write(Change(path, None, change.before))
        return path

    def _keep(self, client: Client, changes: list[Change]) -> None:
        entries = [
            {
                "path": str(one.path),
                "before": one.before,
                "after": one.after,
                "edits": [
                    {
                        "kind": "member" if isinstance(edit, Member) else "element",
                        "path": edit.path,
                        "value": edit.value,
                    }
                    for edit in one.edits
                ],
            }
            for one in changes
        ]
        text = json.dumps({"client": client.name, "files": entries}, indent=2) + "\n"
        _write(Change(self._record(client), None, text))

    def _kept(self, client: Client) -> list[Change]:
        text = _read(self._record(client))
        if text is None:
            return []
        return [
            Change(
                Path(one["path"]),
                one["before"],
                one["after"],
                tuple(_edit(edit) for edit in one["edits"]),
            )
            for one in json.loads(text)["files"]
        ]


def _edit(kept: dict[str, Any]) -> Member | Element:
    kind = Member if kept["kind"] == "member" else Element
    return kind(tuple(kept["path"]), kept["value"])


def _edited(file: FileEdit, text: str) -> str:
    """The text with what belongs into it; checked by reading it again."""
    try:
        text = _without_former_hooks(file.edits, text)
        for edit in file.edits:
            if file.path.suffix == ".toml":
                toml_table.load(text)
                text = toml_table.with_table(text, edit.path, edit.value)
            elif isinstance(edit, Member):
                jsonc.load(text)
                text = jsonc.with_member(text, edit.path, edit.value)
            else:
                text = jsonc.with_element(text, edit.path, edit.value)
                jsonc.load(text)
    except InvalidInput as error:
        raise InvalidInput(f"{file.path} was left alone: {error}") from None
    return text


def _without_former_hooks(edits: tuple[Member | Element, ...], text: str) -> str:
    """The text without our hooks that another installation, or one whose folder is gone, has left.

    A program has one memory: with both, each session would be told and stored twice. A group with a
    hook of the user's own stays.
    """
    for edit in edits:
        if isinstance(edit, Element) and isinstance(there := _at(text, edit.path), list):
            for group in there:
                if _is_our_hook(group):
                    text = jsonc.without_element(text, edit.path, group)
    return text


def _is_our_hook(group: Any) -> bool:
    hooks = (group.get("hooks") if isinstance(group, dict) else None) or []
    return bool(hooks) and all(_OUR_HOOK.search(json.dumps(hook)) for hook in hooks)


def _cleaned(kept: Change, text: str) -> str:
    """The text without what is ours, for a file that others have changed since."""
    toml = kept.path.suffix == ".toml"
    try:
        for edit in kept.edits:
            if toml:
                text = toml_table.without_table(text, edit.path)
            elif isinstance(edit, Member):
                text = jsonc.without_member(text, edit.path)
            else:
                text = jsonc.without_element(text, edit.path, edit.value)
            # Objects and arrays that were made for it go with it.
            for length in range(len(edit.path) - (not isinstance(edit, Element)), 0, -1):
                if not toml and _is_ours(kept, edit.path[:length], text):
                    text = jsonc.without_member(text, edit.path[:length])
    except InvalidInput as error:
        raise InvalidInput(f"{kept.path} was left alone: {error}") from None
    return text


def _is_ours(kept: Change, path: tuple[str, ...], text: str) -> bool:
    """Whether what stands at the path is empty now, and was not there before."""
    return _at(text, path) in ({}, []) and _at(kept.before or "", path) is None


def _at(text: str, path: tuple[str, ...]) -> Any:
    found = jsonc.load(text)
    for key in path:
        found = found.get(key) if isinstance(found, dict) else None
    return found


def _read(path: Path) -> str | None:
    try:
        # As bytes, because reading as text would turn the line ends of another system into ours.
        return path.read_bytes().decode()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        said = getattr(error, "strerror", None) or "it is no UTF-8"
        raise InvalidInput(f"{path} cannot be read: {said}") from None


def _write(change: Change) -> None:
    try:
        if change.after is None:
            change.path.resolve().unlink(missing_ok=True)
        else:
            rewrite(change.path, change.after.encode())
    except OSError as error:
        raise unwritable(change.path, error) from None
