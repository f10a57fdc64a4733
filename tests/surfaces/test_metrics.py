"""`/metrics`: what it counts, and who may read it."""

import json
import re
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Final
from uuid import uuid4

import pytest
from prometheus_client.parser import text_string_to_metric_families

from conftest import Clock
from memory_butler.domain.principals import SCOPES, Principal
from memory_butler.engine.jobs.catalogue import BY_NAME
from memory_butler.engine.jobs.ticks import run_tick
from memory_butler.engine.memory import Memory
from memory_butler.engine.remember import store_episode, store_fact
from memory_butler.store.transaction import transaction
from memory_butler.telemetry.metrics import GEN_AI_OPERATIONS, REGISTRY
from surfaces.conftest import Serve
from surfaces.serving import Served

pytestmark = pytest.mark.anyio

_DOCS: Final = Path(__file__).parents[2] / "docs"
_NAMES: Final = r"(?:memory_butler|gen_ai_client)_\w+"
Labels = frozenset[tuple[str, str]]


async def _read(served: Served) -> dict[tuple[str, Labels], float]:
    async with served.rest() as rest:
        answer = await rest.get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain")
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def _value(figures: dict[tuple[str, Labels], float], name: str, **labels: str) -> float:
    return figures.get((f"memory_butler_{name}", frozenset(labels.items())), 0.0)


async def test_operations_are_timed_by_how_they_ended(served: Served) -> None:
    before = await _read(served)
    async with served.mcp() as client:
        await client.call("memory_recall", topic="paint")
        await client.refusal("memory_mark_helpful", rule_id=str(uuid4()))
    after = await _read(served)

    def grown(**labels: str) -> float:
        name = "operation_seconds_count"
        return _value(after, name, **labels) - _value(before, name, **labels)

    assert grown(operation="memory_recall", outcome="ok") == 1
    assert grown(operation="memory_mark_helpful", outcome="refused") == 1
    assert grown(operation="memory_mark_helpful", outcome="ok") == 0

    def conventional(kind: str, error: str) -> float:
        labels = frozenset({("gen_ai_operation_name", kind), ("error_type", error)})
        key = ("gen_ai_client_operation_duration_seconds_count", labels)
        return after.get(key, 0.0) - before.get(key, 0.0)

    assert conventional("search_memory", "") == 1
    assert conventional("update_memory", "not_found") == 1
    assert conventional("update_memory", "") == 0
    texts = "embedded_texts_total"
    assert _value(after, texts) - _value(before, texts) == 1
    assert _value(after, "pool_connections", state="open") >= 1
    assert _value(after, "pool_connections", state="max") == served.memory.pool.get_max_size()
    waits = "pool_wait_seconds_count"
    assert _value(after, waits) > _value(before, waits)


async def test_the_backlog_is_that_of_all_tenants(served: Served, clock: Clock) -> None:
    memory = served.memory
    for tenant in ("ana", "bob"):
        await store_episode(memory, Principal(tenant), "We talked of paint", "painter")
    clock.advance(hours=2)
    figures = await _read(served)
    assert _value(figures, "backlog_episodes", state="pending") == 2
    assert _value(figures, "backlog_episodes", state="dead_letter") == 0
    assert _value(figures, "backlog_age_seconds") == timedelta(hours=2).total_seconds()
    assert _value(figures, "backlog_tenants", state="counted") == 2
    assert _value(figures, "database_up") == 1


async def test_decay_and_jobs_are_counted(served: Served, clock: Clock) -> None:
    memory = served.memory
    await store_fact(
        memory, Principal(), "user", "favorite_color", "Dark green", permanence="ephemeral"
    )
    before = await _read(served)
    clock.advance(days=365)
    await run_tick(memory, BY_NAME["decay_sweep"], clock.now)
    after = await _read(served)

    def grown(name: str, **labels: str) -> float:
        return _value(after, name, **labels) - _value(before, name, **labels)

    assert grown("events_total", type="fact_expired") == 1
    assert grown("job_runs_total", task="decay_sweep", status="succeeded") == 1
    assert grown("job_seconds_count", task="decay_sweep") == 1
    last = _value(after, "job_last_success_timestamp_seconds", task="decay_sweep")
    assert last == clock.now.timestamp()


async def test_what_is_rolled_back_is_not_counted(memory: Memory) -> None:
    def counted() -> float:
        labels = {"type": "fact_created"}
        return REGISTRY.get_sample_value("memory_butler_events_total", labels) or 0.0

    before = counted()
    with suppress(LookupError):
        async with transaction(memory.pool, "default") as tx:
            tx.recorded["fact_created"] += 1
            raise LookupError
    assert counted() == before


async def test_no_tenant_and_no_memory_can_be_read_from_them(served: Served) -> None:
    secret = "zebrafinch"
    await store_fact(served.memory, Principal(secret), secret, secret, secret, scope=secret)
    async with served.mcp() as client:
        await client.call("memory_recall", topic=secret, scope=secret)
    async with served.rest() as rest:
        assert secret not in (await rest.get("/metrics")).text


async def test_no_tenants_token_shows_them_but_the_operators_does(serve: Serve) -> None:
    async with serve(require_token=True) as locked:
        admin = await locked.make_token("default", "admin")
        scraper = await locked.make_token("default", "metrics")
        async with locked.rest() as rest:
            assert (await rest.get("/metrics")).status_code == 401
        async with locked.bearing(admin).rest() as rest:
            refused = await rest.get("/metrics")
            assert refused.status_code == 403
            assert "--scope metrics" in refused.json()["detail"]
            # Nor can a tenant's administrator make a token that does.
            asked = {"name": "sly", "scopes": ["metrics"]}
            assert (await rest.post("/api/tokens", json=asked)).status_code == 403
        async with locked.bearing(scraper).rest() as rest:
            assert (await rest.get("/metrics")).status_code == 200
            assert (await rest.get("/api/memory/stats")).status_code == 403


def test_the_scope_for_figures_is_apart_from_the_others() -> None:
    assert not Principal(scopes=frozenset({"admin"})).may("metrics")
    scraper = Principal(scopes=frozenset({"metrics"}))
    assert [scope for scope in SCOPES if scraper.may(scope)] == ["metrics"]


# --- what is written about them -------------------------------------------------------------------


def _ours() -> set[str]:
    return {one.name for one in REGISTRY.collect() if not one.name.startswith("process_")}


def test_the_conventions_metric_has_the_boundaries_that_they_give() -> None:
    GEN_AI_OPERATIONS.labels("search_memory", "")
    (family,) = [one for one in REGISTRY.collect() if one.name.startswith("gen_ai_")]
    bounds = {one.labels["le"] for one in family.samples if one.name.endswith("_bucket")}
    assert sorted(map(float, bounds)) == [
        *(0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92),
        float("inf"),
    ]


def test_the_page_describes_each_figure_and_no_other() -> None:
    page = (_DOCS / "observability.md").read_text(encoding="utf-8")
    described = set(re.findall(rf"^\| `({_NAMES})`", page, re.MULTILINE))
    assert {name.removesuffix("_total") for name in described} == _ours()


def test_the_grafana_dashboard_asks_for_figures_that_exist() -> None:
    dashboard = json.loads((_DOCS / "grafana-dashboard.json").read_text(encoding="utf-8"))
    asked = {
        re.sub(r"_(total|bucket|count|sum)$", "", name)
        for panel in dashboard["panels"]
        for target in panel["targets"]
        for name in re.findall(_NAMES, target["expr"])
    }
    assert asked == _ours()
    places = [tuple(panel["gridPos"].values()) for panel in dashboard["panels"]]
    assert len(set(places)) == len(places)
