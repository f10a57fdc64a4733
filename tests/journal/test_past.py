"""The journal as it was known: any history at all, and what it said of itself on the way."""

import tempfile
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from conftest import NOW, Clock
from memory_butler.domain.errors import Conflict, InvalidInput, NotFound
from memory_butler.journal.assembly import Prompt
from memory_butler.journal.desk import MaintenanceDesk
from memory_butler.journal.file import JournalFile
from memory_butler.journal.fragments import (
    DropEdge,
    DropFragment,
    Operation,
    PutEdge,
    PutFragment,
)
from memory_butler.journal.live import LiveJournal

KEYS = ("garden", "well", "Ada")
SAID = (
    "Good morning! How is the garden?",
    "<feeling>rested</feeling>",
    "<feeling>tired</feeling>",
    "<thought>the well is deep</thought>",
    "<thought>The  Well is deep</thought>",
    "<pattern>rises early</pattern><pin>Ada likes tea</pin>",
    "<desc>garden gate: green</desc>",
    "<desc>garden gate: red</desc>",
    "<plan>water the garden tomorrow at 9am</plan>",
    "<plan due='next friday'>water the garden tomorrow at 9am</plan>",
    "<plan due='tomorrow at 9am'>the garden: water it</plan>",
    "<plan>see [Ada] in three days</plan>",
    "plan>done water the garden",
    "pin>drop Ada likes tea",
    "<secret>a lantern for Ada</secret>",
    "secret>reveal lantern",
)
REPLIED = (
    "<say>Good morning to you.</say><do>opens the window</do>",
    "recall(garden) plans()",
    "recall(well, deep=True) and recall(Ada)",
    'plans(when="tomorrow") <feeling>curious</feeling>',
)
keys = st.sampled_from(KEYS)
changes: st.SearchStrategy[Operation] = st.one_of(
    st.builds(
        PutFragment,
        keys,
        st.sampled_from(("a line", "another line")),
        st.sampled_from((None, "a story")),
        st.sampled_from((None, "every detail")),
        st.sampled_from(((), (1,))),
    ),
    st.builds(DropFragment, keys),
    st.builds(PutEdge, keys, keys, st.sampled_from((None, "near"))),
    st.builds(DropEdge, keys, keys),
)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a journal said of itself at one moment."""

    at: datetime
    told: dict[str, Any]


def _told(live: LiveJournal, desk: MaintenanceDesk) -> dict[str, Any]:
    """Every way in which a journal can be read."""
    return {
        "mind": live.mind(),
        "history": live.history(),
        "plans": [live.plans(), live.plans("garden"), live.plans("Ada", "next week")],
        "recall": [live.recall(key, deep=key == "well", direction="both") for key in KEYS],
        "recalled": live.recalled(),
        "stream": live.stream(),
        "fragments": desk.fragments(),
        "versions": desk.versions("garden"),
        "runs": desk.runs(),
        "prompt": _prompt(live),
    }


def _prompt(live: LiveJournal) -> Prompt | None:
    try:
        return live.assemble()
    except NotFound:
        return None


class Histories(RuleBasedStateMachine):
    """Everything that is ever done to a journal, in any order, with time going by."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory(prefix="mb-past-")
        self.clock = Clock()
        self.clock.now = NOW
        self.file = JournalFile.open(Path(self.folder.name), "default", "companion")
        (self.file.texts_dir / "wake-context.md").write_text("You keep a journal.")
        self.live = LiveJournal(self.file, now=self.clock)
        self.desk = MaintenanceDesk(self.file, self.clock)
        self.answers: list[Answer] = []
        self.steps = 0

    def later(self) -> None:
        self.clock.advance(seconds=1)

    @initialize()
    def begin(self) -> None:
        """Something that later messages repeat, finish and look up."""
        self.say(SAID[3], SAID[6])
        self.compile([PutFragment("garden", "a line"), PutFragment("well", "a hole")], None)

    @rule(one=st.sampled_from(SAID), other=st.sampled_from(SAID))
    def say(self, one: str, other: str) -> None:
        self.later()
        self.live.log(f"{one}\n{other}", "user")

    @rule(text=st.sampled_from(REPLIED), other=st.sampled_from((*REPLIED, *SAID)))
    def reply(self, text: str, other: str) -> None:
        self.later()
        self.live.log(f"{text}\n{other}", "assistant")

    @rule(operations=st.lists(changes, max_size=3), prose=st.sampled_from((None, "A garden.")))
    def compile(self, operations: list[Operation], prose: str | None) -> None:
        self.later()
        try:
            self.desk.propose(operations)
        except InvalidInput:
            return
        self.desk.apply("manual", operations, prose)

    @rule(back=st.integers(0, 2))
    def take_a_run_back(self, back: int) -> None:
        self.later()
        runs = [one for one in self.desk.runs() if one.completed_at]
        if back < len(runs):
            try:
                self.desk.undo(runs[back].id)
            except Conflict:
                return

    @rule(hours=st.sampled_from((1, 30, 400)))
    def let_time_pass(self, hours: int) -> None:
        self.clock.advance(hours=hours)
        self.live.sweep()

    @invariant()
    def ask(self) -> None:
        self.steps += 1
        if self.steps % 3 == 0:
            self.later()
            self.answers.append(Answer(self.clock.now, _told(self.live, self.desk)))

    def teardown(self) -> None:
        try:
            for then in self.answers:
                past = _told(self.live.at(then.at), self.desk.at(then.at))
                for name, told in then.told.items():
                    assert past[name] == told, name
        finally:
            self.file.close()
            self.folder.cleanup()


def test_the_past_is_what_the_journal_said_then() -> None:
    run_state_machine_as_test(Histories, settings=settings(stateful_step_count=6))


def test_what_was_refreshed_in_other_words_was_refreshed_then(
    live: LiveJournal, clock: Clock
) -> None:
    for _ in range(3):
        live.log("<plan>water the garden on 9 March at 9am</plan>")
        clock.advance(hours=1)
        live.log("<plan due='9 March at 9am'>the garden: water it</plan>")
        then, mind = clock.now, live.mind()
        assert len(mind) == 1
        clock.advance(hours=1)
        live.log("<plan>water the garden on 9 March at 9am</plan>")
        assert live.at(then).mind() == mind
        clock.advance(days=1)


def test_nothing_can_be_changed_in_the_past(live: LiveJournal, clock: Clock) -> None:
    live.log("Good morning!", "user")
    then = clock.now
    clock.advance(days=1)
    with pytest.raises(Conflict, match="cannot be changed"):
        live.at(then).log("Hello again!", "user")
    with pytest.raises(Conflict, match="cannot be changed"):
        live.at(then).sweep()
    assert live.extent()[0] == 1


def test_a_moment_without_a_time_zone_is_refused(live: LiveJournal) -> None:
    with pytest.raises(InvalidInput, match="time zone"):
        live.at(NOW.replace(tzinfo=None))


def test_before_the_first_message_there_was_nothing(
    live: LiveJournal, desk: MaintenanceDesk, clock: Clock
) -> None:
    clock.advance(days=1)
    live.log("<pin>Ada likes tea</pin> recall(garden)", "assistant")
    desk.apply("manual", [PutFragment("garden", "a line")], "A garden.")
    before = clock.now - timedelta(hours=1)
    told = _told(live.at(before), desk.at(before))
    assert live.at(before).extent() == (0, None)
    empty = {name: told[name] for name in ("mind", "history", "recalled", "stream", "runs")}
    assert set(empty.values()) == {()}
    assert (told["fragments"], told["prompt"]) == ({}, None)
