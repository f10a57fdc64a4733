"""Facts as lines of Markdown notes that people may edit, and the merge of what both sides changed.

A fact is a line `- predicate: content ^f-ID`. What is neither such a line nor, below "## Facts", a
list item without an id is prose, and stays as it is to the byte. All here is pure: texts in, texts
out.
"""

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Final, Literal

from memory_butler.domain.facts import key_of
from memory_butler.domain.trust import SOURCES, Trust, TrustName, parse_trust

_ID: Final = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_IDS: Final = re.compile(rf"\^f-({_ID})")
_ONE_ID: Final = re.compile(_ID)
_ITEM: Final = re.compile(r"[-*+] (?P<body>\S.*)")
_SAYS: Final = re.compile(r"(?P<predicate>[^\W_][^:\[\]<>^]{0,99}):\s+(?P<content>\S.*)")
_LINK: Final = re.compile(r"\[\[(?:[^\[\]|]*\|)?([^\[\]|]+)\]\]")
_TAG: Final = re.compile(r"<(?=[A-Za-z/!])")
_UNSAFE: Final = re.compile(r'[<>:"/\\|?*#^\[\]%]')
# Links within links, and the like: what is deeper is compared as it stands.
_DEPTH: Final = 8
_FENCE: Final = re.compile(r"\s{0,3}(```|~~~)")
_HEADING: Final = re.compile(r"#{1,2} ")
_FACTS: Final = "## Facts"
_MARK: Final = "memory-butler"
_CONFLICT: Final = "> [!conflict]"
GLOBAL: Final = "global"
# What a line ends with that neither the user nor an agent said (C-390).
_LABELS: Final = {trust: f" ({source})" for trust, source in SOURCES.items()}

Base = Mapping[str, str]
_Key = tuple[str | None, str]


@dataclass(frozen=True, slots=True)
class Held:
    """An active fact as memory has it."""

    id: str
    subject: str
    predicate: str
    content: str
    scope: str = GLOBAL
    entity: str | None = None
    trust: TrustName = "user_said"

    @property
    def note(self) -> str:
        """The key of its note: one an entity, or a subject where there is none."""
        return self.entity or key_of(self.subject)

    @property
    def body(self) -> str:
        """What its line says."""
        lines = [_plain(line) for line in self.content.splitlines() if line.strip()]
        return f"{_plain(self.predicate)}: {'<br>'.join(lines)}{self.label}"

    @property
    def label(self) -> str:
        """Where it is from, with a space before; nothing where the user or an agent said it."""
        return _LABELS.get(parse_trust(self.trust), "")


@dataclass(frozen=True, slots=True)
class View:
    """What memory holds: the active facts by id, and which id took the place of one that is not.

    `past` has the facts of the folder that are no longer active, as far as memory knows them.
    """

    active: Mapping[str, Held]
    newest: Mapping[str, str] = field(default_factory=dict)
    past: Mapping[str, Held] = field(default_factory=dict)

    def current(self, id: str | None) -> Held | None:
        """The fact that holds now where this one did; None: it is forgotten, or has expired."""
        return None if id is None else self.active.get(self.newest.get(id, id))


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a note that says a fact; `index` counts from 0, `id` None: a new one."""

    index: int
    body: str
    id: str | None
    end: str


@dataclass(frozen=True, slots=True)
class Page:
    """A note as it lies in the folder.

    Attributes:
        subject: whom its new lines are about; None: not a note of the mirror, only lines with ids
            are facts.
    """

    path: str
    text: str
    subject: str | None
    entity: str | None
    lines: tuple[Line, ...]
    unreadable: tuple[tuple[int, str], ...]

    @property
    def note(self) -> str | None:
        return self.entity or (None if self.subject is None else key_of(self.subject))


@dataclass(frozen=True, slots=True)
class Problem:
    """What was left alone, where (`line` counts from 1; 0: the whole file), and why."""

    path: str
    line: int
    why: str


@dataclass(frozen=True, slots=True)
class Change:
    """What the person changed, to be done in memory; `id`: the fact that is edited or forgotten."""

    act: Literal["edit", "forget", "store"]
    path: str = ""
    index: int = -1
    id: str | None = None
    subject: str = ""
    entity: str | None = None
    predicate: str = ""
    content: str = ""
    scope: str = GLOBAL
    trust: TrustName = "user_said"


@dataclass(frozen=True, slots=True)
class _Fate:
    """What becomes of a line: it stays, shows the fact `id`, or yields to it with a conflict."""

    kind: Literal["keep", "follow", "clash", "edit", "store"]
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """What a pass does: in memory, and with each line that says a fact.

    `own`: the paths of the notes that the mirror has written.
    """

    changes: tuple[Change, ...]
    problems: tuple[Problem, ...]
    fates: Mapping[tuple[str, int], _Fate]
    own: frozenset[str]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The notes as they should be (those that differ from what lies there), and the new base.

    An empty text: the note has nothing left and is deleted.
    """

    texts: Mapping[str, str]
    base: Base


