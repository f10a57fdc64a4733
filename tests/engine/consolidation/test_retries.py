"""How a consolidation ends badly: retried later, given up, given back; and what it cost."""

from datetime import datetime, timedelta
from uuid import UUID

import pytest

from conftest import NOW, Clock, Connection
from engine.store_views import event_types, row, states
from memory_butler.domain.errors import IntegrityViolation
from memory_butler.domain.extraction import NO_JSON
from memory_butler.domain.principals import Principal
from memory_butler.engine.browse.butlers import list_butlers
from memory_butler.engine.browse.inbox import inbox
from memory_butler.engine.consolidation import claims, run
from memory_butler.engine.consolidation.history import (
    dead_letters,
    expiring_unread,
    retry_dead_letters,
)
from memory_butler.engine.consolidation.pending import pending
from memory_butler.engine.consolidation.run import run_consolidation
from memory_butler.engine.curate import forget_memory
from memory_butler.engine.jobs.catalogue import JOBS
from memory_butler.engine.memory import Memory
from memory_butler.inference.language_models.port import (
    Completion,
    ModelAccessDenied,
    ModelRateLimited,
    ModelRejectedRequest,
    ModelTimedOut,
    Request,
)

from .scenes import (
    NOTHING,
    Answering,
    answer,
    completion,
    configured,
    consolidate,
    fact,
    facts,
    runs,
    statuses,
    tell,
)

pytestmark = pytest.mark.anyio

(CLEANUP,) = [job for job in JOBS if job.name == "episode_cleanup"]


