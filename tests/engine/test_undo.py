"""Undoing: one step back, whatever the step was, while nothing later depends on it."""

import io
from collections.abc import Awaitable, Callable
from itertools import count as counting
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from conftest import HISTORIES, Clock, Connection
from engine.consolidation.scenes import NOTHING, answer, consolidate, fact, tell
from memory_butler.domain.errors import Conflict, InvalidInput, MemoryButlerError, NotFound
from memory_butler.domain.principals import Principal
from memory_butler.engine.curate import confirm_memory, forget_memory, restore_memory
from memory_butler.engine.edits import edit_fact, edit_rule, move_rule
from memory_butler.engine.entities import create_entity, merge_entities, update_entity
from memory_butler.engine.export import export_all, restore_all
from memory_butler.engine.feedback import rule_harmed, rule_helped
from memory_butler.engine.lifecycle.cleanup import clean_up
from memory_butler.engine.lifecycle.inversion import invert_rule
from memory_butler.engine.linking import create_link
from memory_butler.engine.memory import Memory
from memory_butler.engine.remember import store_episode, store_fact, store_rule
from memory_butler.engine.undo import undo_change
from memory_butler.store import undo
from memory_butler.store.transaction import reading

from .store_views import count, event_types, row

pytestmark = pytest.mark.anyio

# All tables of memories; the logs (events, versions, what was served, the runs) only grow.
_TABLES = {
    "episodes": "id",
    "facts": "id",
    "rules": "id",
    "entities": "id",
    "memory_links": "source_id, target_id",
    "rule_applications": "id",
    "items": "key",
}
_COUNTERS = {"reference_count", "last_referenced_at"}

State = dict[str, list[dict[str, Any]]]


async def _state(admin: Connection, tenant: str) -> State:
    """Every row of every table of memories, reference counters apart."""
    return {
        table: [
            {name: _rounded(value) for name, value in one.items() if name not in _COUNTERS}
            for one in await admin.fetch(
                f"SELECT * FROM {table} WHERE tenant_id = $1 ORDER BY {order}", tenant
            )
        ]
        for table, order in _TABLES.items()
    }


def _rounded(value: Any) -> Any:
    """A text that is embedded anew, in another batch, may differ in the last bits."""
    return [round(one, 4) + 0.0 for one in value.tolist()] if hasattr(value, "tolist") else value


# --- the property ---------------------------------------------------------------------------------

Act = Callable[["_World", int, int], Awaitable[Any]]


class _World:
    """A tenant in which things happen, chosen by numbers."""

    def __init__(self, memory: Memory, principal: Principal, admin: Connection) -> None:
        self.memory, self.principal, self.admin = memory, principal, admin

    async def begin(self) -> None:
        """Two entities with facts of one predicate, a rule that did harm, an episode."""
        for name, drink in (("Ann", "tea"), ("Anna", "coffee")):
            made = await create_entity(self.memory, self.principal, name, "person")
            await store_fact(
                self.memory, self.principal, name, "drink", drink, entity_id=made["id"]
            )
        await store_fact(self.memory, self.principal, "Ann", "city", "Lisbon")
        rule = await store_rule(self.memory, self.principal, "offer tea")
        await store_episode(self.memory, self.principal, "we had tea", "general")
        await self.admin.execute(
            "UPDATE rules SET harmful_count = 4, applied_count = 5, effectiveness_score = 0.1,"
            " metadata = $2 WHERE id = $1",
            rule,
            {"needs_inversion": True},
        )

    async def one_of(self, table: str, n: int) -> UUID:
        """One of the rows, or an id that is none."""
        found = await self.admin.fetch(
            f"SELECT id FROM {table} WHERE tenant_id = $1 ORDER BY created_at, id",
            self.principal.tenant,
        )
        return found[n % len(found)]["id"] if found else uuid4()


_WORDS = ("tea", "coffee", "water")
_NAMES = ("Ann", "Anna", "Bob")


async def _fact(world: _World, a: int, b: int) -> None:
    entity = await world.one_of("entities", b) if b % 2 else None
    await store_fact(
        world.memory,
        world.principal,
        _NAMES[a % 2],
        ("drink", "city")[b % 2],
        _WORDS[(a + b) % 3],
        entity_id=entity if entity is None or a % 3 else None,
    )