def digest(body: str) -> str:
    """What the base keeps of a line's text: 32 hexadecimal digits."""
    return blake2b(normal(body).encode(), digest_size=16, person=b"markdown-mirror").hexdigest()


def normal(text: str) -> str:
    """The text as both sides compare it: without links, escapes and superfluous spaces."""
    for _ in range(_DEPTH):
        before = text
        text = text.replace("&lt;", "<").replace("! [", "![").replace("^ f-", "^f-")
        text = _LINK.sub(r"\1", " ".join(text.split()))
        text = text.replace(" <br>", "<br>").replace("<br> ", "<br>")
        text = text.removeprefix("<br>").removesuffix("<br>").replace("<br><br>", "<br>")
        if text == before:
            break
    return text


def _plain(text: str) -> str:
    """Text of memory in a note: one line that embeds nothing and cannot look like another's id."""
    line = " ".join(text.split()).replace("![", "! [").replace("^f-", "^ f-")
    return _TAG.sub("&lt;", line)


def read(path: str, text: str) -> Page:
    """The facts of a note; every line of it is kept."""
    subject, entity, begin = _front_matter(text)
    found, unreadable = [], []
    fenced = listed = False
    for index, whole in enumerate(text.split("\n")):
        line, end = (whole[:-1], "\r") if whole.endswith("\r") else (whole, "")
        if index < begin:
            continue
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and _HEADING.match(line):
            listed = line.strip() == _FACTS
        if not fenced and (known := _with_id(line)) is not None:
            found.append(Line(index, *known, end))
        elif _IDS.search(line):
            unreadable.append((index + 1, "it has the id of a fact, but not the form of one"))
        elif listed and not fenced and subject is not None and (match := _ITEM.fullmatch(line)):
            if line.startswith("- ") and _SAYS.fullmatch(match["body"].rstrip()):
                found.append(Line(index, match["body"].rstrip(), None, end))
            else:
                unreadable.append((index + 1, "a fact looks like `- predicate: content`"))
    return Page(path, text, subject, entity, tuple(found), tuple(unreadable))


def _with_id(line: str) -> tuple[str, str] | None:
    """Text and id of a fact's line."""
    body, _, id = line.rstrip().rpartition("^f-")
    said = body[2:].strip()
    if not (body.startswith("- ") and body[-1].isspace() and said and _ONE_ID.fullmatch(id)):
        return None
    return said, id


def _front_matter(text: str) -> tuple[str | None, str | None, int]:
    """Subject and entity, if it is a note of the mirror, and the index of the first line after."""
    lines = [line.rstrip() for line in text.split("\n")]
    if lines[0] != "---" or "---" not in lines[1:]:
        return None, None, 0
    end = lines.index("---", 1)
    given = dict(line.split(": ", 1) for line in lines[1:end] if ": " in line)
    subject = _scalar(given.get("subject", ""))
    if _scalar(given.get(_MARK, "")) != "note" or not subject:
        return None, None, end + 1
    entity = _scalar(given.get("entity", ""))
    return subject, entity if _ONE_ID.fullmatch(entity) else None, end + 1


def _scalar(text: str) -> str:
    """A string of YAML: Obsidian takes the quotes away where they are not needed."""
    text = text.strip()
    if text.startswith('"'):
        try:
            return str(json.loads(text))
        except ValueError:
            return ""
    if text.startswith("'") and text.endswith("'"):
        return text[1:-1].replace("''", "'")
    return text


def ids_in(text: str) -> set[str]:
    """All ids of facts that a text has, wherever they stand."""
    return set(_IDS.findall(text))


def conflicts_in(text: str) -> int:
    """How many conflicts wait for the person."""
    return sum(line.startswith(_CONFLICT) for line in text.split("\n"))


