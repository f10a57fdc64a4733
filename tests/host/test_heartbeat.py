"""The heartbeat butler ticks, and the memory butler's schedules fire: two real processes."""

import time
from typing import Any

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


_JOBS = {"consolidate", "decay_sweep", "episode_cleanup"}


async def _runs(household: Household) -> list[dict[str, Any]]:
    async with httpx.AsyncClient() as client:
        url = household.memory.url.replace("/mcp", "/api/memory/jobs")
        runs: list[dict[str, Any]] = (await client.get(url)).json()["runs"]
    return runs
