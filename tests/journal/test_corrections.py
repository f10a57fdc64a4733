"""What was remembered can be taken back: undo, forget, edit."""

from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from conftest import Clock
from memory_butler.domain.errors import InvalidInput, NotFound
from memory_butler.journal.corrections import MAX_UNDOABLE
from memory_butler.journal.desk import MaintenanceDesk
from memory_butler.journal.erasing import erase_messages
from memory_butler.journal.file import JournalFile
from memory_butler.journal.fragments import PutFragment
from memory_butler.journal.items import Item
from memory_butler.journal.live import LiveJournal
from memory_butler.journal.memory import Change
from memory_butler.journal.policy import JournalPolicy
from memory_butler.journal.wording import change_lines

COMPANION = "assistant"


def on_mind(live: LiveJournal) -> list[str]:
    return sorted(one.item.content for one in live.mind())


def told(changes: Iterable[Change]) -> list[tuple[str, str]]:
    return [(one.event, one.content) for one in changes]


def find(live: LiveJournal, text: str) -> Item:
    item = live.meant(text).item
    assert item is not None, text
    return item


def test_what_a_message_kept_is_taken_back_and_then_the_one_before(live: LiveJournal) -> None:
    live.log("<pin>tea is green</pin><plan>buy tea</plan>")
    live.log("Nothing to keep.")
    live.log("<thought>they like tea</thought>", COMPANION)
    assert told(live.undo()) == [("forget", "they like tea")]
    assert told(live.undo()) == [("forget", "buy tea"), ("forget", "tea is green")]
    assert live.undo() == ()
    assert live.mind() == ()
    # The log is what it was.
    assert len(live.events()) == 3


def test_what_was_ended_by_mistake_comes_back(live: LiveJournal, clock: Clock) -> None:
    live.log('<plan due="2027-05-01 09:00">save 5000 euros</plan><feeling>calm</feeling>')
    due = live.plans()[0].item.due
    assert due is not None
    clock.now += timedelta(minutes=1)
    live.log("plan>done save 5000 euros\n<feeling>cross</feeling>", COMPANION)
    assert on_mind(live) == ["cross"]
    clock.now += timedelta(minutes=1)
    assert told(live.undo()) == [
        ("forget", "cross"),
        ("tag", "calm"),
        ("tag", "save 5000 euros"),
    ]
    assert on_mind(live) == ["calm", "save 5000 euros"]
    assert live.plans()[0].item.due == due
    # As it was known in between, it was ended: the past is not rewritten.
    ended = clock.now - timedelta(seconds=30)
    clock.now += timedelta(minutes=1)
    live.log("<pin>later</pin>")
    assert on_mind(live.at(ended)) == ["cross"]


def test_what_comes_back_in_another_time_zone_is_due_on_its_day(
    live: LiveJournal, clock: Clock
) -> None:
    live.log('<plan due="2027-05-07">call Bo</plan>')
    live.log("plan>done call Bo", COMPANION)
    tokyo = JournalPolicy(zone=ZoneInfo("Asia/Tokyo"))
    (line,) = change_lines(live.undo(), tokyo, taken_back=True)
    assert "Friday, 7 May 2027, 23:59" in line


def test_a_refresh_is_taken_back_with_its_due_date(live: LiveJournal, clock: Clock) -> None:
    live.log("<plan>call Bo</plan><pin>tea</pin>")
    clock.now += timedelta(days=10)
    live.log('<plan due="tomorrow at 9am">call Bo</plan><pin>tea</pin>')
    assert find(live, "call Bo").due is not None
    assert told(live.undo()) == [("retag", "tea"), ("retag", "call Bo")]
    assert find(live, "call Bo").due is None
    assert find(live, "tea").refreshed_at == clock.now - timedelta(days=10)
    # And the pin itself can still be taken back.
    assert ("forget", "tea") in told(live.undo())


