"""The decay sweep on a real database: each transition, its traces, and who else is about."""

import asyncio
import math
from collections import Counter
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conftest import NOW, Clock, Connection
from engine.store_views import count, event_types, row, states
from memory_butler.domain.confidence import ConfidenceThresholds, effective_confidence
from memory_butler.domain.principals import Principal
from memory_butler.domain.sweep import Outcome, Swept, outcome
from memory_butler.engine.curate import confirm_memory
from memory_butler.engine.lifecycle import sweep
from memory_butler.engine.lifecycle.sweep import plan, run
from memory_butler.engine.memory import Memory
from memory_butler.engine.recall import recall
from memory_butler.engine.remember import store_fact, store_rule
from memory_butler.store import rules, versions
from memory_butler.store import sweep as store
from memory_butler.store.sweep import SweepCounts
from memory_butler.store.transaction import Transaction, transaction

pytestmark = pytest.mark.anyio

FADING = {"status": "fading"}
DEFAULTS = ConfidenceThresholds(0.2, 0.05)
TABLES = ("episodes", "facts", "rules", "memory_versions", "memory_events", "memory_links")


async def _fact(admin: Connection, effective: float, **columns: Any) -> UUID:
    """A fact confirmed just now, so that its effective confidence is exactly this."""
    return await _insert(
        admin, "facts", effective, subject=str(uuid4()), predicate="p", content="c", **columns
    )


async def _rule(admin: Connection, effective: float, **columns: Any) -> UUID:
    return await _insert(admin, "rules", effective, content="c", **columns)


async def _insert(admin: Connection, table: str, effective: float, **columns: Any) -> UUID:
    values = {
        "confidence": effective,
        "decay_rate": 0.008,
        "created_at": NOW - timedelta(days=1),
        "last_confirmed_at": NOW,
    } | columns
    places = ", ".join(f"${n + 1}" for n in range(len(values)))
    id: UUID = await admin.fetchval(
        f"INSERT INTO {table} ({', '.join(values)}) VALUES ({places}) RETURNING id",
        *values.values(),
    )
    return id


async def _blocked(admin: Connection) -> None:
    """Return as soon as a session waits for a lock."""
    async with asyncio.timeout(10):
        while True:
            if await admin.fetchval("SELECT true FROM pg_locks WHERE NOT granted LIMIT 1"):
                return
            await asyncio.sleep(0.01)


async def _everything(admin: Connection) -> list[Any]:
    return [await _rows(admin, table) for table in TABLES]


async def _rows(admin: Connection, table: str) -> list[Any]:
    return list(await admin.fetch(f"SELECT * FROM {table} t ORDER BY t::text"))


