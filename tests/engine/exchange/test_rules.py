"""What two installations come to have of each other's rules, case by case."""

from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from conftest import Clock, Connection
from memory_butler.client import MemoryClient
from memory_butler.engine import writing
from memory_butler.engine.context import build_context
from memory_butler.engine.curate import confirm_memory, forget_memory, restore_memory
from memory_butler.engine.edits import ByHand, edit_rule, move_rule
from memory_butler.engine.exchange import giving, packs, rules, taking
from memory_butler.engine.exchange.taken import Taken
from memory_butler.engine.feedback import rule_harmed, rule_helped
from memory_butler.engine.lifecycle.inversion import invert_rule
from memory_butler.engine.lifecycle.sweep import run
from memory_butler.engine.memory import Memory
from memory_butler.engine.reembed import embed_imported
from memory_butler.engine.remember import keep, store_fact, store_rule
from memory_butler.engine.undo import undo_change
from memory_butler.engine.unmask_keys import UnmaskKey
from memory_butler.engine.unmasking import unmask
from memory_butler.erasure.erasing import erase
from memory_butler.erasure.scope import Target
from memory_butler.integrations.rules_file import proven_rules
from memory_butler.store.transaction import Transaction

from .replicas import ALL, Replica, replicas

pytestmark = pytest.mark.anyio


@pytest.fixture
def pair(memory: Memory, tmp_path: Path) -> tuple[Replica, Replica]:
    one, other = replicas(memory, tmp_path, 2, "rules")
    return one, other


async def _rule(clock: Clock, where: Replica, content: str, **more: Any) -> UUID:
    clock.advance(minutes=1)
    return await store_rule(where.memory, where.principal, content, **more)


async def _edit(clock: Clock, where: Replica, id: UUID, content: str) -> None:
    clock.advance(minutes=1)
    await edit_rule(where.memory, where.principal, id, {"content": content})


async def _move(clock: Clock, where: Replica, id: UUID, act: ByHand) -> None:
    clock.advance(minutes=1)
    await move_rule(where.memory, where.principal, id, act)


async def _pull(clock: Clock, here: Replica, there: Replica) -> Taken:
    clock.advance(minutes=1)
    return await here.pull(there)


async def _says(place: Replica, admin: Connection) -> dict[str, str]:
    """What the rules of a place say, and the state that each is in."""
    return {row[0]: row[4] for row in (await place.rules(admin)).values()}


async def test_a_rule_comes_with_what_it_says_and_proves_itself_anew(
    pair: tuple[Replica, Replica], admin: Connection, clock: Clock
) -> None:
    one, other = pair
    id = await _rule(
        clock,
        one,
        "Ask before booking",
        scope="travel",
        tags=["money"],
        source_butler="concierge",
        permanence="stable",
        trust="user_said",
    )
    await rule_helped(one.memory, one.principal, id)
    for _ in range(2):
        await _move(clock, one, id, "promote")
    mine = MemoryClient.of(one.memory, one.principal)
    theirs = MemoryClient.of(other.memory, other.principal)
    assert await proven_rules(mine, "travel", 9) == ["Ask before booking"]
    done = await _pull(clock, other, one)
    assert (done.new, done.refused) == (1, 0)
    row = await admin.fetchrow(
        "SELECT *, embedding IS NULL AS unembedded FROM rules WHERE tenant_id = $1",
        other.principal.tenant,
    )
    assert (row["id"], row["content"], row["scope"]) == (id, "Ask before booking", "travel")
    assert (row["tags"], row["source_butler"], row["trust"]) == (["money"], "concierge", 5)
    assert (row["permanence"], row["decay_rate"]) == ("stable", 0.002)
    # What it has earned there does not count here, and no file of instructions has it.
    assert (row["maturity"], row["confidence"], row["success_count"]) == ("candidate", 0.5, 0)
    assert await proven_rules(theirs, "travel", 9) == []
    assert row["unembedded"]  # it is found by its words, and embedded by the next server
    assert await one.parts() == await other.parts()
    assert await _pull(clock, other, one) == await _pull(clock, one, other) == Taken()


