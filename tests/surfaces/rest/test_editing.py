"""Correcting memory over REST: edits, what happens to two editors, and moving rules by hand."""

import asyncio
from typing import Any
from uuid import UUID, uuid4

import pytest

from conftest import Clock, Connection
from memory_butler.domain.principals import Principal
from memory_butler.engine.entities import create_entity
from memory_butler.engine.feedback import rule_helped
from memory_butler.engine.recall import recall
from memory_butler.engine.remember import store_episode, store_fact, store_rule
from memory_butler.surfaces.rest import examples
from surfaces.rest.household import move_in
from surfaces.serving import Served

pytestmark = pytest.mark.anyio


@pytest.fixture
async def fact(served: Served, principal: Principal, clock: Clock) -> UUID:
    """A fact with everything that an edit has to keep."""
    memory = served.memory
    person = await create_entity(memory, principal, "Ana Silva", "person")
    episode = await store_episode(memory, principal, "We talked of tea", "kitchen")
    id, _ = await store_fact(
        memory,
        principal,
        "Ana",
        "tea",
        "Likes tee",
        importance=8.0,
        permanence="stable",
        scope="kitchen",
        tags=["taste"],
        entity_id=person["id"],
        source_butler="kitchen",
        source_episode_id=episode,
        metadata={"by": "phone", "needs_review": True},
    )
    clock.advance(days=1)
    return id


@pytest.mark.requirement("API-04")
async def test_an_edit_supersedes_and_inherits(served: Served, fact: UUID, clock: Clock) -> None:
    async with served.rest() as rest:
        before = (await rest.get(f"/api/memory/facts/{fact}")).json()["fact"]
        answer = await rest.put(f"/api/memory/facts/{fact}", json={"content": "Likes tea"})
        edited = answer.json()
        assert answer.status_code == 200, answer.text
        assert edited["supersedes_id"] == str(fact)
        now = edited["fact"]
        assert answer.headers["etag"] == f'"{edited["revision"]}"'
        kept = (
            "subject predicate importance permanence scope tags entity_id source_butler "
            "source_episode_id valid_from valid_until"
        ).split()
        assert {name: now[name] for name in kept} == {name: before[name] for name in kept}
        assert (now["content"], now["confidence"]) == ("Likes tea", 1.0)
        assert now["metadata"] == {"by": "phone"}  # a person has reviewed it
        assert now["last_confirmed_at"] == clock.now.isoformat()
        after = (await rest.get(f"/api/memory/facts/{fact}")).json()
        assert after["fact"]["lifecycle_state"] == "superseded"
        assert after["superseded_by"] == now["id"]
        shown = (await rest.get(f"/api/memory/facts/{now['id']}")).json()
        assert shown["revision"] == edited["revision"]


@pytest.mark.requirement("API-04")
async def test_of_two_editors_the_second_sees_what_the_first_made(
    served: Served, fact: UUID
) -> None:
    path = f"/api/memory/facts/{fact}"
    async with served.rest() as rest:
        etag = (await rest.get(path)).headers["etag"]
        first, second = await asyncio.gather(
            *(
                rest.put(path, json={"content": said}, headers={"if-match": etag})
                for said in ("Likes oolong", "Likes mint")
            )
        )
        won, lost = (first, second) if first.status_code == 200 else (second, first)
        assert (won.status_code, lost.status_code) == (200, 409)
        assert lost.headers["content-type"] == "application/problem+json"
        problem = lost.json()
        assert problem["code"] == "conflict"
        assert problem["current"]["id"] == won.json()["fact"]["id"]
        assert problem["current"]["content"] == won.json()["fact"]["content"]
        # With what the problem says, the second may try again.
        again = await rest.put(
            f"/api/memory/facts/{problem['current']['id']}",
            json={"content": "Likes mint"},
            headers={"if-match": f'"{problem["current_revision"]}"'},
        )
        assert again.status_code == 200


