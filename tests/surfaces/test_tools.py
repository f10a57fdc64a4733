"""Each of the 19 tools, called by the official client against a real server (MS-01)."""

import asyncio
import math
import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from conftest import Clock, Connection
from memory_butler.store import transaction as store_transaction
from surfaces.serving import Client, Served

pytestmark = pytest.mark.anyio


async def _fact(client: Client, content: str = "Loves dark green", **more: Any) -> str:
    arguments = {"subject": "user", "predicate": "favorite_color", "content": content} | more
    stored = await client.call("memory_store_fact", **arguments)
    id: str = stored["id"]
    return id


# --- store, recall, get


@pytest.mark.requirement("MS-01", "TOOL-02", "JSON-01", "JSON-02")
async def test_an_episode_is_stored_and_read_back(client: Client, clock: Clock) -> None:
    session = str(uuid4())
    stored = await client.call(
        "memory_store_episode",
        content="The user chose the blue tent for the trip",
        butler="travel",
        session_id=session,
        importance=7,
    )
    assert stored["error"] is None
    got = await client.call("memory_get", memory_type="episode", memory_id=stored["id"])
    episode = got["memory"]
    assert UUID(episode["id"]) == UUID(stored["id"])
    assert episode["content"] == "The user chose the blue tent for the trip"
    assert (episode["butler"], episode["session_id"]) == ("travel", session)
    assert episode["importance"] == 7
    assert episode["created_at"] == clock.now.isoformat()
    assert episode["created_at"].endswith("+00:00")
    assert episode["expires_at"] == (clock.now + timedelta(days=7)).isoformat()
    assert episode["consolidation_status"] == "pending"
    assert episode["reference_count"] == 1


@pytest.mark.parametrize("given", ["2026-02-20", "2026-02-20T00:00:00", "2026-02-20T00:00:00Z"])
async def test_a_moment_without_a_time_zone_is_in_utc(client: Client, given: str) -> None:
    stored = await client.call(
        "memory_store_episode", content="We chose a tent", butler="travel", occurred_at=given
    )
    got = await client.call("memory_get", memory_type="episode", memory_id=stored["id"])
    assert got["memory"]["occurred_at"] == "2026-02-20T00:00:00+00:00"


@pytest.mark.requirement("MS-01", "TOOL-03", "TOOL-07")
async def test_a_fact_is_superseded_by_the_next_of_its_key(client: Client) -> None:
    old = await _fact(client, permanence="stable", tags=["taste"])
    new = await client.call(
        "memory_store_fact", subject="user", predicate="favorite_color", content="Loves navy blue"
    )
    before = (await client.call("memory_get", memory_type="fact", memory_id=old))["memory"]
    assert (new["supersedes_id"], new["superseded"]) == (old, before["content"])
    assert (before["validity"], before["permanence"]) == ("superseded", "stable")
    assert (before["decay_rate"], before["tags"]) == (0.002, ["taste"])
    found = (await client.call("memory_recall", topic="colours that the user loves"))["results"]
    assert [one["id"] for one in found] == [new["id"]]


async def test_a_fact_that_is_stored_again_keeps_its_tags(
    client: Client, admin: Connection
) -> None:
    async def tags(*given: str, content: str = "Loves navy blue") -> list[str]:
        id = await _fact(client, content, tags=list(given))
        found: list[str] = await admin.fetchval("SELECT tags FROM facts WHERE id = $1", UUID(id))
        return found

    assert await tags("taste") == ["taste"]
    assert await tags("home", "taste", content=" loves navy blue. ") == ["taste", "home"]
    assert await tags() == ["taste", "home"]
    assert await tags("car", content="Loves dark red") == ["car"]  # that is another fact


async def test_whoever_stores_a_second_allergy_under_one_key_is_told_how_to_keep_the_first(
    client: Client,
) -> None:
    async def besides(predicate: str, *contents: str) -> str | None:
        for content in contents:
            stored = await client.call(
                "memory_store_fact", subject="user", predicate=predicate, content=content
            )
        told: str | None = stored["besides"]
        return told

    told = await besides("allergy", "Allergic to peanuts", "Allergic to penicillin")
    assert told == "If that is still true, store it again as allergy_peanuts."
    assert await besides("allergy", "Allergic to penicillin, mild") is None  # says more of the same
    assert await besides("allergy_peanuts", "Allergic to peanuts") is None  # a key of its own
    assert await besides("birthday", "Born on 3 May", "Born on 4 June") is None
    assert await besides("friend", "Ana has AKIAIOSFODNN7EXAMPLE", "Tom lives in Porto") is None
    long = str(await besides("pet", f"Has a dog{' that barks' * 30}", "Keeps bees"))
    assert re.fullmatch("If that is still true, store all of [0-9a-f-]{36} again as pet_dog.", long)


