"""What two installations come to have of each other's facts, case by case."""

from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar
from uuid import UUID, uuid4

import pytest

from conftest import Clock, Connection
from memory_butler.client import UNSET, MemoryClient, Unset, shapes
from memory_butler.domain.errors import Conflict, InvalidInput, PermissionDenied
from memory_butler.engine.conflicts import Choice, list_conflicts, settle
from memory_butler.engine.curate import accept_fact, confirm_memory, forget_memory, restore_memory
from memory_butler.engine.edits import edit_fact
from memory_butler.engine.entities import create_entity
from memory_butler.engine.exchange import giving, packs, peers, taking
from memory_butler.engine.exchange.taken import Taken
from memory_butler.engine.memory import Memory
from memory_butler.engine.remember import keep, store_fact, store_rule
from memory_butler.engine.undo import undo_change
from memory_butler.engine.writing import new_fact
from memory_butler.erasure.erasing import erase
from memory_butler.erasure.scope import Target
from memory_butler.integrations.exchange import carry
from memory_butler.operations.registry import OPERATIONS

from .replicas import ALL, Replica, replicas

pytestmark = pytest.mark.anyio


@pytest.fixture
def pair(memory: Memory, tmp_path: Path) -> tuple[Replica, Replica]:
    one, other = replicas(memory, tmp_path, 2, "exchange")
    return one, other


async def _say(
    clock: Clock, where: Replica, what: str, predicate: str = "home", **more: Any
) -> UUID:
    clock.advance(minutes=1)
    id, _ = await store_fact(where.memory, where.principal, "Ana", predicate, what, **more)
    return id


async def test_each_comes_to_have_what_the_other_has(
    pair: tuple[Replica, Replica], admin: Connection, clock: Clock
) -> None:
    one, other = pair
    await _say(clock, one, "Lives in Braga")
    await _say(clock, one, "Lives in Porto")
    await _say(clock, other, "Has a dog", "pet")
    clock.advance(minutes=1)
    assert (await one.pull(other)).new == 1
    assert (await other.pull(one)).new == 2
    expected = {("Ana", "home"): "Lives in Porto", ("Ana", "pet"): "Has a dog"}
    assert await one.active(admin) == await other.active(admin) == expected
    assert await one.facts(admin) == await other.facts(admin)
    assert await one.parts() == await other.parts()
    assert await one.pull(other) == Taken()


# The columns that need not come to another installation, and why.
_ANEW = "made anew from the words"
_ITS_OWN = "each installation's own experience"
_KNOWN = (
    "when this installation knew it; `made` and `since` of a statement are kept in its metadata"
)
_NEED_NOT = {
    "tenant_id": "it is that of who takes it",
    "embedding": _ANEW,
    "search_vector": _ANEW,
    "embedding_version_id": _ANEW,
    "source_episode_id": "episodes stay where they are",
    "reference_count": _ITS_OWN,
    "last_referenced_at": _ITS_OWN,
    "created_at": _KNOWN,
    "retired_at": _KNOWN,
    "updated_at": _KNOWN,
    "facts.entity_id": "the entity of that name and type there",
    "entities.id": "facts find an entity by its name and type",
    "rules.maturity": _ITS_OWN,
    "rules.confidence": "0.5 for every rule",
    "rules.effectiveness_score": _ITS_OWN,
    "rules.applied_count": _ITS_OWN,
    "rules.success_count": _ITS_OWN,
    "rules.harmful_count": _ITS_OWN,
    "rules.last_applied_at": _ITS_OWN,
    "rules.last_evaluated_at": _ITS_OWN,
}