async def _rule(world: _World, a: int, b: int) -> None:
    await store_rule(world.memory, world.principal, f"offer {_WORDS[a % 3]}")


async def _episode(world: _World, a: int, b: int) -> None:
    await store_episode(world.memory, world.principal, f"we had {_WORDS[a % 3]}", "general")


async def _edit_fact(world: _World, a: int, b: int) -> None:
    id = await world.one_of("facts", a)
    changes = ({"content": "milk"}, {"subject": "Eve"}, {"tags": ["x"]})[b % 3]
    await edit_fact(world.memory, world.principal, id, changes)


async def _edit_rule(world: _World, a: int, b: int) -> None:
    id = await world.one_of("rules", a)
    await edit_rule(world.memory, world.principal, id, {"content": f"bring {_WORDS[b % 3]}"})


async def _move_rule(world: _World, a: int, b: int) -> None:
    id = await world.one_of("rules", a)
    acts = ("promote", "demote", "disable", "enable")
    await move_rule(world.memory, world.principal, id, acts[b % 4])  # type: ignore[arg-type]


async def _harm_and_invert(world: _World, a: int, b: int) -> None:
    id = await world.one_of("rules", a)
    if b % 3 == 0:
        await rule_helped(world.memory, world.principal, id)
    elif b % 3 == 1:
        await rule_harmed(world.memory, world.principal, id, "it spilt")
    elif not await invert_rule(world.memory, world.principal, id):
        raise Conflict("not harmful enough")


async def _curate(world: _World, a: int, b: int) -> None:
    kind = ("fact", "rule", "episode")[a % 3]
    id = await world.one_of(f"{kind}s", b)
    match (a + b) % 4:
        case 0 | 1:
            if not await forget_memory(world.memory, world.principal, kind, id):
                raise Conflict("it was forgotten before")
        case 2:
            await restore_memory(world.memory, world.principal, kind, id)
        case _:
            await confirm_memory(world.memory, world.principal, kind, id)


async def _entity(world: _World, a: int, b: int) -> None:
    if b % 3:
        await create_entity(world.memory, world.principal, _NAMES[a % 3], "person")
    else:
        id = await world.one_of("entities", a)
        found = await update_entity(
            world.memory, world.principal, id, canonical_name=f"{_NAMES[a % 3]}{b}", aliases=["x"]
        )
        if found is None:
            raise NotFound("no entity")


async def _merge(world: _World, a: int, b: int) -> None:
    one, other = await world.one_of("entities", a), await world.one_of("entities", b)
    await merge_entities(world.memory, world.principal, one, other)


async def _link(world: _World, a: int, b: int) -> None:
    fact_id, rule_id = await world.one_of("facts", a), await world.one_of("rules", b)
    made = await create_link(
        world.memory, world.principal, "fact", fact_id, "rule", rule_id, "supports"
    )
    if not made:
        raise Conflict("linked before")


async def _run(world: _World, a: int, b: int) -> None:
    said = answer(
        new_facts=[fact(f"Likes {_WORDS[a % 3]}"), fact("Lives here", predicate="home")],
        new_rules=[{"content": f"serve {_WORDS[b % 3]}"}],
        confirmations=["F1"],
    )
    report, _ = await consolidate(world.memory, world.principal, said)
    if not report.groups or report.groups[0].status != "succeeded":
        raise Conflict("nothing was consolidated")


_ACTS: tuple[Act, ...] = (
    _fact,
    _fact,
    _rule,
    _episode,
    _edit_fact,
    _edit_rule,
    _move_rule,
    _harm_and_invert,
    _curate,
    _entity,
    _merge,
    _link,
    _run,
)
histories = st.lists(
    st.tuples(st.sampled_from(_ACTS), st.integers(0, 11), st.integers(0, 11)),
    min_size=2,
    max_size=5,
)
_tenants = counting()


