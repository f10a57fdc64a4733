"""Notes and their merge with memory: histories on both sides converge, and nothing is lost."""

import random
from dataclasses import dataclass, field, replace
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import HISTORIES
from memory_butler.domain.facts import key_of
from memory_butler.domain.mirror import (
    Held,
    Names,
    Outcome,
    View,
    conflicts_in,
    digest,
    ids_in,
    normal,
    plan,
    read,
    render,
    safe_name,
)
from memory_butler.domain.trust import TrustName

# 200 with the suite, 4,000 at night.
EXAMPLES = 8 * HISTORIES
SUBJECTS = ("Ana", "ana/..", "CON", "user")
PREDICATES = ("home", "pet", "likes: best")
LEVELS: tuple[TrustName, ...] = ("user_said", "imported")


@dataclass
class World:
    """Both sides by the rules of the store: one active fact a key, an edit makes a new one."""

    seed: int
    active: dict[str, Held] = field(default_factory=dict)
    replaced: dict[str, str] = field(default_factory=dict)
    known: dict[str, Held] = field(default_factory=dict)
    said: set[str] = field(default_factory=set)
    texts: dict[str, str] = field(default_factory=dict)
    base: dict[str, str] = field(default_factory=dict)
    own: frozenset[str] = frozenset()
    count: int = 0

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)  # noqa: S311 -- a history

    def word(self) -> str:
        self.count += 1
        shape = self.chance.choice(("w{}w", "<b>w{}w", "![[w{}w]]", "w{}w\n two", "w{}w: ^f-x"))
        return shape.format(self.count)

    def store(self, held: Held) -> str:
        self.count += 1
        new = replace(held, id=str(UUID(int=self.count)))
        for id, old in list(self.active.items()):
            key = (old.note, key_of(old.predicate), old.scope)
            if key == (new.note, key_of(new.predicate), new.scope):
                del self.active[id]
                self.replaced[id] = new.id
        self.active[new.id] = self.known[new.id] = new
        self.said.add(normal(new.body))
        return new.id

    def view(self) -> View:
        newest = {}
        for id in self.replaced:
            here = id
            while here in self.replaced:
                here = self.replaced[here]
            newest[id] = here
        return View(dict(self.active), newest, self.known)

    def in_memory(self) -> None:
        ids = sorted(self.active)
        act = self.chance.choice(("store", "store", "forget", "edit"))
        if act == "store" or not ids:
            subject, predicate = self.chance.choice(SUBJECTS), self.chance.choice(PREDICATES)
            trust = self.chance.choice(LEVELS)
            self.store(Held("", subject, predicate, self.word(), trust=trust))
            return
        id = self.chance.choice(ids)
        if act == "edit":
            self.store(replace(self.active[id], content=self.word()))
        else:
            del self.active[id]

    def by_the_person(self) -> None:
        if not self.texts:
            return
        path = self.chance.choice(sorted(self.texts))
        lines = self.texts[path].split("\n")
        facts = [n for n, one in enumerate(lines) if one.startswith("- ") and "^f-" in one]
        act = self.chance.choice("edit edit delete new prose resolve move".split())
        if act in ("edit", "delete", "move") and facts:
            at = self.chance.choice(facts)
            if act == "edit":
                said, _, id = lines[at].rpartition(" ^f-")
                predicate, _, old = said.partition(": ")
                label = " (source: import)" if "(source: import)" in old else ""
                new = self.chance.choice((f"{self.word()}{label}", self.word(), old.split(" (")[0]))
                lines[at] = f"{predicate}: {new.replace(chr(10), '<br>')} ^f-{id}"
            else:
                line = lines.pop(at)
                if act == "move":
                    lines.append(line)
        elif act == "new":
            said = self.word().replace("\n", "<br>")
            lines.append(f"- {self.chance.choice(PREDICATES)}: {said}")
        elif act == "prose":
            lines.append(f"Prose {self.word()}\r")
        elif act == "resolve":
            lines = [one.removeprefix("> ") if one.startswith("> - ") else one for one in lines]
        self.texts[path] = "\n".join(lines)

    def sync(self, killed: float = 1.0) -> Outcome | None:
        """One pass, which ends after this share of its steps."""
        pages = [read(path, text) for path, text in sorted(self.texts.items())]
        merged = plan(self.base, pages, self.view(), own=self.own)
        stored = {}
        steps = list(merged.changes)
        for change in steps[: int(len(steps) * min(1.0, killed * 2))]:
            if change.act == "forget":
                assert change.id is not None
                self.active.pop(change.id, None)
            elif change.act == "store":
                says = (change.subject, change.predicate, change.content)
                held = Held("", *says, trust=change.trust)
                stored[change.path, change.index] = self.store(held)
            elif change.id in self.active:
                old = self.active.pop(change.id)
                new = replace(
                    old,
                    predicate=change.predicate,
                    content=change.content,
                    trust=change.trust,
                )
                self.replaced[old.id] = self.store(new)
        if killed < 0.5:
            return None
        outcome = render(
            self.base, pages, merged, self.view(), stored, names=Names(list(self.texts))
        )
        written = sorted(outcome.texts.items())
        for path, text in written[: int(len(written) * (killed * 2 - 1))]:
            if text:
                self.texts[path] = text
            else:
                del self.texts[path]
        if killed == 1.0:
            self.base = dict(outcome.base)
            self.own = merged.own | (self.texts.keys() - {page.path for page in pages})
        return outcome

    def words(self) -> set[str]:
        text = "\n".join(self.texts.values())
        return {one for one in (f"w{n}w" for n in range(self.count + 1)) if one in text}

    def prose(self) -> list[str]:
        return sorted(
            one for text in self.texts.values() for one in text.split("\n") if "Prose" in one
        )