@pytest.mark.parametrize("table", ["facts", "rules", "entities"])
async def test_every_column_of_a_memory_comes_along_or_need_not(
    pair: tuple[Replica, Replica], admin: Connection, clock: Clock, table: str
) -> None:
    """As the catalog has them, so that a column of a later migration fails here."""
    one, other = pair
    entity = await create_entity(
        one.memory, one.principal, "Ana Silva", "person", aliases=["Ana"], metadata={"n": 1}
    )
    assert entity is not None
    said: dict[str, Any] = {
        **{"permanence": "stable", "scope": "home", "tags": ["a"], "source_butler": "home"},
        **{"metadata": {"n": 1}, "trust": "user_said"},
    }
    of_facts = said | {"entity_id": entity["id"], "importance": 7.0}
    _, fact, _ = [await _say(clock, one, what, **of_facts) for what in ("Braga", "Porto", "Faro")]
    rule = await store_rule(one.memory, one.principal, "Ask first", **said)
    await admin.execute("UPDATE facts SET confidence = 0.7 WHERE id = $1", fact)
    clock.advance(minutes=1)
    await confirm_memory(one.memory, one.principal, "rule", rule)
    await confirm_memory(one.memory, one.principal, "fact", fact)
    clock.advance(minutes=1)
    await other.pull(one)
    # What a bare one has in each column; whatever equals that may not have come at all.
    clock.advance(minutes=1)
    await create_entity(other.memory, other.principal, "Bo", "other")
    plain, _ = await store_fact(other.memory, other.principal, "Bo", "pet", "Has a dog")
    bare = {"facts": plain}
    bare["rules"] = await store_rule(other.memory, other.principal, "Ask twice")

    async def row(where: Replica, given: UUID | None, name: str) -> dict[str, Any]:
        which = f"{table}.id = $2" if table != "entities" else "canonical_name = $2"
        query = f"SELECT * FROM {table} WHERE tenant_id = $1 AND {which}"
        found = await admin.fetchrow(
            query, where.principal.tenant, name if table == "entities" else given
        )
        return dict(found)

    id = {"facts": fact, "rules": rule}.get(table)
    there, here = await row(one, id, "Ana Silva"), await row(other, id, "Ana Silva")
    usual = await row(other, bare.get(table), "Bo")
    for column, value in there.items():
        if not {column, f"{table}.{column}"} & _NEED_NOT.keys():
            assert value != usual[column], f"give {column} a value here that is not the usual one"
            came = here[column]
            if column == "metadata":
                came = {name: came.get(name) for name in value}
            assert came == value, f"{column} did not come along"


async def test_what_follows_elsewhere_replaces_here(
    pair: tuple[Replica, Replica], admin: Connection, clock: Clock
) -> None:
    one, other = pair
    before = await _say(clock, one, "Lives in Braga")
    clock.advance(minutes=1)
    await other.pull(one)
    after = await _say(clock, other, "Lives in Porto")
    clock.advance(minutes=1)
    done = await one.pull(other)
    assert (done.new, done.changed, done.conflicts) == (1, 1, 0)
    assert await one.active(admin) == {("Ana", "home"): "Lives in Porto"}
    held = await admin.fetchval(
        "SELECT supersedes_id FROM facts WHERE tenant_id = $1 AND id = $2",
        one.principal.tenant,
        after,
    )
    assert held == before


async def test_what_both_said_meanwhile_is_shown_as_a_conflict(
    pair: tuple[Replica, Replica], admin: Connection, clock: Clock
) -> None:
    one, other = pair
    await _say(clock, one, "Lives in Braga")
    clock.advance(minutes=1)
    await other.pull(one)
    mine = await _say(clock, one, "Lives in Porto")
    theirs = await _say(clock, other, "Lives in Faro")
    clock.advance(minutes=1)
    assert (await one.pull(other)).conflicts == 1
    assert (await other.pull(one)).conflicts == 1
    for place in pair:
        assert await place.active(admin) == {("Ana", "home"): "Lives in Faro"}
        total, found = await list_conflicts(place.memory, place.principal, 10, 0)
        assert total == 1
        assert {found[0].earlier["id"], found[0].later["id"]} == {mine, theirs}
    assert await one.facts(admin) == await other.facts(admin)
    clock.advance(minutes=1)
    _, (open_one,) = await list_conflicts(other.memory, other.principal, 10, 0)
    choice: Choice = "keep_earlier" if open_one.earlier["id"] == mine else "keep_later"
    await settle(
        other.memory, other.principal, open_one.earlier["id"], open_one.later["id"], choice
    )
    clock.advance(minutes=1)
    await one.pull(other)
    for place in pair:
        assert await place.active(admin) == {("Ana", "home"): "Lives in Porto"}
        assert (await list_conflicts(place.memory, place.principal, 10, 0))[0] == 0
    assert await one.facts(admin) == await other.facts(admin)


async def test_the_same_said_on_both_sides_is_no_conflict(
    pair: tuple[Replica, Replica], admin: Connection, clock: Clock
) -> None:
    one, other = pair
    await _say(clock, one, "Lives in Porto")
    await _say(clock, other, "lives in Porto.")
    clock.advance(minutes=1)
    assert (await one.pull(other)).conflicts == 0
    assert (await other.pull(one)).conflicts == 0
    assert await one.facts(admin) == await other.facts(admin)
    assert len(await one.active(admin)) == 1


