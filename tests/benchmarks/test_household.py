"""Thirty days of a household: memory knows what it was told, and keeps to it.

The scenario is not part of the repository. Where it is absent this skips and says so; in CI its
absence is a failure. Years are run by `make nightly`.
"""

import os
from pathlib import Path

import pytest
from bench.datasets import DEFAULT_DATA
from bench.household import bounds, read, run_year

from conftest import PRECISION
from memory_butler.config import MemoryModuleConfig

SCENARIO = DEFAULT_DATA.parent / "eval" / "household" / "dev_small.jsonl"

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def scenario() -> Path:
    if SCENARIO.is_file():
        return SCENARIO
    if os.environ.get("CI"):
        pytest.fail(f"the scenario is missing: {SCENARIO}")
    pytest.skip(f"no scenario at {SCENARIO}")


async def test_a_month_of_a_household(scenario: Path) -> None:
    events = read(scenario)
    column = await run_year(events, config=MemoryModuleConfig(embedding_precision=PRECISION))
    shares = column["shares"]
    for name in (
        "truths learned",
        "truths kept in outages",
        "no stale content",
        "no false content",
        "good rules alive",
        "echoes that changed nothing",
    ):
        assert shares[name]["missed"] == [], name
    assert column["contexts above their budget"] == 0
    assert shares["needs: near"]["percent"] >= 90
    assert shares["needs: two-hop"]["percent"] >= 80
    assert shares["irrelevant: nothing injected"]["percent"] >= 75
    recency = bounds(events)["recency"]
    # 9.9 times: each thing that a prompt asks for brings lines of its own (C-504).
    assert column["welcome lines"] > 9 * recency["welcome lines"]
    assert column["tokens of a context"] < recency["tokens of a context"] / 5
