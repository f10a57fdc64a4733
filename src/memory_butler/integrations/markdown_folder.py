"""A folder of Markdown notes that mirrors the facts of a tenant, in both directions.

One pass reads memory, then the folder, does in memory what the person changed, writes the notes,
and last the state file. Whatever a pass that was killed has done, the next one meets as done.
"""

import fcntl
import json
import os
import re
import stat
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, Literal
from uuid import UUID, uuid4

from memory_butler.client import MemoryClient
from memory_butler.domain.errors import (
    Conflict,
    InvalidInput,
    MemoryButlerError,
    NotFound,
    unwritable,
)
from memory_butler.domain.facts import key_of
from memory_butler.domain.mirror import (
    Change,
    Held,
    Names,
    Outcome,
    Page,
    Plan,
    Problem,
    View,
    conflicts_in,
    ids_in,
    plan,
    read,
    render,
)
from memory_butler.files import replaced

STATE: Final = ".memory-butler.json"
# A note of more was not written by hand, and a page of facts has 200.
MAX_NOTE_BYTES: Final = 4_000_000
_PAGE: Final = 200
# A folder that lost more at once was more likely moved or half copied than edited.
_MANY: Final = 10
_LEFTOVER: Final = re.compile(r"[a-z0-9_]{8}")
# What a model keeps as files of its own is whole documents, not lines.
_NOT_MIRRORED: Final = "memory-file"


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose facts a folder has: the state file names both, and another owner is refused."""

    installation: str
    tenant: str


Written = Literal["added", "changed", "removed"]


@dataclass(frozen=True, slots=True)
class Report:
    """What a pass did, or would do.

    Attributes:
        changes: to memory.
        notes: what became of each note that was written, by path, in order.
        conflicts: how many wait for the person, in all notes.
    """

    changes: tuple[Change, ...]
    notes: Mapping[str, Written]
    problems: tuple[Problem, ...]
    conflicts: int

    @property
    def in_step(self) -> bool:
        return not (self.changes or self.notes or self.problems or self.conflicts)


@dataclass(frozen=True, slots=True)
class _Folder:
    pages: list[Page]
    problems: list[Problem]
    was: "_State"
    names: list[str]
    blind: bool


@dataclass(frozen=True, slots=True)
class _State:
    """What the last pass left.

    Attributes:
        base: the digest of each fact's line, by id.
        own: the paths of the notes that passes have written.
        left: of notes and memory, if the pass left nothing to do.
    """

    base: dict[str, str]
    own: frozenset[str] = frozenset()
    left: str = ""


async def sync(
    client: MemoryClient,
    folder: Path,
    owner: Owner,
    *,
    dry_run: bool = False,
    forget_many: bool = False,
) -> Report:
    """One pass: what changed on either side since the last one reaches the other.

    Raises:
        InvalidInput: the folder cannot be read or written, or is a link.
        Conflict: it belongs to another tenant or installation, another pass runs on it, or more
            than half of its facts are missing and `forget_many` is not given.
    """
    with _locked(folder, dry_run=dry_run):
        # Read before memory is: what changes meanwhile is not taken for known.
        moment = await _moment(client)
        found = _read_folder(folder, owner, dry_run=dry_run)
        texts = {page.path: page.text for page in found.pages}
        if found.was.left == _left(texts, moment) and not found.problems:
            return Report((), {}, (), sum(map(conflicts_in, texts.values())))
        view = await _view(client)
        # Once more, as a person may have saved a note while memory was read.
        found = _read_folder(folder, owner, dry_run=dry_run)
        known = {line.id for page in found.pages for line in page.lines if line.id} | {
            *found.was.base
        }
        view = await _with_newest(client, view, known)
        base = found.was.base
        merged = plan(base, found.pages, view, own=found.was.own, blind=found.blind)
        forgotten = sum(one.act == "forget" for one in merged.changes)
        if forgotten > max(_MANY, len(base) // 2) and not forget_many:
            raise Conflict(
                f"{forgotten} of {len(base)} facts are missing in {folder}; --forget-many "
                "forgets them"
            )
        if dry_run:
            after, stored, failed = _supposed(view, merged)
            refused: list[tuple[Change, str]] = []
        else:
            stored, refused = await _do(client, merged)
            failed = {(one.path, one.index) for one, _ in refused}
            after = view
            if merged.changes:
                after = await _with_newest(client, await _view(client), known)
        outcome = render(
            base,
            found.pages,
            merged,
            after,
            stored,
            failed,
            blind=found.blind,
            names=Names(found.names),
        )
        left = ""
        if not (found.problems or merged.problems or refused):
            texts = {page.path: page.text for page in found.pages} | dict(outcome.texts)
            left = _left(texts, moment)
        late = [] if dry_run else _write(folder, owner, found, outcome, merged.own, left)
        return _report(found, merged, outcome, refused, late)


def _report(
    found: _Folder,
    merged: Plan,
    outcome: Outcome,
    refused: list[tuple[Change, str]],
    late: list[Problem],
) -> Report:
    was = {page.path: page.text for page in found.pages}
    texts = was | dict(outcome.texts)
    told = [
        Problem(one.path or f"{one.subject} · {one.predicate}", one.index + 1, why)
        for one, why in refused
    ]
    problems = sorted(
        [*found.problems, *merged.problems, *told, *late], key=lambda one: (one.path, one.line)
    )
    undone = [one for one, _ in refused]
    return Report(
        tuple(one for one in merged.changes if one not in undone),
        {
            path: _written(was.get(path, ""), text)
            for path, text in sorted(outcome.texts.items())
            if path not in {one.path for one in late}
        },
        tuple(problems),
        sum(conflicts_in(text) for text in texts.values()),
    )


def _written(was: str, text: str) -> Written:
    if not text:
        return "removed"
    return "changed" if was else "added"


@contextmanager
def _locked(folder: Path, *, dry_run: bool) -> Iterator[None]:
    """One pass at a time on a folder, which is made where it is missing."""
    try:
        if folder.is_symlink():
            raise InvalidInput(f"{folder} is a link; name the folder itself")
        if not dry_run:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        elif not folder.exists():
            yield
            return
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError as error:
        raise InvalidInput(f"{folder} cannot be used: {error.strerror}") from None
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Conflict(f"another sync of {folder} is running") from None
        yield
    finally:
        os.close(descriptor)


async def _moment(client: MemoryClient) -> str:
    """What tells whether memory has changed: every change leaves an event, and none goes."""
    found = await client.events_list(limit=1)
    return f"{found.total} {found.items[0].id if found.items else None}"


def _left(texts: Mapping[str, str], moment: str) -> str:
    """What tells whether notes and memory are as a pass left them: 32 hexadecimal digits."""
    notes = sorted((path, text) for path, text in texts.items() if text)
    return blake2b(json.dumps([moment, notes]).encode(), digest_size=16).hexdigest()


async def _view(client: MemoryClient) -> View:
    """The active facts, the oldest first, their contents whole."""
    active: dict[str, Held] = {}
    since: datetime | None = None
    offset = 0
    while True:
        part = await client.facts_list(
            limit=_PAGE,
            offset=offset,
            since=since,
            validity="active",
            sort="created",
            direction="asc",
        )
        for one in part.items:
            if _NOT_MIRRORED in one.tags:
                continue
            content = one.content
            if one.content_length > len(content):
                content = (await client.fact_look(one.id)).fact.content
            active[str(one.id)] = _held(one, content)
        if len(part.items) < _PAGE:
            return View(active)
        # From the last one on: a page far down the list would walk over all before it.
        last = part.items[-1].created_at
        offset = sum(one.created_at == last for one in part.items) + offset * (last == since)
        since = last


def _held(one: Any, content: str) -> Held:
    """A listed fact, or one that was looked at."""
    entity = None if one.entity_id is None else str(one.entity_id)
    return Held(str(one.id), one.subject, one.predicate, content, one.scope, entity, one.trust)


async def _with_newest(client: MemoryClient, view: View, known: set[str]) -> View:
    """The view, with what took the place of the facts of the folder that are no longer active."""
    active, newest, past = dict(view.active), {}, {}
    for id in sorted(known - view.active.keys()):
        seen, here = set(), id
        while here not in seen and here not in active:
            seen.add(here)
            try:
                look = await client.fact_look(UUID(here))
            except NotFound:
                break
            # A list that is read part by part can miss one while others go.
            if look.fact.validity == "active":
                if _NOT_MIRRORED not in look.fact.tags:
                    active[here] = _held(look.fact, look.fact.content)
                break
            past[here] = _held(look.fact, look.fact.content)
            if look.superseded_by is not None:
                here = str(look.superseded_by)
        if here in active and here != id:
            newest[id] = here
    return View(active, newest, past)


def _read_folder(folder: Path, owner: Owner, *, dry_run: bool) -> _Folder:
    problems: list[Problem] = []
    pages: list[Page] = []
    names: list[str] = []

    def fail(error: OSError) -> None:
        where = Path(error.filename or folder)
        if dry_run and where == folder and isinstance(error, FileNotFoundError):
            return  # the first pass makes it
        problems.append(Problem(where.name, 0, f"it cannot be read: {error.strerror}"))

    for here, folders, files in os.walk(folder, onerror=fail):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        if Path(here) == folder:
            names = [*files, *folders]
        for name in sorted([*folders, *files]):
            path = Path(here, name)
            shown = path.relative_to(folder).as_posix()
            note = name.lower().endswith(".md")
            if path.is_symlink() and (note or name in folders):
                problems.append(Problem(shown, 0, "it is a link, which is not followed"))
            elif name.startswith(".") or name in folders or not note:
                if _is_leftover(name) and not dry_run:
                    path.unlink(missing_ok=True)  # of a pass that was killed
            else:
                text = _text(path)
                if text is None:
                    problems.append(Problem(shown, 0, "it is not UTF-8, too large or unreadable"))
                else:
                    pages.append(read(shown, text))
    was = _state(folder, owner, pages, dry_run=dry_run)
    return _Folder(pages, problems, was, names, blind=bool(problems))


def _is_leftover(name: str) -> bool:
    """Whether `files.replaced` made it, for a note or the state file."""
    of, _, chance = name.removeprefix(".").rpartition(".")
    ours = name.startswith(".") and (of == STATE or of.endswith(".md"))
    return ours and _LEFTOVER.fullmatch(chance) is not None


def _text(path: Path) -> str | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with open(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return None
            data = file.read(MAX_NOTE_BYTES + 1)
        return data.decode() if len(data) <= MAX_NOTE_BYTES else None
    except (OSError, UnicodeDecodeError):
        return None


def _state(folder: Path, owner: Owner, pages: list[Page], *, dry_run: bool) -> _State:
    """What the last pass left on both sides. A new folder is claimed before anything is written."""
    path = folder / STATE
    if path.is_symlink():
        raise InvalidInput(f"{path} is a link")
    try:
        given = json.loads(path.read_bytes())
        base = {str(id): str(one) for id, one in given["facts"].items()}
        whose = Owner(given["installation"], given["tenant"])
        state = _State(base, frozenset(given.get("notes", ())), str(given.get("left", "")))
    except FileNotFoundError:
        if any(page.subject is not None for page in pages):
            raise Conflict(
                f"{folder} has notes of a mirror, but no {STATE}: bring that file back, or begin "
                "in an empty folder"
            ) from None
        if not dry_run:
            _write_state(folder, owner, _State({}))
        return _State({})
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InvalidInput(f"{path} is damaged; begin in an empty folder") from None
    if whose != owner:
        other = "tenant" if whose.installation == owner.installation else "installation"
        raise Conflict(f"{folder} mirrors the facts of another {other}; name a folder of its own")
    return state


def _write_state(folder: Path, owner: Owner, state: _State) -> None:
    whose = {"installation": owner.installation, "tenant": owner.tenant}
    given = {**whose, "facts": state.base, "notes": sorted(state.own)}
    if state.left:
        given["left"] = state.left
    data = (json.dumps(given, indent=0, sort_keys=True) + "\n").encode()
    path = folder / STATE
    if path.exists() and path.read_bytes() == data:
        return
    with replaced(path) as file:
        file.write(data)


async def _do(
    client: MemoryClient, merged: Plan
) -> tuple[dict[tuple[str, int], str], list[tuple[Change, str]]]:
    """Do in memory what the person changed; what memory refuses is told."""
    stored: dict[tuple[str, int], str] = {}
    refused: list[tuple[Change, str]] = []
    for one in merged.changes:
        try:
            match one.act:
                case "edit":
                    await client.fact_edit(
                        UUID(one.id),
                        predicate=one.predicate,
                        content=one.content,
                        trust=one.trust,
                    )
                case "store":
                    entity = None if one.entity is None else UUID(one.entity)
                    kept = await client.store_fact(
                        one.subject,
                        one.predicate,
                        one.content,
                        scope=one.scope,
                        entity_id=entity,
                        trust=one.trust,
                    )
                    stored[one.path, one.index] = str(kept.id)
                case "forget":
                    await client.forget("fact", UUID(one.id))
        except (InvalidInput, Conflict, NotFound) as error:
            refused.append((one, _first_line(error)))
    return stored, refused


def _first_line(error: MemoryButlerError) -> str:
    return (str(error).splitlines() or ["memory refused it"])[0]


def _supposed(
    view: View, merged: Plan
) -> tuple[View, dict[tuple[str, int], str], set[tuple[str, int]]]:
    """Memory as it would be after the changes."""
    active, newest = dict(view.active), dict(view.newest)
    stored: dict[tuple[str, int], str] = {}
    for one in merged.changes:
        new = str(uuid4())
        old = active.pop(one.id, None) if one.id is not None else None
        if one.act == "forget":
            continue
        says = (one.subject, one.predicate, one.content)
        held = Held(new, *says, one.scope, one.entity, one.trust)
        if old is not None:
            _replace(newest, old.id, new)
        else:
            stored[one.path, one.index] = new
            key = (held.note, key_of(held.predicate), held.scope)
            for id, other in list(active.items()):
                if (other.note, key_of(other.predicate), other.scope) == key:
                    del active[id]
                    _replace(newest, id, new)
        active[new] = held
    return View(active, newest, view.past), stored, set()


def _replace(newest: dict[str, str], old: str, new: str) -> None:
    newest.update({id: new for id, now in newest.items() if now == old})
    newest[old] = new


def _write(
    folder: Path,
    owner: Owner,
    found: _Folder,
    outcome: Outcome,
    own: Collection[str],
    left: str,
) -> list[Problem]:
    """Write the notes, then the state. A note that was saved meanwhile is left to the next pass."""
    was = {page.path: page.text for page in found.pages}
    late: list[Problem] = []
    base = dict(outcome.base)
    ours = {*own}
    try:
        for shown, text in outcome.texts.items():
            path = folder / shown
            if path.is_symlink() or (_text(path) if path.exists() else None) != was.get(shown):
                late.append(Problem(shown, 0, "it was changed meanwhile; run sync again"))
                base = _as_before(base, found.was.base, was.get(shown, ""), text)
            elif not text:
                path.unlink()
                ours.discard(shown)
            else:
                if shown not in was:
                    ours.add(shown)
                mode = path.stat().st_mode & 0o777 if path.exists() else 0o600
                with replaced(path) as file:
                    os.fchmod(file.fileno(), mode)
                    file.write(text.encode())
        _write_state(folder, owner, _State(base, frozenset(ours), "" if late else left))
    except OSError as error:
        raise unwritable(folder, error) from None
    return late


def _as_before(base: dict[str, str], old: dict[str, str], was: str, now: str) -> dict[str, str]:
    """The base for a note that was not written: of its facts, what the last pass left."""
    ids = ids_in(was) | ids_in(now)
    return {id: one for id, one in base.items() if id not in ids} | {
        id: one for id, one in old.items() if id in ids
    }


def installation_id(data_dir: Path) -> str:
    """The name of this installation in its mirrors: 32 hexadecimal digits, made once."""
    path = data_dir / "installation-id"
    if not path.exists():
        with replaced(path) as file:
            file.write(f"{uuid4().hex}\n".encode())
    return path.read_text(encoding="ascii").strip()
