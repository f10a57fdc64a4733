"""Secrets on their way into memory, and those that are there: masked, told, and nowhere else."""

from dataclasses import replace
from datetime import timedelta
from io import BytesIO
from typing import Any

import pytest

from conftest import Clock, Connection
from engine.consolidation.scenes import consolidate, facts, tell
from memory_butler.domain.errors import Conflict, InvalidInput
from memory_butler.domain.principals import Principal
from memory_butler.engine import edits
from memory_butler.engine.context import build_context
from memory_butler.engine.edits import edit_fact, edit_rule
from memory_butler.engine.entities import create_entity
from memory_butler.engine.feedback import rule_harmed
from memory_butler.engine.import_format import read_lines
from memory_butler.engine.imports import import_all
from memory_butler.engine.memory import Memory
from memory_butler.engine.recall import search
from memory_butler.engine.remember import keep, store_episode, store_fact, store_rule
from memory_butler.engine.screening import screened, told
from memory_butler.engine.secret_scan import scan_secrets
from memory_butler.engine.undo import undo_change
from memory_butler.engine.unmask_keys import UnmaskKey
from memory_butler.engine.writing import new_episode, new_fact, new_rule
from memory_butler.trust_config import SecretsMode, TrustConfig

pytestmark = pytest.mark.anyio

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
PASSWORD = "Kettle77!blue"
MASK = "[masked: GitHub token, …q7R8]"
# Whatever a secret could have been written into.
_EVERYWHERE = """
SELECT string_agg(said, ' ') FROM (
    SELECT to_jsonb(e)::text AS said FROM episodes e UNION ALL SELECT to_jsonb(f)::text FROM facts f
    UNION ALL SELECT to_jsonb(r)::text FROM rules r
    UNION ALL SELECT to_jsonb(m)::text FROM memory_events m
    UNION ALL SELECT to_jsonb(v)::text FROM memory_versions v
    UNION ALL SELECT to_jsonb(a)::text FROM rule_applications a
    UNION ALL SELECT to_jsonb(c)::text FROM consolidation_runs c
    UNION ALL SELECT to_jsonb(p)::text FROM context_receipts p
) every_row
"""


def under(
    memory: Memory, mode: SecretsMode, tenants: dict[str, SecretsMode] | None = None
) -> Memory:
    trust = TrustConfig(secrets=mode, secrets_of_tenants=tenants or {})
    return replace(memory, config=memory.config.model_copy(update={"trust": trust}))


async def everything(admin: Connection) -> str:
    return str(await admin.fetchval(_EVERYWHERE))