async def test_whoever_stores_what_holds_for_some_time_is_told_how_to_keep_what_held(
    client: Client,
) -> None:
    async def stored(content: str, **more: str) -> str | None:
        given = {"subject": "Leo", "predicate": "school", "content": content}
        answer = await client.call("memory_store_fact", **given, **more)
        told: str | None = answer["besides"]
        return told

    await stored("Goes to the Lindenschule")
    until = {"valid_until": "2026-03-31"}
    assert await stored("Goes to the Lindenschule.", **until) is None  # the same, with its end
    assert await stored("Goes to the Waldschule", **until) is None  # both have an end
    await stored("Goes to the Lindenschule")
    told = await stored("Goes to the Waldschule", **until)
    assert told == "If that holds again afterwards, store it again as school_usual."


async def test_of_a_long_fact_that_is_superseded_the_beginning_is_told(client: Client) -> None:
    await _fact(client, "word " * 100)
    stored = await client.call(
        "memory_store_fact", subject="user", predicate="favorite_color", content="Loves navy blue"
    )
    assert stored["superseded"] == "word " * 60 + " …"


@pytest.mark.requirement("MS-01", "TOOL-06", "EMB-05", "GEN-04")
async def test_recall_finds_by_meaning_facts_and_rules_of_the_scope(client: Client) -> None:
    await _fact(client, "Is allergic to peanuts", predicate="allergy", permanence="permanent")
    rule = await client.call(
        "memory_store_rule", content="Never suggest dishes with nuts", scope="cook"
    )
    await client.call("memory_store_rule", content="Book nut-free flights", scope="travel")
    await client.call("memory_store_episode", content="Spoke about peanuts", butler="cook")
    found = await client.call("memory_recall", topic="what food is dangerous", scope="cook")
    kinds = [(one["memory_type"], one["scope"]) for one in found["results"]]
    assert sorted(kinds) == [("fact", "global"), ("rule", "cook")]
    assert rule["id"] in [one["id"] for one in found["results"]]
    scores = [one["scores"]["score"] for one in found["results"]]
    assert scores == sorted(scores, reverse=True)


async def test_global_is_for_all_however_it_is_written(client: Client) -> None:
    await client.call(
        "memory_store_fact", subject="user", predicate="tea", content="Green tea", scope=" GLOBAL"
    )
    await client.call("memory_store_rule", content="Brew the tea at 80 degrees", scope="Global")
    found = await client.call("memory_recall", topic="tea", scope="concierge")
    assert [one["scope"] for one in found["results"]] == ["global", "global"]


@pytest.mark.requirement("TOOL-05")
@pytest.mark.parametrize("mode", ["hybrid", "semantic", "keyword"])
async def test_search_finds_every_type_in_every_mode(client: Client, mode: str) -> None:
    await _fact(client, "The garden gate squeaks", predicate="gate")
    await client.call("memory_store_rule", content="Oil the garden gate in spring")
    await client.call("memory_store_episode", content="The garden gate was oiled", butler="home")
    found = await client.call("memory_search", query="garden gate", mode=mode)
    assert {one["memory_type"] for one in found["results"]} == {"episode", "fact", "rule"}
    only = await client.call("memory_search", query="garden gate", types=["rule"], limit=1)
    assert [one["memory_type"] for one in only["results"]] == ["rule"]


@pytest.mark.requirement("TOOL-06")
async def test_scores_are_explained_only_when_asked(client: Client) -> None:
    await _fact(client)
    (one,) = (await client.call("memory_recall", topic="colour"))["results"]
    assert one["scores"]["explain"] is None


# --- confirm, mark, forget


@pytest.mark.requirement("TOOL-08", "MS-01")
async def test_confirming_restores_confidence(client: Client, clock: Clock) -> None:
    fact = await _fact(client)
    clock.advance(days=50)
    confirmed = await client.call("memory_confirm", memory_type="fact", memory_id=fact)
    assert confirmed["memory"]["last_confirmed_at"] == clock.now.isoformat()
    (one,) = (await client.call("memory_recall", topic="colour"))["results"]
    assert one["effective_confidence"] == 1.0