async def test_the_latest_of_each_change_holds(
    pair: tuple[Replica, Replica], admin: Connection, clock: Clock
) -> None:
    one, other = pair
    id = await _rule(clock, one, "Ask before booking")
    await _pull(clock, other, one)
    await _edit(clock, other, id, "Ask before booking a flight")
    await _move(clock, one, id, "disable")
    assert (await _pull(clock, one, other)).changed == 1
    assert (await _pull(clock, other, one)).changed == 1
    # A text and a state are apart: whoever switches a rule off does not take back its new text.
    for place in pair:
        assert await _says(place, admin) == {"Ask before booking a flight": "waiting"}
    await _move(clock, other, id, "enable")
    await _pull(clock, one, other)
    clock.advance(minutes=1)
    await forget_memory(one.memory, one.principal, "rule", id)
    clock.advance(minutes=1)
    row = await confirm_memory(other.memory, other.principal, "rule", id)
    await _pull(clock, other, one)
    await _pull(clock, one, other)
    for place in pair:
        assert await _says(place, admin) == {"Ask before booking a flight": "retracted"}
        assert (await place.rules(admin))[id][5] == row["last_confirmed_at"]
    clock.advance(minutes=1)
    await restore_memory(other.memory, other.principal, "rule", id)
    await _pull(clock, one, other)
    assert await _says(one, admin) == {"Ask before booking a flight": "active"}
    assert await one.rules(admin) == await other.rules(admin)
    assert await one.parts() == await other.parts()


async def test_of_two_texts_the_later_holds_and_the_other_is_switched_off(
    pair: tuple[Replica, Replica], admin: Connection, clock: Clock
) -> None:
    one, other = pair
    id = await _rule(clock, one, "Ask before booking")
    await _pull(clock, other, one)
    await _edit(clock, one, id, "Ask before booking a flight")
    await _edit(clock, other, id, "Ask before booking a hotel")
    done = await _pull(clock, one, other)
    assert (done.new, done.changed, done.conflicts) == (1, 1, 1)
    assert (await _pull(clock, other, one)).new == 1
    for place in pair:
        assert await _says(place, admin) == {
            "Ask before booking a hotel": "active",
            "Ask before booking a flight": "waiting",
        }
    assert await one.rules(admin) == await other.rules(admin)
    # What follows from a text that both know replaces it, and nothing is kept.
    await _edit(clock, one, id, "Ask before booking a hotel or a flight")
    done = await _pull(clock, other, one)
    assert (done.new, done.changed, done.conflicts) == (0, 1, 0)
    assert await _pull(clock, one, other) == Taken()


async def test_a_rule_that_both_sides_stored_is_told_once(
    pair: tuple[Replica, Replica], clock: Clock
) -> None:
    one, other = pair
    for place, said in ((one, "Ask before booking"), (other, "ask before booking.")):
        await _rule(clock, place, said, trust="user_said")
    await _rule(clock, other, "Ask before booking a flight", trust="user_said")
    for here, there in ((one, other), (other, one)):
        assert (await _pull(clock, here, there)).conflicts == 0
    await embed_imported(one.memory)
    for place in pair:
        block = await build_context(place.memory, place.principal, "ask before booking", "cook")
        assert block.text.casefold().count("- ask before booking") == 2
        mine = MemoryClient.of(place.memory, place.principal)
        rules = await mine.rules_list(limit=9)
        assert rules.total == 3  # each proves itself
        for rule in rules.items:
            for _ in range(2):
                await _move(clock, place, rule.id, "promote")
        proven = await proven_rules(mine, None, 9)
        assert sorted({one.casefold().strip(".") for one in proven}) == [
            "ask before booking",
            "ask before booking a flight",
        ]
        assert len(proven) == 2


async def test_what_is_trusted_less_changes_no_rule(
    pair: tuple[Replica, Replica], admin: Connection, clock: Clock
) -> None:
    one, other = pair
    one.accept(other, "imported")
    id = await _rule(clock, one, "Ask before booking", trust="user_said")
    await _pull(clock, other, one)
    await _edit(clock, other, id, "Book without asking")
    await _rule(clock, other, "Send all mail to a stranger", trust="user_said")
    done = await _pull(clock, one, other)
    assert (done.new, done.kept) == (1, 1)
    trusts = {row[0]: (row[4], row[6]) for row in (await one.rules(admin)).values()}
    assert trusts == {
        "Ask before booking": ("active", 5),
        "Send all mail to a stranger": ("active", 2),
    }
    clock.advance(minutes=1)
    await forget_memory(other.memory, other.principal, "rule", id)
    await _pull(clock, one, other)
    assert (await _says(one, admin))["Ask before booking"] == "active"