@settings(max_examples=HISTORIES, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(history=histories)
async def test_do_and_undo_is_as_if_nothing_had_happened(
    memory: Memory, admin: Connection, clock: Clock, history: list[tuple[Act, int, int]]
) -> None:
    """Each act is taken back at once; then all of them are, the last one first."""
    principal = Principal(tenant=f"undo-{next(_tenants)}", actor="tester")
    world = _World(memory, principal, admin)
    await world.begin()
    states: list[State] = []
    for act, a, b in history:
        clock.advance(minutes=1)
        before = await _state(admin, principal.tenant)
        try:
            await act(world, a, b)
        except MemoryButlerError:
            continue  # there was nothing to do it to
        clock.advance(minutes=1)
        await undo_change(memory, principal)
        assert await _state(admin, principal.tenant) == before
        event(act.__name__)
        clock.advance(minutes=1)
        await act(world, a, b)
        states.append(before)
    for before in reversed(states):
        clock.advance(minutes=1)
        await undo_change(memory, principal)
        assert await _state(admin, principal.tenant) == before


# --- single cases ---------------------------------------------------------------------------------


async def _last_event(admin: Connection, event_type: str) -> UUID:
    found: UUID = await admin.fetchval(
        "SELECT id FROM memory_events WHERE event_type = $1 ORDER BY created_at DESC LIMIT 1",
        event_type,
    )
    return found


async def test_a_merge_gives_every_fact_back_to_its_owner(
    memory: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    """Both have a fact of one predicate; the loser is active again, the rest moves back."""
    owners: dict[UUID, UUID] = {}
    people = []
    for name, said in (("Ann", ("drink", "city")), ("Anna", ("drink", "pet"))):
        made = await create_entity(memory, principal, name, "person", aliases=[name.lower()])
        people.append(made["id"])
        for predicate in said:
            fact_id, _ = await store_fact(
                memory, principal, name, predicate, f"{name}'s {predicate}", entity_id=made["id"]
            )
            owners[fact_id] = made["id"]
    before = await _state(admin, principal.tenant)
    clock.advance(hours=1)
    await merge_entities(memory, principal, people[1], people[0])
    merged = await _last_event(admin, "entity_merge")
    clock.advance(hours=1)

    preview = await undo_change(memory, principal, event_id=merged, dry_run=True)
    touched = {one.id for one in preview.changes}
    # All but the fact of the one that stays which nothing contradicted.
    assert touched == {*people, *owners} - {list(owners)[1]}
    assert preview.links_removed == 1
    assert await _state(admin, principal.tenant) != before  # a dry run changes nothing

    await undo_change(memory, principal, event_id=merged)
    assert await _state(admin, principal.tenant) == before
    for fact_id, owner in owners.items():
        found = await row(admin, "facts", fact_id)
        assert (found["entity_id"], found["validity"]) == (owner, "active")
    assert (await event_types(admin)).count("change_undone") == 1


async def test_a_run_is_taken_back_as_a_whole_and_its_episodes_wait_again(
    memory: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    await store_fact(memory, principal, "user", "preferred_drink", "Likes coffee")
    await tell(memory, principal, "tea from now on", "and a dog named Rex")
    before = await _state(admin, principal.tenant)
    clock.advance(hours=1)
    said = answer(
        new_facts=[fact("Likes tea", "E1"), fact("Rex, a dog", "E2", predicate="pet")],
        new_rules=[{"content": "ask about Rex"}],
    )
    await consolidate(memory, principal, said)
    run_id = await admin.fetchval("SELECT id FROM consolidation_runs")
    assert (await count(admin, "facts"), await count(admin, "rules")) == (3, 1)
    clock.advance(hours=1)

    done = await undo_change(memory, principal, run_id=run_id)
    assert await _state(admin, principal.tenant) == before
    assert [one.act for one in done.changes].count("removed") == 3
    assert await admin.fetchval("SELECT status FROM consolidation_runs") == "undone"
    with pytest.raises(Conflict, match=r"undone already, at .* UTC$"):
        await undo_change(memory, principal, run_id=run_id)
    # The same run again: nothing of the first one is in the way.
    clock.advance(hours=1)
    report, _ = await consolidate(memory, principal, said)
    assert report.groups[0].status == "succeeded"


async def test_what_depends_is_named_and_undone_first(
    memory: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    first, _ = await store_fact(memory, principal, "user", "drink", "tea")
    created = await _last_event(admin, "fact_created")
    clock.advance(minutes=1)
    second, _ = await store_fact(memory, principal, "user", "drink", "coffee")
    superseding = await _last_event(admin, "fact_superseded")
    clock.advance(minutes=1)

    preview = await undo_change(memory, principal, event_id=created, dry_run=True)
    assert {one.id for one in preview.blockers} == {first}
    assert superseding in {one.event_id for one in preview.blockers}
    with pytest.raises(Conflict, match=f"a fact's place.*\\(event {superseding}\\)"):
        await undo_change(memory, principal, event_id=created)
    assert await count(admin, "facts") == 2

    await undo_change(memory, principal, event_id=superseding)
    await undo_change(memory, principal, event_id=created)
    assert await count(admin, "facts") == 0
    assert second != first


async def test_a_key_or_a_name_that_is_taken_by_now_is_in_the_way(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    old, _ = await store_fact(memory, principal, "user", "drink", "tea")
    made = await create_entity(memory, principal, "Ann", "person")
    clock.advance(minutes=1)
    await forget_memory(memory, principal, "fact", old)
    forgotten = (await undo_change(memory, principal, dry_run=True)).step
    clock.advance(minutes=1)
    await update_entity(memory, principal, made["id"], canonical_name="Anna")
    clock.advance(minutes=1)
    renamed = (await undo_change(memory, principal, dry_run=True)).step
    await create_entity(memory, principal, "Ann", "person")
    new, _ = await store_fact(memory, principal, "user", "drink", "coffee")
    for step, why in ((forgotten, f"fact {new} has its subject"), (renamed, "has its name now")):
        with pytest.raises(Conflict, match=why):
            await undo_change(memory, principal, event_id=await _event_of(memory, principal, step))


async def _event_of(memory: Memory, principal: Principal, step: UUID) -> UUID:
    async with reading(memory.pool, principal.tenant) as tx:
        id: UUID = (await undo.told(tx, step))[0]["id"]
        return id


async def test_the_last_thing_is_the_callers_own_unless_anybodys_is_wanted(
    memory: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    other = Principal(tenant=principal.tenant, actor="somebody else")
    await store_rule(memory, principal, "offer tea")
    clock.advance(minutes=1)
    theirs = await store_rule(memory, other, "offer coffee")
    await undo_change(memory, principal)
    assert [one["id"] for one in await admin.fetch("SELECT id FROM rules")] == [theirs]
    with pytest.raises(NotFound, match="tester has done nothing"):
        await undo_change(memory, principal)
    await undo_change(memory, principal, anybody=True)
    assert await count(admin, "rules") == 0


async def test_another_tenants_event_is_not_found(
    memory: Memory, principal: Principal, other_tenant: Principal, admin: Connection
) -> None:
    await store_rule(memory, other_tenant, "offer tea")
    with pytest.raises(NotFound, match="there is no event"):
        await undo_change(memory, principal, event_id=await _last_event(admin, "rule_created"))
    with pytest.raises(NotFound, match="there is no consolidation run"):
        await undo_change(memory, principal, run_id=uuid4())
    with pytest.raises(InvalidInput, match="not both"):
        await undo_change(memory, principal, run_id=uuid4(), event_id=uuid4())
    assert await count(admin, "rules") == 1
    await undo_change(memory, other_tenant, event_id=await _last_event(admin, "rule_created"))
    assert await count(admin, "rules") == 0


async def test_a_tenant_keeps_what_it_has_under_the_ids_of_another(
    memory: Memory, principal: Principal, other_tenant: Principal, admin: Connection
) -> None:
    """As where one has imported what the other exported: ids are a tenant's own."""
    await create_entity(memory, principal, "Rex", "other")
    await tell(memory, principal, "a dog named Rex")
    learned = answer(
        new_facts=[fact("Rex, a dog", "E1", predicate="pet")],
        new_rules=[{"content": "ask about Rex"}],
    )
    await consolidate(memory, principal, learned)
    exported = io.StringIO()
    await export_all(memory, principal, exported)
    copy = io.BytesIO(exported.getvalue().encode())
    await restore_all(memory, other_tenant, copy, trust="user_said")
    theirs = await _state(admin, other_tenant.tenant)
    assert [len(theirs[table]) for table in ("facts", "rules", "entities")] == [1, 1, 1]
    await undo_change(memory, principal, run_id=await _run_of(admin, principal))
    await undo_change(memory, principal, event_id=await _last_event(admin, "entity_created"))
    ours = await _state(admin, principal.tenant)
    assert [len(ours[table]) for table in ("facts", "rules", "entities")] == [0, 0, 0]
    assert await _state(admin, other_tenant.tenant) == theirs


async def _run_of(admin: Connection, principal: Principal) -> UUID:
    found: UUID = await admin.fetchval(
        "SELECT id FROM consolidation_runs WHERE tenant_id = $1", principal.tenant
    )
    return found


async def test_what_cannot_be_undone_says_why(
    memory: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    episode = await store_episode(memory, principal, "we had tea", "general")
    await forget_memory(memory, principal, "episode", episode)  # in the instant of its making
    with pytest.raises(Conflict, match="made and changed in one instant"):
        await undo_change(memory, principal, event_id=await _last_event(admin, "episode_forgotten"))
    clock.advance(minutes=1)
    await clean_up(memory, principal)
    with pytest.raises(Conflict, match="only a backup has them"):
        await undo_change(memory, principal)
    clock.advance(minutes=1)
    await store_rule(memory, principal, "offer tea")
    clock.advance(minutes=1)
    await undo_change(memory, principal)
    with pytest.raises(Conflict, match="undoing cannot be undone"):
        await undo_change(memory, principal, event_id=await _last_event(admin, "change_undone"))
    await store_rule(memory, principal, "offer coffee")
    await admin.execute("UPDATE memory_events SET step = NULL")
    with pytest.raises(Conflict, match="from an older version"):
        await undo_change(memory, principal, event_id=await _last_event(admin, "rule_created"))


async def test_a_run_that_learned_nothing_usable_cannot_be_undone(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    await tell(memory, principal, "tea please")
    await consolidate(memory, principal, "no JSON at all")
    run_id = await admin.fetchval("SELECT id FROM consolidation_runs")
    with pytest.raises(Conflict, match="is retrying: it learned nothing"):
        await undo_change(memory, principal, run_id=run_id)


async def test_an_episode_deleted_since_is_told_and_the_rest_is_undone(
    memory: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    (episode,) = await tell(memory, principal, "tea please")
    await consolidate(memory, principal, answer(new_facts=[fact("Likes tea", "E1")]))
    run_id = await admin.fetchval("SELECT id FROM consolidation_runs")
    clock.advance(days=30)
    await clean_up(memory, principal)
    done = await undo_change(memory, principal, run_id=run_id)
    assert {(one.kind, one.act) for one in done.changes} == {
        ("fact", "removed"),
        ("episode", "gone"),
    }
    assert episode in {one.id for one in done.changes}
    assert await count(admin, "facts") == 0


async def test_every_column_is_restored_or_known_not_to_change(admin: Connection) -> None:
    """A column that a later migration adds must be named here or in `undo.sql`."""
    fixed = {
        "facts": {"content", "subject", "predicate", "subject_key", "predicate_key"},
        "rules": {"content"},
        "episodes": {
            "butler",
            "session_id",
            "content",
            "occurred_at",
            "speaker",
            "turn",
            "consolidated",
            "retry_count",
            "last_error",
        },
        "entities": {"name_key", "alias_keys"},
    }
    everywhere = {"tenant_id", "id", "created_at", "embedding", "search_vector"}
    everywhere |= {"embedding_version_id", *_COUNTERS}
    for table, unchanging in fixed.items():
        columns = {
            one["column_name"]
            for one in await admin.fetch(
                "SELECT column_name FROM information_schema.columns WHERE table_name = $1", table
            )
        }
        wanted = columns - everywhere - unchanging
        text = undo.SQL[f"restore_{table}"]
        assert {name for name in wanted if f"{name} = " not in text} == set()


async def test_a_run_that_found_nothing_is_undone_too(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    await tell(memory, principal, "tea please")
    before = await _state(admin, principal.tenant)
    await consolidate(memory, principal, NOTHING)
    await undo_change(memory, principal)
    assert await _state(admin, principal.tenant) == before
