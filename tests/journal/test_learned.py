"""What a companion learned lately: kept or taken back, change by change."""

from datetime import timedelta

import pytest

from conftest import Clock
from memory_butler.domain.errors import Conflict, NotFound
from memory_butler.journal.desk import MaintenanceDesk
from memory_butler.journal.fragments import DropFragment, PutEdge, PutFragment


def decided(desk: MaintenanceDesk, clock: Clock, days: int = 7) -> dict[tuple[int, str], str]:
    found = desk.learned(clock() - timedelta(days=days))
    return {(one.run.id, one.difference.key): one.decision for one in found}


def test_each_change_is_kept_or_taken_back_by_itself(desk: MaintenanceDesk, clock: Clock) -> None:
    desk.apply("weekly", [PutFragment("old", "Long known.")])
    clock.advance(days=8)
    desk.apply("weekly", [PutFragment("garden", "A garden."), PutFragment("well", "A well.")])
    assert decided(desk, clock) == {(2, "garden"): "open", (2, "well"): "open"}

    assert desk.keep(2, ["garden"]) == ["garden"]
    _, (back,) = desk.undo(2, ["well"])
    assert (back.key, back.after) == ("well", None)
    assert set(desk.fragments()) == {"old", "garden"}
    # What took it back is no news; and it can be taken back in its turn.
    assert decided(desk, clock) == {(2, "garden"): "kept", (2, "well"): "taken_back"}
    desk.undo(3)
    assert "well" in desk.fragments()
    assert desk.keep(2, ["garden"], kept=False) == []

    clock.advance(days=1)
    desk.apply("weekly", [PutFragment("garden", "The garden behind the house.")])
    assert decided(desk, clock)[(2, "garden")] == "replaced"
    assert decided(desk, clock)[(5, "garden")] == "open"
    assert (1, "old") in decided(desk, clock, days=30)


def test_part_of_a_run_leaves_its_messages_read(desk: MaintenanceDesk, clock: Clock) -> None:
    desk.apply("weekly", [PutFragment("garden", "A garden."), PutFragment("well", "A well.")])
    mark = desk.mark()
    desk.undo(1, ["well"])
    assert desk.mark() == mark


def test_what_is_linked_goes_together(desk: MaintenanceDesk, clock: Clock) -> None:
    desk.apply(
        "weekly",
        [
            PutFragment("garden", "A garden."),
            PutFragment("well", "A well."),
            PutEdge("garden", "well"),
        ],
    )
    with pytest.raises(Conflict, match="linked"):
        desk.undo(1, ["well"])
    desk.undo(1, ["garden", "well"])
    assert desk.fragments() == {}
    desk.undo(2)
    desk.apply("monthly", [DropFragment("garden"), DropFragment("well")])
    with pytest.raises(Conflict, match="linked with well, which is gone"):
        desk.undo(4, ["garden"])
    desk.undo(4, ["well"])
    desk.undo(4, ["garden"])
    assert desk.fragments()["garden"].edges == (("well", None),)


def test_only_what_a_run_changed_can_be_decided(desk: MaintenanceDesk, clock: Clock) -> None:
    desk.apply("weekly", [PutFragment("garden", "A garden.")])
    for decide in (desk.keep, desk.undo):
        with pytest.raises(NotFound, match="has not changed well"):
            decide(1, ["well"])