def plan(
    base: Base,
    pages: Sequence[Page],
    view: View,
    *,
    own: Collection[str],
    blind: bool = False,
) -> Plan:
    """What each side changed since the pass that wrote `base`, merged fact by fact.

    Changed in memory alone: the line follows. In the note alone: memory follows. On both sides:
    memory keeps its value, and the person's line stays below it as a conflict.

    Args:
        own: the paths of the notes that earlier passes wrote. A note that has none of its facts and
            is not among them was put there by somebody else: what it says is imported (C-391).
        blind: not all files could be read, so a missing line is no word to forget.
    """
    present = {id for page in pages for id in ids_in(page.text)}
    problems = [Problem(page.path, *one) for page in pages for one in page.unreadable]
    seen: dict[str, int] = {}
    for page in pages:
        for id in _IDS.findall(page.text):
            seen[id] = seen.get(id, 0) + 1
    ours = frozenset(
        page.path
        for page in pages
        if page.path in own
        or any(
            line.id is not None and line.id in base and seen[line.id] == 1 for line in page.lines
        )
    )
    changes: list[Change] = []
    fates: dict[tuple[str, int], _Fate] = {}
    said = Counter(_key(page, line) for page in pages for line in page.lines if line.id is None)
    for page in pages:
        for line in page.lines:
            foreign = page.path not in ours
            if line.id is None:
                fate, why = _new(base, page, line, view, present, said, foreign=foreign)
            elif seen[line.id] > 1:
                fate, why = _Fate("keep"), "this id stands on several lines; leave it on one"
            else:
                fate, why = _known(base, line, view)
            fates[page.path, line.index] = fate
            if why:
                problems.append(Problem(page.path, line.index + 1, why))
            elif fate.kind in ("edit", "store"):
                changes.append(_change(page, line, fate, view, foreign=foreign))
    for id, before in base.items():
        held = view.active.get(id)
        if held is None or blind or id in present or digest(held.body) != before:
            continue
        if (held.note, key_of(held.predicate)) not in said:
            changes.append(Change("forget", id=id, subject=held.subject, predicate=held.predicate))
    # Of the other notes, those with facts count as the mirror's in this pass alone.
    written = frozenset(page.path for page in pages if page.path in own)
    return Plan(tuple(changes), tuple(problems), fates, written)


def _key(page: Page, line: Line) -> _Key:
    """What one active fact may hold: a note and a predicate."""
    said = _said(line.body)
    return page.note, key_of(said[0] if said is not None else "")


def _known(base: Base, line: Line, view: View) -> tuple[_Fate, str]:
    assert line.id is not None  # noqa: S101 -- the caller asked
    held, before = view.current(line.id), base.get(line.id)
    own = view.active.get(line.id) or view.past.get(line.id)
    if before is None and own is not None:
        # The pass that wrote the line was killed. It wrote what the fact says, which never changes.
        before = digest(own.body)
    if held is not None and normal(held.body) == normal(line.body):
        return _Fate("follow", line.id), ""
    if before is None and held is None:
        return _Fate("keep"), "memory has no active fact with this id"
    if before == digest(line.body):
        return _Fate("follow", line.id), ""
    if held is None or before != digest(held.body):
        return _Fate("clash", line.id), ""
    if _said(line.body, held) is None:
        return _Fate("keep"), "a fact looks like `- predicate: content`"
    return _Fate("edit", line.id), ""


def _new(
    base: Base,
    page: Page,
    line: Line,
    view: View,
    present: set[str],
    said: Mapping[_Key, int],
    *,
    foreign: bool,
) -> tuple[_Fate, str]:
    key = _key(page, line)
    body, trust = _stated(line.body, foreign=foreign)
    shown = normal(body + _LABELS.get(trust, ""))
    if said[key] > 1:
        return _Fate("keep"), "several new lines have this predicate; leave one of them"
    for held in view.active.values():
        if (held.note, key_of(held.predicate), held.scope) != (*key, GLOBAL):
            continue
        if normal(held.body) == shown:
            if held.id in present:
                return _Fate("keep"), "another line says the same; one of them is enough"
            return _Fate("follow", held.id), ""  # stored by a pass that was interrupted
        if held.id not in present and base.get(held.id) != digest(held.body):
            return _Fate("clash", held.id), ""
    return _Fate("store"), ""


