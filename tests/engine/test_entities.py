"""Entities: who a name means, and merging two that are one."""

import asyncio
from typing import Any
from uuid import UUID, uuid4

import pytest

from conftest import NOW, Clock, Connection
from memory_butler.domain.errors import InvalidInput
from memory_butler.domain.principals import Principal
from memory_butler.engine.browse.entities import list_entities
from memory_butler.engine.entities import (
    create_entity,
    get_entity,
    merge_entities,
    resolve_entity,
    update_entity,
)
from memory_butler.engine.memory import Memory
from memory_butler.engine.remember import store_fact
from memory_butler.store.listing import Part

from .store_views import count, event_types, row, states

pytestmark = pytest.mark.anyio


async def _person(memory: Memory, principal: Principal, name: str, **more: Any) -> UUID:
    id: UUID = (await create_entity(memory, principal, name, "person", **more))["id"]
    return id


async def _names(memory: Memory, principal: Principal, name: str, **how: Any) -> list[str]:
    return [one.canonical_name for one in await resolve_entity(memory, principal, name, **how)]


@pytest.mark.requirement("ENT-04", "MEV-01")
async def test_an_entity_is_registered_and_found_by_id(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    made = await create_entity(
        memory, principal, "Ann", "person", aliases=["Annie"], metadata={"age": 7}
    )
    assert await get_entity(memory, principal, str(made["id"])) == made
    assert (made["canonical_name"], made["entity_type"]) == ("Ann", "person")
    assert (made["aliases"], made["metadata"]) == (["Annie"], {"age": 7})
    assert made["created_at"] == made["updated_at"] == NOW
    assert await get_entity(memory, principal, uuid4()) is None
    assert await event_types(admin) == ["entity_created"]


@pytest.mark.requirement("ENT-01", "ENTT-08")
async def test_a_name_and_type_can_be_taken_once(
    memory: Memory, principal: Principal, other_tenant: Principal, admin: Connection
) -> None:
    ann = await _person(memory, principal, "Ann")
    with pytest.raises(ValueError, match=f"person 'Ann' exists already: entity {ann}"):
        await _person(memory, principal, "Ann")
    await create_entity(memory, principal, "Ann", "place")
    await _person(memory, other_tenant, "Ann")
    assert await event_types(admin) == ["entity_created"] * 3


async def test_spaces_make_no_other_name(memory: Memory, principal: Principal) -> None:
    ann = await _person(memory, principal, " Ann\tLee ", aliases=[" Annie "])
    for name in ("Ann Lee", "Ann  Lee", "Ann Lee "):
        with pytest.raises(InvalidInput, match=f"person 'Ann Lee' exists already: entity {ann}"):
            await create_entity(memory, principal, name, "person")
        (found,) = await resolve_entity(memory, principal, name)
        assert (found.entity_id, found.name_match) == (ann, "exact")
    (found,) = await resolve_entity(memory, principal, "Annie")
    assert (found.entity_id, found.name_match) == (ann, "alias")


async def test_one_of_the_same_name_is_made_as_the_refusal_says(
    memory: Memory, principal: Principal
) -> None:
    ann = await _person(memory, principal, "Ann")
    said = r"else give a fuller name, such as 'Ann \(Porto\)', and 'Ann' as an alias"
    with pytest.raises(InvalidInput, match=said):
        await _person(memory, principal, "Ann")
    other = await _person(memory, principal, "Ann (Porto)", aliases=["Ann"])
    found = await resolve_entity(memory, principal, "Ann")
    assert [one.entity_id for one in found] == [ann, other]


@pytest.mark.requirement("ENT-01")
async def test_a_merged_name_stays_taken(memory: Memory, principal: Principal) -> None:
    bob, robert = [await _person(memory, principal, name) for name in ("Bob", "Robert")]
    await merge_entities(memory, principal, bob, robert)
    with pytest.raises(InvalidInput, match=f"merged into {robert}"):
        await _person(memory, principal, "Bob")


@pytest.mark.requirement("ENT-02")
async def test_bad_entities_are_refused(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    with pytest.raises(ValueError, match="person, organization, place, other"):
        await create_entity(memory, principal, "Rex", "dog")
    for name, aliases in ((" ", []), ("x" * 1001, []), ("Ann", ["a"] * 201), ("Ann", [""])):
        with pytest.raises(InvalidInput):
            await create_entity(memory, principal, name, "person", aliases=aliases)
    assert await count(admin, "entities") == 0


@pytest.mark.requirement("ENT-03", "MEV-01")
async def test_an_update_replaces_names_and_merges_metadata(
    memory: Memory, principal: Principal, clock: Clock, admin: Connection
) -> None:
    ann = await _person(memory, principal, "Ann", aliases=["A"], metadata={"a": 1, "b": 1})
    now = clock.advance(days=1)
    changed = await update_entity(
        memory, principal, ann, canonical_name="Anna", aliases=["B"], metadata={"b": 2, "c": 3}
    )
    assert changed is not None
    assert (changed["canonical_name"], changed["aliases"]) == ("Anna", ["B"])
    assert changed["metadata"] == {"a": 1, "b": 2, "c": 3}
    assert (changed["created_at"], changed["updated_at"]) == (NOW, now)
    (before,) = await states(admin, "entity", ann)
    assert before["state"]["canonical_name"] == "Ann"
    assert await event_types(admin) == ["entity_created", "entity_updated"]
    kept = await update_entity(memory, principal, ann)
    assert kept is not None
    assert (kept["canonical_name"], kept["aliases"]) == ("Anna", ["B"])
    assert await update_entity(memory, principal, uuid4(), canonical_name="x") is None


@pytest.mark.requirement("ENT-01", "ENT-03")
async def test_an_entity_cannot_take_another_ones_name(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    ann, bea = [await _person(memory, principal, name) for name in ("Ann", "Bea")]
    with pytest.raises(InvalidInput, match=f"exists already: entity {ann}"):
        await update_entity(memory, principal, bea, canonical_name="Ann")
    assert (await row(admin, "entities", bea))["canonical_name"] == "Bea"


@pytest.mark.requirement("RES-01", "RES-02", "RES-03", "RES-09")
async def test_names_are_resolved_in_tiers(memory: Memory, principal: Principal) -> None:
    exact = await _person(memory, principal, "Jo")
    await _person(memory, principal, "Zoe", aliases=["JO"])
    await _person(memory, principal, "Johanna")
    await _person(memory, principal, "Mary", aliases=["Banjo Mary"])
    await _person(memory, principal, "Nobody")
    found = await resolve_entity(memory, principal, "jO")
    assert [(one.canonical_name, one.name_match, one.score) for one in found] == [
        ("Jo", "exact", 100.0),
        ("Zoe", "alias", 80.0),
        ("Johanna", "prefix", 50.0),
        ("Mary", "prefix", 50.0),
    ]
    assert (found[0].entity_id, found[0].entity_type, found[1].aliases) == (
        exact,
        "person",
        ("JO",),
    )


@pytest.mark.requirement("RES-10")
async def test_an_unknown_or_blank_name_resolves_to_nobody_and_makes_nobody(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    await _person(memory, principal, "Ann")
    for name in ("Zacharias", "", "  ", "\x00", "\ud800"):
        assert await resolve_entity(memory, principal, name, enable_fuzzy=True) == []
    assert await count(admin, "entities") == 1


@pytest.mark.requirement("RES-03")
@pytest.mark.parametrize("name", ["%", "_", "A_n", "100%", "\\"])
async def test_wildcards_are_letters(memory: Memory, principal: Principal, name: str) -> None:
    await _person(memory, principal, "Ann")
    assert await _names(memory, principal, name) == []
    await _person(memory, principal, f"x{name}y")
    assert await _names(memory, principal, name) == [f"x{name}y"]


@pytest.mark.requirement("RES-09")
async def test_a_type_narrows_the_answer(memory: Memory, principal: Principal) -> None:
    await _person(memory, principal, "Paris")
    place = await create_entity(memory, principal, "Paris", "place")
    (found,) = await resolve_entity(memory, principal, "paris", entity_type="place")
    assert found.entity_id == place["id"]
    with pytest.raises(InvalidInput, match="unknown entity type"):
        await resolve_entity(memory, principal, "paris", entity_type="city")


@pytest.mark.requirement("RES-04")
async def test_a_similar_name_is_found_only_on_request(
    memory: Memory, principal: Principal
) -> None:
    await _person(memory, principal, "Catherine")
    await _person(memory, principal, "Kit", aliases=["Katherina"])
    await _person(memory, principal, "Katherine Smith")
    assert await _names(memory, principal, "Katherine") == ["Katherine Smith"]
    found = await resolve_entity(memory, principal, "Katherine", enable_fuzzy=True)
    assert [(one.canonical_name, one.name_match, one.score) for one in found] == [
        ("Katherine Smith", "prefix", 50.0),
        ("Catherine", "fuzzy", 20.0),
        ("Kit", "fuzzy", 20.0),
    ]
    assert await _names(memory, principal, "Kx", enable_fuzzy=True) == []


@pytest.mark.requirement("RES-05")
async def test_without_pg_trgm_nothing_similar_is_found_and_nothing_fails(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    await _person(memory, principal, "Catherine")
    await _person(memory, principal, "Katherine Smith")
    await admin.execute("DROP EXTENSION pg_trgm")
    found = await _names(
        memory, principal, "Katherine", enable_fuzzy=True, context_hints={"topic": "tea"}
    )
    assert found == ["Katherine Smith"]


@pytest.mark.requirement("RES-06")
async def test_a_merged_entity_is_found_by_its_heir(memory: Memory, principal: Principal) -> None:
    bob = await _person(memory, principal, "Bob Smith")
    robert = await _person(memory, principal, "Robert Smith")
    await merge_entities(memory, principal, bob, robert)
    for fuzzy in (False, True):
        (found,) = await resolve_entity(memory, principal, "bob smith", enable_fuzzy=fuzzy)
        assert (found.entity_id, found.name_match) == (robert, "alias")


@pytest.mark.requirement("RES-07", "RES-08", "RES-09")
async def test_hints_move_the_likelier_one_up(memory: Memory, principal: Principal) -> None:
    baker = await _person(memory, principal, "Ann Baker")
    pilot = await _person(memory, principal, "Ann Pilot")
    await store_fact(memory, principal, "Ann", "job", "flies planes", entity_id=pilot)
    await store_fact(memory, principal, "Ann", "job", "bakes bread", entity_id=baker)
    assert await _names(memory, principal, "Ann") == ["Ann Baker", "Ann Pilot"]
    found = await resolve_entity(
        memory, principal, "Ann", context_hints={"topic": "planes", "mentioned_with": ["flies"]}
    )
    assert [one.entity_id for one in found] == [pilot, baker]
    assert found[0].score == pytest.approx(50 + 20 * 2 / 3, abs=1e-4)
    assert found[1].score == 50.0
    scored = await resolve_entity(
        memory, principal, "Ann", context_hints={"domain_scores": {str(pilot): 7.5, "x": "y"}}
    )
    assert [(one.entity_id, one.score) for one in scored] == [(pilot, 57.5), (baker, 50.0)]
    odd_hints: list[dict[str, Any]] = [
        {"topic": 5},
        {"mentioned_with": {}},
        {"domain_scores": []},
        {"other": 1},
    ]
    for hints in odd_hints:
        assert len(await resolve_entity(memory, principal, "Ann", context_hints=hints)) == 2


@pytest.fixture
async def pair(memory: Memory, principal: Principal) -> tuple[UUID, UUID]:
    """The source and the target of a merge."""
    source = await _person(
        memory, principal, "Bob", aliases=["Bobby", "ROB"], metadata={"a": 1, "b": 1}
    )
    target = await _person(memory, principal, "Robert", aliases=["Rob"], metadata={"b": 2})
    return source, target


@pytest.mark.requirement("MRG-01", "MRG-02", "MRG-04", "MRG-05", "MRG-06", "MRG-07")
async def test_a_merge_moves_facts_names_and_metadata(
    memory: Memory, principal: Principal, pair: tuple[UUID, UUID], admin: Connection, clock: Clock
) -> None:
    source, target = pair
    old, _ = await store_fact(memory, principal, "Bob", "job", "cook", entity_id=source)
    job, _ = await store_fact(memory, principal, "Bob", "job", "chef", entity_id=source)
    await store_fact(memory, principal, "Robert", "home", "Rome", entity_id=target)
    now = clock.advance(days=1)
    merged = await merge_entities(memory, principal, source, target)
    assert (merged.pop("superseded"), merged.pop("beside")) == ([], [])
    assert merged == {
        "source_entity_id": str(source),
        "target_entity_id": str(target),
        "facts_repointed": 1,
        "facts_superseded": 0,
        "aliases_added": 2,
    }
    for id in (old, job):  # facts of whatever validity move
        assert (await row(admin, "facts", id))["entity_id"] == target
    heir, tombstone = await row(admin, "entities", target), await row(admin, "entities", source)
    assert heir["aliases"] == ["Rob", "Bobby", "Bob"]
    assert heir["metadata"] == {"a": 1, "b": 2}
    assert tombstone["metadata"]["merged_into"] == str(target)
    assert tombstone["updated_at"] == now
    event = await admin.fetchrow("SELECT * FROM memory_events WHERE event_type = 'entity_merge'")
    assert (event["payload"], event["created_at"]) == (merged, now)
    for id in pair:
        assert len(await states(admin, "entity", id)) == 1


@pytest.mark.requirement("MRG-03")
@pytest.mark.parametrize(
    ("source_confidence", "target_confidence", "source_wins"),
    [(0.9, 0.5, True), (0.5, 0.9, False), (0.7, 0.7, False)],
)
async def test_the_more_certain_fact_survives_a_merge(
    memory: Memory,
    principal: Principal,
    pair: tuple[UUID, UUID],
    admin: Connection,
    source_confidence: float,
    target_confidence: float,
    source_wins: bool,
) -> None:
    source, target = pair
    mine, _ = await store_fact(memory, principal, "Bob", "job", "chef", entity_id=source)
    theirs, _ = await store_fact(memory, principal, "Rob", "job", "cook", entity_id=target)
    for id, confidence in ((mine, source_confidence), (theirs, target_confidence)):
        await admin.execute("UPDATE facts SET confidence = $2 WHERE id = $1", id, confidence)
    merged = await merge_entities(memory, principal, source, target)
    winner, loser = (mine, theirs) if source_wins else (theirs, mine)
    won, lost = await row(admin, "facts", winner), await row(admin, "facts", loser)
    assert (won["validity"], won["entity_id"]) == ("active", target)
    assert (lost["validity"], lost["entity_id"]) == ("superseded", target)
    assert won["supersedes_id"] == loser
    link = await admin.fetchrow("SELECT * FROM memory_links")
    assert (link["source_id"], link["target_id"], link["relation"]) == (winner, loser, "supersedes")
    assert merged["facts_superseded"] == 1
    assert merged["facts_repointed"] == (1 if source_wins else 0)
    assert "fact_superseded" in await event_types(admin)


@pytest.mark.requirement("MRG-08", "FAIL-02")
async def test_impossible_merges_are_refused(
    memory: Memory,
    principal: Principal,
    other_tenant: Principal,
    pair: tuple[UUID, UUID],
    admin: Connection,
) -> None:
    source, target = pair
    foreign = await _person(memory, other_tenant, "Robert")
    refused = [
        (source, source, "cannot be merged into itself"),
        (uuid4(), target, "the source entity .* does not exist"),
        (source, uuid4(), "the target entity .* does not exist"),
        (source, foreign, "the target entity .* does not exist"),
    ]
    for one, other, message in refused:
        with pytest.raises(ValueError, match=message):
            await merge_entities(memory, principal, one, other)
    assert "entity_merge" not in await event_types(admin)
    await merge_entities(memory, principal, source, target)
    for one, other in ((source, target), (target, source)):
        with pytest.raises(ValueError, match=r"was merged into .* already"):
            await merge_entities(memory, principal, one, other)
    theirs = await _person(memory, other_tenant, "Bob")
    await merge_entities(memory, other_tenant, theirs, foreign)


@pytest.mark.requirement("MRG-04")
async def test_the_sources_name_can_be_left_behind(
    memory: Memory, principal: Principal, pair: tuple[UUID, UUID]
) -> None:
    merged = await merge_entities(memory, principal, *pair, keep_source_name=False)
    assert merged["aliases_added"] == 1
    heir = await get_entity(memory, principal, pair[1])
    assert heir is not None
    assert heir["aliases"] == ["Rob", "Bobby"]


@pytest.mark.requirement("MRG-01", "FACT-28")
async def test_merging_and_storing_at_once_lose_no_fact(
    memory: Memory, principal: Principal, pair: tuple[UUID, UUID], admin: Connection
) -> None:
    source, target = pair
    stores = [
        store_fact(memory, principal, "x", f"p{n % 3}", f"c{n}", entity_id=pair[n % 2])
        for n in range(16)
    ]
    done = await asyncio.gather(
        *stores[:8],
        merge_entities(memory, principal, source, target),
        *stores[8:],
        return_exceptions=True,
    )
    failures = [one for one in done if isinstance(one, BaseException)]
    # Who came after the merge is told where the entity went; nobody meets a broken constraint.
    assert all(f"was merged into {target}" in str(one) for one in failures), failures
    assert await count(admin, "facts") == 16 - len(failures)
    assert await admin.fetchval("SELECT count(*) FROM facts WHERE entity_id <> $1", target) == 0
    active = await admin.fetch("SELECT predicate FROM facts WHERE validity = 'active'")
    assert sorted(one["predicate"] for one in active) == ["p0", "p1", "p2"]


@pytest.mark.requirement("MRG-01")
async def test_two_merges_of_one_pair_cannot_both_happen(
    memory: Memory, principal: Principal, pair: tuple[UUID, UUID]
) -> None:
    source, target = pair
    done = await asyncio.gather(
        merge_entities(memory, principal, source, target),
        merge_entities(memory, principal, target, source),
        return_exceptions=True,
    )
    assert sorted(isinstance(one, InvalidInput) for one in done) == [False, True]


@pytest.mark.anyio
async def test_only_a_merge_makes_a_tombstone(memory: Memory, principal: Principal) -> None:
    with pytest.raises(InvalidInput, match="merged_into"):
        await create_entity(
            memory, principal, "Ann", "person", metadata={"merged_into": str(uuid4())}
        )
    entity = await create_entity(memory, principal, "Ann", "person")
    with pytest.raises(InvalidInput, match="merged_into"):
        await update_entity(memory, principal, entity["id"], metadata={"merged_into": "x"})


async def test_a_name_is_found_by_its_beginning_in_every_script(
    memory: Memory, principal: Principal
) -> None:
    for name in ("İstanbul Üniversitesi", "ΟΔΟΣ ΑΘΗΝΑΣ"):
        await create_entity(memory, principal, name, "place")
        assert await _names(memory, principal, name[:4]) == [name]
        found = await list_entities(
            memory, principal, Part(10), entity_type=None, merged=None, q=name[:4]
        )
        assert [row["canonical_name"] for row in found.rows] == [name]
