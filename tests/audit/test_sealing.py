"""The event log can be checked: stored events get a seal and their place in a chain."""

import asyncio
import json
import shutil
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import asyncpg
import pytest

from conftest import NOW, Clock, Connection
from memory_butler.audit import canonical, parsed
from memory_butler.domain.errors import Conflict
from memory_butler.domain.principals import Principal
from memory_butler.engine.audit_keys import AuditKeys, open_keys
from memory_butler.engine.curate import forget_memory
from memory_butler.engine.export import export_all, restore_all
from memory_butler.engine.lifecycle import sweep
from memory_butler.engine.memory import Memory
from memory_butler.engine.remember import store_fact
from memory_butler.engine.sealing import accept, audit, seal, sealing
from memory_butler.engine.undo import undo_change
from memory_butler.erasure.erasing import erase
from memory_butler.erasure.scope import Target
from memory_butler.store import events, seals
from memory_butler.store.transaction import transaction

pytestmark = pytest.mark.anyio


async def _facts(memory: Memory, principal: Principal, count: int) -> None:
    for number in range(count):
        await store_fact(memory, principal, f"room {uuid4()}", "colour", f"shade {number}")


async def test_a_log_that_nobody_touched_is_whole(
    sealed: Memory, principal: Principal, clock: Clock, admin: Connection
) -> None:
    await _facts(sealed, principal, 5)
    assert await seal(sealed, principal.tenant) == 5
    assert await seal(sealed, principal.tenant) == 0
    clock.advance(hours=1)
    fact, _ = await store_fact(sealed, principal, "wall", "colour", "green")
    clock.advance(hours=1)
    await forget_memory(sealed, principal, "fact", fact)
    told = await admin.fetchval("SELECT id FROM memory_events WHERE event_type = 'fact_retracted'")
    await undo_change(sealed, principal, event_id=told)
    clock.advance(days=400)
    await sweep.run(sealed, principal)
    report = await audit(sealed, principal)
    assert report.breaks == []
    assert report.sealed == await admin.fetchval("SELECT count(*) FROM memory_events")
    assert report.waiting == 0


async def test_the_content_of_an_event_is_sealed_when_it_is_stored(
    sealed: Memory, principal: Principal, admin: Connection
) -> None:
    await _facts(sealed, principal, 3)
    id = await admin.fetchval(
        "UPDATE memory_events SET actor = 'x' WHERE id ="
        " (SELECT id FROM memory_events LIMIT 1) RETURNING id"
    )
    report = await audit(sealed, principal)  # which seals first
    assert [(one.kind, one.event_id) for one in report.breaks] == [("changed", str(id))]


@pytest.mark.parametrize(
    "payload",
    [
        {"numbers": [0.1, 1e22, 1e-7, -0.0, 5.0, 2**70, 0.30000000000000004]},
        {"texts": ['ä\u2028\U0001f600"\\/\n', ""], "é": None, "e": [True, False, {}, []]},
    ],
)
async def test_what_the_database_gives_back_has_the_seal_of_what_was_given(
    payload: dict[str, object], sealed: Memory, principal: Principal
) -> None:
    async with transaction(sealed.pool, principal.tenant) as tx:
        await events.record(tx, None, [("fact_created", payload)], NOW)
    report = await audit(sealed, principal)
    assert (report.breaks, report.sealed) == ([], 1)


def test_a_number_has_one_form_and_keeps_its_digits() -> None:
    assert canonical(parsed("[1e22, 10000000000000000000000, 1.0, -0.0, 1e-2]")) == (
        "[10000000000000000000000,10000000000000000000000,1,0,0.01]"
    )
    assert canonical(parsed("0.10000000000000000000001")) != canonical(0.1)


async def test_sixteen_writers_and_two_sealers_leave_one_chain(
    sealed: Memory, principal: Principal
) -> None:
    async def sealer() -> None:
        for _ in range(10):
            await seal(sealed, principal.tenant)
            await asyncio.sleep(0)

    await asyncio.gather(sealer(), sealer(), *(_facts(sealed, principal, 4) for _ in range(16)))
    report = await audit(sealed, principal)
    assert (report.breaks, report.sealed) == ([], 64)


async def test_tenants_have_chains_of_their_own(
    sealed: Memory, principal: Principal, other_tenant: Principal, admin: Connection
) -> None:
    await _facts(sealed, principal, 2)
    await _facts(sealed, other_tenant, 3)
    assert (await audit(sealed, other_tenant)).sealed == 3
    await audit(sealed, principal)
    await admin.execute(
        "UPDATE event_seals SET tenant_id = 'default', seq = seq + 2 WHERE tenant_id = 'other'"
    )
    await admin.execute("UPDATE memory_events SET tenant_id = 'default'")
    first = (await audit(sealed, principal)).breaks[0]
    assert (first.kind, first.seq) == ("reordered", 3)