def _said(body: str, held: Held | None = None) -> tuple[str, str] | None:
    """Predicate and content of a line; a fact's own predicate may have a colon."""
    text = normal(body)
    if held is not None:
        text = text.removesuffix(held.label)
    own = None if held is None else f"{normal(held.predicate)}: "
    if held is not None and own is not None and text.startswith(own) and text != own:
        return held.predicate, text[len(own) :].replace("<br>", "\n")
    match = _SAYS.fullmatch(text)
    return None if match is None else (match["predicate"], match["content"].replace("<br>", "\n"))


def _stated(body: str, *, foreign: bool) -> tuple[str, Trust]:
    """What a new line says without a label, and how far it is trusted."""
    most = Trust.IMPORTED if foreign else Trust.USER_SAID
    for trust, label in _LABELS.items():
        if body.endswith(label):
            return body.removesuffix(label), min(trust, most)
    return body, most


def _change(page: Page, line: Line, fate: _Fate, view: View, *, foreign: bool) -> Change:
    held = view.current(fate.id)
    if held is None:
        body, stated = _stated(line.body, foreign=foreign)
        said = _said(body)
        assert said is not None  # noqa: S101 -- whoever found the line has asked
        subject, trust = page.subject or "", stated.label
        return Change(
            "store", page.path, line.index, None, subject, page.entity, *said, trust=trust
        )
    said = _said(line.body, held)
    assert said is not None  # noqa: S101 -- `_known` has asked
    trust = "imported" if foreign else "user_said"
    if held.label and normal(line.body).endswith(held.label):
        trust = held.trust
    # The same words without the label are now the person's own, so they are stored as another fact:
    # an edit that leaves the words leaves their trust, too.
    act: Literal["edit", "store"] = "edit"
    if normal(line.body + held.label) == normal(held.body):
        act = "store"
    return Change(
        act,
        page.path,
        line.index,
        held.id,
        held.subject,
        held.entity,
        *said,
        scope=held.scope,
        trust=trust,
    )


def render(
    base: Base,
    pages: Sequence[Page],
    merged: Plan,
    view: View,
    stored: Mapping[tuple[str, int], str],
    failed: Collection[tuple[str, int]] = (),
    *,
    blind: bool = False,
    names: "Names | None" = None,
) -> Outcome:
    """The notes after the changes were made in memory.

    Args:
        view: memory after them.
        stored: the ids that new lines got, by path and index.
        failed: the lines that memory refused; they stay as they are, and are tried again.
        names: the file names that are taken in the folder.
    """
    fates = {
        at: _Fate("keep")
        if at in failed
        else _Fate("store", stored.get(at))
        if one.kind == "store"
        else one
        for at, one in merged.fates.items()
    }
    shown = _claims(pages, fates, view)
    after: dict[str, str] = {}
    new_base: dict[str, str] = {}
    texts: dict[str, str] = {}
    for page in pages:
        lines: list[str | None] = [*page.text.split("\n")]
        for line in page.lines:
            at = (page.path, line.index)
            if fates[at].kind == "keep":
                continue
            held = shown.get(at)
            if held is not None:
                new_base[held.id] = digest(held.body)
            lines[line.index] = _emitted(line, fates[at], held)
        texts[page.path] = "\n".join(one for one in lines if one is not None)
    kept = {id for text in texts.values() for id in ids_in(text)}
    new_base |= {id: base[id] for id in sorted(kept - new_base.keys()) if id in base}
    missing = [
        held
        for held in view.active.values()
        if held.id not in kept and not (blind and held.id in base)
    ]
    if blind:
        new_base |= {id: before for id, before in base.items() if id not in new_base}
    _add(missing, pages, texts, new_base, names or Names([]))
    was = {page.path: page for page in pages}
    for path, text in texts.items():
        page_ = was.get(path)
        if page_ is None or text != page_.text:
            gone = page_ is not None and page_.subject is not None
            after[path] = (
                "" if gone and text == _skeleton(page_.subject or "", page_.entity) else text  # type: ignore[union-attr]
            )
    return Outcome(after, new_base)


def _claims(
    pages: Sequence[Page], fates: Mapping[tuple[str, int], _Fate], view: View
) -> dict[tuple[str, int], Held]:
    """Which fact each line shows: each fact one line, and its own line before those it replaced."""
    taken: set[str] = set()
    shown: dict[tuple[str, int], Held] = {}

    def claims(rank: int) -> Iterator[tuple[tuple[str, int], Held]]:
        for page in pages:
            for line in page.lines:
                at = (page.path, line.index)
                held = view.current(fates[at].id)
                if held is None or fates[at].kind == "keep" or at in shown:
                    continue
                own = line.id is None and fates[at].kind != "clash"
                if rank == 2 or (own if rank == 0 else line.id == held.id):
                    yield at, held

    for rank in range(3):
        for at, held in claims(rank):
            if held.id not in taken:
                taken.add(held.id)
                shown[at] = held
    return shown