@pytest.mark.requirement("DEC-05", "LIFE-05", "LIFE-06")
async def test_facts_below_the_thresholds_fade_and_expire(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    below_retrieval, below_expiry = math.nextafter(0.2, 0), math.nextafter(0.05, 0)
    expected = {
        await _fact(admin, 1.0): ("active", {}),
        await _fact(admin, 0.2): ("active", {}),
        await _fact(admin, below_retrieval): ("active", FADING),
        await _fact(admin, 0.15): ("active", FADING),
        await _fact(admin, 0.05): ("active", FADING),
        await _fact(admin, below_expiry): ("expired", {}),
        await _fact(admin, 0.03): ("expired", {}),
        await _fact(admin, 0.03, metadata=FADING): ("expired", {}),
        await _fact(admin, 1.0, last_confirmed_at=None): ("expired", {}),
    }
    report = await run(memory, principal)
    assert report.facts == SweepCounts(evaluated=9, fade=3, recover=0, expire=4)
    for id, (validity, metadata) in expected.items():
        fact = await row(admin, "facts", id)
        assert (fact["validity"], fact["metadata"]) == (validity, metadata)
        assert fact["retired_at"] == (NOW if validity == "expired" else None)


@pytest.mark.requirement("DEC-06", "DEC-02")
async def test_what_does_not_decay_or_is_not_active_is_not_looked_at(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    kept = [
        await _fact(admin, 0.01, decay_rate=0.0),
        await _fact(admin, 0.01, decay_rate=0.0, last_confirmed_at=None),
        await _fact(admin, 0.01, validity="superseded"),
        await _fact(admin, 0.01, validity="retracted"),
        await _fact(admin, 0.01, validity="expired"),
    ]
    before = [await row(admin, "facts", id) for id in kept]
    assert (await run(memory, principal)).facts == SweepCounts()
    assert [await row(admin, "facts", id) for id in kept] == before


@pytest.mark.requirement("MNT-04", "LIFE-05", "LIFE-06")
async def test_a_fact_that_nobody_confirms_leaves_recall_but_not_the_store(
    memory: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    fact, _ = await store_fact(memory, principal, "user", "drink", "jasmine tea")
    assert [hit.row["id"] for hit in await recall(memory, principal, "tea")] == [fact]
    for days, validity, status in ((202, "active", "fading"), (174, "expired", None)):
        clock.advance(days=days)
        await run(memory, principal)
        assert await recall(memory, principal, "tea") == []
        stored = await row(admin, "facts", fact)
        assert (stored["validity"], stored["metadata"].get("status")) == (validity, status)
        assert stored["content"] == "jasmine tea"


@pytest.mark.requirement("DEC-07")
async def test_what_recovered_loses_the_mark(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    fact = await _fact(admin, 0.2, metadata=FADING | {"note": 1})
    rule = await _rule(admin, 0.2, metadata=FADING)
    report = await run(memory, principal)
    assert (report.facts.recover, report.rules.recover) == (1, 1)
    assert (await row(admin, "facts", fact))["metadata"] == {"note": 1}
    assert (await row(admin, "rules", rule))["metadata"] == {}
    assert {"fact_recovered", "rule_recovered"} <= set(await event_types(admin))


async def test_a_status_of_somebody_else_survives_the_end(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    fact = await _fact(admin, 0.03, metadata={"status": "draft"})
    rule = await _rule(admin, 0.03, metadata={"status": "draft"})
    await run(memory, principal)
    assert (await row(admin, "facts", fact))["metadata"] == {"status": "draft"}
    ended = {"status": "draft", "forgotten": True, "swept": True}
    assert (await row(admin, "rules", rule))["metadata"] == ended


@pytest.mark.requirement("DEC-08", "DEC-06")
async def test_rules_fade_and_are_forgotten(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    forgotten, swept = {"forgotten": True}, {"forgotten": True, "swept": True}
    expected = {
        await _rule(admin, 0.2): {},
        await _rule(admin, math.nextafter(0.2, 0)): FADING,
        await _rule(admin, 0.05): FADING,
        await _rule(admin, math.nextafter(0.05, 0)): swept,
        await _rule(admin, 0.03, metadata=FADING): swept,
        # Left out (C-26):
        await _rule(admin, 0.03, maturity="anti_pattern"): {},
        await _rule(admin, 0.1, metadata=forgotten): forgotten,
        await _rule(admin, 0.03, decay_rate=0.0): {},
    }
    report = await run(memory, principal)
    assert report.rules == SweepCounts(evaluated=5, fade=2, recover=0, expire=2)
    for id, metadata in expected.items():
        assert (await row(admin, "rules", id))["metadata"] == metadata


@pytest.mark.requirement("DEC-08", "MNT-04")
async def test_a_forgotten_rule_leaves_recall_but_not_the_store(
    memory: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    await store_rule(memory, principal, "offer jasmine tea")
    assert len(await recall(memory, principal, "tea")) == 1
    clock.advance(days=231)  # 0.5 * exp(-2.31) < 0.05
    assert (await run(memory, principal)).rules.expire == 1
    assert await recall(memory, principal, "tea", min_confidence=0.0) == []
    assert await count(admin, "rules") == 1


@pytest.mark.requirement("MEV-04")
@pytest.mark.parametrize(
    ("effective", "before", "fact_event", "rule_event"),
    [
        (0.15, {}, "fact_fading", "rule_fading"),
        (0.03, {}, "fact_expired", "rule_forgotten"),
        (0.5, FADING, "fact_recovered", "rule_recovered"),
    ],
)
async def test_a_transition_its_event_and_the_past_state_are_one_commit(
    memory: Memory,
    principal: Principal,
    admin: Connection,
    effective: float,
    before: dict[str, Any],
    fact_event: str,
    rule_event: str,
) -> None:
    fact = await _fact(admin, effective, metadata=before)
    rule = await _rule(admin, effective, metadata=before)
    await run(memory, principal)
    for kind, id, event_type in (("fact", fact, fact_event), ("rule", rule, rule_event)):
        event = await admin.fetchrow(
            "SELECT *, xmin FROM memory_events WHERE event_type = $1", event_type
        )
        assert event["payload"] == {
            "memory_type": kind,
            "memory_id": str(id),
            "effective_confidence": effective,
        }
        assert (event["actor"], event["created_at"]) == ("tester", NOW)
        (past,) = await states(admin, kind, id)
        assert (past["known_from"], past["known_until"]) == (NOW - timedelta(days=1), NOW)
        assert past["state"]["metadata"] == before
        changed = await admin.fetchval(f"SELECT xmin FROM {kind}s WHERE id = $1", id)
        kept = await admin.fetchval("SELECT xmin FROM memory_versions WHERE id = $1", id)
        assert event["xmin"] == changed == kept


@pytest.mark.parametrize("kind", ["fact", "rule"])
async def test_a_sweep_keeps_what_every_other_change_keeps(
    memory: Memory, principal: Principal, admin: Connection, kind: versions.Kind
) -> None:
    insert = _fact if kind == "fact" else _rule
    columns = {"valid_from": NOW} if kind == "fact" else {}
    swept, other = await insert(admin, 0.15, **columns), await insert(admin, 0.5, **columns)
    await run(memory, principal)
    async with transaction(memory.pool, principal.tenant) as tx:
        await versions.keep(tx, kind, [other], NOW)
    (by_sweep,), (by_others,) = await states(admin, kind, swept), await states(admin, kind, other)
    assert by_sweep["state"] == by_others["state"] | {"confidence": 0.15}


@pytest.mark.requirement("DEC-10")
async def test_a_sweep_tells_of_itself_once(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    await _fact(admin, 0.15)
    report = await run(memory, principal)
    told = await admin.fetchrow(
        "SELECT * FROM memory_events WHERE event_type = 'decay_sweep_completed'"
    )
    assert told["payload"] == report.payload()
    assert (told["payload"]["facts_fade"], told["payload"]["rules_evaluated"]) == (1, 0)
    (episode,) = await admin.fetch("SELECT * FROM episodes")
    assert (episode["butler"], episode["importance"]) == ("memory", 1.0)
    assert (episode["consolidation_status"], episode["consolidated"]) == ("consolidated", True)
    assert episode["metadata"] == {"kind": "decay_sweep", **report.payload()}
    assert episode["content"].startswith("Decay sweep: of 1 facts 1 fade")


@pytest.mark.requirement("DEC-06", "DEC-08", "DEC-09")
async def test_a_plan_changes_nothing_and_is_what_the_sweep_then_does(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    for effective, metadata in ((0.9, {}), (0.15, {}), (0.9, FADING), (0.03, {})):
        await _fact(admin, effective, metadata=metadata)
        await _rule(admin, effective, metadata=metadata)
    flagged = {"needs_inversion": True}
    for effective in (0.9, 0.15, 0.03):  # what is turned around does not decay as well
        await _rule(admin, effective, metadata=flagged, harmful_count=3)
    before = await _everything(admin)
    planned = await plan(memory, principal)
    assert await _everything(admin) == before
    assert planned.facts == planned.rules == SweepCounts(evaluated=4, fade=1, recover=1, expire=1)
    assert planned.rules_inverted == 3
    assert await run(memory, principal) == planned


@pytest.mark.requirement("DEC-06", "DEC-08")
async def test_the_next_sweep_changes_nothing_more(
    memory: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    for effective, metadata in ((0.9, {}), (0.15, {}), (0.9, FADING), (0.03, {})):
        await _fact(admin, effective, metadata=metadata)
        await _rule(admin, effective, metadata=metadata)
    await run(memory, principal)
    tables = ("facts", "rules", "memory_versions")
    before = [await _rows(admin, table) for table in tables]
    clock.advance(seconds=1)
    again = await run(memory, principal)
    assert again.facts == again.rules == SweepCounts(evaluated=3)
    assert [await _rows(admin, table) for table in tables] == before
    later = await admin.fetch("SELECT event_type FROM memory_events WHERE created_at > $1", NOW)
    assert {event["event_type"] for event in later} == {"episode_created", "decay_sweep_completed"}


Case = tuple[float, float, datetime | None, bool]
shares = st.floats(1e-9, 1.0) | st.sampled_from([0.0, 0.05, 0.2, 0.3, 1.0])
ages = st.just(timedelta(0)) | st.timedeltas(timedelta(days=-9), timedelta(days=900))
cases = st.lists(
    st.tuples(
        shares,
        st.sampled_from([0.0, 0.002, 0.008, 0.03, 0.1]) | st.floats(1e-6, 1.0),
        st.none() | ages.map(lambda age: NOW - age),
        st.booleans(),
    ),
    min_size=150,
    max_size=300,
)
limits = st.just(DEFAULTS) | st.tuples(shares, shares).map(
    lambda two: ConfidenceThresholds(max(two), min(two))
)
FILL = """
INSERT INTO {table} (id, {texts} confidence, decay_rate, last_confirmed_at, metadata)
SELECT id, {values} confidence, decay_rate, confirmed,
       CASE WHEN fading THEN '{{"status": "fading"}}'::jsonb ELSE '{{}}' END
FROM unnest($1::uuid[], $2::float8[], $3::float8[], $4::timestamptz[], $5::boolean[])
    AS c (id, confidence, decay_rate, confirmed, fading)
"""

_OUTCOMES: dict[str, Outcome] = {
    "fact_fading": "fade",
    "fact_recovered": "recover",
    "fact_expired": "expire",
    "rule_fading": "fade",
    "rule_recovered": "recover",
    "rule_forgotten": "expire",
}


def _expected(case: Case, thresholds: ConfidenceThresholds) -> Outcome | None:
    confidence, rate, confirmed, fading = case
    if rate == 0.0:
        return None
    effective = effective_confidence(confidence, rate, confirmed, NOW)
    return outcome(Swept(effective, fading), thresholds)


def _clear(case: Case, thresholds: ConfidenceThresholds) -> bool:
    """Whether rounding cannot decide: exact by construction, or far enough from a threshold."""
    confidence, rate, confirmed, _ = case
    effective = effective_confidence(confidence, rate, confirmed, NOW)
    near = any(
        math.isclose(effective, threshold, rel_tol=1e-9)
        for threshold in (thresholds.retrieval, thresholds.expiry)
    )
    return confirmed is None or confirmed >= NOW or not near


@pytest.mark.requirement("DEC-05", "DEC-06", "DEC-07", "DEC-08", "LIFE-05", "LIFE-06")
@pytest.mark.parametrize("kind", ["fact", "rule"])
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(generated=cases, thresholds=limits)
async def test_sql_and_python_agree(
    admin: Connection, kind: store.Kind, generated: list[Case], thresholds: ConfidenceThresholds
) -> None:
    clear = {uuid4(): case for case in generated if _clear(case, thresholds)}
    expected = {id: found for id, case in clear.items() if (found := _expected(case, thresholds))}
    texts, values = ("subject, predicate, content,", "id::text, 'p', 'c',")
    if kind == "rule":
        texts, values = ("content,", "'c',")
    changes = admin.transaction()
    await changes.start()
    try:
        fill = FILL.format(table=f"{kind}s", texts=texts, values=values)
        columns = [list(column) for column in zip(*clear.values(), strict=True)]
        await admin.execute(fill, list(clear), *columns)
        tx = Transaction(admin, "default")
        judged = await store.judge(tx, kind, NOW, thresholds)
        await store.lock(tx, kind, judged.ids)
        applied = await store.apply(tx, kind, judged.ids, NOW, thresholds, "tester")
        told = {
            UUID(event["payload"]["memory_id"]): _OUTCOMES[event["event_type"]]
            for event in await admin.fetch("SELECT * FROM memory_events")
        }
    finally:
        await changes.rollback()
    assert told == expected
    assert sorted(judged.ids) == sorted(expected)
    by_outcome = Counter(expected.values())
    assert applied == by_outcome
    assert judged.counts == SweepCounts(
        evaluated=sum(rate > 0 for _, rate, _, _ in clear.values()),
        fade=by_outcome["fade"],
        recover=by_outcome["recover"],
        expire=by_outcome["expire"],
    )


async def test_it_works_in_bounded_batches(
    memory: Memory, principal: Principal, admin: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweep, "BATCH", 2)
    for _ in range(5):
        await _fact(admin, 0.15)
    assert (await run(memory, principal)).facts.fade == 5
    batches = await admin.fetch("SELECT count(*) AS size FROM facts GROUP BY xmin")
    assert sorted(batch["size"] for batch in batches) == [1, 2, 2]


@pytest.mark.requirement("TEN-01")
async def test_only_the_own_tenant_is_swept(
    memory: Memory, principal: Principal, other_tenant: Principal, admin: Connection
) -> None:
    fact = await _fact(admin, 0.03, tenant_id="other")
    rule = await _rule(admin, 0.03, tenant_id="other")
    assert (await plan(memory, principal)).facts == SweepCounts()
    report = await run(memory, principal)
    assert report.facts == report.rules == SweepCounts()
    assert (await row(admin, "facts", fact))["validity"] == "active"
    assert (await row(admin, "rules", rule))["metadata"] == {}
    assert (await run(memory, other_tenant)).facts.expire == 1


async def test_what_is_confirmed_before_its_batch_stays(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    long_ago = NOW - timedelta(days=250)
    confirmed = await _fact(admin, 1.0, last_confirmed_at=long_ago)
    other = await _fact(admin, 1.0, last_confirmed_at=long_ago)
    async with transaction(memory.pool, principal.tenant) as tx:
        found = (await store.judge(tx, "fact", NOW, DEFAULTS)).ids
    assert set(found) == {confirmed, other}
    await confirm_memory(memory, principal, "fact", confirmed)
    async with transaction(memory.pool, principal.tenant) as tx:
        await store.lock(tx, "fact", found)
        assert await store.apply(tx, "fact", found, NOW, DEFAULTS, "tester") == {"fade": 1}
    assert (await row(admin, "facts", confirmed))["metadata"] == {}
    assert (await row(admin, "facts", other))["metadata"] == FADING


async def test_recall_finishes_while_a_batch_is_open(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    await store_fact(memory, principal, "user", "drink", "green tea")
    clock.advance(days=250)
    fresh, _ = await store_fact(memory, principal, "user", "pot", "a tea pot")
    async with transaction(memory.pool, principal.tenant) as tx:
        found = (await store.judge(tx, "fact", clock(), DEFAULTS)).ids
        await store.lock(tx, "fact", found)
        assert await store.apply(tx, "fact", found, clock(), DEFAULTS, "tester") == {"fade": 1}
        async with asyncio.timeout(10):
            hits = await recall(memory, principal, "tea")
        assert [hit.row["id"] for hit in hits] == [fresh]


async def test_two_sweeps_at_once_share_the_work(
    memory: Memory, principal: Principal, admin: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweep, "BATCH", 2)
    for _ in range(9):
        await _fact(admin, 0.15)
        await _rule(admin, 0.03)
    one, other = await asyncio.gather(run(memory, principal), run(memory, principal))
    assert one.facts.fade + other.facts.fade == 9
    assert one.rules.expire + other.rules.expire == 9
    types = Counter(await event_types(admin))
    assert (types["fact_fading"], types["rule_forgotten"]) == (9, 9)
    assert await count(admin, "memory_versions") == 18


async def test_a_sweep_that_waited_for_another_finds_nothing_left(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    fact = await _fact(admin, 0.15)
    async with transaction(memory.pool, principal.tenant) as tx:
        await store.lock(tx, "fact", [fact])
        waiting = asyncio.create_task(run(memory, principal))
        await _blocked(admin)
        await store.apply(tx, "fact", [fact], NOW, DEFAULTS, "tester")
    assert (await waiting).facts == SweepCounts(evaluated=1)
    assert (await event_types(admin)).count("fact_fading") == 1


async def test_a_mark_that_a_sweep_waited_for_is_kept_in_the_history(
    memory: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    rule = await _rule(admin, 0.15)
    async with transaction(memory.pool, principal.tenant) as tx:
        await rules.for_update(tx, rule)
        waiting = asyncio.create_task(run(memory, principal))
        await _blocked(admin)
        await versions.keep(tx, "rule", [rule], NOW)
        await rules.set_metadata(tx, rule, {"note": "marked"})
        clock.advance(seconds=1)
    assert (await waiting).rules.fade == 1
    before, marked = await states(admin, "rule", rule)
    assert (before["state"]["metadata"], marked["state"]["metadata"]) == ({}, {"note": "marked"})
    assert (before["known_until"], marked["known_from"]) == (NOW, NOW)
    assert marked["known_until"] == NOW + timedelta(seconds=1)


async def test_cancelled_it_leaves_whole_batches_and_the_next_run_completes(
    memory: Memory, principal: Principal, admin: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweep, "BATCH", 2)
    for _ in range(6):
        await _fact(admin, 0.15)
    in_order = [row["id"] for row in await admin.fetch("SELECT id FROM facts")]
    async with admin.transaction():
        await admin.execute("SELECT FROM facts WHERE id = $1 FOR UPDATE", in_order[4])
        working = asyncio.create_task(run(memory, principal))
        await _blocked(admin)
        working.cancel()
        with pytest.raises(asyncio.CancelledError):
            await working
    faded = "SELECT count(*) FROM facts WHERE metadata->>'status' = 'fading'"
    assert await admin.fetchval(faded) == 4
    assert await event_types(admin) == ["fact_fading"] * 4
    assert (await run(memory, principal)).facts == SweepCounts(evaluated=6, fade=2)
    assert await admin.fetchval(faded) == 6