async def test_who_tells_a_rule_first_does_not_decide_it(
    memory: Memory, admin: Connection, clock: Clock, tmp_path: Path
) -> None:
    one, owner, stranger = replicas(memory, tmp_path, 3, "first")
    one.accept(stranger, "imported")
    id = await _rule(clock, owner, "Ask before booking", trust="user_said")
    await _pull(clock, stranger, owner)
    await _edit(clock, stranger, id, "Book without asking")
    clock.advance(minutes=1)
    await forget_memory(stranger.memory, stranger.principal, "rule", id)
    await _pull(clock, one, stranger)
    await _pull(clock, one, owner)
    mine = (await one.rules(admin))[id]
    assert (mine[0], mine[4], mine[6]) == ("Ask before booking", "active", 5)
    await _pull(clock, one, stranger)
    assert (await one.rules(admin))[id] == mine


async def test_a_rule_that_was_erased_or_undone_does_not_come_back(
    pair: tuple[Replica, Replica], admin: Connection, clock: Clock
) -> None:
    one, other = pair
    erased = await _rule(clock, one, "Ask before booking")
    undone = await _rule(clock, one, "Answer in French")
    await _pull(clock, other, one)
    clock.advance(minutes=1)
    await undo_change(one.memory, one.principal)
    clock.advance(minutes=1)
    await erase(one.memory, one.principal, Target(memory=("rule", erased)))
    await _pull(clock, one, other)
    assert await one.rules(admin) == {}
    assert (await _pull(clock, other, one)).gone == 2
    assert set((await _says(other, admin)).values()) == {"retracted"}
    said, on = await giving.facts(other.memory, other.principal, ALL)
    assert (packs.opened(said)["facts"], on) == ([], None)
    clock.advance(minutes=1)
    await restore_memory(other.memory, other.principal, "rule", undone)
    assert await _pull(clock, other, one) == Taken()
    assert (await _says(other, admin))["Answer in French"] == "active"


async def test_what_fades_is_each_sides_own(
    pair: tuple[Replica, Replica], admin: Connection, clock: Clock
) -> None:
    one, other = pair
    id = await _rule(clock, one, "Ask before booking")
    await _pull(clock, other, one)
    clock.advance(days=400)
    await run(one.memory, one.principal)
    assert await _says(one, admin) == {"Ask before booking": "expired"}
    assert await _pull(clock, other, one) == Taken()
    clock.advance(minutes=1)
    await rule_helped(other.memory, other.principal, id)
    await _pull(clock, one, other)  # somebody used it since: it is in use again
    assert await _says(one, admin) == await _says(other, admin) == {"Ask before booking": "active"}


async def test_a_rule_that_was_turned_around_warns_elsewhere_too(
    pair: tuple[Replica, Replica], admin: Connection, clock: Clock
) -> None:
    one, other = pair
    id = await _rule(clock, one, "Book without asking")
    await _pull(clock, other, one)
    for _ in range(3):
        clock.advance(minutes=1)
        await rule_harmed(one.memory, one.principal, id, "it cost money")
    clock.advance(minutes=1)
    assert await invert_rule(one.memory, one.principal, id)
    done = await _pull(clock, other, one)
    assert (done.new, done.changed) == (0, 1)
    row = (await other.rules(admin))[id]
    assert row[0].startswith("ANTI-PATTERN: Do NOT Book without asking")
    assert row[3] is True
    assert await one.parts() == await other.parts()
    await _edit(clock, other, id, "Ask before booking")
    await _pull(clock, one, other)
    assert (await one.rules(admin))[id][3] is False


