"""The heartbeat butler ticks, and the memory butler's schedules fire: two real processes."""

import asyncio
import time
from typing import Any

import asyncpg
import httpx
import pytest

from host.conftest import Household
from host.households import running

pytestmark = pytest.mark.anyio


@pytest.mark.requirement("SCH-04")
async def test_a_heartbeat_fires_the_schedules_of_the_memory_butler(household: Household) -> None:
    folder = household.installation.folder / "butlers" / "pulse"
    folder.mkdir(parents=True)
    (folder / "butler.toml").write_text(
        '[butler]\nname = "pulse"\nport = 0\n'
        "[modules.heartbeat]\nevery_seconds = 0.2\n"
        f'butlers = ["{household.memory.url}", "http://127.0.0.1:1/mcp"]\n'
    )
    with running(household.installation, str(folder)) as pulse:
        await _miss_two_days(household)
        ends = time.monotonic() + 30
        errors: dict[str, str | None] = {}
        fired: set[str] = set()
        # The household's own schedule is off: whatever runs, the ticks have fired.
        while time.monotonic() < ends and (fired < _JOBS or len(errors) < 2):
            ticks = (await pulse.call("heartbeat_status"))["ticks"]
            errors = {tick["butler"]: tick["error"] for tick in ticks}
            fired = {run["job"] for run in await _runs(household)}
    assert fired == _JOBS
    # A butler that is away is told, and keeps nobody waiting.
    assert errors[household.memory.url] is None
    assert "cannot be asked" in str(errors["http://127.0.0.1:1/mcp"])
    # However often it ticks, a tick of the schedule happens once.
    runs = [(run["job"], run["scheduled_for"]) for run in await _runs(household)]
    assert len(runs) == len(set(runs))


async def _miss_two_days(household: Household) -> None:
    """As if the latest ticks that were dealt with, or skipped when first seen, were of then."""
    url = await asyncio.to_thread(household.installation.run, "db-url")
    connection = await asyncpg.connect(url.out.strip())
    async with asyncio.timeout(30):
        # Nothing tells of it.
        while not await connection.fetchval(  # noqa: ASYNC110
            "SELECT array_agg(job) @> $1 FROM job_runs", [*_JOBS]
        ):
            await asyncio.sleep(0.05)
    await connection.execute(
        "UPDATE job_runs SET scheduled_for = scheduled_for - interval '2 days'"
    )
    await connection.close()


_JOBS = {"consolidate", "decay_sweep", "episode_cleanup"}


async def _runs(household: Household) -> list[dict[str, Any]]:
    async with httpx.AsyncClient() as client:
        url = household.memory.url.replace("/mcp", "/api/memory/jobs")
        runs: list[dict[str, Any]] = (await client.get(url)).json()["runs"]
    return runs