@pytest.mark.requirement("TERM-02", "PAR-08")
async def test_an_answer_without_json_is_retried_later(
    memory: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    (id,) = await tell(memory, principal, "hello")
    report, _ = await consolidate(memory, principal, "I cannot help with that.")
    episode = await row(admin, "episodes", id)
    assert episode["consolidation_status"] == "pending"
    assert episode["consolidation_attempts"] == episode["retry_count"] == 1
    assert episode["last_consolidation_error"] == episode["last_error"] == NO_JSON
    assert episode["next_consolidation_retry_at"] == clock.now + timedelta(minutes=15)
    assert [one.status for one in report.groups] == ["retrying"]
    assert report.errors == [f"general: {NO_JSON}"]
    assert "episode_retry_scheduled" in await event_types(admin)
    again, asked = await consolidate(memory, principal, NOTHING)
    assert asked == []
    assert again.message == (
        "nothing was consolidated; 1 episode waits, since another run has them or their next "
        "attempt is later"
    )


@pytest.mark.requirement("TERM-02", "EXE-01", "EXE-07")
@pytest.mark.parametrize(
    "text",
    [
        pytest.param(answer(confirmations=["F1", "F2"]), id="all handles unknown"),
        pytest.param(answer(new_facts=[{"subject": "user"}]), id="all entries malformed"),
        pytest.param(answer(new_facts=[fact("x", predicate="p" * 600)]), id="all actions fail"),
        pytest.param('{"error": "the model is overloaded"}', id="another object"),
        pytest.param('```json\n{"new_facts": [{"subject": "us', id="truncated"),
    ],
)
async def test_an_answer_of_which_nothing_can_be_used_is_retried(
    memory: Memory, principal: Principal, admin: Connection, text: str
) -> None:
    (id,) = await tell(memory, principal, "hello")
    report, _ = await consolidate(memory, principal, text)
    assert [one.status for one in report.groups] == ["retrying"]
    assert await statuses(admin) == {id: "pending"}
    assert await facts(admin) == []


@pytest.mark.requirement("EXE-07")
@pytest.mark.parametrize("text", [NOTHING, "{}", '{"confirmations": []}'])
async def test_nothing_to_learn_is_a_success(
    memory: Memory, principal: Principal, admin: Connection, text: str
) -> None:
    (id,) = await tell(memory, principal, "nice weather")
    await consolidate(memory, principal, text)
    assert await statuses(admin) == {id: "consolidated"}


@pytest.mark.requirement("TERM-01", "TERM-02", "TERM-03", "TERM-04")
async def test_the_delay_doubles_and_then_it_is_a_dead_letter(
    memory: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    (id,) = await tell(memory, principal, "hello")
    for attempt, minutes in enumerate([15, 30, 60], start=1):
        report, asked = await consolidate(memory, principal, ModelTimedOut("too slow"))
        episode = await row(admin, "episodes", id)
        assert (episode["consolidation_attempts"], len(asked)) == (attempt, 1)
        assert episode["next_consolidation_retry_at"] == clock.now + timedelta(minutes=minutes)
        clock.advance(minutes=minutes, seconds=-1)
        assert (await consolidate(memory, principal, NOTHING))[1] == []  # not yet
        clock.advance(seconds=1)
    report, _ = await consolidate(memory, principal, ModelTimedOut("too slow"))
    episode = await row(admin, "episodes", id)
    assert (episode["consolidation_status"], episode["consolidation_attempts"]) == (
        "dead_letter",
        4,
    )
    assert episode["next_consolidation_retry_at"] is None
    assert report.total("dead_letters") == 1
    assert (await event_types(admin)).count("episode_dead_lettered") == 1
    clock.advance(hours=48)
    assert (await consolidate(memory, principal, NOTHING))[1] == []  # for good


@pytest.mark.requirement("TERM-03")
async def test_no_retry_allowed_means_the_first_failure_is_the_last(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    (id,) = await tell(memory, principal, "hello")
    await consolidate(configured(memory, max_retry_attempts=0), principal, "no json")
    assert await statuses(admin) == {id: "dead_letter"}


@pytest.mark.requirement("TERM-01", "TERM-04")
async def test_a_failure_that_cannot_be_retried_is_final(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    (id,) = await tell(memory, principal, "hello")
    report, _ = await consolidate(memory, principal, ModelRejectedRequest("filtered"))
    episode = await row(admin, "episodes", id)
    assert (episode["consolidation_status"], episode["last_error"]) == ("failed", "filtered")
    assert [one.status for one in report.groups] == ["failed"]
    assert "episode_failed" in await event_types(admin)
    assert [one["state"]["consolidation_status"] for one in await states(admin, "episode", id)] == [
        "pending"
    ]


@pytest.mark.requirement("TERM-01")
async def test_a_broken_constraint_is_final_too(
    memory: Memory, principal: Principal, admin: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object) -> None:
        raise IntegrityViolation("facts_known")

    monkeypatch.setattr(run, "conclude", broken)
    (id,) = await tell(memory, principal, "hello")
    await consolidate(memory, principal, NOTHING)
    assert await statuses(admin) == {id: "failed"}


async def test_dead_letters_are_listed_and_revived(
    memory: Memory, principal: Principal, other_tenant: Principal, admin: Connection
) -> None:
    ids = await tell(memory, principal, "one", "two")
    await tell(memory, other_tenant, "theirs")
    for who in (principal, other_tenant):
        await consolidate(memory, who, ModelRejectedRequest("filtered"))
    assert [one["id"] for one in await dead_letters(memory, principal, 10)] == ids
    assert await retry_dead_letters(memory, principal, [ids[1]]) == [ids[1]]
    episode = await row(admin, "episodes", ids[1])
    assert (episode["consolidation_status"], episode["consolidation_attempts"]) == ("pending", 0)
    assert (episode["last_error"], episode["next_consolidation_retry_at"]) == (None, None)
    assert await retry_dead_letters(memory, principal) == [ids[0]]
    await consolidate(memory, principal, NOTHING)
    ended = await statuses(admin)
    assert {ended[id] for id in ids} == {"consolidated"}
    assert list(ended.values()).count("failed") == 1  # theirs
    assert await retry_dead_letters(memory, principal, ids) == []


@pytest.mark.requirement("CONS-03", "FAIL-05")
@pytest.mark.parametrize(
    "failure",
    [ModelTimedOut("too slow"), ModelRejectedRequest("no"), "no json", RuntimeError("a secret")],
)
async def test_a_failing_group_is_reported_and_the_others_go_on(
    memory: Memory, principal: Principal, admin: Connection, failure: str | Exception
) -> None:
    (first,) = await tell(memory, principal, "hello", butler="finance")
    (second,) = await tell(memory, principal, "hello", butler="health")
    report, _ = await consolidate(memory, principal, failure, NOTHING)
    ended = await statuses(admin)
    assert ended[first] in {"pending", "failed"}
    assert ended[second] == "consolidated"
    (error,) = report.errors
    assert error.startswith("finance: ")
    assert "secret" not in error
    assert [one["status"] for one in await runs(admin)][1] == "succeeded"


@pytest.mark.requirement("FAIL-05")
async def test_a_group_that_cannot_be_claimed_does_not_stop_the_others(
    memory: Memory, principal: Principal, admin: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    await tell(memory, principal, "hello", butler="finance")
    (second,) = await tell(memory, principal, "hello", butler="health")
    begin = claims.begin

    async def failing(*args: object, **more: object) -> object:
        if args[2] == "finance":
            raise OSError("no route")
        return await begin(*args, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(claims, "begin", failing)
    report, _ = await consolidate(memory, principal, NOTHING)
    assert report.errors == ["finance: unforeseen: OSError"]
    assert (await statuses(admin))[second] == "consolidated"


async def test_denied_access_gives_the_episodes_back_and_stops(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    ids = await tell(memory, principal, "hello", butler="finance")
    ids += await tell(memory, principal, "hello", butler="health")
    report, asked = await consolidate(memory, principal, ModelAccessDenied("the key is refused"))
    assert len(asked) == 1
    assert (report.status, report.why) == ("failed", "the key is refused")
    assert report.message == "failed; 2 episodes wait: the key is refused"
    assert [one.status for one in report.groups] == ["denied"]
    for id in ids:
        episode = await row(admin, "episodes", id)
        assert (episode["consolidation_status"], episode["consolidation_attempts"]) == (
            "pending",
            0,
        )
        assert episode["claimed_by"] is None
    assert len((await consolidate(memory, principal, NOTHING, NOTHING))[1]) == 2


async def test_what_was_given_back_did_not_fail(memory: Memory, principal: Principal) -> None:
    await tell(memory, principal, "hello", butler="finance")
    report, _ = await consolidate(memory, principal, ModelRateLimited("the model is busy"))
    assert [one.status for one in report.groups] == ["given_back"]
    assert report.status == "waiting"
    assert report.message == "nothing was consolidated; 1 episode waits: the model is busy"
    await tell(memory, principal, "hello", butler="health")
    busy = ModelRateLimited("the model is busy")
    report, _ = await consolidate(memory, principal, NOTHING, busy)
    assert report.message == "waiting; 1 episode waits: the model is busy"


async def test_what_did_not_fit_is_given_back_with_its_attempt(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    small = configured(memory, max_prompt_tokens=1500)
    ids = await tell(small, principal, *(f"{n} " + "word " * 200 for n in range(4)))
    report, _ = await consolidate(small, principal, *[NOTHING] * 4)
    assert len(report.groups) > 1  # it goes on with what did not fit
    assert sum(group.episodes for group in report.groups) == 4
    for id in ids:
        episode = await row(admin, "episodes", id)
        assert (episode["consolidation_attempts"], episode["claimed_by"]) == (1, None)
    assert set((await statuses(admin)).values()) == {"consolidated"}


async def test_an_episode_that_was_cut_is_reported(memory: Memory, principal: Principal) -> None:
    small = configured(memory, max_prompt_tokens=1500)
    await tell(small, principal, "word " * 5000)
    report, _ = await consolidate(small, principal, NOTHING)
    assert "too long for the prompt" in report.errors[0]


async def test_a_run_ends_when_its_tokens_are_used_up(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    for butler in ("a", "b", "c"):
        await tell(memory, principal, "hello", butler=butler)
    bounded = configured(memory, token_budget_per_run=10_000)
    model = Answering(NOTHING, tokens_in=9_000, tokens_out=2_000)
    report = await run_consolidation(bounded, principal, model)
    assert [one.butler for one in report.groups] == ["a"]
    assert report.message == "waiting; 2 episodes wait: the token budget is used up"
    report = await run_consolidation(bounded, principal, model)  # a new run, a new budget
    assert [one.butler for one in report.groups] == ["b"]


async def test_a_day_has_a_budget_of_its_own_for_each_tenant(
    memory: Memory, principal: Principal, other_tenant: Principal, clock: Clock
) -> None:
    bounded = configured(memory, token_budget_per_day=10_000)
    model = Answering(NOTHING, tokens_in=9_000, tokens_out=2_000)
    for butler in ("a", "b"):
        await tell(memory, principal, "hello", butler=butler)
    await tell(memory, other_tenant, "hello")
    await run_consolidation(bounded, principal, model)
    again = await run_consolidation(bounded, principal, model)
    assert (again.groups, again.why) == ([], "the token budget is used up")
    assert (again.status, again.left) == ("waiting", {"b": 1})
    assert len((await run_consolidation(bounded, other_tenant, model)).groups) == 1
    clock.advance(hours=12)  # midnight in UTC
    assert len((await run_consolidation(bounded, principal, model)).groups) == 1


async def test_a_prompt_beyond_the_budget_is_not_sent(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    (id,) = await tell(memory, principal, "hello")
    report, asked = await consolidate(configured(memory, token_budget_per_run=100), principal)
    assert asked == []
    assert "the token budget leaves 100 tokens" in report.message
    assert (await row(admin, "episodes", id))["consolidation_attempts"] == 0


async def test_a_budget_below_the_bound_of_the_prompt_makes_it_smaller(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    await tell(memory, principal, *("word " * 200 for _ in range(9)))
    report, asked = await consolidate(
        configured(memory, token_budget_per_run=2000), principal, NOTHING
    )
    assert len(asked) == 1
    assert 0 < report.groups[0].episodes < 9


async def test_runs_are_recorded_with_tokens_and_cost(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    await tell(memory, principal, "hello", "tea")
    text = answer(new_facts=[fact("Likes tea", "E2")])
    report = await run_consolidation(memory, principal, Answering(text), trigger_source="tool:x")
    (record,) = await runs(admin)
    assert (record["butler"], record["model"], record["trigger_source"]) == (
        "general",
        "by hand",
        "tool:x",
    )
    assert (record["status"], record["episodes"]) == ("succeeded", 2)
    assert (record["tokens_in"], record["tokens_out"], record["cost_usd"]) == (10, 5, 0.01)
    assert record["counts"] == {"facts_created": 1}
    assert record["started_at"] <= record["finished_at"]
    assert set(record["shown"]) == {"E1", "E2"}
    assert report.groups[0].usage.cost_usd == 0.01


async def test_a_failed_run_has_cost_something_too(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    await tell(memory, principal, "hello")
    await run_consolidation(memory, principal, Answering("no json"))
    (record,) = await runs(admin)
    assert (record["status"], record["errors"]) == ("retrying", [NO_JSON])
    assert (record["tokens_in"], record["cost_usd"]) == (10, 0.01)


async def test_what_waits_is_kept_shortly_before_it_would_expire(
    memory: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    (id,) = await tell(memory, principal, "hello")

    async def expires() -> datetime:
        moment: datetime = (await row(admin, "episodes", id))["expires_at"]
        return moment

    await run_consolidation(memory, principal, None)
    assert await expires() == NOW + timedelta(days=7)
    clock.advance(days=6)
    await run_consolidation(memory, principal, None)
    assert await expires() == NOW + timedelta(days=90)
    await run_consolidation(configured(memory, pending_ttl_days=200), principal, None)
    assert await expires() == NOW + timedelta(days=90)


async def test_nothing_that_waits_is_kept_where_that_is_turned_off(
    memory: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    memory = configured(memory, pending_ttl_days=0)
    (id,) = await tell(memory, principal, "hello")
    clock.advance(days=6)
    await run_consolidation(memory, principal, None)
    assert (await row(admin, "episodes", id))["expires_at"] == NOW + timedelta(days=7)


async def test_a_machine_that_was_off_for_longer_loses_nothing_that_waits(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    await tell(memory, principal, "hello")
    clock.advance(days=20)
    assert (await CLEANUP.plan(memory, principal))["expired"] == 0
    assert (await CLEANUP.run(memory, principal))["expired_deleted"] == 0
    assert await pending(memory, principal) == {"general": 1}
    clock.advance(days=71)
    assert (await CLEANUP.run(memory, principal))["expired_deleted"] == 1


async def test_nothing_lives_longer_that_is_learned_from_forgotten_or_kept_for_a_shorter_time(
    memory: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    (learned,) = await tell(memory, principal, "hello")
    await consolidate(memory, principal, NOTHING)
    (forgotten,) = await tell(memory, principal, "forget me")
    await forget_memory(memory, principal, "episode", forgotten)
    (late,) = await tell(memory, principal, "forget me later")
    (short,) = await tell(memory, principal, "for three days")
    await admin.execute(
        "UPDATE episodes SET expires_at = created_at + interval '3 days' WHERE id = $1", short
    )
    clock.advance(days=2)
    before = [(await row(admin, "episodes", id))["expires_at"] for id in (forgotten, short)]
    await run_consolidation(memory, principal, None)
    clock.advance(days=4)
    await run_consolidation(memory, principal, None)
    after = [(await row(admin, "episodes", id))["expires_at"] for id in (forgotten, short)]
    assert after == before
    await forget_memory(memory, principal, "episode", late)  # once it was extended
    clock.advance(days=14)
    await run_consolidation(memory, principal, None)
    assert (await row(admin, "episodes", late))["expires_at"] < NOW + timedelta(days=7)
    assert (await row(admin, "episodes", learned))["expires_at"] == NOW + timedelta(days=7)


async def test_what_will_expire_unread_is_counted(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    assert await expiring_unread(memory, principal) == 0
    memory = configured(memory, pending_ttl_days=0)  # else nothing that waits expires so soon

    async def unread() -> int:
        return await expiring_unread(memory, principal)

    await tell(memory, principal, "one")
    assert await unread() == 0
    clock.advance(days=5)
    assert await unread() == 1
    await consolidate(memory, principal, NOTHING)
    assert await unread() == 0


async def test_ids_that_are_no_dead_letters_are_left_alone(
    memory: Memory, principal: Principal
) -> None:
    (id,) = await tell(memory, principal, "hello")
    assert await retry_dead_letters(memory, principal, [id, UUID(int=0)]) == []


@pytest.mark.parametrize(
    "fails",
    [ModelTimedOut("too slow"), ModelRejectedRequest("filtered"), "I cannot help with that."],
)
async def test_what_the_model_never_takes_does_not_take_others_along(
    memory: Memory, principal: Principal, admin: Connection, clock: Clock, fails: Exception | str
) -> None:
    """Asked again about the same episodes, it would fail alike until all were given up."""
    told = ["so much blood" if number == 20 else f"day {number}" for number in range(60)]
    ids = await tell(memory, principal, *told)
    asked: list[Request] = []

    class Squeamish:
        name = "squeamish"

        async def complete(self, request: Request) -> Completion:
            asked.append(request)
            if "blood" not in request.prompt:
                return completion(NOTHING)
            if isinstance(fails, Exception):
                raise fails
            return completion(fails)

    for _ in range(8):
        await run_consolidation(memory, principal, Squeamish())
        clock.advance(hours=6)
    left = {id for id, status in (await statuses(admin)).items() if status != "consolidated"}
    assert left == {ids[20]}
    assert len(asked) < 25


async def test_a_model_that_rejects_everything_is_not_asked_for_ever(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    await tell(memory, principal, *(f"day {number}" for number in range(50)))
    report, asked = await consolidate(memory, principal)  # it rejects what it has no reply for
    assert report.status == "failed"
    assert len(asked) < 30
    assert list((await statuses(admin)).values()).count("pending") > 40


async def test_a_forgotten_dead_letter_waits_for_nobody(
    memory: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    kept, unwanted = await tell(memory, principal, "one", "two")
    await consolidate(memory, principal, *[ModelRejectedRequest("filtered")] * 2)
    await forget_memory(memory, principal, "episode", unwanted)
    assert [one["id"] for one in await dead_letters(memory, principal, 10)] == [kept]
    (butler,) = await list_butlers(memory, principal)
    assert butler["dead_letters"] == 1
    assert (await inbox(memory, principal, 10)).waiting == {"dead_letter": 1}
    # "All" are those that are listed; who names it wants it back.
    assert await retry_dead_letters(memory, principal) == [kept]
    assert (await row(admin, "episodes", unwanted))["expires_at"] == clock.now
    assert await retry_dead_letters(memory, principal, [unwanted]) == [unwanted]
    assert (await row(admin, "episodes", unwanted))["expires_at"] > clock.now


async def test_nothing_is_learned_from_what_is_forgotten_meanwhile(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    wanted, unwanted = await tell(memory, principal, "I like tea", "I stole a bicycle")

    class Slow(Answering):
        """A model that is still reading when somebody has an episode forgotten."""

        async def complete(self, request: Request) -> Completion:
            if not self.calls:
                await forget_memory(memory, principal, "episode", unwanted)
            return await super().complete(request)

    model = Slow(answer(new_facts=[fact("Likes tea", "E1")]))
    report = await run_consolidation(memory, principal, model)
    first, second = (one.prompt for one in model.calls)
    assert "bicycle" in first
    assert "bicycle" not in second
    assert report.status == "done"
    assert [one["content"] for one in await facts(admin)] == ["Likes tea"]
    assert await statuses(admin) == {wanted: "consolidated", unwanted: "pending"}
    # The first attempt was nobody's fault.
    assert (await row(admin, "episodes", wanted))["consolidation_attempts"] == 1
    ended = [(one["status"], one["tokens_in"]) for one in await runs(admin)]
    assert sorted(ended) == [("failed", 10), ("succeeded", 10)]
