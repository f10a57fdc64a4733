"""Facts that were stored before the entity that they are about had their subject's name."""

import io
from typing import Any
from uuid import UUID

import pytest

from conftest import NOW, Clock, Connection
from memory_butler.domain.principals import Principal
from memory_butler.engine.browse.entities import list_entities, look_at_entity, preview_merge
from memory_butler.engine.conflicts import list_conflicts
from memory_butler.engine.curate import forget_memory
from memory_butler.engine.entities import create_entity, merge_entities, update_entity
from memory_butler.engine.import_format import read_lines
from memory_butler.engine.imports import import_all
from memory_butler.engine.memory import Memory
from memory_butler.engine.remember import store_fact
from memory_butler.engine.undo import undo_change
from memory_butler.store.listing import Part

from .store_views import row

pytestmark = pytest.mark.anyio


async def _said(
    memory: Memory,
    principal: Principal,
    subject: str,
    content: str,
    predicate: str = "home",
    **how: Any,
) -> UUID:
    id, _ = await store_fact(memory, principal, subject, predicate, content, **how)
    return id


async def _about(memory: Memory, principal: Principal, entity_id: UUID) -> list[str]:
    _, _, found = await look_at_entity(memory, principal, entity_id)
    return sorted(one["content"] for one in found)


async def test_facts_of_before_are_about_the_entity_that_their_subject_names(
    memory: Memory, principal: Principal, other_tenant: Principal, admin: Connection, clock: Clock
) -> None:
    home = await _said(memory, principal, " bruno  GRAF", "Lives in Bern")
    await _said(memory, principal, "Bruno Keller", "Lives in Thun")
    theirs = await _said(memory, other_tenant, "Bruno Graf", "Lives in Rome")
    gone = await _said(memory, principal, "Bruno Graf", "Drives a Fiat", "car")
    await forget_memory(memory, principal, "fact", gone)
    clock.advance(days=100)
    made = await create_entity(memory, principal, "Bruno Graf", "person")
    assert made["facts_linked"] == 2  # the forgotten one, too: it may come back
    assert await _about(memory, principal, made["id"]) == ["Lives in Bern"]
    assert (await row(admin, "facts", gone))["entity_id"] == made["id"]
    assert (await row(admin, "facts", theirs))["entity_id"] is None
    before = memory.at(NOW)
    assert (
        await list_entities(before, principal, Part(9), entity_type=None, merged=None, q=None)
    ).total == 0
    await undo_change(memory, principal)
    assert (await row(admin, "facts", home))["entity_id"] is None


