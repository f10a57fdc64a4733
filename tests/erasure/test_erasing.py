"""Erasing for good: what goes, what stays, that nothing finds it, that its bytes are gone."""

import io
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import pytest

from conftest import Clock, Connection, Database, Template, cloned
from engine.consolidation.scenes import answer, consolidate, fact, tell
from engine.noted import receipt_of
from engine.store_views import count
from memory_butler.domain.errors import (
    ConfigurationError,
    Conflict,
    IntegrityViolation,
    InvalidInput,
    NotFound,
    Unavailable,
)
from memory_butler.domain.principals import Principal
from memory_butler.engine.context import build_context
from memory_butler.engine.curate import confirm_memory
from memory_butler.engine.edits import edit_fact, edit_rule
from memory_butler.engine.entities import create_entity, merge_entities
from memory_butler.engine.export import export_all, restore_all
from memory_butler.engine.feedback import rule_harmed
from memory_butler.engine.import_format import read_lines
from memory_butler.engine.imports import ImportReport, import_all
from memory_butler.engine.linking import create_link
from memory_butler.engine.memory import Memory
from memory_butler.engine.recall import search
from memory_butler.engine.receipts import replay
from memory_butler.engine.remember import store_episode, store_fact, store_rule
from memory_butler.engine.tokens import create_token
from memory_butler.engine.undo import undo_change
from memory_butler.erasure import certificate, erasing
from memory_butler.erasure.erasing import erase, finish, preview
from memory_butler.erasure.probes import Probe
from memory_butler.erasure.scope import Target
from memory_butler.journal.file import JournalFile
from memory_butler.journal.live import LiveJournal
from memory_butler.store import dump, schema, scrubbing

pytestmark = pytest.mark.anyio


@pytest.fixture
async def database(template: Template) -> AsyncIterator[Database]:
    """Where no test has deleted anything: its bytes would still be there."""
    async with cloned(template) as database:
        yield database


# Short, and of letters that no compression of PostgreSQL would touch alone.
MARKER = "Zephyrine Quokkaschmidt plays the theremin"


@pytest.fixture
def kept(memory: Memory, tmp_path: Path) -> Memory:
    """A memory with a folder of its own, whose bytes are somebody else's."""
    return replace(memory, data_dir=tmp_path)


async def _everywhere(admin: Connection, text: str) -> dict[str, int]:
    """How many rows of which table hold a text or an id, past row-level security."""
    found = {}
    for table in await admin.fetch(
        "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace"
        " AND relkind = 'r' AND relname <> 'erasures'"
    ):
        name = table["relname"]
        rows = await admin.fetchval(
            f"SELECT count(*) FROM {name} t WHERE t::text LIKE '%' || $1 || '%'", text
        )
        if rows:
            found[name] = rows
    return found