@settings(max_examples=EXAMPLES)
@given(st.integers(0, 2**32))
def test_histories_on_both_sides_converge_and_nothing_is_lost(seed: int) -> None:
    world = World(seed)
    for _ in range(world.chance.randint(1, 25)):
        act = world.chance.random()
        if act < 0.35:
            world.in_memory()
        elif act < 0.75:
            world.by_the_person()
        else:
            words, prose = world.words(), world.prose()
            world.sync(1.0 if world.chance.random() < 0.5 else world.chance.random())
            everywhere = "\n".join([*world.texts.values(), *world.said])
            assert all(word in everywhere for word in words)
            assert world.prose() == prose
    world.sync()
    world.sync()
    before = dict(world.texts), dict(world.base)
    last = world.sync()
    assert last is not None
    assert not last.texts
    assert (world.texts, world.base) == before
    pages = [read(path, text) for path, text in sorted(world.texts.items())]
    assert not plan(world.base, pages, world.view(), own=world.own).changes
    lines = [line for page in pages for line in page.lines if line.id]
    assert sorted(line.id or "" for line in lines) == sorted(world.active)
    assert all(normal(world.active[line.id or ""].body) == normal(line.body) for line in lines)


def _note(*lines: str) -> str:
    return "\n".join(
        ["---", "memory-butler: note", "subject: Ana", "---", "", "## Facts", "", *lines, ""]
    )


ID = "00000000-0000-0000-0000-000000000001"


def _merged(text: str, *facts: Held, base: dict[str, str] | None = None) -> tuple[str, list[str]]:
    page = read("Ana.md", text)
    view = View({one.id: one for one in facts})
    merged = plan(base or {}, [page], view, own={page.path})
    texts = render(base or {}, [page], merged, view, {}).texts
    return texts.get("Ana.md", text), [one.why for one in merged.problems]


def test_both_changed_and_both_are_shown() -> None:
    text, problems = _merged(
        _note(f"- home: Lisbon ^f-{ID}"), Held(ID, "Ana", "home", "Porto"), base={ID: "another"}
    )
    assert f"- home: Porto ^f-{ID}\n> [!conflict]" in text
    assert "> - home: Lisbon\n" in text
    assert conflicts_in(text) == 1
    assert not problems


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (f"* home: Porto ^f-{ID}", "not the form"),
        ("- nothing said", "looks like"),
        ("* pet: Rex", "looks like"),
        ("- home: Porto", "says the same"),
    ],
)
def test_what_is_unreadable_is_reported_and_left_alone(line: str, why: str) -> None:
    held = Held(ID, "Ana", "home", "Porto")
    text = _note(line) if "^f-" in line else _note(f"- home: Porto ^f-{ID}", line)
    after, problems = _merged(text, held)
    assert after == text
    assert len(problems) == 1
    assert why in problems[0]


