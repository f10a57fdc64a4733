"""What was masked comes back within an hour, by the key that only whoever stored it was told."""

import base64
import io
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from conftest import Clock, Connection
from engine.test_screening import MASK, PASSWORD, TOKEN, under
from memory_butler.domain.errors import Conflict, InvalidInput, NotFound
from memory_butler.domain.principals import Principal
from memory_butler.engine import secret_scan
from memory_butler.engine.curate import accept_fact, forget_memory
from memory_butler.engine.edits import edit_fact, edit_rule
from memory_butler.engine.export import export_all
from memory_butler.engine.indexing import NewMemory
from memory_butler.engine.lifecycle.cleanup import clean_up
from memory_butler.engine.memory import Memory
from memory_butler.engine.recall import search
from memory_butler.engine.remember import Kept, keep, store_fact, store_rule
from memory_butler.engine.screening import told
from memory_butler.engine.secret_scan import scan_secrets
from memory_butler.engine.undo import undo_change
from memory_butler.engine.unmask_keys import UnmaskKey
from memory_butler.engine.unmasking import Unmasked, unmask
from memory_butler.engine.writing import new_episode, new_fact, new_rule
from memory_butler.erasure.erasing import erase
from memory_butler.erasure.scope import Target
from memory_butler.store.transaction import Transaction

pytestmark = pytest.mark.anyio

_TABLES = "episodes facts rules memory_events memory_versions masked_texts context_receipts served"


async def stored(memory: Memory, principal: Principal, new: NewMemory) -> tuple[Kept, str]:
    """What was stored, and the key that its answer tells."""
    key = UnmaskKey()
    kept = await keep(memory, principal, new, key=key)
    assert key.told is not None
    return kept, key.told


async def masked_texts(admin: Connection) -> int:
    return int(await admin.fetchval("SELECT count(*) FROM masked_texts"))


async def content(admin: Connection, table: str, id: UUID) -> Any:
    return await admin.fetchrow(f"SELECT * FROM {table} WHERE id = $1", id)