async def test_the_latest_of_forgetting_and_restoring_holds(
    pair: tuple[Replica, Replica], admin: Connection, clock: Clock
) -> None:
    one, other = pair
    id = await _say(clock, one, "Lives in Porto")
    clock.advance(minutes=1)
    await other.pull(one)
    clock.advance(minutes=1)
    await forget_memory(one.memory, one.principal, "fact", id)
    stale = await giving.facts(one.memory, one.principal, ALL)
    clock.advance(minutes=1)
    await restore_memory(one.memory, one.principal, "fact", id)
    clock.advance(minutes=1)
    # Taken late: what it tells is older than what one has by then.
    await taking.take(other.memory, other.principal, stale[0])
    assert await other.active(admin) == {}
    clock.advance(minutes=1)
    assert (await one.pull(other)).changed == 0
    assert (await other.pull(one)).changed == 1
    assert await one.facts(admin) == await other.facts(admin)
    assert len(await other.active(admin)) == 1
    clock.advance(minutes=1)
    await confirm_memory(other.memory, other.principal, "fact", id)
    clock.advance(minutes=1)
    await forget_memory(other.memory, other.principal, "fact", id)
    clock.advance(minutes=1)
    await one.pull(other)
    assert await one.active(admin) == {}
    assert await one.facts(admin) == await other.facts(admin)


async def test_what_was_erased_or_undone_does_not_come_back(
    pair: tuple[Replica, Replica], admin: Connection, clock: Clock
) -> None:
    one, other = pair
    erased = await _say(clock, one, "Lives in Porto")
    undone = await _say(clock, one, "Has a dog", "pet")
    clock.advance(minutes=1)
    await other.pull(one)
    clock.advance(minutes=1)
    await undo_change(one.memory, one.principal)
    clock.advance(minutes=1)
    await erase(one.memory, one.principal, Target(memory=("fact", erased)))
    clock.advance(minutes=1)
    await one.pull(other)
    assert await one.facts(admin) == {}
    assert (await other.pull(one)).gone == 2
    assert await other.active(admin) == {}
    # Nothing of them is passed on; they can be restored where they still are, and then stay.
    facts, _ = await giving.facts(other.memory, other.principal, ALL)
    assert packs.opened(facts)["facts"] == []
    clock.advance(minutes=1)
    await restore_memory(other.memory, other.principal, "fact", undone)
    clock.advance(minutes=1)
    assert await other.pull(one) == Taken()
    assert await other.active(admin) == {("Ana", "pet"): "Has a dog"}
    await one.pull(other)
    assert await one.facts(admin) == {}


async def test_nothing_of_an_emptied_tenant_comes_back(
    pair: tuple[Replica, Replica], admin: Connection, clock: Clock
) -> None:
    one, other = pair
    await _say(clock, one, "Lives in Porto")
    clock.advance(minutes=1)
    await other.pull(one)
    clock.advance(minutes=1)
    await erase(one.memory, one.principal, Target(everything=True))
    await _say(clock, other, "Has a dog", "pet")
    clock.advance(minutes=1)
    # Whose facts were taken is forgotten as well.
    with pytest.raises(PermissionDenied):
        await one.pull(other)
    one.accept(other)
    assert (await one.pull(other)).refused == 1
    assert await one.active(admin) == {("Ana", "pet"): "Has a dog"}


async def test_what_is_trusted_less_changes_nothing(
    pair: tuple[Replica, Replica], admin: Connection, clock: Clock
) -> None:
    one, other = pair
    one.accept(other, "imported")
    id = await _say(clock, one, "Lives in Porto", trust="user_said")
    clock.advance(minutes=1)
    await other.pull(one)
    await _say(clock, other, "Lives in Faro", trust="user_said")
    clock.advance(minutes=1)
    done = await one.pull(other)
    assert (done.new, done.kept, done.conflicts) == (1, 1, 1)
    assert await one.active(admin) == {("Ana", "home"): "Lives in Porto"}
    trusts = {row[2]: (row[3], row[6]) for row in (await one.facts(admin)).values()}
    assert trusts == {"Lives in Porto": ("active", 5), "Lives in Faro": ("waiting", 2)}
    assert (await list_conflicts(one.memory, one.principal, 10, 0))[0] == 1
    clock.advance(minutes=1)
    await forget_memory(other.memory, other.principal, "fact", id)
    clock.advance(minutes=1)
    await one.pull(other)
    assert await one.active(admin) == {("Ana", "home"): "Lives in Porto"}