@pytest.mark.requirement("TOOL-08")
async def test_confirming_what_retrieval_leaves_out_says_so(client: Client) -> None:
    async def confirm(kind: str, id: str) -> dict[str, Any]:
        return await client.call("memory_confirm", memory_type=kind, memory_id=id)

    first = await _fact(client)
    assert (await confirm("fact", first))["inactive"] is None
    later = await _fact(client, content="Prefers blue")
    answer = await confirm("fact", first)
    assert answer["superseded_by"] == later
    told = f"fact {first} was superseded; the one that holds now is {later}"
    assert answer["inactive"] == told
    told = await client.read("memory_confirm", memory_type="fact", memory_id=first)
    assert f", but fact {first} was superseded; the one that holds now is {later}." in told
    await client.call("memory_forget", memory_type="fact", memory_id=later)
    answer = await confirm("fact", first)
    assert answer["superseded_by"] == later
    assert answer["inactive"].endswith(f"and {later}, which took its place, is retracted too")
    answer = await confirm("fact", later)
    assert answer["superseded_by"] is None
    assert answer["inactive"] == f"fact {later} is forgotten; restore it first"
    rule = (await client.call("memory_store_rule", content="Ask first"))["id"]
    assert (await confirm("rule", rule))["inactive"] is None
    await client.call("memory_forget", memory_type="rule", memory_id=rule)
    answer = await confirm("rule", rule)
    assert answer["inactive"] == f"rule {rule} is forgotten; restore it first"


@pytest.mark.requirement("TOOL-08", "STO-11")
async def test_an_episode_cannot_be_confirmed(client: Client) -> None:
    stored = await client.call("memory_store_episode", content="It rained", butler="home")
    refusal = await client.refusal("memory_confirm", memory_type="episode", memory_id=stored["id"])
    assert refusal.startswith("invalid_input: an episode cannot be confirmed")


async def test_a_rule_that_is_stored_again_is_confirmed(client: Client, admin: Connection) -> None:
    """As by a retry whose first answer came too late, or in each session anew."""
    first = await client.call("memory_store_rule", content="Run ruff before a commit", tags=["git"])
    await client.call("memory_mark_helpful", rule_id=first["id"])
    again = await client.call(
        "memory_store_rule", content=" run ruff before a commit ", tags=["lint", "git"]
    )
    assert (first["confirmed"], again["confirmed"]) == (None, True)
    assert again["id"] == first["id"]
    assert await admin.fetchval("SELECT tags FROM rules") == ["git", "lint"]
    # Another scope, a better source, and one that was given up: these are rules of their own.
    for more in ({"scope": "cook"}, {"trust": "user_said"}):
        other = await client.call("memory_store_rule", content="Run ruff before a commit", **more)
        assert other["id"] != first["id"]
    await client.call("memory_forget", memory_type="rule", memory_id=other["id"])
    await client.call("memory_forget", memory_type="rule", memory_id=first["id"])
    new = await client.call("memory_store_rule", content="Run ruff before a commit")
    assert new["id"] not in (first["id"], other["id"])
    assert await admin.fetchval("SELECT count(*) FROM rules") == 4


@pytest.mark.requirement("TOOL-04", "TOOL-09", "MS-01")
async def test_five_helpful_marks_establish_a_rule(client: Client) -> None:
    rule = (await client.call("memory_store_rule", content="Ask before booking"))["id"]
    for _ in range(5):
        marked = await client.call("memory_mark_helpful", rule_id=rule)
    assert marked["rule"]["maturity"] == "established"
    assert (marked["rule"]["applied_count"], marked["rule"]["success_count"]) == (5, 5)


@pytest.mark.requirement("TOOL-10", "MS-01")
async def test_a_harmful_mark_weighs_four_times_and_keeps_its_reason(client: Client) -> None:
    rule = (await client.call("memory_store_rule", content="Answer in one word"))["id"]
    await client.call("memory_mark_helpful", rule_id=rule)
    marked = await client.call("memory_mark_harmful", rule_id=rule, reason="The user was puzzled")
    assert math.isclose(marked["rule"]["effectiveness_score"], 1 / (1 + 4 * 1 + 0.01), abs_tol=1e-6)
    assert marked["rule"]["metadata"]["harmful_reasons"] == ["The user was puzzled"]