async def test_a_masked_fact_is_superseded_by_what_was_said(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    new = new_fact(memory, "gate", "login", f"Opens with {TOKEN}", tags=[TOKEN], trust="user_said")
    kept, key = await stored(memory, principal, new)
    assert kept.new.content == f"Opens with {MASK}"
    assert "memory-butler unmask" not in (told(kept.new.metadata) or "")
    done, left = await unmask(memory, principal, key.upper())
    assert (len(done), left) == (1, [])
    assert (done[0].memory_type, done[0].masked_id) == ("fact", new.id)
    row = await content(admin, "facts", done[0].id)
    assert (row["content"], row["tags"], row["supersedes_id"]) == (new.content, [TOKEN], new.id)
    assert row["trust"] == (await content(admin, "facts", new.id))["trust"]
    assert row["metadata"]["secrets"] == {"kept": {"GitHub token": 2}}
    (hit,) = await search(memory, principal, TOKEN, types=["fact"], mode="keyword")
    assert hit.row["id"] == done[0].id
    assert await masked_texts(admin) == 0
    with pytest.raises(NotFound, match="restored already"):
        await unmask(memory, principal, key)
    await undo_change(memory, principal)
    assert (await content(admin, "facts", new.id))["validity"] == "active"


async def test_a_masked_subject_comes_back_under_its_own_key(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    kept, key = await stored(memory, principal, new_fact(memory, TOKEN, "kind", "Is for the docs"))
    assert TOKEN not in kept.new.subject  # type: ignore[union-attr]
    done, _ = await unmask(memory, principal, key)
    assert (await content(admin, "facts", done[0].id))["subject"] == TOKEN


async def test_a_masked_episode_and_a_masked_rule_are_written_over(
    memory: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    meta = {"env": {"password": PASSWORD, "kept": 1}, "other": "stays"}
    episode = new_episode(memory, f"Pushed with {TOKEN}", "general", metadata=meta)
    rule = new_rule(memory, f"Push the docs with {TOKEN}", tags=[TOKEN])
    for new, table in ((episode, "episodes"), (rule, "rules")):
        _, key = await stored(memory, principal, new)
        clock.now += timedelta(seconds=1)
        assert await unmask(memory, principal, key) == (
            [Unmasked(table[:-1], new.id, new.id)],  # type: ignore[arg-type]
            [],
        )
        row = await content(admin, table, new.id)
        assert row["content"] == new.content
        note = row["metadata"].pop("secrets")
        assert set(note) == {"kept"}
        assert row["metadata"] == new.metadata
    (hit,) = await search(memory, principal, TOKEN, types=["rule"], mode="keyword")
    assert (hit.row["content"], hit.row["tags"]) == (rule.content, [TOKEN])
    told = "SELECT payload FROM memory_events WHERE event_type = 'memory_unmasked'"
    assert await admin.fetchval(f"SELECT count(*) FROM ({told}) one") == 2
    with pytest.raises(Conflict, match="masking and unmasking cannot be undone"):
        await undo_change(memory, principal)


async def test_what_an_edit_masked_comes_back(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    fact, _ = await store_fact(
        memory, principal, "user", "bank", "An account", metadata={"place": "Porto"}
    )
    key = UnmaskKey()
    edited = await edit_fact(memory, principal, fact, {"content": f"Password: {PASSWORD}"}, key=key)
    done, _ = await unmask(memory, principal, key.text)
    row = await content(admin, "facts", done[0].id)
    assert (row["content"], row["supersedes_id"]) == (f"Password: {PASSWORD}", edited["id"])
    assert row["metadata"]["place"] == "Porto"
    rule, key = await store_rule(memory, principal, "Ask before pushing"), UnmaskKey()
    await edit_rule(memory, principal, rule, {"content": f"Push with {TOKEN}"}, key=key)
    await unmask(memory, principal, key.text)
    assert (await content(admin, "rules", rule))["content"] == f"Push with {TOKEN}"


async def test_the_metadata_that_an_edit_masked_comes_back(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    fact, _ = await store_fact(memory, principal, "ci", "login", "By key")
    key = UnmaskKey()
    changes = {"content": "By another key", "metadata": {"env": {"password": PASSWORD}}}
    await edit_fact(memory, principal, fact, changes, key=key)
    done, _ = await unmask(memory, principal, key.text)
    row = await content(admin, "facts", done[0].id)
    assert (row["content"], row["metadata"]["env"]) == ("By another key", {"password": PASSWORD})


async def test_the_key_of_a_scan_restores_all_that_it_masked(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    open_memory = under(memory, "off")
    kept = [
        await keep(open_memory, principal, one)
        for one in (
            new_episode(memory, f"Pushed with {TOKEN}", "general", metadata={"pw": PASSWORD}),
            new_fact(memory, "ci", "login", f"Logs in with {TOKEN}"),
            new_rule(memory, f"Use {TOKEN}", tags=[TOKEN]),
        )
    ]
    key = UnmaskKey()
    assert (await scan_secrets(memory, principal, key)).masked == 3
    await edit_rule(memory, principal, kept[2].new.id, {"content": "Use the key ring"})
    done, left = await unmask(memory, principal, key.text)
    assert {one.id for one in done} == {one.new.id for one in kept[:2]}
    assert [(one.id, "changed since" in one.why) for one in left] == [(kept[2].new.id, True)]
    for one, table in zip(kept[:2], ("episodes", "facts"), strict=True):
        row = await content(admin, table, one.new.id)
        assert (row["content"], row["metadata"].get("pw")) == (
            one.new.content,
            one.new.metadata.get("pw"),
        )


async def test_after_an_hour_it_is_refused_and_soon_gone(
    memory: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    fact = new_fact(memory, "ci", "login", f"Logs in with {TOKEN}")
    _, key = await stored(memory, principal, fact)
    clock.now += timedelta(minutes=59)
    _, later = await stored(memory, principal, new_rule(memory, f"Use {TOKEN}"))
    assert await masked_texts(admin) == 2
    clock.now += timedelta(minutes=1)
    with pytest.raises(NotFound, match="its hour is over"):
        await unmask(memory, principal, key)
    # The next thing that is masked sweeps it away, and else the daily clean-up.
    await stored(memory, principal, new_rule(memory, f"Take {TOKEN}"))
    assert await masked_texts(admin) == 2
    clock.now += timedelta(hours=1)
    await clean_up(memory, principal)
    assert await masked_texts(admin) == 0
    with pytest.raises(NotFound):
        await unmask(memory, principal, later)
    assert (await content(admin, "facts", fact.id))["content"] == f"Logs in with {MASK}"


async def test_nothing_in_the_database_opens_it(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    _, key = await stored(memory, principal, new_fact(memory, "ci", "login", f"Uses {TOKEN}"))
    said = ""
    for table in _TABLES.split():
        said += str(await admin.fetchval(f"SELECT string_agg(t::text, ' ') FROM {table} t"))
    secret = UnmaskKey.of(key).secret
    code = key.removeprefix("unmask_")
    encoded = (base64.b64encode(secret).decode(), secret.hex(), code, code.upper(), TOKEN)
    assert not [one for one in encoded if one in said]
    sealed = await admin.fetchval("SELECT sealed FROM masked_texts")
    assert TOKEN.encode() not in sealed
    assert secret not in sealed


async def test_an_agent_that_tells_the_key_does_not_store_it(
    memory: Memory, principal: Principal
) -> None:
    kept, key = await stored(memory, principal, new_fact(memory, "ci", "login", f"Uses {TOKEN}"))
    said = f"I told Ana: {told(kept.new.metadata, unmask=key)}"
    retold = await keep(memory, principal, new_episode(memory, said, "general"))
    assert key not in retold.new.content
    assert "[masked: unmask key" in retold.new.content


async def test_what_is_no_key_is_refused(memory: Memory, principal: Principal) -> None:
    for given in ("", "x", "a" * 25, "a" * 27, "1" * 26, "é" * 26, "-" * 26):
        with pytest.raises(InvalidInput, match="not an unmask key"):
            await unmask(memory, principal, given)


async def test_another_tenant_cannot_use_the_key(
    memory: Memory, principal: Principal, other_tenant: Principal, admin: Connection
) -> None:
    new = new_fact(memory, "ci", "login", f"Uses {TOKEN}")
    _, key = await stored(memory, principal, new)
    with pytest.raises(NotFound):
        await unmask(memory, other_tenant, key)
    # Nor where somebody has put the row under their tenant.
    await admin.execute("UPDATE masked_texts SET tenant_id = $1", other_tenant.tenant)
    with pytest.raises(Conflict, match="changed in the database"):
        await unmask(memory, other_tenant, key)


async def test_what_was_changed_since_stays_as_it_is(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    new = new_fact(memory, "ci", "login", f"Uses {TOKEN}")
    _, key = await stored(memory, principal, new)
    again = await keep(memory, principal, replace(new, id=UUID(int=7)), allow_secrets=True)
    assert again.written.supersedes_id == new.id
    with pytest.raises(Conflict, match="superseded"):
        await unmask(memory, principal, key)
    rule = new_rule(memory, f"Use {TOKEN}")
    _, key = await stored(memory, principal, rule)
    await edit_rule(memory, principal, rule.id, {"content": "Use the key ring"})
    with pytest.raises(Conflict, match="changed since"):
        await unmask(memory, principal, key)
    assert (await content(admin, "rules", rule.id))["content"] == "Use the key ring"


async def test_refusing_secrets_does_not_give_way_to_a_key(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    strict = under(memory, "refuse")
    for new in (new_fact(memory, "ci", "login", f"Uses {TOKEN}"), new_rule(memory, f"Use {TOKEN}")):
        _, key = await stored(memory, principal, new)
        with pytest.raises(InvalidInput, match="memory refuses secrets"):
            await unmask(strict, principal, key)


async def test_erasing_the_memory_takes_it(
    memory: Memory, principal: Principal, admin: Connection, tmp_path: Path
) -> None:
    memory = replace(memory, data_dir=tmp_path)
    new = new_episode(memory, f"Pushed with {TOKEN}", "general")
    _, key = await stored(memory, principal, new)
    await stored(memory, principal, new_rule(memory, f"Use {TOKEN}"))
    await erase(memory, principal, Target(memory=("episode", new.id)))
    assert await masked_texts(admin) == 1
    with pytest.raises(NotFound):
        await unmask(memory, principal, key)
    await erase(memory, principal, Target(everything=True))
    assert await masked_texts(admin) == 0


async def test_it_is_in_no_export(memory: Memory, principal: Principal) -> None:
    await stored(memory, principal, new_rule(memory, f"Use {TOKEN}"))
    out = io.StringIO()
    await export_all(memory, principal, out)
    assert "masked_texts" not in out.getvalue()
    assert MASK in out.getvalue()


async def test_what_is_only_marked_or_nobodys_to_restore_is_kept_nowhere(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    key = UnmaskKey()
    await keep(memory, principal, new_fact(memory, "home", "alarm", "The code is 4711"), key=key)
    hidden = new_fact(memory, "home", "tea", "Green\u200b tea")
    await keep(memory, principal, hidden, key=key)
    await keep(under(memory, "mark"), principal, new_rule(memory, f"Use {TOKEN}"), key=key)
    await keep(memory, principal, new_rule(memory, f"Use {TOKEN}"))
    assert (key.told, await masked_texts(admin)) == (None, 0)


async def test_a_masked_fact_that_waits_is_restored_once_it_is_accepted(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    await store_fact(memory, principal, "gate", "login", "Opens by hand", trust="user_said")
    new = new_fact(memory, "gate", "login", f"Opens with {TOKEN}", trust="untrusted_web")
    _, key = await stored(memory, principal, new)
    with pytest.raises(Conflict, match="waits for your decision: accept it first"):
        await unmask(memory, principal, key)
    await accept_fact(memory, principal, new.id)
    done, _ = await unmask(memory, principal, key)
    assert (await content(admin, "facts", done[0].id))["content"] == new.content


async def test_an_allowed_secret_stays_where_an_edit_leaves_the_text(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    meta = {"env": {"password": PASSWORD}}
    rule = new_rule(memory, f"Push with {TOKEN}", tags=[TOKEN], metadata=meta)
    await keep(memory, principal, rule, allow_secrets=True)
    await edit_rule(memory, principal, rule.id, {"tags": ["docs"]})
    row = await content(admin, "rules", rule.id)
    assert (row["content"], row["tags"]) == (rule.content, ["docs"])
    # And what an edit of the text masked comes back, with the metadata as it was.
    key, text = UnmaskKey(), f"Push the docs with {TOKEN}"
    await edit_rule(memory, principal, rule.id, {"content": text}, key=key)
    await unmask(memory, principal, key.text)
    row = await content(admin, "rules", rule.id)
    assert (row["content"], row["metadata"]["env"]) == (text, meta["env"])


async def test_an_allowed_secret_of_a_fact_stays_where_an_edit_leaves_its_words(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    meta = {"env": {"password": PASSWORD}}
    fact = new_fact(memory, "gate", "login", f"Opens with {TOKEN}", tags=[TOKEN], metadata=meta)
    kept = await keep(memory, principal, fact, allow_secrets=True)
    tagged = await edit_fact(memory, principal, fact.id, {"tags": ["home"]})
    assert (tagged["content"], tagged["tags"]) == (fact.content, ["home"])
    assert tagged["metadata"] == kept.new.metadata
    key, other = UnmaskKey(), {"pin": {"password": f"{PASSWORD}-2"}}
    marked = await edit_fact(memory, principal, tagged["id"], {"metadata": other}, key=key)
    assert (marked["content"], marked["metadata"]["env"]) == (fact.content, meta["env"])
    assert marked["metadata"]["pin"] == {"password": "[masked: password]"}
    notes = marked["metadata"]["secrets"]
    assert notes == kept.new.metadata["secrets"] | {"masked": {"password": 1}}
    done, _ = await unmask(memory, principal, key.text)
    row = await content(admin, "facts", done[0].id)
    assert (row["content"], row["metadata"]["pin"]) == (fact.content, other["pin"])
    # Other words are searched, and only they.
    spoken = await edit_fact(memory, principal, row["id"], {"content": f"Needs {TOKEN}"})
    assert spoken["content"] == f"Needs {MASK}"
    assert spoken["metadata"]["env"] == meta["env"]


@pytest.mark.parametrize("what", ["forgotten", "edited"])
async def test_a_scan_writes_over_nothing_that_changes_meanwhile(
    memory: Memory,
    principal: Principal,
    admin: Connection,
    monkeypatch: pytest.MonkeyPatch,
    what: str,
) -> None:
    rule = new_rule(memory, f"Push with {TOKEN}")
    await keep(memory, principal, rule, allow_secrets=True)

    async def changed_meanwhile(_: Transaction) -> None:
        """In place of waiting for whoever writes much."""
        if what == "forgotten":
            await forget_memory(memory, principal, "rule", rule.id)
        else:
            await edit_rule(memory, principal, rule.id, {"tags": ["docs"]})

    monkeypatch.setattr(secret_scan, "one_bulk_writer", changed_meanwhile)
    key = UnmaskKey()
    report = await scan_secrets(memory, principal, key)
    assert (report.masked, key.used) == (0, False)
    row = await content(admin, "rules", rule.id)
    assert row["content"] == rule.content
    if what == "forgotten":
        assert row["metadata"]["forgotten"] is True
    else:
        assert row["tags"] == ["docs"]