@pytest.mark.requirement("API-04")
async def test_an_edit_that_cannot_be_is_refused_and_changes_nothing(
    served: Served, principal: Principal, fact: UUID, admin: Connection
) -> None:
    row = await admin.fetchrow("SELECT entity_id FROM facts WHERE id = $1", fact)
    assert row is not None
    await store_fact(
        served.memory, principal, "Ana", "color", "Green", scope="kitchen", entity_id=row[0]
    )
    before = await admin.fetch("SELECT * FROM facts ORDER BY id")
    changes: list[tuple[dict[str, Any], int, str]] = [
        ({}, 422, "changes nothing"),
        ({"content": " "}, 422, "content is empty"),
        ({"permanence": "eternal"}, 422, "permanence"),
        ({"colour": "green"}, 422, "colour"),
        ({"entity_id": str(uuid4())}, 422, "does not exist"),
        ({"valid_until": "2020-01-01T00:00:00Z"}, 422, "must be later"),
        ({"valid_from": "2030-01-01T00:00:00Z"}, 422, "future"),
        ({"predicate": "color"}, 409, "is active under that subject and predicate"),
    ]
    async with served.rest() as rest:
        for change, status, said in changes:
            answer = await rest.put(f"/api/memory/facts/{fact}", json=change)
            assert answer.status_code == status, answer.text
            assert said in answer.json()["detail"]
            assert await admin.fetch("SELECT * FROM facts ORDER BY id") == before, change


async def test_what_holds_until_a_date_holds_on_that_day(served: Served) -> None:
    plan = {"subject": "campaign", "predicate": "date", "content": "The campaign is on 12 May"}
    async with served.rest() as rest, served.mcp() as client:
        stored = await rest.post("/api/memory/facts", json={**plan, "valid_until": "2099-05-12"})
        path = f"/api/memory/facts/{stored.json()['id']}"
        assert (await rest.get(path)).json()["fact"]["valid_until"] == "2099-05-13T00:00:00+00:00"
        shown = await client.read("memory_recall", topic="When is the campaign?")
        assert "until 2099-05-12" in shown
        moved = await rest.put(path, json={"valid_until": "2099-05-19"})
        assert moved.json()["fact"]["valid_until"] == "2099-05-20T00:00:00+00:00"
        last = await rest.post("/api/memory/facts", json={**plan, "valid_until": "9999-12-31"})
        assert last.status_code == 201


async def test_an_edit_may_move_a_fact_to_another_key(served: Served, fact: UUID) -> None:
    async with served.rest() as rest:
        moved = await rest.put(
            f"/api/memory/facts/{fact}",
            json={"subject": "Anita", "predicate": "drink", "entity_id": None, "scope": "global"},
        )
        assert moved.status_code == 200, moved.text
        now = moved.json()["fact"]
        assert (now["subject"], now["predicate"], now["entity_id"], now["supersedes_id"]) == (
            "Anita",
            "drink",
            None,
            str(fact),
        )
        active = (await rest.get("/api/memory/facts")).json()["items"]
        assert [one["id"] for one in active] == [now["id"]]


@pytest.mark.requirement("API-05")
async def test_a_deleted_fact_can_be_brought_back(served: Served, fact: UUID) -> None:
    path = f"/api/memory/facts/{fact}"
    async with served.rest() as rest:
        deleted = await rest.delete(path)
        assert deleted.json() == {
            "memory_type": "fact",
            "memory_id": str(fact),
            "status": "forgotten",
        }
        assert (await rest.get(path)).json()["fact"]["lifecycle_state"] == "retracted"
        assert (await rest.put(path, json={"content": "x"})).status_code == 409
        assert (await rest.post(f"{path}/restore")).status_code == 200
        assert (await rest.get(path)).json()["fact"]["lifecycle_state"] == "active"
        assert (await rest.post(f"{path}/restore")).status_code == 409
        assert (await rest.delete(f"/api/memory/facts/{uuid4()}")).status_code == 404


async def test_confirming_starts_the_decay_anew(served: Served, fact: UUID, clock: Clock) -> None:
    clock.advance(days=100)
    path = f"/api/memory/facts/{fact}"
    async with served.rest() as rest:
        before = (await rest.get(path)).json()["decay"]
        assert before["effective_now"] < before["effective_if_confirmed"]
        confirmed = await rest.post(f"{path}/confirm")
        assert confirmed.json()["memory"]["last_confirmed_at"] == clock.now.isoformat()
        after = (await rest.get(path)).json()["decay"]
        assert after["effective_now"] == before["effective_if_confirmed"]