@pytest.mark.requirement("TOOL-11", "MS-01")
async def test_what_is_forgotten_is_not_recalled(client: Client) -> None:
    fact = await _fact(client)
    forgotten = await client.call("memory_forget", memory_type="fact", memory_id=fact)
    assert forgotten["status"] == "forgotten"
    assert (await client.call("memory_recall", topic="colour"))["results"] == []
    got = await client.call("memory_get", memory_type="fact", memory_id=fact)
    assert got["memory"]["lifecycle_state"] == "retracted"
    again = await client.call("memory_forget", memory_type="fact", memory_id=fact)
    assert again["status"] == "was_forgotten_before"


# --- context


@pytest.mark.requirement("TOOL-13", "CTX-07", "MS-01")
async def test_context_is_one_block_that_the_text_answer_shows_alone(client: Client) -> None:
    fact = await _fact(client)
    rule = (await client.call("memory_store_rule", content="Propose green things"))["id"]
    asked = {"trigger_prompt": "pick a colour", "butler": "shop"}
    answer = await client.call("memory_context", **asked)
    block = answer["context"]
    assert block.startswith("# Memory Context\n")
    assert "- [user] [favorite_color]: Loves dark green (confidence: 1.00)\n" in block
    assert "- Propose green things (maturity: candidate, effectiveness: 0.00)\n" in block
    assert answer["included"] == [fact, rule]
    assert answer["considered"] is None
    # Alone: clients that find JSON beside it show their model the JSON.
    assert await client.read("memory_context", **asked) == block


async def test_a_context_explains_each_line_when_asked(client: Client) -> None:
    fact = await _fact(client)
    asked = {"trigger_prompt": "pick a colour", "butler": "shop", "explain": True}
    (weighed,) = (await client.call("memory_context", **asked))["considered"]
    parts = weighed["scores"]["explain"]
    shares = [value for name, value in parts.items() if name.endswith("_contribution")]
    assert weighed["id"] == fact
    assert sum(shares) == pytest.approx(parts["composite"])


# --- entities


@pytest.mark.requirement("TOOL-14", "TOOL-15", "TOOL-16", "MS-01")
async def test_entities_are_made_found_changed_and_merged(client: Client) -> None:
    created = await client.call(
        "entity_create",
        canonical_name="Maria Silva",
        entity_type="person",
        tenant_id="default",
        aliases=["Mia"],
    )
    maria = created["entity"]["id"]
    fact = await _fact(client, "Works as a pilot", predicate="job", entity_id=maria)
    double = await client.call(
        "entity_create", canonical_name="M. Silva", entity_type="person", tenant_id="default"
    )
    resolved = await client.call("entity_resolve", name="mia", context_hints={"topic": "pilot"})
    assert [one["entity_id"] for one in resolved["candidates"]] == [maria]
    updated = await client.call("entity_update", entity_id=maria, metadata={"city": "Porto"})
    assert updated["entity"]["metadata"] == {"city": "Porto"}
    merged = await client.call(
        "entity_merge", source_entity_id=maria, target_entity_id=double["entity"]["id"]
    )
    assert (merged["facts_repointed"], merged["facts_superseded"]) == (1, 0)
    kept = await client.call("entity_get", entity_id=double["entity"]["id"])
    assert {"Mia", "Maria Silva"} <= set(kept["entity"]["aliases"])
    gone = await client.call("entity_get", entity_id=maria)
    assert gone["entity"]["metadata"]["merged_into"] == double["entity"]["id"]
    moved = await client.call("memory_get", memory_type="fact", memory_id=fact)
    assert moved["memory"]["entity_id"] == double["entity"]["id"]


async def test_a_merge_tells_what_it_superseded_and_what_holds_besides(client: Client) -> None:
    ids = []
    for name, allergy in (("Rex Brandt", "ibuprofen"), ("R. Brandt", "penicillin")):
        made = await client.call("entity_create", canonical_name=name, entity_type="other")
        ids.append(made["entity"]["id"])
        await _fact(client, f"Was named by {allergy}", predicate="birthday", entity_id=ids[-1])
        content = f"Is allergic to {allergy}{' ' * 300}!"
        await _fact(client, content, predicate="allergy", entity_id=ids[-1])
    merged = await client.call("entity_merge", source_entity_id=ids[0], target_entity_id=ids[1])
    (lost,), (kept,) = merged["superseded"], merged["beside"]
    assert (merged["facts_superseded"], lost["predicate"]) == (1, "birthday")
    assert lost["content"] == "Was named by ibuprofen"
    assert kept["predicate"] == "allergy_ibuprofen"
    assert kept["content"].startswith("Is allergic to ibuprofen")
    assert kept["content"].endswith(" …")
    found = await client.call("memory_get", memory_type="fact", memory_id=kept["id"])
    assert (found["memory"]["validity"], found["memory"]["entity_id"]) == ("active", ids[1])