async def test_events_of_before_are_sealed_when_the_chain_begins(
    sealed: Memory, principal: Principal, keys: AuditKeys
) -> None:
    sealed.pool.seal_key = None
    await _facts(sealed, principal, 4)
    sealed.pool.seal_key = keys.chain
    await _facts(sealed, principal, 1)
    report = await audit(sealed, principal)
    assert (report.breaks, report.sealed) == ([], 5)
    assert report.since.endswith("4 events were there before")
    sealed.pool.seal_key = None
    await _facts(sealed, principal, 1)
    assert [one.kind for one in (await audit(sealed, principal)).breaks] == ["inserted"]


async def test_erasing_keeps_the_chain_and_leaves_no_content(
    sealed: Memory, principal: Principal, admin: Connection
) -> None:
    await _facts(sealed, principal, 2)
    fact, _ = await store_fact(sealed, principal, "Zoe", "plays", "the theremin")
    await seal(sealed, principal.tenant)
    await store_fact(sealed, principal, "Zoe", "plays", "the harp")  # not sealed yet
    await erase(sealed, principal, Target(memory=("fact", fact)))
    report = await audit(sealed, principal)
    assert (report.breaks, report.erased) == ([], 2)
    assert await admin.fetchval("SELECT count(*) FROM event_seals WHERE salt IS NULL") == 2
    place = await admin.fetchval("SELECT min(seq) FROM event_seals WHERE salt IS NOT NULL")
    # Whoever takes a content without an erasure cannot hide behind one.
    erasure = await admin.fetchval(
        "SELECT payload->>'erasure' FROM memory_events WHERE event_type = 'memories_erased'"
    )
    await admin.execute("UPDATE event_seals SET salt = NULL WHERE seq = $1", place)
    await admin.execute(
        "UPDATE memory_events e SET payload = jsonb_build_object('erased', $1::text)"
        " FROM event_seals s WHERE s.seq = $2 AND s.event_id = e.id",
        erasure,
        place,
    )
    (found,) = (await audit(sealed, principal)).breaks
    assert (found.kind, found.seq) == ("changed", place)


async def test_erasing_a_tenant_leaves_the_end_of_its_chain_to_go_on_from(
    sealed: Memory, principal: Principal, admin: Connection
) -> None:
    await _facts(sealed, principal, 4)
    await seal(sealed, principal.tenant)
    await erase(sealed, principal, Target(everything=True))
    assert await admin.fetchval("SELECT count(*) FROM event_seals") == 0
    await _facts(sealed, principal, 2)
    report = await audit(sealed, principal)
    assert (report.breaks, report.sealed, report.last_seq) == ([], 2, 6)
    assert report.since.startswith("erasure ")
    await admin.execute("DELETE FROM event_seals WHERE seq = 5")
    assert (await audit(sealed, principal)).breaks[0].seq == 5


async def test_a_log_that_is_older_than_its_kept_checkpoint_is_reported_and_not_continued(
    sealed: Memory, principal: Principal, admin: Connection, keys: AuditKeys, tmp_path: Path
) -> None:
    outside = tmp_path / "usb.json"
    await _facts(sealed, principal, 2)
    assert (await audit(sealed, principal, outside)).breaks == []
    older = await admin.fetchrow("SELECT statement, signature FROM audit_checkpoints")
    await _facts(sealed, principal, 2)
    await audit(sealed, principal, outside)
    assert outside.read_text() == (keys.folder / "checkpoints" / "default.json").read_text()
    # Back to where it was: an old backup, or somebody with the rights of an administrator.
    late = "SELECT event_id FROM event_seals WHERE seq > 2"
    await admin.execute(f"DELETE FROM memory_events WHERE id IN ({late})")
    await admin.execute("DELETE FROM event_seals WHERE seq > 2")
    await admin.execute("UPDATE audit_checkpoints SET statement = $1, signature = $2", *older)
    await _facts(sealed, principal, 1)
    with pytest.raises(Conflict, match="older than the one that this installation has kept"):
        await seal(sealed, principal.tenant)
    first = (await audit(sealed, principal)).breaks[0]
    assert (first.kind, first.seq) == ("truncated", 3)
    shutil.rmtree(keys.folder / "checkpoints")
    assert (await audit(sealed, principal, outside)).breaks[0].kind == "truncated"
    # The operator says that it is meant.
    await accept(sealed, principal.tenant)
    assert (await audit(sealed, principal)).breaks == []
    await _facts(sealed, principal, 1)
    report = await audit(sealed, principal)
    assert (report.breaks, report.sealed) == ([], 1)