async def test_an_entity_comes_with_its_facts_and_is_found_by_its_name(
    pair: tuple[Replica, Replica], admin: Connection, clock: Clock
) -> None:
    one, other = pair
    await _say(clock, other, "Lives in Braga")
    made = await create_entity(one.memory, one.principal, "Ana", "person", aliases=["Aninhas"])
    await _say(clock, one, "Lives in Porto", entity_id=str(made["id"]))
    clock.advance(minutes=1)
    await other.pull(one)
    clock.advance(minutes=1)
    await one.pull(other)
    for place in pair:
        assert await place.active(admin) == {("Ana", "home"): "Lives in Porto"}
        named = await admin.fetch(
            "SELECT canonical_name, aliases FROM entities WHERE tenant_id = $1",
            place.principal.tenant,
        )
        assert [tuple(row) for row in named] == [("Ana", ["Aninhas"])]
    assert await one.facts(admin) == await other.facts(admin)


async def test_an_entity_that_comes_takes_up_the_facts_that_are_here(
    pair: tuple[Replica, Replica], admin: Connection, clock: Clock
) -> None:
    one, other = pair
    await _say(clock, one, "Lives in Porto")
    clock.advance(minutes=1)
    await other.pull(one)
    made = await create_entity(one.memory, one.principal, "Ana", "person")
    assert made["facts_linked"] == 1
    home = next(iter(await one.facts(admin)))
    clock.advance(minutes=1)
    await confirm_memory(one.memory, one.principal, "fact", home)
    await _say(clock, one, "Likes tea", predicate="drink")
    clock.advance(minutes=1)
    await other.pull(one)  # with the fact that is there already
    about = await admin.fetch(
        "SELECT content, canonical_name FROM facts LEFT JOIN entities ON entities.id = entity_id"
        " WHERE facts.tenant_id = $1 ORDER BY content",
        other.principal.tenant,
    )
    assert [tuple(row) for row in about] == [("Likes tea", "Ana"), ("Lives in Porto", "Ana")]
    await _say(clock, one, "Lives in Braga")
    clock.advance(minutes=1)
    await other.pull(one)
    assert (await other.active(admin))["Ana", "home"] == "Lives in Braga"


async def test_only_what_an_accepted_key_signed_is_taken(
    pair: tuple[Replica, Replica], memory: Memory, tmp_path: Path, clock: Clock
) -> None:
    one, other = pair
    await _say(clock, one, "Lives in Porto")
    clock.advance(minutes=1)
    facts, _ = await giving.facts(one.memory, one.principal, ALL)
    changed = replace(facts, statement=facts.statement.replace("Porto", "Faro"))
    with pytest.raises(InvalidInput, match="changed on the way"):
        await taking.take(other.memory, other.principal, changed)
    with pytest.raises(InvalidInput, match="own facts"):
        await taking.take(one.memory, one.principal, facts)
    (stranger,) = replicas(memory, tmp_path / "stranger", 1, "stranger")
    with pytest.raises(PermissionDenied, match=one.key):
        await taking.take(stranger.memory, stranger.principal, facts)
    # The keys of two tenants of one installation differ.
    assert packs.own_key(one.memory, "another") != one.key


async def test_a_clock_that_is_ahead_wins_nothing(
    pair: tuple[Replica, Replica], admin: Connection, clock: Clock
) -> None:
    one, other = pair
    clock.advance(hours=1)
    await _say(clock, one, "Lives in Porto")
    clock.advance(hours=-1)
    with pytest.raises(Conflict, match="ahead"):
        await other.pull(one)
    assert await other.facts(admin) == {}


async def test_a_stranger_gives_no_names(
    pair: tuple[Replica, Replica], admin: Connection, clock: Clock
) -> None:
    """An alias would take over what is said of somebody else."""
    one, other = pair
    one.accept(other, "imported")
    made = await create_entity(other.memory, other.principal, "Mallory", "person", aliases=["Ana"])
    await _say(clock, other, "Pays to EVIL-01", "bank", entity_id=str(made["id"]))
    clock.advance(minutes=1)
    assert (await one.pull(other)).new == 1
    told = await _say(clock, one, "Pays to GOOD-99", "bank")
    owner = await admin.fetchval(
        "SELECT entity_id FROM facts WHERE tenant_id = $1 AND id = $2", one.principal.tenant, told
    )
    assert owner is None