async def test_an_episode_goes_with_what_was_drawn_from_it_alone(
    kept: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    session = uuid4()
    await store_fact(kept, principal, "user", "name", "Jo")
    first, second = await tell(
        kept, principal, MARKER, "we planned a trip to Lisbon", session_id=session
    )
    other = (await tell(kept, principal, "the trip goes to Lisbon indeed"))[0]
    await consolidate(
        kept,
        principal,
        answer(
            new_facts=[
                fact(f"{MARKER} daily", "E1", predicate="plays"),
                fact("A trip to Lisbon", "E2", "E3", predicate="trip"),
            ],
            new_rules=[{"content": f"Ask how {MARKER}", "source_episode_ids": ["E1"]}],
        ),
    )
    clock.advance(hours=1)
    drawn = {row["predicate"]: row["id"] for row in await admin.fetch("SELECT * FROM facts")}
    await confirm_memory(kept, principal, "fact", drawn["plays"])
    await search(kept, principal, MARKER, session_id=session)
    assert set(await _everywhere(admin, "Quokkaschmidt")) >= {"episodes", "facts", "rules"}

    target = Target(session_id=session)
    looked = await preview(kept, principal, target)
    assert set(looked.scope.doomed.episodes) == {first, second}
    assert looked.scope.doomed.facts == (drawn["plays"],)
    (stays,) = [one for one in looked.scope.kept if one.kind == "fact"]
    assert (stays.id, stays.left) == (drawn["trip"], 1)
    assert stays.closest is not None
    assert stays.closest > 0.5
    assert looked.labels[drawn["plays"]].endswith(f"plays: {MARKER} daily")
    assert looked.labels[drawn["trip"]].endswith("trip: A trip to Lisbon")
    assert MARKER in looked.labels[first]
    assert await count(admin, "episodes") == 3  # a preview changes nothing

    done = (await erase(kept, principal, target)).certificate
    assert await _everywhere(admin, "Quokkaschmidt") == {}
    for id in (first, second, drawn["plays"]):
        assert await _everywhere(admin, str(id)) == {}
    assert {row["id"] for row in await admin.fetch("SELECT id FROM episodes")} == {other}
    assert drawn["trip"] in {row["id"] for row in await admin.fetch("SELECT id FROM facts")}
    assert done["rows"]["episodes"] == 2
    assert done["rows"]["served"] == 1
    assert {one["path"]: one["found"] for one in done["probes"]} == {
        "id": 0,
        "keyword": 0,
        "nearest vector": 0,
        "past states": 0,
        "export": 0,
    }
    assert all(one["asked"] for one in done["probes"])
    assert [one["id"] for one in done["kept"]["items"]] == [str(drawn["trip"])]
    # What is left of the events can be undone no more, and says so.
    told = await admin.fetchval("SELECT id FROM memory_events WHERE payload ? 'erased' LIMIT 1")
    with pytest.raises(Conflict, match="part of it was erased"):
        await undo_change(kept, principal, event_id=told)


async def test_an_entity_goes_with_those_merged_into_it_and_every_fact(
    kept: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    people: list[UUID] = []
    for name in ("Zephyrine", "Zeph"):
        made = await create_entity(kept, principal, name, "person")
        await store_fact(kept, principal, name, "likes", f"{name} likes tea", entity_id=made["id"])
        people.append(made["id"])
    bystander, _ = await store_fact(kept, principal, "Bob", "likes", "coffee")
    clock.advance(hours=1)
    await merge_entities(kept, principal, people[1], people[0])
    done = (await erase(kept, principal, Target(entity_id=people[0]))).certificate
    assert (done["rows"]["entities"], done["rows"]["facts"]) == (2, 2)
    assert await _everywhere(admin, "Zeph") == {}
    assert [row["id"] for row in await admin.fetch("SELECT id FROM facts")] == [bystander]


async def test_what_else_names_an_erased_person_is_told(
    kept: Memory, principal: Principal, clock: Clock
) -> None:
    made = await create_entity(
        kept, principal, "Tomás Ferreira", "person", aliases=["Ed", "田中", "T. (Tom)"]
    )
    about, _ = await store_fact(kept, principal, "Tomás Ferreira", "phone", "555 0199")
    named = [
        (await store_fact(kept, principal, subject, "note", content))[0]
        for subject, content in (
            ("Pepa", "Ferret of TOMÁS  Ferreira"),
            ("Tomás Ferreiras Haus", "has a garden"),
            ("Tomás Ferreira-Lobo", "plays the drums"),
            ("guest", "is Ana-Tomás Ferreira by her passport"),
            ("lunch", "with Ed on Friday"),
            ("customer", "株式会社田中さんに電話"),
            ("ask", "T. (Tom), not his brother"),
        )
    ]
    for subject, content in (("shed", "needed an edge"), ("Tom", "Ferreira is a wine")):
        await store_fact(kept, principal, subject, "note", content)
    rule = await store_rule(kept, principal, "Call Tomás Ferreira before noon")
    (said,) = await tell(kept, principal, "we met Tomás Ferreira")
    clock.advance(hours=1)
    target = Target(entity_id=made["id"])
    found = (await preview(kept, principal, target)).scope
    assert found.doomed.facts == (about,)
    assert {one.id for one in found.kept} == {*named, rule, said}
    assert {one.why for one in found.kept} == {"names the erased entity"}
    wider = (await preview(kept, principal, replace(target, mentions=True))).scope
    # What goes for good has the name as it is written; "TOMÁS" and "Ferreira-Lobo" are told.
    assert set(wider.doomed.facts) == {about, *named[4:]}
    assert (wider.doomed.rules, wider.doomed.episodes) == ((rule,), (said,))
    assert {one.id for one in wider.kept} == set(named[:4])
    done = (await erase(kept, principal, target)).certificate
    assert done["kept"]["total"] == len(named) + 2
    assert "Ferreira" not in json.dumps(done)


async def test_what_has_the_first_name_of_an_erased_person_alone_is_told(
    kept: Memory, principal: Principal
) -> None:
    """Nobody can tell whose it is; whoever erases is to look at it."""
    made = (await create_entity(kept, principal, "Tom Reilly", "person"))["id"]
    other = (await create_entity(kept, principal, "Tom Brandt", "person"))["id"]
    firm = (await create_entity(kept, principal, "Acme Tools", "organization"))["id"]
    told = [
        (await store_fact(kept, principal, subject, "note", content))[0]
        for subject, content in (("Tom", "Takes two sugars"), ("shed", "Tom's drill is in it"))
    ]
    told.append(await store_rule(kept, principal, "Ask Tom before noon"))
    told += await tell(kept, principal, "we met Tom and his dog")
    await store_fact(kept, principal, "Tom Brandt", "note", "Tom has a van", entity_id=other)
    for subject, content in (
        ("tins", "Tom Brandt brought them, by tom-tom"),
        ("atlas", "of Tom-Lin and Tomas"),
        ("Acme", "sells nails"),
    ):
        await store_fact(kept, principal, subject, "note", content)
    found = (await preview(kept, principal, Target(entity_id=made))).scope
    assert {one.id for one in found.kept} == set(told)
    assert {one.why for one in found.kept} == {
        "has the first name alone, and may be about the erased person or another"
    }
    wider = (await preview(kept, principal, Target(entity_id=made, mentions=True))).scope
    assert {one.id for one in wider.kept} == set(told)
    assert (await preview(kept, principal, Target(entity_id=firm))).scope.kept == ()


async def test_what_once_named_an_erased_person_and_who_shares_the_name_are_told(
    kept: Memory, principal: Principal, clock: Clock
) -> None:
    made = (await create_entity(kept, principal, "Tom Reilly", "person"))["id"]
    other = (await create_entity(kept, principal, "Tom Brandt", "person"))["id"]
    firm = (await create_entity(kept, principal, "Tom Reilly Removals", "organization"))["id"]
    rule = await store_rule(kept, principal, "Ring Tom Reilly before noon")
    clock.advance(minutes=1)
    await edit_rule(kept, principal, rule, {"content": "Ring before noon"})
    clock.advance(minutes=1)
    await merge_entities(kept, principal, made, other)
    clock.advance(minutes=1)
    merged = Target(entity_id=made)
    await undo_change(kept, principal)
    looked = await preview(kept, principal, merged)
    why = {one.id: one.why for one in looked.scope.kept}
    once = "named the erased entity before it was changed, and its past state still does"
    assert why == {other: once, rule: once, firm: "has a name of the erased entity"}
    assert looked.labels[firm] == "Tom Reilly Removals"
    done = (await erase(kept, principal, replace(merged, mentions=True))).certificate
    assert {one["kind"] for one in done["kept"]["items"]} == {"entity", "rule"}


async def test_what_an_undo_removed_of_a_person_goes_too(
    kept: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    """Its past state is all that is left of it, and still says what was said."""
    ana = (await create_entity(kept, principal, "Zephyrine Alt", "person"))["id"]
    ben = (await create_entity(kept, principal, "Ben Alt", "person"))["id"]
    fact_id, _ = await store_fact(
        kept, principal, "Zephyrine Alt", "allergy", "Zephyrine is allergic to eggs", entity_id=ana
    )
    await store_fact(kept, principal, "Ben Alt", "allergy", "Is allergic to nuts", entity_id=ben)
    clock.advance(hours=1)
    # A fact that was taken back, an edit, and a merge that had to store one anew beside the other.
    await store_fact(kept, principal, "Zephyrine Alt", "car", "Zephyrine: a Fiat", entity_id=ana)
    clock.advance(minutes=1)
    await undo_change(kept, principal)
    clock.advance(minutes=1)
    await edit_fact(kept, principal, fact_id, {"content": "Zephyrine is allergic to egg white"})
    clock.advance(minutes=1)
    await undo_change(kept, principal)
    clock.advance(minutes=1)
    await merge_entities(kept, principal, ana, ben)
    clock.advance(minutes=1)
    await undo_change(kept, principal)
    before = await _everywhere(admin, "Zephyrine")
    assert before["memory_versions"] >= 3
    clock.advance(hours=1)

    looked = await preview(kept, principal, Target(entity_id=ana))
    assert fact_id in looked.scope.doomed.facts
    assert len(looked.scope.doomed.facts) == 4
    assert all(looked.labels[id] for id in looked.scope.doomed.facts)
    done = (await erase(kept, principal, Target(entity_id=ana))).certificate
    assert not any(one["found"] for one in done["probes"])
    left = await _everywhere(admin, "allergic to egg")
    assert left == {}
    assert await _everywhere(admin, "a Fiat") == {}
    assert len(await admin.fetch("SELECT FROM facts")) == 1


async def test_what_an_undo_removed_goes_with_its_session_writer_episode_or_by_its_id(
    kept: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    session = uuid4()
    await tell(kept, principal, f"{MARKER} one", session_id=session)
    clock.advance(minutes=1)
    await undo_change(kept, principal)
    assert await _everywhere(admin, f"{MARKER} one") == {"memory_versions": 1}
    await erase(kept, principal, Target(session_id=session))
    assert await _everywhere(admin, MARKER) == {}
    clock.advance(minutes=1)

    laptop = replace(principal, actor="token:laptop")
    await store_rule(kept, laptop, f"Ask whether {MARKER}")
    clock.advance(minutes=1)
    await undo_change(kept, laptop)
    await erase(kept, principal, Target(writer="token:laptop"))
    assert await _everywhere(admin, MARKER) == {}
    clock.advance(minutes=1)

    (said,) = await tell(kept, principal, "we met somebody")
    clock.advance(minutes=1)
    await store_fact(kept, principal, "user", "met", MARKER, source_episode_id=said)
    clock.advance(minutes=1)
    await undo_change(kept, principal)
    await erase(kept, principal, Target(memory=("episode", said)))
    assert await _everywhere(admin, MARKER) == {}
    clock.advance(minutes=1)

    id, _ = await store_fact(kept, principal, "user", "heard", MARKER)
    clock.advance(minutes=1)
    await undo_change(kept, principal)
    with pytest.raises(NotFound):
        await erase(kept, principal, Target(memory=("rule", id)))
    await erase(kept, principal, Target(memory=("fact", id)))
    assert await _everywhere(admin, MARKER) == {}
    clock.advance(minutes=1)


async def test_what_an_undo_removed_and_names_an_erased_person_is_told_or_goes(
    kept: Memory, principal: Principal, other_tenant: Principal, admin: Connection, clock: Clock
) -> None:
    made = (await create_entity(kept, principal, "Zephyrine Alt", "person"))["id"]
    for one in (principal, other_tenant):
        clock.advance(minutes=1)
        await store_fact(kept, one, "van", "lent", "Lent to Zephyrine Alt")
        clock.advance(minutes=1)
        await undo_change(kept, one)
    target = Target(entity_id=made)
    looked = await preview(kept, principal, target)
    ((id, why),) = [(one.id, one.why) for one in looked.scope.kept]
    assert "undo removed it" in why
    assert looked.labels[id] == "van · lent: Lent to Zephyrine Alt"
    await erase(kept, principal, replace(target, mentions=True))
    # Another tenant's own stays.
    assert await _everywhere(admin, "Lent to Zephyrine") == {"memory_versions": 1}


async def test_all_that_one_program_stored_goes(
    kept: Memory, principal: Principal, admin: Connection
) -> None:
    """By the name of its token, or as a butler, with what was learned from its episodes."""
    laptop = replace(principal, actor="token:laptop")
    for writer in (principal, laptop):
        await store_fact(kept, writer, "Ana", writer.actor, "Likes tea")
        await store_rule(kept, writer, f"Ask first, says {writer.actor}")
    (said,) = await tell(kept, principal, "I like tea")
    await consolidate(kept, principal, answer(new_facts=[fact("Likes tea", "E1")]))
    found = (await preview(kept, principal, Target(writer="token:laptop"))).scope.doomed
    assert (len(found.episodes), len(found.facts), len(found.rules)) == (0, 1, 1)
    found = (await preview(kept, principal, Target(writer="general"))).scope.doomed
    assert (found.episodes, len(found.facts), len(found.rules)) == ((said,), 1, 0)
    with pytest.raises(NotFound, match="nothing that nobody stored"):
        await preview(kept, principal, Target(writer=" nobody "))
    with pytest.raises(InvalidInput, match="writer"):
        await preview(kept, principal, Target(writer=" "))
    done = (await erase(kept, principal, Target(writer="token:laptop"))).certificate
    assert (done["rows"]["facts"], done["rows"]["rules"]) == (1, 1)
    assert [row["predicate"] for row in await admin.fetch("SELECT predicate FROM facts")] == [
        *["tester", "preferred_drink"]
    ]


async def test_other_versions_of_an_erased_fact_are_told(
    kept: Memory, principal: Principal
) -> None:
    """An edit, or a later word, makes another fact: the texts of before and after stay."""
    first, _ = await store_fact(kept, principal, "Rita", "phone", "555 0111")
    edited = (await edit_fact(kept, principal, first, {"content": "555 0112"}))["id"]
    last, _ = await store_fact(kept, principal, "Rita", "phone", "555 0113")
    await store_fact(kept, principal, "Rita", "city", "Porto")
    target = Target(memory=("fact", edited))
    found = (await preview(kept, principal, target)).scope
    assert found.doomed.facts == (edited,)
    assert {(one.kind, one.id) for one in found.kept} == {("fact", first), ("fact", last)}
    assert {one.why for one in found.kept} == {"an earlier or later version of what was erased"}
    assert (await erase(kept, principal, target)).certificate["kept"]["total"] == 2


async def test_what_replaced_a_fact_of_an_erased_session_is_told(
    kept: Memory, principal: Principal
) -> None:
    session = uuid4()
    said = await store_episode(kept, principal, "Rita gave her number", "desk", session_id=session)
    assert said is not None
    old, _ = await store_fact(kept, principal, "Rita", "phone", "555 0111", source_episode_id=said)
    new, _ = await store_fact(kept, principal, "Rita", "phone", "555 0112")
    found = (await preview(kept, principal, Target(session_id=session))).scope
    assert (found.doomed.facts, [one.id for one in found.kept]) == ((old,), [new])


async def test_a_fact_leaves_its_source_unless_that_is_wanted_too(
    kept: Memory, principal: Principal, admin: Connection
) -> None:
    (said,) = await tell(kept, principal, f"I heard that {MARKER}")
    await consolidate(kept, principal, answer(new_facts=[fact(MARKER, "E1")]))
    id = await admin.fetchval("SELECT id FROM facts")
    looked = await preview(kept, principal, Target(memory=("fact", id)))
    assert [(one.kind, one.id) for one in looked.scope.kept] == [("episode", said)]
    await erase(kept, principal, Target(memory=("fact", id), sources=True))
    assert await _everywhere(admin, "Quokkaschmidt") == {}


async def test_an_erasure_is_not_undone(
    kept: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    stored, _ = await store_fact(kept, principal, "user", "city", MARKER)
    clock.advance(minutes=1)
    await erase(kept, principal, Target(memory=("fact", stored)))
    for dry_run in (True, False):
        with pytest.raises(Conflict, match="an erasure cannot be undone"):
            await undo_change(kept, principal, dry_run=dry_run)
    told = await admin.fetch("SELECT event_type FROM memory_events ORDER BY created_at")
    assert [row["event_type"] for row in told] == ["fact_created", "memories_erased"]


async def test_a_tenant_goes_whole_and_no_other(
    kept: Memory, principal: Principal, other_tenant: Principal, admin: Connection, tmp_path: Path
) -> None:
    for who in (principal, other_tenant):
        await store_rule(kept, who, "offer tea")
        await create_token(kept, who.tenant, "laptop", ["read"])
        JournalFile.open(tmp_path, who.tenant, "ada").close()
    await admin.execute(
        "INSERT INTO job_runs (job, scheduled_for, started_at, status, detail)"
        " VALUES ('decay', now(), now(), 'succeeded',"
        " jsonb_build_object($1::text, 1, $2::text, 2))",
        principal.tenant,
        other_tenant.tenant,
    )
    assert len((await preview(kept, principal, Target(everything=True))).scope.doomed.rules) == 1
    done = (await erase(kept, principal, Target(everything=True))).certificate
    assert all(one["asked"] for one in done["probes"] if one["path"] != "export")
    assert done["journals"] == [{"companion": "ada", "whole": True}]
    assert not list((tmp_path / "journal" / principal.tenant).glob("*.sqlite*"))
    assert list((tmp_path / "journal" / other_tenant.tenant).glob("*.sqlite"))
    noted = await admin.fetch("SELECT jsonb_object_keys(detail) FROM job_runs")
    assert [row[0] for row in noted] == [other_tenant.tenant]
    for table in ("rules", "memory_events", "memory_versions", "facts"):
        tenants = {row[0] for row in await admin.fetch(f"SELECT tenant_id FROM {table}")}
        assert tenants <= {other_tenant.tenant}
    assert await count(admin, "rules") == 1
    left = await admin.fetch("SELECT tenant_id FROM tokens WHERE name = 'laptop'")
    assert [row["tenant_id"] for row in left] == [other_tenant.tenant]


async def test_another_tenants_memory_is_not_found(
    kept: Memory, principal: Principal, other_tenant: Principal, admin: Connection
) -> None:
    rule = await store_rule(kept, other_tenant, "offer tea")
    with pytest.raises(NotFound, match="there is no rule"):
        await erase(kept, principal, Target(memory=("rule", rule)))
    for missing in (Target(entity_id=uuid4()), Target(session_id=uuid4())):
        with pytest.raises(NotFound, match="erased already"):
            await preview(kept, principal, missing)
    with pytest.raises(InvalidInput, match="exactly one"):
        Target(entity_id=uuid4(), everything=True)
    assert await count(admin, "rules") == 1


async def test_no_import_of_before_brings_back_what_was_erased(
    kept: Memory, principal: Principal, other_tenant: Principal, admin: Connection
) -> None:
    person = (await create_entity(kept, principal, "Zephyrine", "person"))["id"]
    about, _ = await store_fact(
        kept, principal, "Zephyrine", "plays", MARKER, entity_id=str(person)
    )
    rule = await store_rule(kept, principal, f"{MARKER}, so mind the noise")
    await rule_harmed(kept, principal, rule, "it was not so")
    stays, _ = await store_fact(kept, principal, "user", "name", "Jo")
    await build_context(kept, principal, "who plays the theremin?", "home")
    await create_link(kept, principal, "fact", about, "fact", stays, "related_to")
    exported = io.StringIO()
    written = await export_all(kept, principal, exported)
    await erase(kept, principal, Target(entity_id=person))
    await erase(kept, principal, Target(memory=("rule", rule)))
    before = {one: await _everywhere(admin, one) for one in (MARKER, str(about), str(rule))}

    def again() -> io.BytesIO:
        return io.BytesIO(exported.getvalue().encode())

    report = await restore_all(kept, principal, again(), trust="user_said")
    assert report.bad_lines == []
    assert report.erased >= 5  # the entity, its fact, the rule and its mark, the link
    assert report.restored.total() == 0
    assert {one: await _everywhere(admin, one) for one in before} == before
    elsewhere = await restore_all(kept, other_tenant, again(), trust="user_said")
    assert (elsewhere.restored.total(), elsewhere.erased) == (written.total(), 0)
    # Who erases everything begins anew, and may begin with an export; but not with these.
    await erase(kept, principal, Target(everything=True))
    anew = await restore_all(kept, principal, again(), trust="user_said")
    assert (anew.erased, anew.restored["facts"]) == (report.erased, 1)


async def test_the_same_import_again_leaves_out_what_was_erased(
    kept: Memory, principal: Principal, admin: Connection
) -> None:
    lines = [
        {"kind": "entity", "id": "z", "canonical_name": "Zephyrine", "entity_type": "person"},
        {"kind": "episode", "id": "e", "content": MARKER, "butler": "home"},
        {"kind": "fact", "id": "f", "subject": "z", "predicate": "p", "content": "It is loud"},
        {
            "kind": "link",
            "source_type": "fact",
            "source_id": "f",
            "target_type": "episode",
            "target_id": "e",
            "relation": "related_to",
        },
    ]
    file = "\n".join(json.dumps(line) for line in lines).encode()

    async def imported() -> ImportReport:
        return await import_all(kept, principal, read_lines(io.BytesIO(file), principal.tenant))

    first = await imported()
    assert (first.stored.total(), first.erased, first.bad) == (4, 0, 0), first.bad_lines
    episode = await admin.fetchval("SELECT id FROM episodes")
    entity = await admin.fetchval("SELECT id FROM entities")
    await erase(kept, principal, Target(memory=("episode", episode)))
    await erase(kept, principal, Target(entity_id=entity))
    again = await imported()
    assert (again.stored.total(), again.erased, again.already_there, again.bad) == (0, 3, 1, 0)
    assert await count(admin, "episodes") + await count(admin, "entities") == 0


async def test_a_tenant_keeps_what_it_was_told_under_the_ids_of_another(
    kept: Memory, principal: Principal, other_tenant: Principal, admin: Connection
) -> None:
    """As where one has imported what the other exported: ids are a tenant's own."""
    rule = await store_rule(kept, principal, MARKER)
    exported = io.StringIO()
    await export_all(kept, principal, exported)
    copy = io.BytesIO(exported.getvalue().encode())
    await restore_all(kept, other_tenant, copy, trust="user_said")
    for tenant in (principal, other_tenant):
        assert await search(kept, tenant, "theremin")
        assert (await build_context(kept, tenant, "theremin", "music", session_id=uuid4())).included
    theirs = await _listing(admin, other_tenant, rule)
    assert theirs == await _listing(admin, principal, rule)
    assert all(theirs.values())
    await erase(kept, principal, Target(memory=("rule", rule)))
    assert not any((await _listing(admin, principal, rule)).values())
    assert await _listing(admin, other_tenant, rule) == theirs
    assert await search(kept, other_tenant, "theremin")


async def _listing(admin: Connection, tenant: Principal, id: UUID) -> dict[str, int]:
    """How many of its answers and receipts list a memory."""
    return {
        table: await admin.fetchval(
            f"SELECT count(*) FROM {table} WHERE tenant_id = $1 AND $2 = ANY (item_ids)",
            tenant.tenant,
            id,
        )
        for table in ("served", "context_receipts")
    }


async def test_a_waiting_episode_of_a_spool_goes_with_its_session(
    kept: Memory, principal: Principal, tmp_path: Path
) -> None:
    session = uuid4()
    await tell(kept, principal, MARKER, session_id=session)
    folder = tmp_path / "spool" / "general"
    folder.mkdir(parents=True)
    for name, of in (("a", session), ("b", uuid4())):
        said = {"episode_id": str(uuid4()), "session_id": str(of), "content": MARKER}
        (folder / f"{name}.json").write_text(json.dumps(said))
    done = (await erase(kept, principal, Target(session_id=session))).certificate
    assert (done["spooled_episodes"], done["spooled_left"]) == (1, 1)
    assert any("spooled_left" in one for one in done["cannot_reach"])
    assert [path.name for path in folder.iterdir()] == ["b.json"]


async def test_one_message_goes_with_the_episode_that_holds_it(
    kept: Memory, principal: Principal, admin: Connection, tmp_path: Path
) -> None:
    with JournalFile.open(tmp_path, principal.tenant, "ada") as file:
        live = LiveJournal(file)
        ids = [live.log(text, "user").event_id for text in ("hello", MARKER, "good night")]
    (held,) = await tell(kept, principal, f"user: hello\nuser: {MARKER}")
    other = (await tell(kept, principal, "another day"))[0]
    for id, first, last in ((held, ids[0], ids[1]), (other, ids[2], ids[2])):
        said = {"journal": "ada", "first_event": first, "last_event": last}
        await admin.execute("UPDATE episodes SET metadata = $2 WHERE id = $1", id, said)
    target = Target(message=("ada", ids[1]))
    assert (await preview(kept, principal, target)).scope.doomed.episodes == (held,)
    done = (await erase(kept, principal, target)).certificate
    assert done["target"] == {"by": "message", "companion": "ada", "id": ids[1]}
    assert [(one["companion"], one["messages"]) for one in done["journals"]] == [("ada", 1)]
    assert await _everywhere(admin, "Quokkaschmidt") == {}
    assert [row["id"] for row in await admin.fetch("SELECT id FROM episodes")] == [other]
    with JournalFile.open(tmp_path, principal.tenant, "ada") as file:
        assert [one.content for one in LiveJournal(file).events()] == ["hello", "good night"]
    with pytest.raises(NotFound, match="has no message"):
        await erase(kept, principal, target)


async def test_the_messages_of_a_session_go_from_a_journal_that_others_have_open(
    kept: Memory, principal: Principal, tmp_path: Path
) -> None:
    path = tmp_path / "journal" / principal.tenant / "ada.sqlite"
    with JournalFile.open(tmp_path, principal.tenant, "ada") as file:
        live = LiveJournal(file)
        texts = ("hello", MARKER, f"indeed, {MARKER}", "good night")
        ids = [live.log(text, "user").event_id for text in texts]
        assert _holding(path.parent, MARKER)
        session = uuid4()
        said = {"journal": "ada", "first_event": ids[1], "last_event": ids[2]}
        await tell(kept, principal, MARKER, session_id=session, metadata=said)
        done = (await erase(kept, principal, Target(session_id=session))).certificate
        assert [one["messages"] for one in done["journals"]] == [2]
        assert [one.content for one in live.events()] == ["hello", "good night"]
        assert not _holding(path.parent, MARKER)


async def test_what_a_probe_still_finds_is_not_erased(
    kept: Memory, principal: Principal, admin: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule = await store_rule(kept, principal, MARKER)

    async def finding(*_: Any) -> list[Probe]:
        return [Probe("id", asked=1, found=0), Probe("export", asked=1, found=1)]

    monkeypatch.setattr(erasing, "probe", finding)
    with pytest.raises(IntegrityViolation, match="still found by export; nothing was erased"):
        await erase(kept, principal, Target(memory=("rule", rule)))
    assert await admin.fetchval("SELECT id FROM rules") == rule
    assert await count(admin, "erasures") == 0


async def test_an_erasure_forgets_what_was_asked(
    kept: Memory, principal: Principal, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedded: list[str] = []
    embed = kept.embedder.embed_query

    async def noting(text: str, of: str = "", *, also: str | None = None) -> Any:
        known = len(kept.embedder._cache)
        vector = await embed(text, of, also=also)
        if len(kept.embedder._cache) > known:
            embedded.append(text)
        return vector

    monkeypatch.setattr(kept.embedder, "embed_query", noting)
    rule = await store_rule(kept, principal, MARKER)
    for _ in range(2):
        await search(kept, principal, "who plays the theremin")
    assert embedded == ["who plays the theremin"]  # the positive control: it is remembered
    await erase(kept, principal, Target(memory=("rule", rule)))
    await search(kept, principal, "who plays the theremin")
    assert embedded == ["who plays the theremin"] * 2


async def test_one_that_is_cut_off_is_finished_by_the_next(
    kept: Memory, principal: Principal, admin: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule = await store_rule(kept, principal, MARKER)
    target = Target(memory=("rule", rule))

    async def cut_off(*_: Any) -> Any:
        raise Unavailable("the server went away")

    monkeypatch.setattr(scrubbing, "scrub", cut_off)
    with pytest.raises(Unavailable):
        await erase(kept, principal, target, admin_dsn="postgresql://nowhere")
    assert await _everywhere(admin, "Quokkaschmidt") == {}
    monkeypatch.undo()
    done = await erase(kept, principal, target)
    assert done.certificate["rows"]["rules"] == 1
    assert certificate.verify(done.path).certificate == done.certificate
    assert await finish(kept, principal, target) == []
    assert await admin.fetchval("SELECT finished_at IS NOT NULL FROM erasures")


async def test_one_of_everything_is_finished_by_no_other(
    kept: Memory, principal: Principal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Since finishing it takes all journals, those of a tenant that began anew, too."""

    async def cut_off(*_: Any) -> Any:
        raise Unavailable("the server went away")

    everything = Target(everything=True)
    await store_rule(kept, principal, MARKER)
    with monkeypatch.context() as patched:
        patched.setattr(scrubbing, "scrub", cut_off)
        with pytest.raises(Unavailable):
            await erase(kept, principal, everything, admin_dsn="postgresql://nowhere")
    rule = await store_rule(kept, principal, MARKER)
    new = tmp_path / "journal" / principal.tenant / "luna.sqlite"
    new.parent.mkdir(parents=True, exist_ok=True)
    JournalFile(new, kept.keys).close()
    with pytest.raises(Conflict, match="an erasure of everything was cut off"):
        await erase(kept, principal, Target(memory=("rule", rule)))
    assert new.exists()
    assert (await erase(kept, principal, everything)).certificate["target"] == {"by": "tenant"}
    assert not new.exists()


async def test_a_certificate_holds_while_nobody_changes_it(
    kept: Memory, principal: Principal, tmp_path: Path
) -> None:
    rule = await store_rule(kept, principal, MARKER)
    done = await erase(kept, principal, Target(memory=("rule", rule)))
    pinned = tmp_path / "erasures" / "signing-key.pub"
    assert certificate.verify(done.path, str(pinned)).pinned
    assert not certificate.verify(done.path).pinned
    text = done.path.read_text()
    twice = tmp_path / "twice.json"
    twice.write_text(text.replace("{", '{"erased_by": "somebody else",', 1))
    with pytest.raises(InvalidInput, match="not an erasure certificate"):
        certificate.verify(twice)
    with pytest.raises(InvalidInput, match=r"mistyped\.json cannot be read: No such file"):
        certificate.verify(tmp_path / "mistyped.json")
    secret = tmp_path / "erasures" / "signing-key"
    assert secret.stat().st_mode & 0o777 == 0o600
    assert MARKER not in done.path.read_text()
    said = json.loads(done.path.read_text())
    assert "backups and exports made before" in said["cannot_reach"][0]
    assert any("files of the PostgreSQL server" in one for one in said["cannot_reach"])
    assert any("folders of `push`" in one for one in said["cannot_reach"])

    forged = tmp_path / "forged.json"
    forged.write_text(json.dumps({**said, "rows": {**said["rows"], "rules": 2}}))
    with pytest.raises(InvalidInput, match="was changed after it was signed"):
        certificate.verify(forged)
    other = certificate.public_key(tmp_path / "elsewhere")
    with pytest.raises(InvalidInput, match="not with the one expected"):
        certificate.verify(done.path, other)
    for text in ("{}", "[]", "no JSON", '{"public_key": 1, "signature": 2}'):
        forged.write_text(text)
        with pytest.raises(InvalidInput, match="not an erasure certificate"):
            certificate.verify(forged)


async def test_the_bytes_are_gone_from_tables_and_log(
    memory: Memory, principal: Principal, admin: Connection, database: Database, tmp_path: Path
) -> None:
    """First a positive control: the same search finds them in both, and in the statistics."""
    kept = replace(memory, data_dir=tmp_path)
    admin_dsn, runtime_dsn = database.admin_dsn, database.runtime_dsn
    files = await _files_of(admin)
    pgdata = files.parents[1]
    rules = [await store_rule(kept, principal, f"{MARKER} {n}") for n in range(3)]
    for n in range(20):
        await store_rule(kept, principal, f"offer tea {n}")
    await admin.execute("ANALYZE rules")
    await admin.execute("CHECKPOINT")
    assert _holding(files, MARKER)
    assert _holding(pgdata / "pg_wal", MARKER)
    in_statistics = "SELECT count(*) FROM pg_stats WHERE t::text LIKE '%Quokka%'".replace(
        "pg_stats", "pg_stats t"
    )
    assert await admin.fetchval(in_statistics)

    for rule in rules:
        await erase(kept, principal, Target(memory=("rule", rule)))
    assert _holding(pgdata / "pg_wal", MARKER)  # without the last step the log has them still
    with pytest.raises(ConfigurationError, match="may not rewrite memory_versions, rules"):
        await scrubbing.scrub(runtime_dsn, ["rules", "memory_versions"])
    done = await scrubbing.scrub(admin_dsn, ["rules", "memory_versions"])
    assert (done.statistics, done.log) == (True, True)
    assert _holding(files, MARKER) == []
    assert _holding(pgdata / "pg_wal", MARKER) == []
    assert not await admin.fetchval(in_statistics)
    assert await admin.fetchval("SHOW wal_recycle") == "on"


async def test_an_erasure_counts_and_overwrites_what_a_rule_left_everywhere(
    kept: Memory, principal: Principal, admin: Connection, database: Database
) -> None:
    """Each table that held something of it is rewritten, not only the one of past states."""
    files = await _files_of(admin)
    rule = await store_rule(kept, principal, MARKER)
    for _ in range(2):
        await rule_harmed(kept, principal, rule, MARKER)
    await admin.execute("CHECKPOINT")
    assert _holding(files, MARKER)
    done = await erase(kept, principal, Target(memory=("rule", rule)), admin_dsn=database.admin_dsn)
    said = done.certificate
    assert (said["rows"]["rules"], said["rows"]["rule_applications"]) == (1, 2)
    assert {"rules", "rule_applications"} <= set(said["bytes"]["tables_rewritten"])
    assert _holding(files, MARKER) == []


async def test_an_erasure_takes_the_prompts_of_contexts_that_may_repeat_it(
    kept: Memory, principal: Principal, admin: Connection, database: Database, clock: Clock
) -> None:
    """A context that weighed nothing of it, and of no session, was asked for in its words."""
    files = await _files_of(admin)
    await store_fact(kept, principal, "user", "drink", "Jasmine tea")
    asked = [
        receipt_of(await build_context(kept, principal, f"{MARKER} tea {n}", "general"))
        for n in range(3)
    ]
    clock.advance(hours=1)
    rule = await store_rule(kept, principal, MARKER)
    assert set(await _everywhere(admin, MARKER)) >= {"context_receipts", "rules"}
    done = await erase(kept, principal, Target(memory=("rule", rule)), admin_dsn=database.admin_dsn)
    assert await _everywhere(admin, MARKER) == {}
    assert _holding(files, MARKER) == []
    assert done.certificate["rows"]["context_receipts"] == len(asked)
    for id in asked:
        assert (await replay(kept, principal, id)).identical


async def _files_of(admin: Connection) -> Path:
    """The folder of a database's tables."""
    pgdata = await admin.fetchval("SHOW data_directory")
    oid = await admin.fetchval("SELECT oid FROM pg_database WHERE datname = current_database()")
    return Path(pgdata) / "base" / str(oid)


def _holding(folder: Path, text: str) -> list[str]:
    """The files of a folder that hold a text."""
    wanted = text.encode()
    return [
        str(path) for path in folder.rglob("*") if path.is_file() and wanted in path.read_bytes()
    ]


async def test_a_certificate_is_on_the_disk_before_the_erasure_is_finished(
    kept: Memory, principal: Principal, to_disk: list[str]
) -> None:
    """Else a power cut could take the only proof of a finished erasure."""
    rule = await store_rule(kept, principal, MARKER)
    await erase(kept, principal, Target(memory=("rule", rule)))
    assert to_disk[-3:] == ["synced", "named", "kept"]


@pytest.mark.parametrize("everything", [False, True])
async def test_erasing_removes_what_a_move_left_of_this_tenant(
    kept: Memory, principal: Principal, tmp_path: Path, everything: bool
) -> None:
    left, other = tmp_path / f".arriving-{principal.tenant}", tmp_path / ".arriving-other"
    for folder in (left, other):
        folder.mkdir()
        (folder / "luna.sqlite").write_text(MARKER)
    rule = await store_rule(kept, principal, MARKER)
    target = Target(everything=True) if everything else Target(memory=("rule", rule))
    done = await erase(kept, principal, target)
    assert not left.exists()
    assert done.certificate["leftovers_removed"] == [left.name]
    assert other.exists()


async def test_erasing_removes_what_a_restore_left_and_names_what_it_keeps(
    kept: Memory, principal: Principal, tmp_path: Path, database: Database
) -> None:
    name = schema.database_of(database.admin_dsn)
    folder = tmp_path / ".restoring-k2x9"
    folder.mkdir()
    (folder / "database.dump").write_text(MARKER)
    (tmp_path / "journal-before-20260101-000000").mkdir()
    maintenance = await asyncpg.connect(dump.with_database(database.admin_dsn, "postgres"))
    before = f"{name}_before_20260101_000000"
    in_use = f"{name}_loading_999999999"
    for one in (before, in_use):
        await maintenance.execute(f"CREATE DATABASE {one}")
    await maintenance.fetchval(dump.LOCK_LOADING, in_use)
    try:
        rule = await store_rule(kept, principal, MARKER)
        done = await erase(
            kept, principal, Target(memory=("rule", rule)), admin_dsn=database.admin_dsn
        )
        assert not folder.exists()
        assert done.certificate["leftovers_removed"] == [folder.name]
        named = [one for one in done.certificate["cannot_reach"] if "a restore keeps" in one]
        assert [one.rpartition(": ")[2] for one in named] == [
            before,
            "journal-before-20260101-000000",
        ]
        assert any(one.endswith(in_use) for one in done.certificate["cannot_reach"])
    finally:
        for one in (before, in_use):
            await maintenance.execute(f"DROP DATABASE {one}")
        await maintenance.close()