async def test_other_keys_are_refused_until_they_are_accepted(
    sealed: Memory, principal: Principal, tmp_path: Path
) -> None:
    await _facts(sealed, principal, 2)
    await seal(sealed, principal.tenant)
    (tmp_path / "audit" / "signing-secret").unlink()
    other = replace(sealed, audit=open_keys(tmp_path / "audit"))
    with pytest.raises(Conflict, match="signed with other keys"):
        await seal(other, principal.tenant)
    assert (await audit(other, principal)).breaks[0].kind == "reordered"
    await accept(other, principal.tenant)
    assert (await audit(other, principal)).breaks == []


async def test_an_import_seals_the_events_that_it_brings(
    sealed: Memory, principal: Principal, other_tenant: Principal, tmp_path: Path
) -> None:
    await _facts(sealed, principal, 3)
    await seal(sealed, principal.tenant)
    path = tmp_path / "all.jsonl"
    with path.open("w") as file:
        await export_all(sealed, principal, file)
    assert "event_seals" not in json.loads(path.read_text().partition("\n")[0])["rows"]
    await _facts(sealed, other_tenant, 1)
    await seal(sealed, other_tenant.tenant)
    with path.open("rb") as file:
        await restore_all(sealed, other_tenant, file)
    report = await audit(sealed, other_tenant)
    assert (report.breaks, report.sealed) == ([], 4)


async def test_a_server_seals_what_is_stored_and_what_was_left(
    sealed: Memory, principal: Principal, other_tenant: Principal, admin: Connection
) -> None:
    async def sealed_rows() -> int:
        found: int = await admin.fetchval("SELECT count(seq) FROM event_seals")
        return found

    await _facts(sealed, other_tenant, 1)
    sealed.pool.to_seal.clear()  # another process stored it
    async with asyncio.timeout(20), sealing(sealed, seconds=0.05):
        while await sealed_rows() < 1:  # noqa: ASYNC110 -- a task of its own seals
            await asyncio.sleep(0.02)
        await _facts(sealed, principal, 2)
        while await sealed_rows() < 3:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    async with sealing(sealed, seconds=60):
        await asyncio.sleep(0.1)
        await _facts(sealed, principal, 1)
    assert await sealed_rows() == 4  # once more at its end


async def test_the_runtime_role_changes_no_hash_and_deletes_no_seal(
    sealed: Memory, principal: Principal
) -> None:
    await _facts(sealed, principal, 1)
    for statement in (
        "UPDATE event_seals SET mac = sha256(mac)",
        "UPDATE event_seals SET salt = NULL",
        "DELETE FROM event_seals",
        "DELETE FROM audit_checkpoints",
    ):
        async with sealed.pool.acquire() as connection:
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await connection.execute(statement)


async def test_years_of_events_are_sealed_in_transactions_that_end_soon(
    sealed: Memory,
    principal: Principal,
    keys: AuditKeys,
    admin: Connection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(seals, "BATCH", 3)
    sealed.pool.seal_key = None
    await _facts(sealed, principal, 7)
    sealed.pool.seal_key = keys.chain
    await _facts(sealed, principal, 1)
    assert await seal(sealed, principal.tenant) == 8
    # Three of adopting, of which the last chains as well; two more of chaining.
    assert await admin.fetchval("SELECT count(DISTINCT xmin::text) FROM event_seals") == 3
    report = await audit(sealed, principal)
    assert (report.breaks, report.sealed) == ([], 8)
    assert report.since.endswith("7 events were there before")
    sealed.pool.seal_key = None
    await _facts(sealed, principal, 7)
    assert {one.kind for one in (await audit(sealed, principal)).breaks} == {"inserted"}
    await accept(sealed, principal.tenant)
    report = await audit(sealed, principal)
    assert (report.breaks, report.sealed) == ([], 0)
    assert report.since.endswith("7 events were there before")


async def test_a_look_for_tenants_that_fails_ends_nothing_and_is_not_repeated_at_once(
    sealed: Memory, principal: Principal, admin: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = 0

    async def failing(pool: object) -> list[str]:
        nonlocal looks
        looks += 1
        raise asyncpg.UndefinedFunctionError("no such function")

    monkeypatch.setattr(seals, "tenants_to_seal", failing)
    async with asyncio.timeout(20), sealing(sealed, seconds=0.02):
        await asyncio.sleep(0.1)
        await _facts(sealed, principal, 1)
        while not await admin.fetchval("SELECT count(seq) FROM event_seals"):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    assert looks == 1


async def test_the_tenants_to_seal_are_those_with_events_outside_of_a_chain(
    sealed: Memory, principal: Principal, other_tenant: Principal
) -> None:
    assert await seals.tenants_to_seal(sealed.pool) == []
    await _facts(sealed, principal, 1)
    await _facts(sealed, other_tenant, 2)
    assert await seals.tenants_to_seal(sealed.pool) == ["default", "other"]
    await seal(sealed, other_tenant.tenant)
    assert await seals.tenants_to_seal(sealed.pool) == ["default"]
    sealed.pool.seal_key = None
    await seal(sealed, principal.tenant)
    assert await seals.tenants_to_seal(sealed.pool) == []