async def test_a_confirmation_is_kept_where_the_other_side_restores(
    pair: tuple[Replica, Replica], admin: Connection, clock: Clock
) -> None:
    one, other = pair
    id = await _say(clock, one, "Lives in Porto")
    clock.advance(minutes=1)
    await forget_memory(one.memory, one.principal, "fact", id)
    clock.advance(minutes=1)
    await other.pull(one)
    clock.advance(minutes=1)
    confirmed = await confirm_memory(other.memory, other.principal, "fact", id)
    clock.advance(minutes=1)
    await restore_memory(one.memory, one.principal, "fact", id)
    clock.advance(minutes=1)
    await other.pull(one)
    await one.pull(other)
    for place in pair:
        ((_, _, _, validity, _, at, _),) = (await place.facts(admin)).values()
        assert (validity, at) == ("active", confirmed["last_confirmed_at"])


async def test_what_is_repeated_after_undoing_stays(
    pair: tuple[Replica, Replica], admin: Connection, clock: Clock
) -> None:
    """An import gives the same ids each time."""
    one, other = pair
    id = uuid4()
    for repeated in (False, True):
        clock.advance(minutes=1)
        said = new_fact(one.memory, "Ana", "home", "Lives in Porto", id=id)
        await keep(one.memory, one.principal, said)
        clock.advance(minutes=1)
        await other.pull(one)
        clock.advance(minutes=1)
        if not repeated:
            await undo_change(one.memory, one.principal)
            clock.advance(minutes=1)
            assert (await other.pull(one)).gone == 1
    for _ in range(2):
        clock.advance(minutes=1)
        await one.pull(other)
        await other.pull(one)
    for place in pair:
        assert await place.active(admin) == {("Ana", "home"): "Lives in Porto"}


@pytest.fixture
def three(memory: Memory, tmp_path: Path) -> tuple[Replica, Replica, Replica]:
    """One's own two installations, and somebody else's, who is believed less and has all facts."""
    mine, relay, other = replicas(memory, tmp_path, 3, "relayed")
    for place in (mine, relay):
        place.accept(other, "imported")
    return mine, relay, other


async def test_nobody_is_believed_more_by_way_of_another(
    three: tuple[Replica, Replica, Replica], admin: Connection, clock: Clock
) -> None:
    mine, relay, other = three
    relay.accept(mine, "imported")
    id = await _say(clock, mine, "Lives in Porto", trust="user_said")
    clock.advance(minutes=1)
    await relay.pull(mine)
    await other.pull(relay)
    clock.advance(minutes=1)
    await forget_memory(other.memory, other.principal, "fact", id)
    clock.advance(minutes=1)
    assert (await relay.pull(other)).changed == 1
    clock.advance(minutes=1)
    assert (await mine.pull(relay)).kept == 1
    clock.advance(minutes=1)
    await erase(other.memory, other.principal, Target(memory=("fact", id)))
    clock.advance(minutes=1)
    await relay.pull(other)
    await mine.pull(relay)
    assert await mine.active(admin) == {("Ana", "home"): "Lives in Porto"}


async def test_who_tells_a_fact_first_does_not_decide_it(
    three: tuple[Replica, Replica, Replica], admin: Connection, clock: Clock
) -> None:
    mine, relay, other = three
    words = await _say(clock, mine, "Lives in Porto", trust="user_said")
    state = await _say(clock, mine, "Has a dog", "pet", trust="user_said")
    clock.advance(minutes=1)
    await other.pull(mine)
    await admin.execute(
        "UPDATE facts SET content = 'Lives in Faro' WHERE tenant_id = $1 AND id = $2",
        other.principal.tenant,
        words,
    )
    clock.advance(minutes=1)
    await forget_memory(other.memory, other.principal, "fact", state)
    clock.advance(minutes=1)
    await relay.pull(other)
    assert await relay.active(admin) == {("Ana", "home"): "Lives in Faro"}
    expected = {("Ana", "home"): "Lives in Porto", ("Ana", "pet"): "Has a dog"}
    for _ in range(2):
        clock.advance(minutes=1)
        await relay.pull(mine)
        assert await relay.active(admin) == expected
        clock.advance(minutes=1)
        await mine.pull(relay)
        await relay.pull(other)
        await mine.pull(other)
        assert await mine.active(admin) == await relay.active(admin) == expected
    assert {row[6] for row in (await relay.facts(admin)).values() if row[3] == "active"} == {5}