@pytest.mark.requirement("API-08", "GEN-05")
async def test_an_edited_rule_is_a_candidate_again_and_keeps_its_counts(
    served: Served, principal: Principal
) -> None:
    rule = await store_rule(served.memory, principal, "Ask before sending", tags=["messages"])
    await rule_helped(served.memory, principal, rule)
    path = f"/api/memory/rules/{rule}"
    async with served.rest() as rest:
        assert (await rest.post(f"{path}/promote")).json()["rule"]["maturity"] == "established"
        etag = (await rest.get(path)).headers["etag"]
        edited = await rest.put(
            path, json={"content": "Ask before calling"}, headers={"if-match": etag}
        )
        now = edited.json()["rule"]
        assert (now["maturity"], now["content"], now["success_count"], now["tags"]) == (
            "candidate",
            "Ask before calling",
            1,
            ["messages"],
        )
        late = await rest.put(path, json={"content": "Call"}, headers={"if-match": etag})
        assert late.status_code == 409
        assert late.json()["current"]["content"] == "Ask before calling"
        assert (await rest.put(path, json={"content": "Call"})).status_code == 200
    hits = await recall(served.memory, principal, "call somebody")
    assert [hit.row["content"] for hit in hits] == ["Call"]


@pytest.mark.requirement("API-09")
async def test_a_deleted_rule_is_forgotten_softly(served: Served, principal: Principal) -> None:
    rule = await store_rule(served.memory, principal, "Ask before sending")
    path = f"/api/memory/rules/{rule}"
    async with served.rest() as rest:
        assert (await rest.delete(path)).json()["status"] == "forgotten"
        assert (await rest.get(path)).json()["rule"]["state"] == "forgotten"
        assert (await rest.put(path, json={"content": "x"})).status_code == 409
        assert (await rest.post(f"{path}/promote")).status_code == 409
        assert (await rest.post(f"{path}/restore")).status_code == 200
        assert (await rest.get(path)).json()["rule"]["state"] == "active"


@pytest.mark.requirement("GEN-05")
async def test_a_rule_is_moved_by_hand_one_step_at_a_time(
    served: Served, principal: Principal, admin: Connection
) -> None:
    rule = await store_rule(served.memory, principal, "Ask before sending")
    path = f"/api/memory/rules/{rule}"
    async with served.rest() as rest:

        async def move(act: str) -> tuple[int, str]:
            answer = await rest.post(f"{path}/{act}")
            told = answer.json()
            return answer.status_code, told.get("rule", {}).get("maturity", told.get("code"))

        assert await move("promote") == (200, "established")
        assert await move("promote") == (200, "proven")
        assert await move("promote") == (422, "invalid_input")
        assert await move("demote") == (200, "established")
        assert await move("disable") == (200, "established")
        assert await move("disable") == (409, "conflict")
        assert await recall(served.memory, principal, "sending") == []
        assert await move("enable") == (200, "established")
        assert len(await recall(served.memory, principal, "sending")) == 1
    told = await admin.fetch(
        "SELECT event_type FROM memory_events WHERE payload->>'by_hand' = 'true' ORDER BY 1"
    )
    assert [row[0] for row in told] == [
        "rule_demoted",
        "rule_disabled",
        "rule_enabled",
        "rule_promoted",
        "rule_promoted",
    ]


@pytest.mark.parametrize("tag", ["abc", '"a", "b"', "W/x"])
async def test_an_if_match_that_is_no_etag_is_told_so(served: Served, fact: UUID, tag: str) -> None:
    async with served.rest() as rest:
        answer = await rest.put(
            f"/api/memory/facts/{fact}", json={"content": "x"}, headers={"if-match": tag}
        )
    assert answer.status_code == 422
    assert "If-Match" in answer.json()["detail"]