def _emitted(line: Line, fate: _Fate, held: Held | None) -> str | None:
    """A line, maybe with a conflict below it; None: nothing."""
    person = fate.kind in ("edit", "store", "clash")
    if held is not None:
        # A note of somebody else's gets the label that says so.
        for body in (line.body, line.body + held.label):
            if normal(held.body) == normal(body):
                return f"- {body} ^f-{held.id}{line.end}"
    parts = [] if held is None else [f"- {held.body} ^f-{held.id}{line.end}"]
    if person:
        why = "Memory has this otherwise" if held is not None else "Memory no longer has this"
        parts += [
            f"{_CONFLICT} {why}. Your line follows; delete it, or take the > away to store it."
            f"{line.end}",
            f"> - {line.body}{line.end}",
        ]
        # A blank line, or the next line would belong to the quotation.
        parts.append(line.end)
    return "\n".join(parts) if parts else None


class Names:
    """File names for notes: safe on all systems, and different also where case does not count."""

    def __init__(self, taken: Collection[str]) -> None:
        self._taken = {name.casefold() for name in taken}

    def of(self, held: Held) -> str:
        """A name that is free, and taken from now on; it ends in `.md`."""
        name = safe_name(held.subject)
        if f"{name}.md".casefold() in self._taken:
            name = f"{name} {blake2b(held.note.encode(), digest_size=4).hexdigest()}"
        count = 1
        free = name
        while f"{free}.md".casefold() in self._taken:
            count += 1
            free = f"{name} {count}"
        self._taken.add(f"{free}.md".casefold())
        return f"{free}.md"


_RESERVED: Final = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)


def safe_name(subject: str) -> str:
    """A subject as a file name without its ending; at most 120 bytes, never a path."""
    shown = "".join(one if one.isprintable() else " " for one in subject)
    name = " ".join(_UNSAFE.sub("-", shown).split())
    name = name.encode(errors="replace")[:120].decode(errors="ignore").strip(" .")
    if _RESERVED.fullmatch(name):
        name += "_"
    return name or "note"


def _skeleton(subject: str, entity: str | None) -> str:
    named = "" if entity is None else f'entity: "{entity}"\n'
    quoted = json.dumps(subject, ensure_ascii=False)
    title = _plain(subject)
    return f"---\n{_MARK}: note\nsubject: {quoted}\n{named}---\n\n# {title}\n\n{_FACTS}\n\n"


def _add(
    missing: Sequence[Held],
    pages: Sequence[Page],
    texts: dict[str, str],
    base: dict[str, str],
    names: Names,
) -> None:
    """Put facts of memory into the notes they belong to; a note that is not there is made."""
    notes: dict[str, str] = {}
    for page in pages:
        if page.note is not None:
            notes.setdefault(page.note, page.path)
    new: dict[str, list[str]] = {}
    for held in missing:
        if held.note not in notes:
            notes[held.note] = path = names.of(held)
            texts[path] = _skeleton(held.subject, held.entity)
        new.setdefault(notes[held.note], []).append(f"- {held.body} ^f-{held.id}")
        base[held.id] = digest(held.body)
    for path, lines in new.items():
        texts[path] = _with_lines(texts[path], lines)


def _with_lines(text: str, new: Sequence[str]) -> str:
    """A note with lines at the end of its facts."""
    lines = text.split("\n")
    end = "\r" if lines[0].endswith("\r") else ""
    starts = [index for index, line in enumerate(lines) if line.strip() == _FACTS]
    if not starts:
        while lines and not lines[-1].strip():
            lines.pop()
        lines += [end, _FACTS + end, end, ""]
        starts = [len(lines) - 3]
    start = starts[0]
    stop = next(
        (at for at in range(start + 1, len(lines)) if _HEADING.match(lines[at])), len(lines)
    )
    last = stop
    while last > start + 1 and not lines[last - 1].strip():
        last -= 1
    apart = last == start + 1 or lines[last - 1].startswith(">")
    between = [end] if apart else []
    rest = lines[last:]
    if last == start + 1 and rest and not rest[0].strip():
        rest = rest[1:]
    added = [f"{line}{end}" for line in new]
    return "\n".join([*lines[:last], *between, *added, *(rest or [""])])