async def test_what_is_trusted_less_names_nothing_of_another_key_as_replaced(
    three: tuple[Replica, Replica, Replica], admin: Connection, clock: Clock
) -> None:
    mine, _, other = three
    home = await _say(clock, mine, "Lives in Porto", trust="user_said")
    clock.advance(minutes=1)
    await other.pull(mine)
    after = await _say(clock, other, "Has a dog", "pet")
    waits = await _say(clock, other, "Rows a boat", "sport")
    await admin.execute(
        "UPDATE facts SET supersedes_id = $3 WHERE tenant_id = $1 AND id = $2",
        other.principal.tenant,
        after,
        home,
    )
    await admin.execute(
        "UPDATE facts SET validity = 'waiting', retired_at = now(),"
        " metadata = jsonb_build_object('waiting', jsonb_build_object('target', $3::text))"
        " WHERE tenant_id = $1 AND id = $2",
        other.principal.tenant,
        waits,
        str(home),
    )
    clock.advance(minutes=1)
    assert (await mine.pull(other)).new == 2
    replaced = await admin.fetch(
        "SELECT id FROM facts WHERE tenant_id = $1 AND supersedes_id IS NOT NULL",
        mine.principal.tenant,
    )
    assert replaced == []
    assert (await list_conflicts(mine.memory, mine.principal, 10, 0))[0] == 0
    await accept_fact(mine.memory, mine.principal, waits)
    assert ("Ana", "home") in await mine.active(admin)


@pytest.mark.parametrize("stored", ["NYSE", {"made": "x"}, {"gone": 1}, {"at": "now", "since": 3}])
async def test_a_word_of_the_users_own_is_no_mark(
    pair: tuple[Replica, Replica], admin: Connection, clock: Clock, stored: Any
) -> None:
    one, other = pair
    id = await _say(clock, one, "Trades shares", "work")
    await admin.execute(
        "UPDATE facts SET metadata = $3 WHERE tenant_id = $1 AND id = $2",
        one.principal.tenant,
        id,
        {"exchange": stored},
    )
    clock.advance(minutes=1)
    assert (await other.pull(one)).new == 1
    clock.advance(minutes=1)
    await forget_memory(other.memory, other.principal, "fact", id)
    clock.advance(minutes=1)
    assert (await one.pull(other)).changed == 1
    # A new fact is stored without it.
    assert new_fact(one.memory, "Ana", "work", "x", metadata={"exchange": stored}).metadata == {}


async def test_a_damaged_fact_keeps_back_no_other(
    pair: tuple[Replica, Replica], admin: Connection, clock: Clock
) -> None:
    one, other = pair
    await _say(clock, one, "Lives in Porto")
    clock.advance(minutes=1)
    page, _ = await giving.facts(one.memory, one.principal, ALL)
    (sound,) = packs.opened(page)["facts"]
    marked = sound | {"metadata": {"forgotten": True, "echo_of": "x", "colour": "red"}}
    said = {"kind": "facts", "facts": [{}, sound | {"since": "x"}, None, marked]}
    done = await taking.take(
        other.memory, other.principal, packs.signed(one.memory, one.principal.tenant, said)
    )
    assert (done.new, done.refused) == (1, 3)
    kept = await admin.fetchval(
        "SELECT metadata - 'exchange' FROM facts WHERE tenant_id = $1", other.principal.tenant
    )
    assert kept == {"colour": "red"}
    many = packs.signed(
        one.memory, one.principal.tenant, said | {"facts": [None] * (packs.PACK_FACTS + 1)}
    )
    with pytest.raises(InvalidInput, match="at most"):
        await taking.take(other.memory, other.principal, many)


@pytest.fixture
async def colleague(pair: tuple[Replica, Replica], clock: Clock) -> tuple[Replica, Replica]:
    """Of two, each with a fact at work and one at home, what they agreed on is work."""
    one, other = pair
    one.accept(other, scopes=["work"])
    other.accept(one, scopes=["work"])
    await _say(clock, one, "Lives in Porto")
    await _say(clock, one, "Reports on Mondays", "task", scope="work")
    await _say(clock, other, "Has a dog", "pet")
    await _say(clock, other, "Reads on Fridays", "reading", scope="work")
    clock.advance(minutes=1)
    return one, other


