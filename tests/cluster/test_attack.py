"""What was acknowledged survives kills under load, and an added worker that takes its share."""

from pathlib import Path

import pytest

from cluster.attack import TENANTS, VICTIMS, attack
from cluster.citus import Cluster
from conftest import Database

pytestmark = pytest.mark.anyio


@pytest.mark.nightly
async def test_no_acknowledged_write_is_lost_by_kills_or_moves(
    cluster: Cluster, distributed: Database, tmp_path: Path
) -> None:
    # As fast as they can, eight clients would keep two cores from moving shards.
    report = await attack(cluster, distributed.runtime_dsn, tmp_path, list(VICTIMS), breath=0.05)
    assert report.lost == [], str(report)
    assert report.kills == dict.fromkeys(VICTIMS, 1)
    assert report.moved > 0
    assert report.longest_refused < 5, str(report)
    assert all(len(report.stored[tenant]) > len(VICTIMS) for tenant in TENANTS)
