"""Whatever somebody writes into the database or the file, the check ends with a break."""

import io
from pathlib import Path

import pytest

from conftest import NOW, Connection
from memory_butler.audit import main
from memory_butler.domain.principals import Principal
from memory_butler.engine.audit_keys import AuditKeys
from memory_butler.engine.memory import Memory
from memory_butler.engine.remember import store_fact
from memory_butler.engine.sealing import audit, export, seal
from memory_butler.store import events
from memory_butler.store.transaction import transaction

pytestmark = pytest.mark.anyio


@pytest.fixture
async def three(sealed: Memory, principal: Principal) -> Memory:
    """A log of three sealed events."""
    for number in range(3):
        await store_fact(sealed, principal, f"room {number}", "colour", "green")
    await seal(sealed, principal.tenant)
    return sealed


_DEEP = '{"a":' * 2_000 + "1" + "}" * 2_000


@pytest.mark.parametrize(
    "change",
    [
        "event_seals SET sealed_at = NULL",
        "event_seals SET sealed_at = 'infinity'",
        "event_seals SET sealed_at = '-infinity'",
        "event_seals SET sealed_at = '0001-01-01 00:00:00Z'",
        "event_seals SET sealed_at = '9999-12-31 23:59:59Z'",
        "event_seals SET sealed_at = '290000-01-01'",
        "event_seals SET sealed_at = '2026-03-01 12:00:00Z BC'",
        "event_seals SET link = NULL",
        "event_seals SET mac = ''",
        "event_seals SET salt = ''",
        "memory_events SET created_at = '-infinity'",
        "memory_events SET created_at = '290000-01-01'",
        "memory_events SET created_at = '2026-03-01 12:00:00Z BC'",
        "memory_events SET payload = '[]'",
        "memory_events SET payload = 'null'",
        "memory_events SET payload = '1e100000'",
        f"memory_events SET payload = '{_DEEP}'",
    ],
)
async def test_a_malformed_field_is_a_break(
    change: str,
    three: Memory,
    principal: Principal,
    admin: Connection,
    keys: AuditKeys,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    id = await admin.fetchval("SELECT event_id FROM event_seals WHERE seq = 1")
    key = "id" if change.startswith("memory_events") else "event_id"
    await admin.execute(f"UPDATE {change} WHERE {key} = $1", id)
    first = (await audit(three, principal)).breaks[0]
    assert first.seq == 1
    text = io.StringIO()
    await export(three, principal, text)
    dump = tmp_path / "log.jsonl"
    dump.write_text(text.getvalue())
    assert main([str(dump), "--key", str(keys.folder / "verify.key")]) == 1
    assert f"{first.kind} at seal 1" in capsys.readouterr().out


@pytest.mark.parametrize(
    "payload",
    [{}, {"erasure": "x"}, {"erasure": [], "events": ["x"]}, {"erasure": "x", "events": 1}],
)
async def test_an_erasure_that_names_nothing_properly_is_a_break(
    payload: dict[str, object], three: Memory, principal: Principal
) -> None:
    # As an import may bring it: it then has a seal of ours.
    async with transaction(three.pool, principal.tenant) as tx:
        await events.record(tx, None, [("memories_erased", payload)], NOW)
    (found,) = (await audit(three, principal)).breaks
    assert (found.kind, found.seq) == ("changed", 4)


async def test_a_content_that_went_without_an_erasure_is_a_break(
    three: Memory, principal: Principal, admin: Connection
) -> None:
    id = await admin.fetchval("SELECT event_id FROM event_seals WHERE seq = 2")
    await admin.execute("UPDATE event_seals SET salt = NULL WHERE event_id = $1", id)
    await admin.execute("UPDATE memory_events SET payload = $2 WHERE id = $1", id, {"erased": "x"})
    (found,) = (await audit(three, principal)).breaks
    assert (found.kind, found.seq) == ("changed", 2)
    assert found.said == "its content is gone without an erasure"


_NOT_OURS = "a checkpoint is not signed with the expected key, or is of another tenant"


async def test_a_checkpoint_that_nobody_signed_is_a_break(
    three: Memory, principal: Principal, admin: Connection
) -> None:
    await admin.execute("UPDATE audit_checkpoints SET signature = decode(repeat('00', 64), 'hex')")
    assert _NOT_OURS in [one.said for one in (await audit(three, principal)).breaks]


async def test_a_checkpoint_of_another_tenant_is_a_break(
    three: Memory, principal: Principal, other_tenant: Principal, admin: Connection
) -> None:
    await store_fact(three, other_tenant, "their room", "colour", "blue")
    await seal(three, other_tenant.tenant)
    await admin.execute(
        "UPDATE audit_checkpoints c SET statement = o.statement, signature = o.signature"
        " FROM audit_checkpoints o WHERE c.tenant_id = $1 AND o.tenant_id = $2",
        principal.tenant,
        other_tenant.tenant,
    )
    assert _NOT_OURS in [one.said for one in (await audit(three, principal)).breaks]


@pytest.mark.parametrize("seq", [0, -1, -(2**63)])
async def test_an_event_with_a_seal_of_a_number_below_the_first_is_inserted(
    seq: int, three: Memory, principal: Principal, admin: Connection
) -> None:
    id = await _copied(admin, seq)
    (found,) = (await audit(three, principal)).breaks
    assert (found.kind, found.seq, found.event_id) == ("inserted", seq, id)


async def test_an_event_with_a_made_up_seal_at_the_end_is_reported_by_audit_and_export(
    three: Memory, principal: Principal, admin: Connection
) -> None:
    id = await _copied(admin, 4)
    await store_fact(three, principal, "waits", "for", "its place")
    first = (await audit(three, principal)).breaks[0]
    assert (first.kind, first.seq, first.event_id) == ("reordered", 4, id)
    assert await export(three, principal, io.StringIO()) == 7


async def _copied(admin: Connection, seq: int) -> str:
    """An event and a seal that somebody without a key put there."""
    id = await admin.fetchval(
        "INSERT INTO memory_events (tenant_id, event_type, actor, payload)"
        " SELECT tenant_id, event_type, actor, payload FROM memory_events LIMIT 1 RETURNING id"
    )
    await admin.execute(
        "INSERT INTO event_seals (tenant_id, event_id, salt, content, mac, seq, sealed_at, link)"
        " SELECT tenant_id, $1, salt, content, mac, $2, sealed_at, link FROM event_seals"
        " WHERE seq = 1",
        id,
        seq,
    )
    return str(id)