async def test_only_facts_of_agreed_scopes_leave(
    colleague: tuple[Replica, Replica], admin: Connection, clock: Clock
) -> None:
    one, other = colleague
    assert (await one.pull(other)).new == (await other.pull(one)).new == 1
    shared = {("Ana", "task"): "Reports on Mondays", ("Ana", "reading"): "Reads on Fridays"}
    assert await one.active(admin) == {**shared, ("Ana", "home"): "Lives in Porto"}
    assert await other.active(admin) == {**shared, ("Ana", "pet"): "Has a dog"}
    # What is equal is known as equal, although the rest differs.
    assert await one.parts(["work"]) == await other.parts(["work"])
    assert await one.parts() != await other.parts()
    assert await one.pull(other) == await other.pull(one) == Taken()
    # An edit stays in its scope, and the same said in another is a fact of its own.
    (task,) = [id for id, row in (await one.facts(admin)).items() if row[1] == "task"]
    clock.advance(minutes=1)
    await edit_fact(other.memory, other.principal, task, {"content": "Reports on Tuesdays"})
    await _say(clock, one, "Reports on Sundays", "task")
    clock.advance(minutes=1)
    done = await one.pull(other)
    assert (done.new, done.changed, done.conflicts) == (1, 1, 0)
    assert (await other.pull(one)) == Taken()
    held = [row[2] for row in (await one.facts(admin)).values() if row[1] == "task"]
    assert sorted(held) == ["Reports on Mondays", "Reports on Sundays", "Reports on Tuesdays"]


async def test_a_caller_that_asks_for_more_gets_no_more(
    colleague: tuple[Replica, Replica],
) -> None:
    one, other = colleague
    caller = other.as_seen_by(one)
    for asked in (None, ["work"], ["work", "global"]):
        state = packs.opened(await giving.state(one.memory, caller, asked, to="0" * 64))
        assert state["scopes"] == ["work"]
        assert state["parts"] == await one.parts(["work"])
        assert state["to"] == other.key
        facts, _ = await giving.facts(one.memory, caller, ALL, scopes=asked)
        assert [said["content"] for said in packs.opened(facts)["facts"]] == ["Reports on Mondays"]
        assert "Porto" not in facts.statement
    with pytest.raises(PermissionDenied, match="work; not global"):
        await giving.facts(one.memory, caller, ALL, scopes=["global"])
    stranger = replace(caller, actor="token:stranger")
    with pytest.raises(PermissionDenied, match="peers accept stranger"):
        await giving.state(one.memory, stranger)
    for operation in OPERATIONS:
        if not operation.for_peers:
            assert not caller.may(operation.needs)


async def test_the_names_of_an_entity_stay_where_scopes_are_agreed(
    colleague: tuple[Replica, Replica], clock: Clock
) -> None:
    one, other = colleague
    made = await create_entity(
        one.memory, one.principal, "Rosa", "person", aliases=["R. therapist"]
    )
    await _say(clock, one, "Is ill", "health", scope="work", entity_id=str(made["id"]))
    clock.advance(minutes=1)
    facts, _ = await giving.facts(one.memory, other.as_seen_by(one), ALL)
    assert "Is ill" in facts.statement
    assert "therapist" not in facts.statement
    named, _ = await giving.facts(one.memory, one.principal, ALL, scopes=["work"])
    assert "therapist" not in named.statement
    whole, _ = await giving.facts(one.memory, one.principal, ALL)
    assert "therapist" in whole.statement


async def test_a_token_of_another_peer_brings_nothing(colleague: tuple[Replica, Replica]) -> None:
    one, other = colleague
    page, _ = await giving.facts(one.memory, other.as_seen_by(one), ALL)
    caller = one.as_seen_by(other)
    assert other.memory.data_dir is not None
    peers.accept(other.memory.data_dir, caller.tenant, "third", "0" * 64, "imported", ["work"])
    with pytest.raises(PermissionDenied, match="for the peer 'third'"):
        await taking.take(other.memory, replace(caller, actor="token:third"), page)
    assert (await taking.take(other.memory, caller, page)).new == 1


async def test_a_peer_touches_nothing_outside_the_agreed_scopes(
    colleague: tuple[Replica, Replica], admin: Connection, clock: Clock
) -> None:
    one, other = colleague
    before = await one.facts(admin)
    (home,) = [id for id, row in before.items() if row[1] == "home"]
    page, _ = await giving.facts(one.memory, one.principal, ALL, scopes=["global"])
    (real,) = packs.opened(page)["facts"]
    clock.advance(minutes=1)
    since = clock().isoformat()
    forgotten = real | {"state": "retracted", "since": since}
    for said in (
        {"kind": "facts", "facts": [forgotten]},
        {"kind": "facts", "facts": [forgotten | {"scope": "work"}]},
        {"kind": "facts", "facts": [real | {"id": str(uuid4()), "since": since}]},
        {"kind": "state", "parts": {}, "gone": [str(home)]},
    ):
        given = packs.signed(other.memory, other.principal.tenant, said)
        done = await taking.take(one.memory, one.principal, given)
        assert done == Taken(refused=int(said["kind"] == "facts"))
        assert await one.facts(admin) == before


