"""Lists and details over REST: filters, parts, what explains a memory, and no trace of looking."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest

from conftest import Clock, Connection
from memory_butler.domain.errors import Unavailable
from memory_butler.domain.principals import Principal
from memory_butler.engine.curate import forget_memory
from memory_butler.engine.feedback import rule_harmed, rule_helped
from memory_butler.engine.linking import create_link
from memory_butler.engine.memory import Memory
from memory_butler.engine.remember import store_episode, store_fact, store_rule
from memory_butler.engine.undo import undo_change
from memory_butler.store.transaction import reading
from memory_butler.surfaces.rest import examples
from surfaces.rest.household import move_in
from surfaces.serving import Served

pytestmark = pytest.mark.anyio


async def _get(served: Served, path: str, **query: Any) -> dict[str, Any]:
    async with served.rest() as rest:
        answer = await rest.get(path, params=query)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def _said(served: Served, path: str, **query: Any) -> list[str]:
    """The contents of a list; its total must agree."""
    found = await _get(served, path, **query)
    assert found["total"] == len(found["items"])
    return [one["content"] for one in found["items"]]


@pytest.fixture
async def facts(served: Served, principal: Principal, clock: Clock) -> dict[str, UUID]:
    """Facts that differ in everything that a list can be asked for, a day apart."""
    memory = served.memory
    told = {
        "tea": ("user", "tea", "Likes oolong tea", {"tags": ["taste"]}),
        "name": ("user", "name", "Is called Ada", {"permanence": "permanent"}),
        "trip": (
            "trip",
            "place",
            "Goes to Lisbon",
            {"scope": "travel", "source_butler": "travel", "permanence": "volatile"},
        ),
        "diet": ("guest", "diet", "Eats no nuts", {"source_butler": "kitchen"}),
    }
    ids = {}
    for name, (subject, predicate, content, more) in told.items():
        ids[name], _ = await store_fact(memory, principal, subject, predicate, content, **more)  # type: ignore[arg-type]
        clock.advance(days=1)
    return ids


ALL = ["Eats no nuts", "Goes to Lisbon", "Is called Ada", "Likes oolong tea"]
FILTERS: tuple[tuple[dict[str, Any], list[str]], ...] = (
    ({}, ALL),
    ({"subject": "user"}, ["Is called Ada", "Likes oolong tea"]),
    ({"subject": "User", "predicate": " TEA "}, ["Likes oolong tea"]),
    ({"predicate": "place", "known_at": "2026-03-01T12:00:00Z"}, []),
    ({"predicate": "place", "known_at": "2026-03-04T12:00:00Z"}, ["Goes to Lisbon"]),
    ({"predicate": "place", "q": "lisb"}, ["Goes to Lisbon"]),
    ({"scope": "travel"}, ["Goes to Lisbon"]),
    ({"butler": "kitchen"}, ["Eats no nuts", "Is called Ada", "Likes oolong tea"]),
    ({"source_butler": "kitchen"}, ["Eats no nuts"]),
    ({"permanence": ["volatile", "permanent"]}, ["Goes to Lisbon", "Is called Ada"]),
    ({"tag": "taste"}, ["Likes oolong tea"]),
    ({"q": "lisb"}, ["Goes to Lisbon"]),
    ({"q": "oolong te"}, ["Likes oolong tea"]),
    ({"q": "oolong lisbon"}, []),
    ({"q": "  "}, ALL),
    ({"q": "no"}, ["Eats no nuts"]),  # a stop word: letter by letter
    ({"min_confidence": 1.0}, ["Is called Ada"]),
    ({"from": "2026-03-03T12:00:00Z"}, ["Eats no nuts", "Goes to Lisbon"]),
    ({"to": "2026-03-02T12:00:00Z"}, ["Likes oolong tea"]),
)


@pytest.mark.requirement("API-02")
@pytest.mark.usefixtures("facts")
async def test_facts_are_listed_by_any_criterion(served: Served) -> None:
    for query, contents in FILTERS:
        assert await _said(served, "/api/memory/facts", **query) == contents, query


async def test_a_list_is_asked_for_by_the_names_that_were_stored(served: Served) -> None:
    home, tag = " at  home\u200b", " a\ttag "
    async with served.rest() as rest:
        fact = {"subject": "user", "predicate": "tea", "content": "Likes mint tea"}
        given = fact | {"scope": home, "source_butler": home, "tags": [tag]}
        for path, body in (("facts", given), ("episodes", {"content": "Tea", "butler": home})):
            assert (await rest.post(f"/api/memory/{path}", json=body)).is_success
    for query in ({"scope": home}, {"source_butler": home}, {"butler": home}, {"tag": tag}):
        assert await _said(served, "/api/memory/facts", **query) == ["Likes mint tea"], query
    assert await _said(served, "/api/memory/episodes", butler=home) == ["Tea"]


@pytest.mark.requirement("API-02")
async def test_the_archive_shows_what_replaced_a_fact(
    served: Served, principal: Principal, facts: dict[str, UUID]
) -> None:
    newer, _ = await store_fact(served.memory, principal, "user", "tea", "Likes mint tea")
    await forget_memory(served.memory, principal, "fact", facts["diet"])
    archive = await _get(served, "/api/memory/facts", validity="archive")
    states = {one["id"]: (one["lifecycle_state"], one["superseded_by"]) for one in archive["items"]}
    assert states == {
        str(facts["tea"]): ("superseded", str(newer)),
        str(facts["diet"]): ("retracted", None),
    }
    assert await _said(served, "/api/memory/facts", validity="forgotten") == ["Eats no nuts"]
    assert len(await _said(served, "/api/memory/facts", validity="all")) == 5


@pytest.mark.usefixtures("facts")
async def test_parts_of_a_list_make_the_whole_list(served: Served) -> None:
    for sort in ("created", "confirmed", "confidence", "importance", "references", "subject"):
        for direction in ("asc", "desc"):
            order = {"sort": sort, "direction": direction}
            whole = await _get(served, "/api/memory/facts", **order)
            parts = [
                await _get(served, "/api/memory/facts", **order, limit=1, offset=offset)
                for offset in range(4)
            ]
            assert [one["items"][0]["id"] for one in parts] == [
                one["id"] for one in whole["items"]
            ], order
            assert {one["total"] for one in parts} == {4}


async def test_a_list_shows_the_beginning_of_a_long_text(
    served: Served, principal: Principal
) -> None:
    long = "A sentence that goes on. " * 2_000
    id, _ = await store_fact(served.memory, principal, "user", "novel", long)
    (listed,) = (await _get(served, "/api/memory/facts"))["items"]
    assert (len(listed["content"]), listed["content_length"]) == (2_000, len(long))
    assert (await _get(served, f"/api/memory/facts/{id}"))["fact"]["content"] == long


@pytest.mark.requirement("API-03")
async def test_a_fact_is_shown_with_all_that_explains_it(
    served: Served, principal: Principal, clock: Clock
) -> None:
    memory = served.memory
    episode = await store_episode(memory, principal, "We talked of tea", "kitchen")
    old, _ = await store_fact(
        memory, principal, "user", "tea", "Likes tea", source_episode_id=episode
    )
    clock.advance(days=10)
    new, _ = await store_fact(memory, principal, "user", "tea", "Likes mint tea")
    rule = await store_rule(memory, principal, "Offer mint tea")
    await create_link(memory, principal, "fact", new, "rule", rule, "supports")
    clock.advance(days=30)

    shown = await _get(served, f"/api/memory/facts/{new}")
    nodes = {one["id"]: one for one in shown["provenance"]["nodes"]}
    assert {id: one["state"] for id, one in nodes.items()} == {
        str(new): "active",
        str(old): "superseded",
        str(episode): "expired",
        str(rule): "candidate",
    }
    assert nodes[str(rule)]["label"] == "Offer mint tea"
    edges = {
        (one["source_id"], one["relation"], one["target_id"])
        for one in shown["provenance"]["edges"]
    }
    assert edges == {
        (str(new), "supersedes", str(old)),
        (str(old), "derived_from", str(episode)),
        (str(new), "supports", str(rule)),
    }
    decay = shown["decay"]
    assert decay["effective_now"] == pytest.approx(0.7866, abs=1e-4)
    assert decay["effective_if_confirmed"] == 1.0
    assert decay["fades_at"].startswith("2026-09")
    assert decay["curve"][0]["effective"] == 1.0
    assert decay["curve"][-1]["effective"] < decay["expiry_threshold"]
    assert {one["relation"] for one in shown["links"]} == {"supersedes", "supports"}
    assert (await _get(served, f"/api/memory/facts/{old}"))["superseded_by"] == str(new)


@pytest.mark.requirement("API-03")
async def test_an_episode_that_is_gone_stays_in_the_graph(
    served: Served, principal: Principal, admin: Connection
) -> None:
    memory = served.memory
    episode = await store_episode(memory, principal, "We talked of tea", "kitchen")
    fact, _ = await store_fact(
        memory, principal, "user", "tea", "Likes tea", source_episode_id=episode
    )
    await admin.execute("DELETE FROM episodes")
    graph = (await _get(served, f"/api/memory/facts/{fact}"))["provenance"]
    gone = next(one for one in graph["nodes"] if one["id"] == str(episode))
    assert (gone["state"], gone["label"]) == ("gone", None)


@pytest.mark.requirement("API-06", "API-15")
async def test_rules_are_listed_by_any_criterion(served: Served, principal: Principal) -> None:
    memory = served.memory
    ask = await store_rule(memory, principal, "Ask before sending")
    pack = await store_rule(memory, principal, "Pack an umbrella", scope="travel")
    off = await store_rule(memory, principal, "Never mind", tags=["odd"])
    gone = await store_rule(memory, principal, "Forget me")
    async with served.rest() as rest:
        assert (await rest.post(f"/api/memory/rules/{ask}/promote")).status_code == 200
        assert (await rest.post(f"/api/memory/rules/{off}/disable")).status_code == 200
    await forget_memory(memory, principal, "rule", gone)

    async def listed(path: str = "/api/memory/rules", **query: Any) -> set[str]:
        return set(await _said(served, path, **query))

    assert await listed() == {"Ask before sending", "Pack an umbrella", "Never mind"}
    assert await listed(scope="travel") == {"Pack an umbrella"}
    assert await listed(maturity="established") == {"Ask before sending"}
    assert await listed(q="umbr") == {"Pack an umbrella"}
    assert await listed(tag="odd") == {"Never mind"}
    assert await listed(state="in_use") == {"Ask before sending", "Pack an umbrella"}
    assert await listed(state="disabled") == {"Never mind"}
    assert await listed(state="forgotten") == {"Forget me"}
    assert len(await listed(state="all")) == 4
    assert await listed("/api/butlers/travel/memory/rules", state="in_use") == {
        "Ask before sending",
        "Pack an umbrella",
    }
    assert await listed("/api/butlers/home/memory/rules", state="in_use") == {"Ask before sending"}
    assert pack


@pytest.mark.requirement("API-07", "RAP-03")
async def test_a_rule_is_shown_with_the_history_of_its_use(
    served: Served, principal: Principal, clock: Clock
) -> None:
    rule = await store_rule(served.memory, principal, "Ask before sending")
    await rule_helped(served.memory, principal, rule)
    clock.advance(hours=1)
    await rule_harmed(served.memory, principal, rule, "It was urgent")
    shown = await _get(served, f"/api/memory/rules/{rule}")
    assert [(one["outcome"], one["context"]) for one in shown["applications"]] == [
        ("harmful", {"reason": "It was urgent"}),
        ("helpful", {}),
    ]
    assert shown["applications_total"] == 2
    assert (shown["rule"]["state"], shown["rule"]["applied_count"]) == ("active", 2)


@pytest.mark.requirement("API-10", "API-11", "API-16")
async def test_episodes_are_listed_and_shown(
    served: Served, principal: Principal, clock: Clock, admin: Connection
) -> None:
    memory = served.memory
    session = uuid4()
    first = await store_episode(memory, principal, "It rained", "home", session_id=session)
    clock.advance(days=1)
    await store_episode(memory, principal, "We packed", "travel")
    await admin.execute(
        "UPDATE episodes SET consolidation_status = 'consolidated' WHERE id = $1", first
    )
    path = "/api/memory/episodes"
    assert await _said(served, path) == ["We packed", "It rained"]
    assert await _said(served, path, butler="home") == ["It rained"]
    assert await _said(served, "/api/butlers/travel/memory/episodes") == ["We packed"]
    assert await _said(served, path, consolidated="true") == ["It rained"]
    assert await _said(served, path, status="pending") == ["We packed"]
    assert await _said(served, path, session_id=str(session)) == ["It rained"]
    assert await _said(served, path, **{"from": "2026-03-02T00:00:00Z"}) == ["We packed"]
    assert await _said(served, path, **{"to": "2026-03-02T00:00:00Z"}) == ["It rained"]
    assert await _said(served, path, q="rain") == ["It rained"]
    await forget_memory(memory, principal, "episode", first)
    assert await _said(served, path) == ["We packed"]
    assert await _said(served, path, expired="true") == ["It rained"]
    assert (await _get(served, f"{path}/{first}"))["episode"]["content"] == "It rained"


@pytest.mark.requirement("API-12")
async def test_the_activity_feed_tells_what_became_of_knowledge(
    served: Served, principal: Principal, clock: Clock
) -> None:
    memory = served.memory
    await store_episode(memory, principal, "It rained", "home")  # told, but nothing known yet
    fact, _ = await store_fact(memory, principal, "user", "hot_drink", "Likes tea", scope="home")
    clock.advance(minutes=1)
    await store_fact(memory, principal, "user", "hot_drink", "Likes mint tea", scope="home")
    clock.advance(minutes=1)
    await store_rule(memory, principal, "Offer tea", scope="travel")
    feed = await _get(served, "/api/memory/activity")
    assert feed["items"][0]["event_type"] == "rule_created"
    assert {one["event_type"] for one in feed["items"]} == {
        "rule_created",
        "fact_created",
        "fact_superseded",
    }
    superseded = next(one for one in feed["items"] if one["event_type"] == "fact_superseded")
    assert superseded["memory_id"] == str(fact)
    assert superseded["about"] == "user · hot drink: Likes tea"
    home = await _get(served, "/api/memory/activity", butler="home")
    assert home["total"] == feed["total"] - 1
    history = await _get(served, f"/api/memory/facts/{fact}/events")
    assert {one["event_type"] for one in history["items"]} == {"fact_created", "fact_superseded"}
    kinds = await _get(served, "/api/memory/events", kind=["episode_created"])
    assert [one["about"] for one in kinds["items"]] == ["It rained"]


@pytest.mark.requirement("API-01", "API-13", "API-14")
async def test_the_view_of_one_butler_is_its_own(
    served: Served, principal: Principal, facts: dict[str, UUID]
) -> None:
    await store_episode(served.memory, principal, "We packed", "travel")
    await store_episode(served.memory, principal, "It rained", "home/garden")
    whole = await _get(served, "/api/memory/stats")
    travel = await _get(served, "/api/butlers/travel/memory/stats")
    assert (whole["facts"]["active"], whole["episodes"]["total"]) == (4, 2)
    assert (travel["facts"]["active"], travel["episodes"]["total"]) == (4, 1)
    garden = await _get(served, "/api/butlers/home%2Fgarden/memory/stats")
    assert (garden["facts"]["active"], garden["episodes"]["total"]) == (3, 1)
    assert len(await _said(served, "/api/butlers/travel/memory/facts")) == 4
    assert len(await _said(served, "/api/butlers/home%2Fgarden/memory/facts")) == 3
    known = {one["name"]: one for one in (await _get(served, "/api/butlers"))["butlers"]}
    assert set(known) == {"travel", "kitchen", "home/garden"}
    assert (known["travel"]["pending"], known["travel"]["health"]) == (1, "well")
    shown = await _get(served, "/api/butlers/travel")
    assert [one["content"] for one in shown["learnings"]] == ["Goes to Lisbon"]
    assert facts


async def test_a_session_shows_what_came_from_it_and_what_it_got(
    served: Served, principal: Principal, admin: Connection
) -> None:
    await move_in(served.memory, principal, admin)
    session = examples.SESSION
    listed = await _get(served, "/api/memory/sessions")
    assert (listed["total"], listed["items"][0]["butlers"]) == (1, ["travel"])
    shown = await _get(served, f"/api/memory/sessions/{session}")
    begins = shown["episodes"][0]["content"][:200]
    assert listed["items"][0]["begins_with"] == shown["session"]["begins_with"] == begins
    assert [one["id"] for one in shown["episodes"]] == [examples.EPISODE]
    assert [one["id"] for one in shown["facts"]] == [examples.FACT]
    assert [one["id"] for one in shown["rules"]] == [examples.RULE]
    (answer,) = shown["served"]
    assert answer["operation"] == "context"
    assert any("dark green" in one["label"] for one in answer["items"])


async def test_everything_is_found_by_what_is_typed(
    served: Served, principal: Principal, admin: Connection
) -> None:
    await move_in(served.memory, principal, admin)
    found = await _get(served, "/api/memory/find", q="Ana")
    assert [one["canonical_name"] for one in found["entities"]] == ["Ana S.", "Ana Silva"]
    found = await _get(served, "/api/memory/find", q="dark green")
    assert found["facts"][0]["id"] == examples.FACT
    assert found["episodes"][0]["id"] == examples.EPISODE
    nothing = await _get(served, "/api/memory/find", q=" ")
    assert nothing == {"facts": [], "rules": [], "episodes": [], "entities": []}


async def test_a_preview_of_a_merge_says_what_the_merge_does(
    served: Served, principal: Principal, admin: Connection
) -> None:
    await move_in(served.memory, principal, admin)
    both = {
        "source_entity_id": examples.DUPLICATE,
        "target_entity_id": examples.PERSON,
    }
    async with served.rest() as rest:
        preview = (await rest.post("/api/memory/entities/merge/preview", json=both)).json()
        merged = (await rest.post("/api/memory/entities/merge", json=both)).json()
    for count in ("facts_repointed", "facts_superseded", "aliases_added"):
        assert preview[count] == merged[count]
    assert len(preview["conflicts"]) == merged["facts_superseded"] == 1
    entity = await _get(served, f"/api/memory/entities/{examples.PERSON}")
    assert sorted(entity["entity"]["aliases"]) == sorted(preview["aliases"])
    assert entity["facts_total"] == 1


async def test_trends_count_what_was_known_on_each_day(
    served: Served, principal: Principal, clock: Clock
) -> None:
    memory = served.memory
    fact, _ = await store_fact(memory, principal, "user", "tea", "Likes tea")
    clock.advance(days=2)
    await forget_memory(memory, principal, "fact", fact)
    await store_fact(memory, principal, "user", "name", "Is Ada", permanence="permanent")
    found = await _get(served, "/api/memory/trends", days=3)
    days = {(one["day"][:10], one["permanence"]): one["facts"] for one in found["permanence"]}
    assert days == {
        ("2026-03-01", "standard"): 1,
        ("2026-03-02", "standard"): 1,
        ("2026-03-03", "standard"): 0,
        ("2026-03-03", "permanent"): 1,
    }
    assert sum(found["confidence"]) == found["confidence"][-1] == 1
    assert len(found["confidence"]) == len(found["effectiveness"]) == 20


async def test_trends_count_days_of_the_zone_that_is_asked_for(
    served: Served, principal: Principal, clock: Clock
) -> None:
    clock.now = datetime(2026, 9, 26, 11, 59, tzinfo=UTC)  # 23:59 in Auckland
    await store_fact(served.memory, principal, "user", "tea", "Likes tea")
    clock.advance(minutes=2)
    await store_fact(served.memory, principal, "user", "name", "Is Ada")
    clock.advance(hours=23, minutes=30)  # the clocks went forward: it is past midnight again

    async def days(zone: dict[str, str]) -> tuple[dict[str, int], dict[str, int]]:
        found = await _get(served, "/api/memory/trends", days=3, **zone)
        return (
            {one["day"]: one["facts"] for one in found["permanence"]},
            {one["day"]: one["events"] for one in found["flow"]},
        )

    assert await days({"time_zone": "Pacific/Auckland"}) == (
        {
            "2026-09-26T00:00:00+12:00": 1,
            "2026-09-27T00:00:00+12:00": 2,
            "2026-09-28T00:00:00+13:00": 2,
        },
        {"2026-09-26T00:00:00+12:00": 1, "2026-09-27T00:00:00+12:00": 1},
    )
    utc = {"2026-09-26T00:00:00+00:00": 2, "2026-09-27T00:00:00+00:00": 2}
    assert await days({}) == await days({"time_zone": "UTC"})
    assert await days({}) == (utc, {"2026-09-26T00:00:00+00:00": 2})
    west, _ = await days({"time_zone": "America/Los_Angeles"})
    assert west == {"2026-09-26T00:00:00-07:00": 2, "2026-09-27T00:00:00-07:00": 2}


async def test_trends_know_a_day_that_has_no_midnight(
    served: Served, principal: Principal, clock: Clock
) -> None:
    clock.now = datetime(2026, 9, 6, 4, 30, tzinfo=UTC)  # 01:30 in Santiago; 00:00 became 01:00
    await store_fact(served.memory, principal, "user", "tea", "Likes tea")
    found = await _get(served, "/api/memory/trends", days=2, time_zone="America/Santiago")
    assert [one["day"][:10] for one in found["flow"]] == ["2026-09-06"]
    assert [one["day"][:10] for one in found["permanence"]] == ["2026-09-06"]


async def test_trends_refuse_an_unknown_time_zone(served: Served) -> None:
    async with served.rest() as rest:
        for zone in ("", "Porto", "Europe", "../etc/passwd", "/etc/localtime", "+01:00"):
            answer = await rest.get("/api/memory/trends", params={"time_zone": zone})
            assert answer.status_code == 422, zone
            assert answer.json()["detail"] == f"unknown time zone {zone!r}; example: Europe/Lisbon"


async def test_events_say_whether_their_change_was_undone(
    served: Served, principal: Principal, clock: Clock
) -> None:
    for content in ("Likes tea", "Likes coffee"):
        await store_fact(served.memory, principal, "user", content, content)
        clock.advance(seconds=1)

    async def undone() -> dict[str, bool]:
        found = await _get(served, "/api/memory/events")
        return {one["about"] or one["event_type"]: one["undone"] for one in found["items"]}

    assert set((await undone()).values()) == {False}
    await undo_change(served.memory, principal)
    assert await undone() == {
        "change_undone": False,
        "fact_created": True,
        "user · Likes tea: Likes tea": False,
    }


@pytest.mark.requirement("GEN-08")
async def test_looking_changes_nothing(
    served: Served, principal: Principal, admin: Connection
) -> None:
    await move_in(served.memory, principal, admin)
    tables = ("facts", "rules", "episodes", "entities", "served", "memory_events")

    async def everything() -> list[Any]:
        return [await admin.fetch(f"SELECT * FROM {table} ORDER BY id") for table in tables]

    before = await everything()
    async with served.rest() as rest:
        for path in _READS:
            assert (await rest.get(path)).status_code == 200, path
    assert await everything() == before


_READS = (
    "/api/memory/stats",
    "/api/memory/trends",
    "/api/memory/facts",
    f"/api/memory/facts/{examples.FACT}",
    f"/api/memory/facts/{examples.FACT}/links",
    f"/api/memory/facts/{examples.FACT}/events",
    "/api/memory/rules",
    f"/api/memory/rules/{examples.RULE}",
    "/api/memory/episodes",
    f"/api/memory/episodes/{examples.EPISODE}",
    "/api/memory/entities",
    f"/api/memory/entities/{examples.PERSON}",
    "/api/memory/activity",
    "/api/memory/events",
    "/api/memory/sessions",
    f"/api/memory/sessions/{examples.SESSION}",
    "/api/memory/find?q=green",
    "/api/butlers",
    f"/api/butlers/{examples.BUTLER}",
    f"/api/butlers/{examples.BUTLER}/memory/stats",
    f"/api/butlers/{examples.BUTLER}/memory/facts",
    f"/api/butlers/{examples.BUTLER}/memory/rules",
    f"/api/butlers/{examples.BUTLER}/memory/episodes",
    "/api/memory/dead-letters",
    "/api/memory/jobs",
)


@pytest.mark.requirement("GEN-08")
async def test_a_reading_transaction_cannot_write(memory: Memory) -> None:
    with pytest.raises(Unavailable):
        async with reading(memory.pool, "default") as tx:
            await tx.connection.execute("INSERT INTO rules (content) VALUES ('x')")