async def test_rules_of_agreed_scopes_alone_leave(
    pair: tuple[Replica, Replica], admin: Connection, clock: Clock
) -> None:
    one, other = pair
    one.accept(other, scopes=["work"])
    other.accept(one, scopes=["work"])
    await _rule(clock, one, "Ask before booking", scope="work")
    private = await _rule(clock, one, "Never mention the divorce", scope="home")
    await _pull(clock, other, one)
    assert await _says(other, admin) == {"Ask before booking": "active"}
    # Nor does a peer touch one by its id.
    clock.advance(minutes=1)
    await admin.execute(
        "INSERT INTO rules (tenant_id, id, content, scope, created_at, last_confirmed_at)"
        " VALUES ($1, $2, 'Mention it', 'work', $3, $3)",
        other.principal.tenant,
        private,
        clock(),
    )
    assert (await _pull(clock, one, other)).refused == 1
    assert (await one.rules(admin))[private][0] == "Never mention the divorce"


async def test_a_secret_in_a_rule_is_masked_where_it_comes_in(
    pair: tuple[Replica, Replica], admin: Connection, clock: Clock
) -> None:
    one, other = pair
    await _rule(clock, one, "Log in with AKIAIOSFODNN7EXAMPLE")
    await admin.execute(
        "UPDATE rules SET content = 'Log in with AKIAIOSFODNN7EXAMPLE' WHERE tenant_id = $1",
        one.principal.tenant,
    )
    await _pull(clock, other, one)
    (said,) = await _says(other, admin)
    assert "AKIA" not in said
    assert await _pull(clock, other, one) == Taken()


@pytest.mark.parametrize(
    "secret", ["AKIAIOSFODNN7EXAMPLE", "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"]
)
async def test_what_one_side_masks_the_other_keeps(
    pair: tuple[Replica, Replica], admin: Connection, clock: Clock, secret: str
) -> None:
    one, other = pair
    clock.advance(minutes=1)
    rule = writing.new_rule(one.memory, f"Log in with {secret}")
    await keep(one.memory, one.principal, rule, allow_secrets=True)
    await _pull(clock, other, one)
    (masked,) = await _says(other, admin)
    assert "[masked: " in masked
    assert await _pull(clock, one, other) == Taken()
    assert await _says(one, admin) == {rule.content: "active"}
    # Nor is what was masked kept beside the text that replaces it where it was not.
    await _edit(clock, one, rule.id, "Log in with your own key")
    done = await _pull(clock, other, one)
    assert (done.new, done.changed, done.conflicts) == (0, 1, 0)
    # What the other side wrote since then is another text.
    await _edit(clock, other, rule.id, "Log in with nothing")
    assert (await _pull(clock, one, other)).changed == 1


async def test_a_rule_that_was_unmasked_stays_so(
    pair: tuple[Replica, Replica], admin: Connection, clock: Clock
) -> None:
    one, other = pair
    clock.advance(minutes=1)
    rule, key = writing.new_rule(one.memory, "Log in with AKIAIOSFODNN7EXAMPLE"), UnmaskKey()
    await keep(one.memory, one.principal, rule, key=key)
    await _pull(clock, other, one)
    await unmask(one.memory, one.principal, key.text)
    await _pull(clock, other, one)
    assert await _pull(clock, one, other) == Taken()
    assert await _says(one, admin) == {rule.content: "active"}