async def test_facts_of_other_scopes_than_asked_for_are_left_out(
    pair: tuple[Replica, Replica], admin: Connection, clock: Clock
) -> None:
    """Of a folder that has them all, with a peer that may give them all."""
    one, other = pair
    home = await _say(clock, other, "Lives in Porto")
    await _say(clock, other, "Reports on Mondays", "task", scope="work")
    clock.advance(minutes=1)
    facts, _ = await giving.facts(other.memory, other.principal, ALL)
    done = await taking.take(one.memory, one.principal, facts, ["work"])
    assert done == Taken(new=1)
    assert await one.active(admin) == {("Ana", "task"): "Reports on Mondays"}
    await taking.take(one.memory, one.principal, facts)
    gone = packs.signed(
        other.memory, other.principal.tenant, {"kind": "state", "parts": {}, "gone": [str(home)]}
    )
    assert await taking.take(one.memory, one.principal, gone, ["work"]) == Taken()
    assert await taking.take(one.memory, one.principal, gone, ["global"]) == Taken(gone=1)


class _Listening(MemoryClient):
    """An installation, and what it was asked."""

    asked: ClassVar[list[tuple[str, dict[str, Any]]]] = []

    async def exchange_state(self, **given: Any) -> shapes.Statement:
        self.asked.append(("state", given))
        return await super().exchange_state(**given)

    async def exchange_facts(self, parts: list[int], **given: Any) -> shapes.FactsStatement:
        self.asked.append(("facts", given))
        return await super().exchange_facts(parts, **given)

    async def exchange_take(
        self, statement: str, signature: str, **given: Any
    ) -> shapes.ExchangeTakeOutput:
        self.asked.append(("take", given))
        return await super().exchange_take(statement, signature, **given)


@pytest.mark.parametrize("scopes", [None, ["work"]])
async def test_what_was_told_already_is_not_asked_again(
    pair: tuple[Replica, Replica], clock: Clock, scopes: list[str] | None
) -> None:
    one, other = pair
    await _say(clock, other, "Reports on Mondays", "task", scope="work")
    clock.advance(minutes=1)
    here = MemoryClient.of(one.memory, one.principal)
    there = _Listening.of(other.memory, other.principal)
    asked = _Listening.asked
    asked.clear()
    named = UNSET if scopes is None else scopes
    told = await there.exchange_state(scopes=named)
    asked.clear()
    assert (await carry(there, here, scopes, giver_state=told)).counts["new"] == 1
    assert [what for what, _ in asked] == ["facts"]
    await _say(clock, one, "Sits in room 3", "room", scope="work")
    clock.advance(minutes=1)
    told = await there.exchange_state(scopes=named)
    asked.clear()
    assert (await carry(here, there, scopes, taker_state=told)).counts["new"] == 1
    assert [what for what, _ in asked] == ["take", "take"]
    # Of all scopes a request says nothing, so that a server that knows of none understands it.
    assert all(given["scopes"] == named for _, given in asked)
    # What was told of other scopes is of no use.
    asked.clear()
    await carry(there, here, ["global"], giver_state=told)
    assert asked[0][0] == "state"


class _Greedy(MemoryClient):
    """An installation that says that all scopes were agreed, and sends all, whatever is asked."""

    async def exchange_state(self, **_: Any) -> shapes.Statement:
        return await super().exchange_state()

    async def exchange_facts(
        self, parts: list[int], *, after: str | Unset | None = UNSET, **_: Any
    ) -> shapes.FactsStatement:
        return await super().exchange_facts(parts, after=after)


async def test_nobody_widens_what_is_exchanged_by_saying_so(
    pair: tuple[Replica, Replica], admin: Connection, clock: Clock
) -> None:
    one, other = pair
    for place in pair:
        name = place.principal.tenant
        await _say(clock, place, f"{name} has a secret", name)
        await _say(clock, place, f"{name} works", f"{name} task", scope="work")
    clock.advance(minutes=1)
    mine = MemoryClient.of(one.memory, one.principal)
    greedy = _Greedy.of(other.memory, other.principal)
    # Everybody may give and take all; what this call is about is work.
    assert (await carry(mine, greedy, ["work"])).counts["new"] == 1
    assert (await carry(greedy, mine, ["work"])).counts["new"] == 1
    for place in pair:
        assert len(await place.facts(admin)) == 3