def test_an_id_on_two_lines_and_one_in_a_fence() -> None:
    held = Held(ID, "Ana", "home", "Porto")
    line = f"- home: Porto ^f-{ID}"
    text = _note(line, line)
    assert _merged(text, held)[0] == text
    fenced = _note("```", line, "- pet: Rex", "```")
    assert _merged(fenced, held)[0] == fenced


def test_the_text_of_a_fact_embeds_nothing_and_opens_no_line() -> None:
    # Another fact's id: else its own line would count as a second one.
    other = f"{ID[:-1]}{(int(ID[-1], 16) + 1) % 16:x}"
    held = Held(ID, "Ana", "home", f"![x](http://x)\n- a: b ^f-{other}\n<img src=x>\n> [!conflict]")
    text, _ = _merged(_note(), held)
    assert ids_in(text) == {ID}
    assert "![" not in text
    assert "<img" not in text
    assert conflicts_in(text) == 0
    assert _merged(text, held)[0] == text


LABEL = " (source: web page, unverified)"


@pytest.mark.parametrize(
    ("line", "act", "content", "trust"),
    [
        (f"- home: Lisbon{LABEL}", "edit", "Lisbon", "untrusted_web"),
        ("- home: Lisbon", "edit", "Lisbon", "user_said"),
        ("- home: Porto", "store", "Porto", "user_said"),
    ],
)
def test_a_line_says_whose_word_it_is(line: str, act: str, content: str, trust: str) -> None:
    """With its label a corrected line stays a page's word; without it is the person's (C-390)."""
    held = Held(ID, "Ana", "home", "Porto", trust="untrusted_web")
    shown, _ = _merged(_note(), held)
    assert f"- home: Porto{LABEL} ^f-{ID}" in shown
    page = read("Ana.md", _note(f"{line} ^f-{ID}"))
    (change,) = plan({ID: digest(held.body)}, [page], View({ID: held}), own=()).changes
    assert (change.act, change.id, change.content, change.trust) == (act, ID, content, trust)


@pytest.mark.parametrize(
    ("line", "own", "trust"),
    [
        ("- home: Lisbon", True, "user_said"),
        (f"- home: Lisbon{LABEL}", True, "untrusted_web"),
        ("- home: Lisbon", False, "imported"),
        (f"- home: Lisbon{LABEL}", False, "untrusted_web"),
        ("- home: Lisbon (source: tool output)", False, "imported"),
    ],
)
def test_what_a_note_says_that_no_pass_has_written_is_imported(
    line: str, own: bool, trust: str
) -> None:
    page = read("Ana.md", _note(line))
    (change,) = plan({}, [page], View({}), own={"Ana.md"} if own else ()).changes
    assert (change.act, change.content, change.trust) == ("store", "Lisbon", trust)


def test_a_note_with_a_line_of_another_ones_is_not_ones_own() -> None:
    """An id that stands in two notes makes neither known."""
    held = Held(ID, "Ana", "home", "Porto")
    real, copy = (f"- home: Porto ^f-{ID}", "- pet: Rex")
    pages = [read("Ana.md", _note(real)), read("copy.md", _note(real, copy))]
    (change,) = plan({ID: digest(held.body)}, pages, View({ID: held}), own={"Ana.md"}).changes
    assert (change.path, change.trust) == ("copy.md", "imported")


def test_names_are_safe_and_free() -> None:
    assert safe_name("../../etc/passwd") == "-..-etc-passwd"
    assert safe_name("con.txt") == "con.txt_"
    assert safe_name(" .. ") == "note"
    assert len(safe_name("ä" * 300).encode()) <= 120
    names = Names(["ana.md"])
    made = {names.of(Held(ID, "Ana", "a", "b")) for _ in range(3)}
    assert len(made) == 3
    assert "Ana.md" not in made