async def test_a_name_that_is_given_later_brings_its_facts(
    memory: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    nick = await _said(memory, principal, "Brüni", "Likes jazz", "likes")
    maiden = await _said(memory, principal, "Bruno Frei", "Was born in Chur", "born")
    graf = (await create_entity(memory, principal, "Bruno Graf", "person"))["id"]
    assert await _about(memory, principal, graf) == []
    clock.advance(days=1)
    changed = await update_entity(memory, principal, graf, aliases=["brüni"])
    assert changed is not None
    assert changed["facts_linked"] == 1
    clock.advance(days=1)
    await update_entity(memory, principal, graf, canonical_name="Bruno Frei")
    assert await _about(memory, principal, graf) == ["Likes jazz", "Was born in Chur"]
    await undo_change(memory, principal)
    assert [(await row(admin, "facts", id))["entity_id"] for id in (nick, maiden)] == [graf, None]


async def test_a_name_of_two_links_nothing_until_they_are_one(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    graf = (await create_entity(memory, principal, "Bruno Graf", "person", aliases=["Bruno"]))["id"]
    keller = (await create_entity(memory, principal, "B. Keller", "person", aliases=["bruno"]))[
        "id"
    ]
    await _said(memory, principal, "Bruno", "Likes jazz", "likes")
    clock.advance(days=1)
    changed = await update_entity(memory, principal, graf, aliases=["Bruno"])
    assert changed is not None
    assert "facts_linked" not in changed
    clock.advance(days=1)
    merged = await merge_entities(memory, principal, keller, graf)
    assert merged["facts_linked"] == 1
    assert await _about(memory, principal, graf) == ["Likes jazz"]
    await undo_change(memory, principal)
    assert await _about(memory, principal, graf) == []


async def test_of_two_facts_that_are_now_one_the_more_trusted_stays_then_the_newer(
    memory: Memory, principal: Principal, clock: Clock, admin: Connection
) -> None:
    old = await _said(memory, principal, "Bruno Graf", "Lives in Bern", trust="user_said")
    job = await _said(memory, principal, "Bruno Graf", "Is a cook", "job", trust="user_said")
    clock.advance(days=1)
    new = await _said(memory, principal, "Bruno", "Lives in Thun", trust="user_said")
    guess = await _said(memory, principal, "Bruno", "Is a baker", "job", trust="agent_inferred")
    clock.advance(days=1)
    made = await create_entity(memory, principal, "Bruno Graf", "person", aliases=["Bruno"])
    assert made["facts_linked"] == 4
    assert {one["id"] for one in made["superseded"]} == {old, guess}
    assert await _about(memory, principal, made["id"]) == ["Is a cook", "Lives in Thun"]
    lost = await row(admin, "facts", old)
    assert lost["valid_until"] == (await row(admin, "facts", new))["valid_from"]
    await undo_change(memory, principal)
    for id in (old, job, new, guess):
        one = await row(admin, "facts", id)
        assert (one["validity"], one["entity_id"], one["supersedes_id"]) == ("active", None, None)


async def test_two_allergies_that_are_now_of_one_person_both_hold(
    memory: Memory, principal: Principal, clock: Clock, admin: Connection
) -> None:
    nuts = await _said(memory, principal, "Ben", "Ben is allergic to nuts", "allergy")
    ben = (await create_entity(memory, principal, "Ben", "person"))["id"]
    clock.advance(days=1)
    penicillin = await _said(
        memory, principal, "Benjamin", "Benjamin is allergic to penicillin", "allergy"
    )
    clock.advance(days=1)
    again = await _said(memory, principal, "Benny", "Benny is allergic to nuts", "allergy")
    await _said(memory, principal, "Benny", "Is allergic to latex", "allergy", scope="health")
    clock.advance(days=1)
    changed = await update_entity(memory, principal, ben, aliases=["Benjamin", "Benny"])
    assert changed is not None
    assert changed["facts_linked"] == 3
    assert [one["id"] for one in changed["superseded"]] == [nuts]
    (beside,) = changed["beside"]
    assert beside["content"] == "Benjamin is allergic to penicillin"
    assert beside["predicate"] == "allergy_penicillin"
    assert await _about(memory, principal, ben) == [
        "Benjamin is allergic to penicillin",
        "Benny is allergic to nuts",
        "Is allergic to latex",
    ]
    former, stored = await row(admin, "facts", penicillin), await row(admin, "facts", beside["id"])
    assert former["validity"] == "superseded"
    for name in ("embedding", "valid_from", "last_confirmed_at", "permanence", "trust", "subject"):
        assert stored[name] == former[name], name
    await undo_change(memory, principal)
    for id in (nuts, penicillin, again):
        one = await row(admin, "facts", id)
        assert (one["validity"], one["predicate"]) == ("active", "allergy")
    assert await admin.fetchval("SELECT count(*) FROM facts WHERE id = $1", beside["id"]) == 0


async def test_two_allergies_both_hold_after_a_merge_as_its_preview_says(
    memory: Memory, principal: Principal, clock: Clock, admin: Connection
) -> None:
    ids = []
    for name, allergy in (("Ben", "nuts"), ("Benjamin", "penicillin")):
        entity = (await create_entity(memory, principal, name, "person"))["id"]
        ids.append(entity)
        await _said(memory, principal, name, f"{name} is allergic to {allergy}", "allergy")
        await _said(memory, principal, name, f"Was born in {allergy}ville", "birthplace_city")
        clock.advance(days=1)
    preview = await preview_merge(memory, principal, ids[1], ids[0])
    assert [one["content"] for one in preview.beside] == ["Benjamin is allergic to penicillin"]
    merged = await merge_entities(
        memory, principal, ids[1], ids[0], expected_revision=preview.revision
    )
    counts = ("facts_repointed", "facts_superseded")
    assert [merged[one] for one in counts] == [getattr(preview, one) for one in counts] == [1, 1]
    assert [one["predicate"] for one in merged["beside"]] == ["allergy_penicillin"]
    assert await _about(memory, principal, ids[0]) == [
        "Ben is allergic to nuts",
        "Benjamin is allergic to penicillin",
        "Was born in nutsville",
    ]
    await undo_change(memory, principal)
    assert await _about(memory, principal, ids[1]) == [
        "Benjamin is allergic to penicillin",
        "Was born in penicillinville",
    ]
    assert {row["predicate"] for row in await admin.fetch("SELECT predicate FROM facts")} == {
        "allergy",
        "birthplace_city",
    }


async def test_what_may_be_a_correction_holds_besides_and_is_shown_as_a_conflict(
    memory: Memory, principal: Principal, clock: Clock
) -> None:
    await _said(memory, principal, "Ben", "Plays the harp", "plays")
    clock.advance(days=1)
    await _said(memory, principal, "Benjamin", "Plays chess", "plays")
    clock.advance(days=1)
    made = await create_entity(memory, principal, "Ben", "person", aliases=["Benjamin"])
    assert await _about(memory, principal, made["id"]) == ["Plays chess", "Plays the harp"]
    _, (pair,) = await list_conflicts(memory, principal, 9, 0)
    assert (pair.kind, {pair.earlier["content"], pair.later["content"]}) == (
        "contradiction",
        {"Plays chess", "Plays the harp"},
    )


async def test_an_imported_entity_takes_up_what_is_there(
    memory: Memory, principal: Principal
) -> None:
    await _said(memory, principal, "Bruno Graf", "Lives in Bern")
    lines = (
        b'{"kind":"fact","id":"f","subject":"Bruno Graf","predicate":"likes","content":"Jazz"}\n'
        b'{"kind":"entity","id":"e","canonical_name":"Bruno Graf","entity_type":"person"}\n'
    )
    await import_all(memory, principal, read_lines(io.BytesIO(lines), principal.tenant))
    found = await list_entities(
        memory, principal, Part(9), entity_type=None, merged=None, q="bruno"
    )
    assert [one["facts"] for one in found.rows] == [2]


async def test_several_allergies_of_one_file_all_hold(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    await _said(memory, principal, "Ben", "Is allergic to dust", "allergy")
    lines = [
        '{"kind":"entity","id":"e","canonical_name":"Ben","entity_type":"person","aliases":["B"]}',
        *(
            f'{{"kind":"fact","id":"{id}","subject":"{name}","predicate":"{predicate}",'
            f'"content":"{content}","valid_from":"{since}-01-01T00:00:00Z"}}'
            for id, name, predicate, content, since in (
                ("a", "Ben", "allergy", "Ben is allergic to penicillin", 2024),
                ("b", "B", "allergy", "B is allergic to nuts", 2019),
                ("c", "Ben", "allergy", "Is allergic to latex", 2025),
                ("d", "Ben", "Allergy", "Ben is allergic to nuts", 2020),
                ("e", "Ben", "home", "Lives in Bern", 2020),
                ("f", "Ben", "home", "Lives in Thun", 2022),
            )
        ),
    ]

    async def bring(*lines: str) -> None:
        text = "\n".join(lines).encode()
        await import_all(
            memory, principal, read_lines(io.BytesIO(text), principal.tenant), trust="user_said"
        )

    await bring(*lines)
    more = '{"kind":"fact","id":"g","subject":"Ben","predicate":"allergy","content":"To soy"}'
    await bring(*lines, more)  # the same file, with a line more
    found = await admin.fetch(
        "SELECT predicate, content FROM facts WHERE validity = 'active' ORDER BY predicate"
    )
    assert [tuple(one) for one in found] == [
        ("allergy", "Is allergic to dust"),
        ("allergy_latex", "Is allergic to latex"),
        ("allergy_nuts", "Ben is allergic to nuts"),
        ("allergy_penicillin", "Ben is allergic to penicillin"),
        ("allergy_soy", "To soy"),
        ("home", "Lives in Thun"),
    ]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Has a severe reaction to bee stings", "Has a severe reaction to wasp venom"),
        ("Is allergic to soft cheese", "Is allergic to hard cheese"),
        ("Is allergic to nuts", "Is not allergic to penicillin"),
        ("Is allergic to nuts", "Had an anaphylactic shock after ibuprofen in 2019"),
    ],
)
async def test_no_allergy_is_taken_for_another_wording(
    memory: Memory, principal: Principal, clock: Clock, one: str, other: str
) -> None:
    await _said(memory, principal, "Ben", one, "allergy")
    clock.advance(days=1)
    await _said(memory, principal, "Benjamin", other, "allergy", permanence="permanent")
    clock.advance(days=1)
    made = await create_entity(memory, principal, "Ben", "person", aliases=["Benjamin"])
    assert await _about(memory, principal, made["id"]) == sorted([one, other])
