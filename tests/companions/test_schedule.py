"""What the journals do by themselves: each tick once, failures not too often."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from conftest import NOW, Clock
from memory_butler.companions import schedule
from memory_butler.companions.maintaining import upkeep
from memory_butler.companions.opening import Companion, kept_open, opened, use
from memory_butler.companions.schedule import Looks, is_due, look_after_once, maintain_if_due
from memory_butler.domain.errors import ConfigurationError, Conflict
from memory_butler.domain.principals import Principal
from memory_butler.engine.memory import Memory
from memory_butler.inference.language_models.port import ModelRateLimited, estimate_tokens
from memory_butler.inference.language_models.scripted import ScriptedModel
from memory_butler.journal import sessions
from memory_butler.journal.maintenance.run import alone
from memory_butler.journal.runs import Run, RunReport
from memory_butler.journal_config import JournalConfig, JournalMaintenanceConfig
from memory_butler.vault.keyring import no_keys

pytestmark = pytest.mark.anyio

# NOW is a Sunday at noon: the week begins the next day, the month began in the morning.
CONFIG = JournalConfig(
    maintenance=JournalMaintenanceConfig(weekly="0 2 * * 1", monthly="0 3 1 * *")
)


@pytest.fixture
def scheduled(memory: Memory, tmp_path: Path) -> Memory:
    config = memory.config.model_copy(update={"journal": CONFIG})
    return replace(memory, config=config, data_dir=tmp_path)


async def say(memory: Memory, content: str) -> None:
    who = Principal("default", "test")
    await use(memory, who, "ada", lambda one: one.live.log(content, "user"), create=True)


async def test_each_tick_is_run_once(scheduled: Memory, clock: Clock) -> None:
    model = ScriptedModel(["{}"] * 9)

    async def due() -> str | None:
        return await maintain_if_due(scheduled, model, "default", "ada")

    await say(scheduled, "hello")
    # A new journal waits for its first tick.
    assert await due() is None
    clock.advance(days=1)
    assert await due() == "weekly"
    await say(scheduled, "more")
    clock.advance(hours=3)
    assert await due() is None
    clock.advance(days=7)
    assert await due() == "weekly"
    # With nothing new nothing is run.
    clock.advance(days=7)
    assert await due() is None
    await say(scheduled, "and more")
    clock.advance(days=17)  # 2 April: the month's run does the week's work
    assert await due() == "monthly"
    await say(scheduled, "still more")
    assert await due() is None


async def test_a_failed_run_is_tried_again_after_hours(scheduled: Memory, clock: Clock) -> None:
    await say(scheduled, "hello")
    clock.advance(days=1)
    model = ScriptedModel([ModelRateLimited("too many requests")] * 3)
    # One journal's failure is logged, and others would go on.
    await look_after_once(scheduled, model)
    await look_after_once(scheduled, model)
    assert len(model.calls) == 1
    clock.advance(hours=7)
    await look_after_once(scheduled, model)
    assert len(model.calls) == 2


async def test_a_journal_at_work_is_left_alone(scheduled: Memory, clock: Clock) -> None:
    await say(scheduled, "hello")
    clock.advance(days=1)
    model = ScriptedModel(["{}"])
    assert scheduled.data_dir is not None
    with opened(scheduled.data_dir, "default", "ada", CONFIG, no_keys) as one, alone(one.file):
        with pytest.raises(Conflict):
            await maintain_if_due(scheduled, model, "default", "ada")
        await look_after_once(scheduled, model)
    assert model.calls == []


async def test_it_is_off_unless_configured_and_mistakes_are_told(
    memory: Memory, tmp_path: Path
) -> None:
    async with schedule.running(replace(memory, data_dir=tmp_path)):
        pass

    def configured(weekly: str) -> Memory:
        journal = JournalConfig(maintenance=JournalMaintenanceConfig(weekly=weekly))
        config = memory.config.model_copy(update={"journal": journal})
        return replace(memory, config=config, data_dir=tmp_path)

    with pytest.raises(ConfigurationError, match="'every monday' is not a cron"):
        async with schedule.running(configured("every monday")):
            pass
    with pytest.raises(ConfigurationError, match="no language model was found"):
        async with schedule.running(configured("0 2 * * 1")):
            pass


def by_itself(memory: Memory, folder: Path, **bounds: int) -> Memory:
    maintenance = JournalMaintenanceConfig(
        portion_tokens=1_100, max_output_tokens=100, **{"after_messages": 12, **bounds}
    )
    journal = JournalConfig(maintenance=maintenance)
    config = memory.config.model_copy(update={"journal": journal})
    return replace(memory, config=config, data_dir=folder)


async def talk(memory: Memory, count: int) -> None:
    for number in range(count):
        await say(memory, f"message {number}")


async def test_upkeep_runs_by_itself_after_so_many_messages(memory: Memory, tmp_path: Path) -> None:
    here = by_itself(memory, tmp_path)
    model = ScriptedModel(["{}"] * 9)
    await talk(here, 11)
    await look_after_once(here, model)
    assert model.calls == []
    await talk(here, 1)
    await look_after_once(here, model)
    assert len(model.calls) == 1
    assert "M12" in model.calls[0].prompt
    await look_after_once(here, model)
    assert len(model.calls) == 1


async def test_what_cannot_be_embedded_is_compiled_all_the_same(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def missing(*_: object) -> int:
        raise ConfigurationError("no embedding model")

    monkeypatch.setattr(schedule, "embed_new", missing)
    here = by_itself(memory, tmp_path)
    model = ScriptedModel(["{}"])
    await talk(here, 12)
    await look_after_once(here, model)
    assert len(model.calls) == 1


async def test_upkeep_runs_at_the_end_of_a_conversation(
    memory: Memory, tmp_path: Path, clock: Clock
) -> None:
    here = by_itself(memory, tmp_path)
    model = ScriptedModel(["{}"] * 9)
    who = Principal("default", "test")
    await talk(here, 9)
    await use(here, who, "ada", lambda one: sessions.end(one.file, clock()))
    await look_after_once(here, model)
    assert model.calls == []  # too few to be worth a run
    await talk(here, 2)
    await look_after_once(here, model)
    assert model.calls == []  # it goes on
    clock.advance(minutes=61)
    await look_after_once(here, model)
    assert len(model.calls) == 1
    await talk(here, 10)
    await use(here, who, "ada", lambda one: sessions.end(one.file, clock()))
    await look_after_once(here, model)
    assert len(model.calls) == 2


async def test_upkeep_keeps_to_the_budget_of_a_day(
    memory: Memory, tmp_path: Path, clock: Clock
) -> None:
    here = by_itself(memory, tmp_path, daily_token_budget=3_000)
    model = ScriptedModel(["{}"] * 99)
    runs = 0
    for _ in range(9):
        await talk(here, 12)
        before = len(model.calls)
        await look_after_once(here, model)
        runs += len(model.calls) > before
        clock.advance(minutes=1)
    spent = sum(estimate_tokens(one.system + one.prompt) + 1 for one in model.calls)
    assert 0 < spent <= 3_000
    assert 1 <= runs < 9
    who = Principal("default", "test")
    config = here.config.journal
    state = await use(here, who, "ada", lambda one: upkeep(one, config, clock()))
    assert (state.used, state.budget) == (spent, 3_000)
    assert state.waits == "the budget for 24 hours is used up"
    # A person may still run it; and a day later it goes on.
    clock.advance(days=1)
    await look_after_once(here, model)
    assert sum(estimate_tokens(one.system + one.prompt) + 1 for one in model.calls) > spent


async def test_one_run_keeps_to_the_budget_of_a_day(memory: Memory, tmp_path: Path) -> None:
    """However much there is to read, and whatever a run may take that somebody starts."""
    here = by_itself(memory, tmp_path, daily_token_budget=3_000, token_budget_per_run=200_000)
    model = ScriptedModel(["{}"] * 99)
    for number in range(120):
        await say(here, f"message {number}: " + "we talked about the garden " * 5)
    await look_after_once(here, model)
    spent = sum(estimate_tokens(one.system + one.prompt) + 1 for one in model.calls)
    assert 0 < spent <= 3_000
    who = Principal("default", "test")
    left = await use(here, who, "ada", lambda one: len(one.desk.unread_events(200)))
    assert left > 0


async def test_what_a_failed_run_took_counts(memory: Memory, tmp_path: Path, clock: Clock) -> None:
    here = by_itself(memory, tmp_path)
    model = ScriptedModel(["no JSON at all"] * 9)
    await talk(here, 12)
    await look_after_once(here, model)
    assert model.calls
    config = here.config.journal
    who = Principal("default", "test")
    state = await use(here, who, "ada", lambda one: upkeep(one, config, clock()))
    assert state.used > 0
    assert state.waits is not None
    assert "six hours" in state.waits


async def test_upkeep_is_off_without_a_budget_and_waits_after_an_undo(
    memory: Memory, tmp_path: Path, clock: Clock
) -> None:
    here = by_itself(memory, tmp_path, daily_token_budget=0)
    model = ScriptedModel(['{"put": [{"key": "a", "ambient": "b", "sources": ["M1"]}]}'] * 9)
    await talk(here, 12)
    await look_after_once(here, model)
    assert model.calls == []
    here = by_itself(memory, tmp_path)
    await look_after_once(here, model)
    assert len(model.calls) == 1
    who = Principal("default", "test")
    await use(here, who, "ada", lambda one: one.desk.undo(one.desk.runs(1)[0].id))
    await look_after_once(here, model)
    assert len(model.calls) == 1
    clock.advance(hours=25)
    await look_after_once(here, model)
    assert len(model.calls) == 2


async def test_once_a_month_upkeep_reviews_all_fragments(
    memory: Memory, tmp_path: Path, clock: Clock
) -> None:
    here = by_itself(memory, tmp_path)
    model = ScriptedModel(["{}"] * 9)
    kinds = []
    for _ in range(4):
        await talk(here, 12)
        kinds.append(await maintain_if_due(here, model, "default", "ada"))
        clock.advance(days=16)
    assert kinds == ["weekly", "weekly", "monthly", "weekly"]


async def test_a_month_of_many_runs_ends_with_a_review_too(
    memory: Memory, tmp_path: Path, clock: Clock
) -> None:
    here = by_itself(memory, tmp_path)
    await talk(here, 12)

    def compile_often(one: Companion) -> None:
        for _ in range(250):
            one.desk.complete(one.desk.begin("weekly"), [], "", RunReport("done"))
            clock.advance(hours=3)

    await use(here, Principal("default", "test"), "ada", compile_often)
    model = ScriptedModel(["{}"] * 2)
    assert await maintain_if_due(here, model, "default", "ada") == "monthly"


def test_a_budget_that_reaches_for_no_run_is_refused() -> None:
    with pytest.raises(ValueError, match="less reaches for no run"):
        JournalMaintenanceConfig(daily_token_budget=500)


def test_a_monthly_run_counts_for_the_week_but_not_the_other_way_round() -> None:
    tick = NOW - timedelta(hours=1)
    done = Run(1, NOW, NOW, "weekly")
    assert is_due("monthly", tick, [done], NOW)
    assert not is_due("weekly", tick, [done], NOW)
    assert not is_due("weekly", tick, [replace(done, run_type="monthly")], NOW)
    assert is_due("weekly", tick, [replace(done, run_type="manual")], NOW)
    crashed = Run(1, NOW, None, "weekly")
    assert not is_due("weekly", tick, [crashed], NOW + timedelta(hours=5))
    assert is_due("weekly", tick, [crashed], NOW + timedelta(hours=7))


async def test_what_was_said_is_embedded_and_found_by_its_meaning(
    memory: Memory, tmp_path: Path
) -> None:
    here = replace(memory, data_dir=tmp_path)
    await say(here, "My sister adopted two kittens")
    await say(here, "The roof leaks above the stairs")
    (tmp_path / "journal" / "default" / "broken.sqlite").write_bytes(b"rubbish" * 100)

    async def found() -> list[str]:
        who = Principal("default", "test")
        hits = await use(here, who, "ada", lambda one: one.live.search("pets of my relatives"))
        return [hit.event.content for hit in hits]

    assert await found() == []
    looks = Looks()
    await look_after_once(here, None, looks)  # the broken one is logged, and stops nothing
    assert looks.told == {("default", "broken", "configuration")}
    assert await found() == ["My sister adopted two kittens"]
    assert await schedule.embed_new(here, "default", "ada") == 0


async def test_a_journal_in_which_nothing_was_written_is_opened_at_one_look_of_ten(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = replace(memory, data_dir=tmp_path)
    await say(here, "My sister adopted two kittens")
    opened_by: list[int] = []
    looks = Looks()

    def counted(*given: Any) -> Any:
        opened_by.append(looks.number)
        return kept_open(*given)

    async def look(times: int) -> list[int]:
        opened_by.clear()
        for _ in range(times):
            await look_after_once(here, None, looks)
        return list(opened_by)

    monkeypatch.setattr(schedule, "kept_open", counted)
    # At the second look there is nothing left to do.
    assert (await look(2))[:2] == [1, 2]
    assert len(await look(30)) == 3
    # What is said is seen by the next look, also while somebody else has the journal open.
    with opened(tmp_path, "default", "ada", CONFIG, no_keys) as another:
        another.live.log("They are called Max and Moritz", "user")
        assert (await look(1)) == [looks.number]
    await say(here, "And they sleep all day")
    assert (await look(1)) == [looks.number]