async def test_the_revision_changes_with_the_state_and_not_with_reading(
    served: Served, principal: Principal, fact: UUID
) -> None:
    async with served.rest() as rest:
        etag = (await rest.get(f"/api/memory/facts/{fact}")).headers["etag"]
        assert await recall(served.memory, principal, "tea")
        assert (await rest.get(f"/api/memory/facts/{fact}")).headers["etag"] == etag
        await rest.post(f"/api/memory/facts/{fact}/confirm")
        assert (await rest.get(f"/api/memory/facts/{fact}")).headers["etag"] != etag


async def test_a_merge_does_what_its_preview_showed_or_nothing(
    served: Served, principal: Principal, admin: Connection
) -> None:
    await move_in(served.memory, principal, admin)
    both = {"source_entity_id": examples.DUPLICATE, "target_entity_id": examples.PERSON}
    job = {"subject": "Ana", "predicate": "job", "content": "Bakes", "entity_id": examples.PERSON}
    async with served.rest() as rest:

        async def previewed() -> dict[str, str]:
            seen = await rest.post("/api/memory/entities/merge/preview", json=both)
            assert seen.headers["etag"] == f'"{seen.json()["revision"]}"'
            return {"if-match": seen.headers["etag"]}

        for method, path, change in (
            ("POST", "facts", job),
            ("PATCH", f"entities/{examples.DUPLICATE}", {"aliases": ["Aninhas"]}),
        ):
            stale = await previewed()
            changed = await rest.request(method, f"/api/memory/{path}", json=change)
            assert changed.is_success, changed.text
            refused = await rest.post("/api/memory/entities/merge", json=both, headers=stale)
            assert (refused.status_code, refused.json()["code"]) == (409, "conflict")
            assert "look at the preview again" in refused.json()["detail"]
        assert await admin.fetchval("SELECT count(*) FROM facts WHERE validity = 'superseded'") == 0
        fresh = await previewed()
        assert await recall(served.memory, principal, "Where does Ana live?")  # counts, no more
        merged = await rest.post("/api/memory/entities/merge", json=both, headers=fresh)
    assert merged.status_code == 200, merged.text


async def test_a_rule_of_60_kilobytes_is_kept_whole(served: Served) -> None:
    long = "Never shorten what was said. " * 2_000
    async with served.rest() as rest:
        stored = (await rest.post("/api/memory/rules", json={"content": long})).json()
        (listed,) = (await rest.get("/api/memory/rules")).json()["items"]
        assert (listed["content"], listed["content_length"]) == (long[:2_000], len(long))
        shown = (await rest.get(f"/api/memory/rules/{stored['id']}")).json()
    assert shown["rule"]["content"] == long


async def test_what_is_beyond_a_limit_is_told_the_limit(served: Served) -> None:
    requests: list[tuple[str, str, dict[str, Any], str]] = [
        ("POST", "rules", {"content": "x" * 70_000}, "at most 65,536 are stored (max_content_b"),
        ("POST", "rules", {"content": "x", "scope": "s" * 501}, "at most 500 are stored; shorten"),
        ("POST", "rules", {"content": "x", "tags": ["t"] * 101}, "at most 100 are kept"),
        ("GET", "rules", {"limit": 201}, "limit: must be at most 200"),
        ("GET", "rules", {"offset": 1_000_001}, "offset: must be at most 1,000,000"),
        ("POST", "search", {"query": "x" * 100_001}, "at most 100,000 are searched for"),
    ]
    async with served.rest() as rest:
        for method, path, sent, said in requests:
            body, query = (sent, None) if method == "POST" else (None, sent)
            answer = await rest.request(method, f"/api/memory/{path}", json=body, params=query)
            assert (answer.status_code, answer.json()["code"]) == (422, "invalid_input"), said
            assert said in answer.json()["detail"]


async def test_a_body_that_is_too_large_is_a_problem(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served.rest() as rest:

        async def drip() -> Any:
            for _ in range(10):
                yield b" " * 1024 * 1024

        for content in (b" " * (9 * 1024 * 1024), drip()):
            answer = await rest.post(
                "/api/memory/rules", content=content, headers={"content-type": "application/json"}
            )
            assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
            assert answer.headers["content-type"] == "application/problem+json"