@pytest.mark.requirement("TOOL-15")
async def test_an_unknown_id_is_an_empty_answer_or_a_clear_error(client: Client) -> None:
    nobody = str(uuid4())
    assert (await client.call("entity_get", entity_id=nobody))["entity"] is None
    assert (await client.call("entity_update", entity_id=nobody))["entity"] is None
    got = await client.call("memory_get", memory_type="rule", memory_id=nobody)
    assert got["memory"] is None
    refusal = await client.refusal("memory_mark_helpful", rule_id=nobody)
    assert refusal.startswith(f"not_found: there is no rule {nobody}")


# --- maintenance


@pytest.mark.requirement("TOOL-12", "TOOL-17", "TOOL-18", "MS-01")
async def test_figures_dry_run_and_clean_up(client: Client, clock: Clock) -> None:
    for butler in ("cook", "cook", "home"):
        await client.call("memory_store_episode", content="Something happened", butler=butler)
    await _fact(client, scope="cook")
    stats = await client.call("memory_stats")
    assert (stats["episodes"]["total"], stats["episodes"]["unconsolidated"]) == (3, 3)
    assert stats["facts"]["active"] == 1
    assert (await client.call("memory_stats", scope="home"))["facts"]["active"] == 0
    dry = await client.call("memory_run_consolidation")
    assert (dry["status"], dry["episodes"]) == ("dry_run", 3)
    assert dry["groups"] == {"cook": 2, "home": 1}
    clock.advance(days=91)
    cleaned = await client.call("memory_run_episode_cleanup")
    assert cleaned == {"expired_deleted": 3, "capacity_deleted": 0, "remaining": 0}


# --- what no answer may hold


@pytest.mark.requirement("JSON-01", "JSON-02", "JSON-03")
async def test_answers_hold_plain_ids_and_times_and_no_vectors(
    client: Client, admin: Connection
) -> None:
    fact = await _fact(client)
    rule = (await client.call("memory_store_rule", content="Wear green"))["id"]
    episode = (await client.call("memory_store_episode", content="Wore green", butler="me"))["id"]
    answers = [
        await client.call("memory_search", query="green", explain=True),
        await client.call("memory_recall", topic="green", explain=True),
        await client.call("memory_get", memory_type="episode", memory_id=episode),
        await client.call("memory_confirm", memory_type="rule", memory_id=rule),
        await client.call("memory_mark_helpful", rule_id=rule),
        await client.call("memory_get", memory_type="fact", memory_id=fact),
    ]
    for key, value in _leaves(answers):
        assert key not in {"embedding", "search_vector", "embedding_version_id"}
        if isinstance(value, str) and key.endswith("_at"):
            assert datetime.fromisoformat(value).isoformat() == value
            assert value.endswith("+00:00")
        if isinstance(value, str) and (key == "id" or key.endswith("_id")) and key != "tenant_id":
            assert str(UUID(value)) == value
    stored = await admin.fetchval("SELECT count(*) FROM facts WHERE embedding IS NOT NULL")
    assert stored == 1


def _leaves(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for name, item in value.items():
            yield name, None
            yield from _leaves(item, name)
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item, key)
    else:
        yield key, value


# --- many at once


async def test_thirty_two_clients_at_once(
    served: Served, admin: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    # They wait for one key, on a machine that may be slow; how long they may is asked elsewhere.
    monkeypatch.setattr(store_transaction, "ACQUIRE_TIMEOUT", 60.0)

    async def work(number: int) -> None:
        async with served.mcp() as client:
            subject = f"guest_{number}"
            await _fact(client, f"Guest {number} sits at table {number}", subject=subject)
            await _fact(client, "The same key for all", subject="house")
            found = await client.call("memory_recall", topic=f"where does guest {number} sit")
            assert subject in [one["subject"] for one in found["results"]]

    await asyncio.gather(*(work(number) for number in range(32)))
    assert await admin.fetchval("SELECT count(*) FROM facts WHERE validity = 'active'") == 33
    assert await admin.fetchval("SELECT count(*) FROM facts") == 64