async def test_a_secret_is_masked_before_it_is_stored_and_the_caller_is_told(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    episode = new_episode(
        memory,
        f"Pushed with {TOKEN} today",
        "general",
        metadata={"env": {"password": PASSWORD, "lines": [TOKEN]}},
    )
    fact = new_fact(memory, "user", "netflix_password", PASSWORD, tags=[TOKEN])
    rule = new_rule(memory, f"Push the docs with {TOKEN}")
    kept = [await keep(memory, principal, one) for one in (episode, fact, rule)]
    assert [one.new.content for one in kept] == [
        f"Pushed with {MASK} today",
        "[masked: password]",
        f"Push the docs with {MASK}",
    ]
    notes = [told(one.new.metadata) or "" for one in kept]
    assert notes[0].startswith("Masked before it was stored: 2 × GitHub token, 1 × password.")
    assert all("allow_secrets: true" in note for note in notes)
    said = await everything(admin)
    assert TOKEN not in said
    assert PASSWORD not in said
    assert TOKEN[4:14].lower() not in said.lower()  # nor as a word of the search text
    (hit,) = await search(memory, principal, "docs", types=["rule"], mode="keyword")
    assert hit.row["content"] == f"Push the docs with {MASK}"


async def test_what_a_household_keeps_is_stored_as_it_is_and_marked(
    memory: Memory, principal: Principal
) -> None:
    for subject, predicate, content, kind in (
        ("home", "wifi_password", "blue-otter-42", "wifi password"),
        ("home", "alarm", "The alarm code is 4711", "door code or PIN"),
    ):
        kept = await keep(memory, principal, new_fact(memory, subject, predicate, content))
        assert kept.new.content == content
        assert told(kept.new.metadata) == f"Stored as it is, and marked: 1 × {kind}."


async def test_the_caller_may_insist(memory: Memory, principal: Principal) -> None:
    fact = new_fact(memory, "user", "netflix_password", PASSWORD)
    await keep(memory, principal, fact)
    again = new_fact(memory, "user", "netflix_password", PASSWORD)
    kept = await keep(memory, principal, again, allow_secrets=True)
    assert kept.new.content == PASSWORD
    assert kept.written.supersedes_id == fact.id
    assert told(kept.new.metadata) == "Stored as it is, and marked: 1 × password."


async def test_off_and_mark_store_it_as_it_is(memory: Memory, principal: Principal) -> None:
    said = f"Pushed with {TOKEN}\u200b"
    off = await keep(under(memory, "off"), principal, new_episode(memory, said, "general"))
    assert (off.new.content, off.new.metadata) == (said, {})
    mark = await keep(under(memory, "mark"), principal, new_episode(memory, said, "general"))
    assert mark.new.content == f"Pushed with {TOKEN}"
    assert mark.new.metadata["secrets"] == {"kept": {"GitHub token": 1}, "invisible": 1}


async def test_refuse_stores_nothing_names_no_secret_and_does_not_give_way(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    strict = under(memory, "refuse")
    new = new_fact(memory, "user", "netflix_password", PASSWORD)
    with pytest.raises(InvalidInput, match="1 × password; memory refuses secrets") as refused:
        await keep(strict, principal, new, allow_secrets=True)
    assert PASSWORD not in str(refused.value)
    assert await admin.fetchval("SELECT count(*) FROM facts") == 0
    await store_fact(strict, principal, "home", "door_code", "The door code is 4711")


async def test_a_tenant_may_have_a_setting_of_its_own(memory: Memory, principal: Principal) -> None:
    theirs = under(memory, "refuse", {principal.tenant: "off"})
    kept = await keep(theirs, principal, new_episode(memory, f"uses {TOKEN}", "general"))
    assert kept.new.content == f"uses {TOKEN}"


async def test_invisible_characters_are_dropped_and_hide_no_secret(
    memory: Memory, principal: Principal
) -> None:
    hidden = f"Pushed with {TOKEN[:9]}\u200b{TOKEN[9:]}\u202e"
    kept = await keep(memory, principal, new_episode(memory, hidden, "general"))
    assert kept.new.content == f"Pushed with {MASK}"
    assert "Dropped invisible characters: 2." in (told(kept.new.metadata) or "")


async def test_an_edit_is_masked_and_leaves_what_was_allowed_before(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    fact, _ = await store_fact(memory, principal, "user", "bank", "Has an account in Porto")
    edited = await edit_fact(memory, principal, fact, {"content": f"The password is {PASSWORD}"})
    assert edited["content"] == "The password is [masked: password]"
    assert told(edited["metadata"])
    allowed = await edit_fact(
        memory, principal, edited["id"], {"content": f"Password: {PASSWORD}"}, allow_secrets=True
    )
    moved = await edit_fact(memory, principal, allowed["id"], {"importance": 9.0})
    assert moved["content"] == f"Password: {PASSWORD}"
    assert moved["metadata"]["secrets"] == allowed["metadata"]["secrets"]
    rule = await store_rule(memory, principal, "Ask before pushing")
    reworded = await edit_rule(memory, principal, rule, {"content": f"Push with {TOKEN}"})
    assert reworded["content"] == f"Push with {MASK}"
    assert reworded["metadata"]["secrets"] == {"masked": {"GitHub token": 1}}
    tagged = await edit_rule(memory, principal, rule, {"tags": [f"password: {PASSWORD}"]})
    masked = {"GitHub token": 1, "password": 1}
    assert tagged["metadata"]["secrets"] == {"masked": masked}
    fact, _ = await store_fact(memory, principal, "ci", "login", f"Push with {TOKEN}")
    marked = await edit_fact(memory, principal, fact, {"tags": [f"password: {PASSWORD}"]})
    assert marked["metadata"]["secrets"] == {"masked": masked}
    plain = await edit_rule(memory, principal, rule, {"content": "Ask before pushing"})
    assert "secrets" not in plain["metadata"]
    await rule_harmed(memory, principal, rule, f"It leaked {TOKEN}")
    assert TOKEN not in await everything(admin)


async def test_nothing_is_searched_for_secrets_while_what_is_edited_is_locked(
    memory: Memory, principal: Principal, monkeypatch: pytest.MonkeyPatch
) -> None:
    fact, _ = await store_fact(memory, principal, "user", "drink", "Likes tea")
    rule = await store_rule(memory, principal, "Offer tea")
    searched = 0

    def look(*given: Any, **more: Any) -> Any:
        nonlocal searched
        searched += 1
        assert memory.pool.get_idle_size() == memory.pool.get_size()
        return screened(*given, **more)

    monkeypatch.setattr(edits, "screened", look)
    edited = await edit_fact(memory, principal, fact, {"content": f"Pushes with {TOKEN}"})
    assert edited["content"] == f"Pushes with {MASK}"
    await edit_rule(memory, principal, rule, {"content": f"Push with {TOKEN}"})
    assert searched == 2


async def test_consolidation_and_imports_are_masked_too(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    await tell(memory, principal, "User told how the backup logs in")
    answer = (
        '{"new_facts": [{"subject": "backup", "predicate": "login", "content": "Logs in with '
        f'{TOKEN}"}}], "updated_facts": [], "new_rules": [], "confirmations": []}}'
    )
    await consolidate(memory, principal, answer)
    assert [one["content"] for one in await facts(admin)] == [f"Logs in with {MASK}"]
    lines = [
        f'{{"kind": "episode", "content": "Pushed with {TOKEN}", "butler": "general"}}',
        f'{{"kind": "fact", "subject": "ci", "predicate": "token", "content": "Has {TOKEN}"}}',
        '{"kind": "rule", "content": "Ask before pushing"}',
    ]
    source = read_lines(BytesIO("\n".join(lines).encode()), principal.tenant)
    report = await import_all(memory, principal, source)
    assert (report.bad_lines, report.stored.total(), report.masked) == ([], 3, 2)
    assert TOKEN not in await everything(admin)


async def _with_secrets(memory: Memory, principal: Principal) -> dict[str, Any]:
    open_memory = under(memory, "off")
    fact, _ = await store_fact(
        open_memory, principal, "ci", "login", f"Logs in with {TOKEN}", metadata={"pw": PASSWORD}
    )
    return {
        "episode": await store_episode(open_memory, principal, f"Pushed\u200b {TOKEN}", "general"),
        "fact": fact,
        "rule": await store_rule(open_memory, principal, f"Use {TOKEN} for the docs"),
        "subject": (await store_fact(open_memory, principal, TOKEN, "kind", "Is a token"))[0],
        "home": (await store_fact(memory, principal, "home", "door", "The door code is 4711"))[0],
    }


async def test_a_scan_tells_what_is_there_and_changes_nothing(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    ids = await _with_secrets(memory, principal)
    before = await everything(admin)
    report = await scan_secrets(memory, principal)
    assert {one.id for one in report.found} == {ids[name] for name in ids if name != "home"}
    assert all(TOKEN not in one.text for one in report.found)
    assert (report.scanned, report.masked, dict(report.private)) == (5, 0, {"door code or PIN": 1})
    assert await everything(admin) == before


async def test_a_scan_masks_in_place(
    memory: Memory,
    principal: Principal,
    other_tenant: Principal,
    admin: Connection,
    clock: Clock,
) -> None:
    ids = await _with_secrets(memory, principal)
    theirs = await store_rule(under(memory, "off"), other_tenant, f"Use {TOKEN}")
    await build_context(under(memory, "off"), principal, f"Log in: {PASSWORD}", "general")
    clock.now += timedelta(minutes=1)
    report = await scan_secrets(memory, principal, UnmaskKey())
    assert report.masked == 3
    assert {one.id: one.left for one in report.found if one.left} == {
        ids["subject"]: "in its subject or predicate"
    }
    rows = await admin.fetch("SELECT id, content, metadata FROM facts WHERE id = $1", ids["fact"])
    assert [row["content"] for row in rows] == [f"Logs in with {MASK}"]
    assert PASSWORD not in await everything(admin)
    for table in ("episodes", "facts", "rules"):
        found = await admin.fetch(
            f"SELECT search_vector::text AS words, content FROM {table} WHERE tenant_id = $1",
            principal.tenant,
        )
        assert all(TOKEN not in row["content"] for row in found)
        words = " ".join(row["words"] for row in found if table != "facts")
        assert TOKEN[4:14].lower() not in words.lower()
    masked = "SELECT payload FROM memory_events WHERE event_type = 'memory_masked'"
    assert await admin.fetchval(f"SELECT count(*) FROM ({masked}) one") == 3
    (hit,) = await search(memory, principal, "Use a token for the docs", types=["rule"], limit=1)
    assert hit.row["content"] == f"Use {MASK} for the docs"
    assert TOKEN in await admin.fetchval("SELECT content FROM rules WHERE id = $1", theirs)
    with pytest.raises(Conflict, match="masking and unmasking cannot be undone"):
        await undo_change(memory, principal)
    again = await scan_secrets(memory, principal, UnmaskKey())
    assert (again.masked, [one.id for one in again.found]) == (0, [ids["subject"]])


async def test_a_scan_tells_of_past_states(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    open_memory = under(memory, "off")
    rule = await store_rule(open_memory, principal, f"Use {TOKEN}")
    clock.now += timedelta(minutes=1)
    await edit_rule(open_memory, principal, rule, {"content": "Use the key ring"})
    report = await scan_secrets(memory, principal, UnmaskKey())
    assert [(one.id, one.left, one.text) for one in report.found] == [
        (rule, "in a past state", f"Use {MASK}")
    ]


async def test_a_scan_tells_of_entities(memory: Memory, principal: Principal) -> None:
    entity = await create_entity(
        memory, principal, "Backup server", "other", metadata={"password": PASSWORD}
    )
    report = await scan_secrets(memory, principal, UnmaskKey())
    assert [(one.memory_type, one.id, one.left) for one in report.found] == [
        ("entity", entity["id"], "update it")
    ]
    assert (report.scanned, report.masked) == (1, 0)
