"""Workers killed at every step, and two at once: no episode is lost, and no fact is there twice."""

from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import pytest

from conftest import Connection, Database
from forking import Forked, forked
from long_profile import by_day
from memory_butler.config import ConsolidationConfig

from .scenes import facts, links, runs, statuses
from .worker import STEPS, work

pytestmark = pytest.mark.anyio

Start = Callable[..., Forked]

FILL = """
INSERT INTO episodes (butler, content, created_at, expires_at)
SELECT 'butler ' || lpad(b::text, 2, '0'), 'episode ' || b || '.' || n, $3::timestamptz,
       $3::timestamptz + interval '7 days'
FROM generate_series(1, $1::integer) b, generate_series(1, $2::integer) n
"""


@pytest.fixture
def start(database: Database) -> Iterator[Start]:
    """Start a worker on the test's database; none outlives the test."""
    started: list[Forked] = []

    def start_worker(hours: float, step: str | None = None) -> Forked:
        worker = forked(work, database.runtime_dsn, hours, step)
        started.append(worker)
        return worker

    yield start_worker
    for worker in started:
        worker.close()


def said(worker: Forked, word: str) -> str:
    """The line that begins with a word; log lines may come before it."""
    for line in worker.stdout:
        if line.startswith(word):
            return line.strip()
    pytest.fail(f"the worker ended without saying {word!r}")


async def assert_each_fact_once(admin: Connection, episodes: int) -> None:
    """Every episode consolidated, one fact of each, one link, one event of each kind."""
    assert Counter((await statuses(admin)).values()) == {"consolidated": episodes}
    stored = await facts(admin)
    assert len({one["subject"] for one in stored}) == len(stored) == episodes
    assert {one["validity"] for one in stored} == {"active"}
    assert len(await links(admin, "derived_from")) == episodes
    told = await admin.fetch("SELECT event_type, count(*) FROM memory_events GROUP BY 1")
    assert {row[0]: row[1] for row in told} == {
        "fact_created": episodes,
        "episode_consolidated": episodes,
    }


@pytest.mark.requirement("TERM-01", "TERM-04", "EXE-07")
@pytest.mark.parametrize("step", by_day(STEPS, *STEPS[1::2]))
async def test_killed_at_any_step_the_next_run_finishes_the_work(
    admin: Connection, start: Start, step: str
) -> None:
    await admin.execute(FILL, 1, 3, datetime.now(UTC))
    victim = start(0, step)
    assert said(victim, "at") == f"at {step}"
    victim.kill()
    if step != "after commit":
        assert await facts(admin) == []
        assert set((await statuses(admin)).values()) == {"pending"}
    successor = start(2)
    consolidated = 0 if step == "after commit" else 3
    assert said(successor, "done") == f"done {consolidated}"
    await assert_each_fact_once(admin, 3)
    attempts = 1 if step in {"before claim", "after commit"} else 2
    found = await admin.fetch("SELECT DISTINCT consolidation_attempts, claimed_by FROM episodes")
    assert [tuple(row) for row in found] == [(attempts, None)]
    ends = [run["status"] for run in await runs(admin)]
    assert ends == (["succeeded"] if attempts == 1 else ["abandoned", "succeeded"])


@pytest.mark.requirement("TERM-01", "TERM-03")
async def test_an_episode_whose_workers_all_died_is_a_dead_letter(
    admin: Connection, start: Start
) -> None:
    """Four attempts, each killed, are more than three: no fifth worker is risked."""
    await admin.execute(FILL, 1, 1, datetime.now(UTC))
    await admin.execute(
        "UPDATE episodes SET consolidation_attempts = $1, claimed_until = $2",
        ConsolidationConfig().max_retry_attempts,
        datetime.now(UTC) - timedelta(minutes=1),
    )
    victim = start(0, "during the model call")
    said(victim, "at")
    victim.kill()
    assert said(start(1), "done") == "done 0"
    assert list((await statuses(admin)).values()) == ["dead_letter"]
    assert await facts(admin) == []


@pytest.mark.requirement("TERM-01", "CONS-01")
async def test_two_servers_at_once_take_each_episode_once(admin: Connection, start: Start) -> None:
    await admin.execute(FILL, 16, 3, datetime.now(UTC))
    workers = [start(0), start(0)]
    lines = [said(worker, "done") for worker in workers]
    assert sum(int(line.split()[1]) for line in lines) == 48
    assert all(len(line.split()) == 2 for line in lines), lines  # no errors
    await assert_each_fact_once(admin, 48)
    # A butler's episodes may go to both, when they claim them at the same moment: each locks what
    # the other has not.
    ended = await runs(admin)
    assert {run["status"] for run in ended} == {"succeeded"}
    assert sum(run["episodes"] for run in ended) == 48