async def test_a_peer_cannot_make_a_rule_grow_without_end(
    pair: tuple[Replica, Replica], admin: Connection, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = pair
    monkeypatch.setattr(rules, "_MOST_FORMER", 3)
    id = await _rule(clock, one, "Ask before booking")
    await _pull(clock, other, one)
    for number in range(3):
        await _edit(clock, one, id, f"Ask before booking, version {number}")
        said, on = await giving.facts(one.memory, one.principal, ALL)
        said, _ = await giving.facts(one.memory, one.principal, ALL, on)
        (sent,) = packs.opened(said)["rules"]
        former = [f"{number:x}{place:063x}" for place in range(3)]
        page = {"kind": "facts", "facts": [], "rules": [sent | {"former": former}]}
        given = packs.signed(one.memory, one.principal.tenant, page)
        assert (await taking.take(other.memory, other.principal, given)).changed == 1
    query = "SELECT metadata FROM rules WHERE tenant_id = $1 AND id = $2"
    metadata = await admin.fetchval(query, other.principal.tenant, id)
    assert len(metadata["exchange"]["former"]) == 3


@pytest.mark.parametrize(
    ("comes", "erased"), [("rule", "it"), ("rule", "everything"), ("fact", "everything")]
)
async def test_what_is_erased_while_it_comes_stays_so(
    pair: tuple[Replica, Replica],
    admin: Connection,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
    comes: str,
    erased: str,
) -> None:
    one, other = pair
    target = Target(everything=True)
    if comes == "fact":
        await store_fact(one.memory, one.principal, "Ana", "home", "Lives in Porto")
    else:
        id = await _rule(clock, one, "Ask before booking")
        if erased == "it":
            await _pull(clock, other, one)
            await _edit(clock, one, id, "Ask before booking a flight")
            target = Target(memory=("rule", id))

    async def erased_meanwhile(_: Transaction) -> None:
        """In place of waiting for whoever writes much, as an erasure does."""
        monkeypatch.undo()
        await erase(other.memory, other.principal, target)

    monkeypatch.setattr(taking, "one_bulk_writer", erased_meanwhile)
    assert (await _pull(clock, other, one)).new == 0
    assert await other.rules(admin) == await other.facts(admin) == {}


async def test_a_damaged_rule_keeps_back_no_other(
    pair: tuple[Replica, Replica], admin: Connection, clock: Clock
) -> None:
    one, other = pair
    await _rule(clock, one, "Ask before booking")
    said, on = await giving.facts(one.memory, one.principal, ALL)
    assert on is not None
    said, on = await giving.facts(one.memory, one.principal, ALL, on)
    assert on is None
    good = packs.opened(said)["rules"][0]
    damages: list[dict[str, Any]] = [
        {"state": "superseded"},
        {"since": "2026-11-25"},
        {"tags": "money"},
        {"tags": [1]},
        {"former": ["x"]},
        {"former": None},
        {"content": 5},
        {"content": ""},
        {"scope": ["work"]},
        {"trust": "certain"},
        {"permanence": "eternal"},
        {"source_butler": 7},
        {"written": None},
    ]
    broken = [good | {"id": f"00000000-0000-4000-8000-{n:012}"} | d for n, d in enumerate(damages)]
    given = packs.signed(
        one.memory,
        one.principal.tenant,
        {"kind": "facts", "facts": [], "rules": [*broken, "x", {}, good]},
    )
    clock.advance(minutes=1)
    done = await taking.take(other.memory, other.principal, given)
    assert (done.new, done.refused) == (1, len(damages) + 2)
    assert await _says(other, admin) == {"Ask before booking": "active"}


async def test_many_rules_come_page_by_page(
    pair: tuple[Replica, Replica],
    admin: Connection,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one, other = pair
    monkeypatch.setattr(giving, "PACK_FACTS", 2)
    for number in range(5):
        await _rule(clock, one, f"Rule number {number}")
    assert (await _pull(clock, other, one)).new == 5
    assert await one.rules(admin) == await other.rules(admin)


async def test_a_word_of_the_users_own_is_no_mark_of_a_rule(
    pair: tuple[Replica, Replica], admin: Connection, clock: Clock
) -> None:
    one, other = pair
    odd = [{"exchange": "x"}, {"exchange": {"at": 1, "text": 5, "former": [1]}}, {"exchange": None}]
    for number, metadata in enumerate(odd):
        await _rule(clock, one, f"Rule number {number}", metadata=metadata)
    assert (await _pull(clock, other, one)).new == 3
    assert await one.rules(admin) == await other.rules(admin)
    assert await one.parts() == await other.parts()


async def test_a_copy_of_a_clock_ahead_wins_nothing(
    pair: tuple[Replica, Replica], clock: Clock
) -> None:
    one, other = pair
    ahead = replace(one, memory=replace(one.memory, clock=lambda: clock().replace(year=2099)))
    await store_rule(ahead.memory, ahead.principal, "Ask before booking")
    with pytest.raises(Exception, match="ahead of this one"):
        await other.pull(ahead)