def test_a_correction_can_be_taken_back_too(live: LiveJournal, desk: MaintenanceDesk) -> None:
    desk.apply("manual", [PutFragment("tea", "Tea.")])
    live.log("<pin>Ana likes green tea</pin>")
    assert told([live.forget(find(live, "green tea"))]) == [("forget", "Ana likes green tea")]
    assert on_mind(live) == []
    assert told(live.undo()) == [("tag", "Ana likes green tea")]
    item = find(live, "green tea")
    # It is found by what it mentions, as it was before.
    assert [one.item for one in live.plans("tea")] == [item]
    with pytest.raises(NotFound):
        live.forget(live.history()[-1])
    assert told(live.edit(item, "Ana likes black tea")) == [
        ("edit", "Ana likes green tea"),
        ("tag", "Ana likes black tea"),
    ]
    assert on_mind(live) == ["Ana likes black tea"]
    assert live.events()[-1].content == "<pin>Ana likes black tea</pin>"
    assert live.events()[-1].actor == "user"
    live.undo()
    assert on_mind(live) == ["Ana likes green tea"]
    with pytest.raises(NotFound):
        live.edit(item, "Ana likes coffee")


def test_what_came_back_can_still_be_taken_back(live: LiveJournal) -> None:
    live.log("<pin>tea</pin>")
    live.edit(find(live, "tea"), "coffee")
    live.forget(find(live, "coffee"))
    assert told(live.undo()) == [("tag", "coffee")]
    assert told(live.undo()) == [("forget", "coffee"), ("tag", "tea")]
    assert told(live.undo()) == [("forget", "tea")]
    assert live.undo() == ()
    assert live.mind() == ()


def test_an_edited_plan_keeps_its_date_unless_it_names_another(live: LiveJournal) -> None:
    live.log('<plan due="2027-05-01 09:00">call Bo</plan>')
    due = find(live, "call Bo").due
    live.edit(find(live, "call Bo"), "call Bo and Cy")
    assert find(live, "call Bo").due == due
    live.edit(find(live, "call Bo"), "call Bo and Cy on 3 June 2027")
    changed = find(live, "call Bo").due
    assert changed is not None
    assert changed.month == 6


@pytest.mark.parametrize("text", ["", " ", "tea</pin><secret>x</secret>", "<pin>tea"])
def test_an_edit_is_plain_text(live: LiveJournal, text: str) -> None:
    live.log("<pin>tea</pin>")
    with pytest.raises(InvalidInput):
        live.edit(find(live, "tea"), text)
    assert on_mind(live) == ["tea"]
    assert len(live.events()) == 1


def test_a_few_words_find_what_is_meant_and_never_a_secret(live: LiveJournal) -> None:
    live.log(
        "<secret>a lantern for Ana</secret><pin>the key of the shed lies under the third pot "
        "beside the door of the greenhouse, where nobody looks</pin><plan>walk the dog</plan>"
        "<pin>the dog eats no beef</pin>",
        COMPANION,
    )
    assert find(live, "shed").content.startswith("the key")
    assert find(live, "walking the dog").type == "plan"
    for unclear in ("dog", "lantern", "submarine"):
        assert live.meant(unclear).item is None
    assert len(live.meant("dog").near) == 2


def test_so_many_messages_can_be_taken_back(live: LiveJournal) -> None:
    for number in range(MAX_UNDOABLE + 2):
        live.log(f"<pin>thing {number}</pin>")
    while live.undo():
        pass
    assert on_mind(live) == ["thing 0", "thing 1"]


def test_what_was_erased_does_not_come_back(live: LiveJournal, file: JournalFile) -> None:
    live.log("<pin>a name</pin>")
    live.log("pin>drop a name")
    erase_messages(file, 1, 100)
    # The number of what was dropped belongs to this one now.
    live.log("<pin>another</pin>")
    live.undo()
    assert live.undo() == ()
    assert on_mind(live) == []


def test_another_process_can_take_it_back(tmp_path: Path, live: LiveJournal) -> None:
    live.log("<pin>tea</pin>")
    with JournalFile.open(tmp_path, "default", "companion") as again:
        assert told(LiveJournal(again).undo()) == [("forget", "tea")]
    assert live.mind() == ()
