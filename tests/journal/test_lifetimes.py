"""The whole life of working memory, step by step, against a model of a few lines."""

import tempfile
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from conftest import Clock
from memory_butler.journal.file import JournalFile
from memory_butler.journal.items import MEMORY_TYPES, MemoryType, Status
from memory_butler.journal.live import LiveJournal

HALF = {
    "feeling": (2, 3),
    "thought": (12, 8),
    "pattern": (168, 60),
    "desc": (72, 40),
    "pin": (336, 100),
}
COMMANDS: dict[str, tuple[MemoryType, Status]] = {
    "plan>done": ("plan", "resolved"),
    "plan>skip": ("plan", "dropped"),
    "pin>release": ("pin", "dropped"),
    "secret>reveal": ("secret", "resolved"),
}
WORDS = ("red apple", "green apple", "old river boat", "ada: tall", "ada: tall and kind")


@dataclass
class Remembered:
    """The model of an item."""

    type: MemoryType
    content: str
    status: Status = "active"
    hours: float = 0.0
    turns: int = 0

    def score(self) -> float:
        if self.type not in HALF:
            return 1.0
        hours, turns = HALF[self.type]
        return float(0.5 ** (self.hours / hours) * 0.5 ** (self.turns / turns))


class Lifetimes(RuleBasedStateMachine):
    @initialize()
    def open(self) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="mb-journal-")
        self.clock = Clock()
        self.file = JournalFile.open(Path(self.folder.name), "default", "companion")
        self.live = LiveJournal(self.file, now=self.clock)
        self.items: list[Remembered] = []
        self.messages = 0

    def teardown(self) -> None:
        if hasattr(self, "file"):
            self.file.close()
            self.folder.cleanup()

    def active(self, type: MemoryType) -> list[Remembered]:
        return [one for one in self.items if one.type == type and one.status == "active"]

    def say(self, text: str, actor: str) -> None:
        self.live.log(text, actor)
        self.messages += 1
        if actor == "user":
            self.sweep_model()

    def sweep_model(self) -> None:
        for one in self.items:
            if one.status == "active" and one.score() < 0.005:
                one.status = "decayed"

    def turn(self, actor: str) -> None:
        """A user's message makes everything a turn older, but what it brings itself."""
        if actor == "user":
            for one in self.items:
                one.turns += 1

    @rule(
        type=st.sampled_from(MEMORY_TYPES),
        content=st.sampled_from(WORDS),
        actor=st.sampled_from(["user", "assistant"]),
    )
    def tag(self, type: MemoryType, content: str, actor: str) -> None:
        self.turn(actor)
        same = [one for one in self.active(type) if one.content == content]
        if same:
            same[-1].hours, same[-1].turns = 0.0, 0
        else:
            for one in self.active(type):
                of_ada = content.startswith("ada:") and one.content.startswith("ada:")
                if type == "feeling" or (type == "desc" and of_ada):
                    one.status = "superseded"
            self.items.append(Remembered(type, content))
        self.say(f"<{type}>{content}</{type}>", actor)

    @rule(
        command=st.sampled_from(sorted(COMMANDS)),
        words=st.sampled_from(["", "apple", "red", "river boat", "nothing like it"]),
        actor=st.sampled_from(["user", "assistant"]),
    )
    def command(self, command: str, words: str, actor: str) -> None:
        self.turn(actor)
        type, status = COMMANDS[command]
        best: Remembered | None = None
        best_score = 0.0
        for one in self.active(type):  # the oldest first: the newest wins a tie
            mine, theirs = set(words.split()), set(one.content.split())
            alike = len(mine & theirs) / max(len(mine), len(theirs))
            if not words or (alike >= max(0.15, best_score) and alike > 0):
                best, best_score = one, alike
        if best is not None:
            best.status = status
        self.say(f"{command} {words}", actor)

    @rule(hours=st.sampled_from([0.5, 3, 12, 50, 400]))
    def wait(self, hours: float) -> None:
        self.clock.advance(timedelta(hours=hours))
        for one in self.items:
            one.hours += hours

    @rule(count=st.integers(1, 12))
    def talk(self, count: int) -> None:
        for _ in range(count):
            self.turn("user")
            self.say("and then?", "user")
            self.say("<say>Well.</say>", "assistant")

    @rule()
    def sweep(self) -> None:
        self.live.sweep()
        self.sweep_model()

    @rule()
    def reopen(self) -> None:
        self.file.close()
        self.file = JournalFile.open(Path(self.folder.name), "default", "companion")
        self.live = LiveJournal(self.file, now=self.clock)

    @invariant()
    def the_journal_agrees(self) -> None:
        if not hasattr(self, "file"):
            return
        history = self.live.history(1_000)[::-1]
        assert [(one.type, one.content, one.status) for one in history] == [
            (one.type, one.content, one.status) for one in self.items
        ]
        for item in history:
            assert (item.resolved_at is None) == (item.status == "active")
            assert item.created_at <= item.refreshed_at
            assert item.resolved_at is None or item.resolved_at >= item.created_at
        scores = {one.item.id: one for one in self.live.mind()}
        for item, one in zip(history, self.items, strict=True):
            if item.status == "active":
                found = scores[item.id]
                # The log's own clock runs microseconds ahead of a clock that stands still.
                assert found.score == pytest.approx(one.score(), rel=1e-4)
                assert found.turns == one.turns or one.type not in HALF
        assert len(self.live.events(limit=1_000)) == min(self.messages, 1_000)


TestLifetimes = Lifetimes.TestCase
TestLifetimes.settings = settings(max_examples=20, stateful_step_count=20, deadline=None)
TestLifetimes = pytest.mark.requirement(
    "JSCH-08", "JSUP-01", "JSUP-02", "JSUP-03", "JSUP-04", "JSUP-05", "JDEC-08", "JDEC-09"
)(TestLifetimes)
