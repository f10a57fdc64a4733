"""Storing: what is written, what supersedes what, and what is refused."""

import asyncio
import math
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from conftest import NOW, Clock, Connection, Database
from memory_butler.config import EpisodesConfig, MemoryModuleConfig
from memory_butler.domain.errors import InvalidInput
from memory_butler.domain.facts import FactKey, key_of
from memory_butler.domain.permanence import DECAY_RATES, decay_rate_of
from memory_butler.domain.principals import Principal
from memory_butler.domain.text import MASK
from memory_butler.engine.entities import create_entity, merge_entities
from memory_butler.engine.memory import Memory
from memory_butler.engine.remember import store_episode, store_fact, store_rule
from memory_butler.engine.unmasking import unmask
from memory_butler.inference.batching import BatchingEmbedder
from memory_butler.operations.episodes import StoredEpisode, StoreEpisodeInput, memory_store_episode
from memory_butler.store import embeddings, schema
from memory_butler.store.transaction import connected, open_pool

from .store_views import count, event_types, row, states

pytestmark = pytest.mark.anyio

TABLES = ("episodes", "facts", "rules", "memory_events", "memory_links", "memory_versions")


async def _nothing_stored(admin: Connection) -> bool:
    return not any([await count(admin, table) for table in TABLES])


@pytest.mark.parametrize(
    "unset", [datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)]
)
async def test_a_time_that_is_not_set_is_refused(
    memory: Memory, principal: Principal, admin: Connection, unset: datetime
) -> None:
    # With "0001-01-01T00:00:00Z" no recall of what happened in May was answered any more.
    said = "is out of range; leave it out if it is not set"
    with pytest.raises(InvalidInput, match=f"occurred_at .* {said}"):
        await store_episode(memory, principal, "Rex was weighed", "vet", occurred_at=unset)
    for name in ("valid_from", "valid_until"):
        given: dict[str, Any] = {name: unset}
        with pytest.raises(InvalidInput, match=f"{name} .* {said}"):
            await store_fact(memory, principal, "Rex", "weight", "31 kg", **given)
    assert await _nothing_stored(admin)


async def test_an_id_of_the_callers_own_is_stored_once_and_never_for_another_text(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    secret = "the token is ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    for content in ("Rex was weighed", secret):
        id = uuid4()
        calls = (store_episode(memory, principal, content, "vet", id=id) for _ in range(4))
        assert set(await asyncio.gather(*calls)) == {id}
        with pytest.raises(InvalidInput, match="give this one an id of its own"):
            await store_episode(memory, principal, "Luna was weighed", "vet", id=id)
    fact, _ = await store_fact(memory, principal, "Rex", "weight", "31 kg")
    with pytest.raises(InvalidInput, match="is the id of a memory with another content"):
        await store_episode(memory, principal, "Luna was weighed", "vet", id=fact)
    assert await count(admin, "episodes") == 2


async def test_a_masked_episode_that_is_stored_again_stays_and_says_how_to_restore_it(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    async def store(said: str, *, allow_secrets: bool = False) -> StoredEpisode:
        given = StoreEpisodeInput(
            content=said, butler="vet", episode_id=id, allow_secrets=allow_secrets
        )
        answer = await memory_store_episode.handler(memory, principal, given)
        assert isinstance(answer, StoredEpisode)
        return answer

    id, secret = uuid4(), "the token is ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    first = await store(secret)
    assert first.unmask_key is not None
    for allowed in (False, True):
        again = await store(secret, allow_secrets=allowed)
        assert (again.id, again.unmask_key) == (id, None)
        assert again.secrets is not None
        assert "Masked before it was stored: 1 × GitHub token." in again.secrets
        assert "`memory-butler unmask`" in again.secrets
        assert "allow_secrets" not in again.secrets
    assert MASK in (await admin.fetchval("SELECT content FROM episodes"))
    await unmask(memory, principal, first.unmask_key)
    assert (await store(secret, allow_secrets=True)).secrets is None
    with pytest.raises(InvalidInput, match="give this one an id of its own"):
        await store("Luna was weighed", allow_secrets=True)
    assert await count(admin, "episodes") == 1


@pytest.mark.requirement("STO-02", "STO-01", "EMB-05", "EPI-05", "EPI-06", "EPI-13", "EMV-01")
async def test_an_episode_is_stored_with_everything(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    session = uuid4()
    id = await store_episode(
        memory,
        principal,
        "we planned the  trip to Lisbon",
        "travel",
        session_id=session,
        importance=7.5,
        occurred_at=NOW - timedelta(hours=2),
        speaker="Ann",
        turn=3,
        metadata={"channel": "mail"},
    )
    stored = await row(admin, "episodes", id)
    assert stored["content"] == "we planned the  trip to Lisbon"  # as it was, spaces and all
    assert (stored["butler"], stored["session_id"], stored["importance"]) == (
        "travel",
        session,
        7.5,
    )
    assert (stored["speaker"], stored["turn"]) == ("Ann", 3)
    assert stored["occurred_at"] == NOW - timedelta(hours=2)
    assert stored["created_at"] == stored["last_referenced_at"] == NOW
    assert stored["expires_at"] == NOW + timedelta(days=7)
    assert stored["metadata"] == {"channel": "mail"}
    assert stored["consolidation_status"] == "pending"
    assert "'lisbon'" in stored["search_vector"]
    assert stored["embedding_version_id"] == memory.embedding_version_id
    expected = await memory.embedder.embed("[1 March 2026] Ann: we planned the  trip to Lisbon")
    assert stored["embedding"].to_numpy() == pytest.approx(expected, abs=1e-6)


@pytest.mark.requirement("STO-02", "EPI-15")
async def test_the_configured_ttl_decides_when_an_episode_expires(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    config = MemoryModuleConfig(episodes=EpisodesConfig(default_ttl_days=0.5))
    id = await store_episode(replace(memory, config=config), principal, "x", "b")
    assert (await row(admin, "episodes", id))["expires_at"] == NOW + timedelta(hours=12)


@pytest.mark.requirement("STO-03", "LIFE-03", "FACT-31", "FACT-05", "EMB-05")
async def test_a_fact_begins_active_and_certain(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    id, superseded = await store_fact(memory, principal, "user", "likes", "green tea")
    assert superseded is None
    stored = await row(admin, "facts", id)
    assert (stored["validity"], stored["confidence"]) == ("active", 1.0)
    assert (stored["permanence"], stored["decay_rate"]) == ("standard", 0.008)
    assert (stored["importance"], stored["scope"], stored["tags"]) == (5.0, "global", [])
    assert stored["valid_from"] == stored["created_at"] == stored["last_confirmed_at"] == NOW
    assert stored["valid_until"] is None
    assert stored["retired_at"] is None
    # C-20: subject, predicate and content are all embedded and indexed.
    expected = await memory.embedder.embed("user likes green tea")
    assert stored["embedding"].to_numpy() == pytest.approx(expected, abs=1e-6)
    for word in ("user", "like", "green", "tea"):
        assert f"'{word}'" in stored["search_vector"]


@pytest.mark.requirement(
    "PERM-01", "PERM-02", "PERM-03", "PERM-04", "PERM-05", "PERM-06", "FACT-31", "STO-08"
)
@pytest.mark.parametrize(("permanence", "rate"), DECAY_RATES.items())
async def test_permanence_sets_the_decay_rate_of_facts_and_rules(
    memory: Memory, principal: Principal, admin: Connection, permanence: str, rate: float
) -> None:
    fact, _ = await store_fact(memory, principal, "s", "p", "c", permanence=permanence)
    rule = await store_rule(memory, principal, "be kind", permanence=permanence)
    for table, id in (("facts", fact), ("rules", rule)):
        stored = await row(admin, table, id)
        assert (stored["permanence"], stored["decay_rate"]) == (permanence, rate)


@pytest.mark.requirement("STO-08", "RULE-19", "RULE-03", "EMB-05", "MAT-01")
async def test_a_rule_begins_as_a_candidate(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    id = await store_rule(memory, principal, "offer tea first", tags=["manners"])
    stored = await row(admin, "rules", id)
    assert (stored["maturity"], stored["confidence"]) == ("candidate", 0.5)
    assert (stored["decay_rate"], stored["permanence"]) == (0.01, "standard")
    assert stored["effectiveness_score"] == 0.0
    assert (stored["applied_count"], stored["success_count"], stored["harmful_count"]) == (0, 0, 0)
    assert stored["last_confirmed_at"] == NOW
    assert stored["tags"] == ["manners"]
    assert "'tea'" in stored["search_vector"]


@pytest.mark.requirement("STO-04", "STO-05", "LIFE-04", "FACT-12", "MNT-02", "GEN-09", "MEV-01")
async def test_a_new_fact_of_the_key_supersedes_the_old_one(
    memory: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    green, _ = await store_fact(memory, principal, "user", "favorite_color", "green")
    clock.advance(days=1)
    blue, superseded = await store_fact(memory, principal, "user", "favorite_color", "blue")
    assert superseded == green
    old, new = await row(admin, "facts", green), await row(admin, "facts", blue)
    assert (old["validity"], new["validity"]) == ("superseded", "active")
    assert new["supersedes_id"] == green
    link = await admin.fetchrow("SELECT * FROM memory_links")
    assert (link["source_id"], link["target_id"], link["relation"]) == (blue, green, "supersedes")
    # Both axes: green was true until blue began, and was known until it was told.
    assert old["valid_until"] == new["valid_from"] == clock.now
    assert old["retired_at"] == clock.now
    (before,) = await states(admin, "fact", green)
    assert (before["known_from"], before["known_until"]) == (NOW, clock.now)
    assert before["state"]["validity"] == "active"
    assert await event_types(admin) == ["fact_created", "fact_created", "fact_superseded"]


async def test_a_correction_that_says_no_more_matters_and_lasts_as_what_it_corrects(
    memory: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    """After 300 days the allergy would have expired, and counted no more than a hobby till then."""
    vital: dict[str, Any] = {"importance": 9, "permanence": "permanent"}
    await store_fact(memory, principal, "user", "allergy", "Allergic to penicillin", **vital)
    clock.advance(days=1)
    new, _ = await store_fact(memory, principal, "user", "allergy", "Allergic to amoxicillin")
    stored = await row(admin, "facts", new)
    assert (stored["importance"], stored["permanence"]) == (9, "permanent")
    assert stored["decay_rate"] == 0.0


@pytest.mark.parametrize(
    ("before", "said", "stored"),
    [
        # What is said holds, whatever the former had.
        ((9, "permanent"), {"importance": 3, "permanence": "volatile"}, (3, "volatile")),
        ((9, "permanent"), {"permanence": "standard"}, (9, "standard")),
        ((9, "permanent"), {"importance": 5}, (5, "permanent")),
        # What mattered less, or held for a time, takes nothing away.
        ((2, "volatile"), {}, (5, "standard")),
        # What has an end of its own needs no clock.
        ((9, "permanent"), {"valid_until": NOW + timedelta(days=30)}, (9, "standard")),
    ],
)
async def test_what_a_correction_states_holds(
    memory: Memory,
    principal: Principal,
    admin: Connection,
    clock: Clock,
    before: tuple[float, str],
    said: dict[str, Any],
    stored: tuple[float, str],
) -> None:
    importance, permanence = before
    await store_fact(
        memory, principal, "user", "diet", "Vegan", importance=importance, permanence=permanence
    )
    clock.advance(days=1)
    new, _ = await store_fact(memory, principal, "user", "diet", "Vegetarian", **said)
    kept = await row(admin, "facts", new)
    assert (kept["importance"], kept["permanence"]) == stored
    assert kept["decay_rate"] == decay_rate_of(stored[1])


async def test_what_is_trusted_less_does_not_say_how_much_a_correction_matters(
    memory: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    vital: dict[str, Any] = {"importance": 10, "permanence": "permanent"}
    await store_fact(memory, principal, "user", "car", "Needs a Fiat", trust="tool_output", **vital)
    clock.advance(days=1)
    new, _ = await store_fact(memory, principal, "user", "car", "Has no car", trust="user_said")
    stored = await row(admin, "facts", new)
    assert (stored["importance"], stored["permanence"]) == (5, "standard")


async def test_a_correction_that_waits_matters_and_lasts_as_what_it_would_correct(
    memory: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    vital: dict[str, Any] = {"importance": 9, "permanence": "permanent", "trust": "user_said"}
    await store_fact(memory, principal, "user", "allergy", "Allergic to penicillin", **vital)
    clock.advance(days=1)
    waiting, _ = await store_fact(
        memory, principal, "user", "allergy", "Allergic to amoxicillin", trust="tool_output"
    )
    stored = await row(admin, "facts", waiting)
    assert stored["validity"] == "waiting"
    assert (stored["importance"], stored["permanence"]) == (9, "permanent")


@pytest.mark.parametrize(
    ("subject", "again"),
    [
        ("İstanbul", "istanbul"),
        ("ΟΔΟΣ", "οδοσ"),
        ("STRASSE", "strasse"),
        ("Ǆ", "ǆ"),
        ("Ärzte", "ärzte"),
    ],
)
async def test_a_fact_is_superseded_in_every_script(
    memory: Memory, principal: Principal, clock: Clock, subject: str, again: str
) -> None:
    last, _ = await store_fact(memory, principal, subject, "Größe", "big")
    for spelt in (subject, again):
        clock.advance(days=1)
        new, superseded = await store_fact(memory, principal, spelt, "GRÖßE", "small")
        assert superseded == last
        last = new


async def test_the_database_and_the_program_agree_on_what_one_key_is(admin: Connection) -> None:
    """Locks go by the one and rows by the other; letters that are newer than either stay as is."""
    letters = [one for one in map(chr, range(1, sys.maxunicode + 1)) if one.lower() != one]
    found = await admin.fetch(
        "SELECT letter, key_of(letter) AS key FROM unnest($1::text[]) letter", letters
    )
    assert len(found) > 1_400
    assert {row["letter"]: row["key"] for row in found} == {one: key_of(one) for one in letters}


async def test_a_fact_is_superseded_whatever_letters_the_database_knows(
    empty_database: Database, embedder: BatchingEmbedder, principal: Principal, clock: Clock
) -> None:
    """One of somebody else's may know no letters but those of ASCII: "Ä" and "ä" are two there."""
    name = empty_database.name
    async with connected(empty_database.admin_dsn.replace(name, "postgres")) as server:
        await server.execute(f"DROP DATABASE {name}")
        await server.execute(
            f"CREATE DATABASE {name} ENCODING 'UTF8' TEMPLATE template0"
            " LOCALE_PROVIDER libc LOCALE 'C'"
        )
    pool = await open_pool(await schema.prepare(empty_database.admin_dsn))
    try:
        engine = embedder.engine
        version_id = await embeddings.register(
            pool, engine.model_name, engine.model_version, engine.dimensions, clock.now
        )
        memory = Memory(pool, embedder, version_id, MemoryModuleConfig(), clock)
        first, _ = await store_fact(memory, principal, "Ärzte", "Öffnungszeit", "8 bis 12 Uhr")
        clock.advance(days=1)
        _, superseded = await store_fact(memory, principal, "Ärzte", "Öffnungszeit", "9 bis 12 Uhr")
        assert superseded == first
    finally:
        await pool.close()


@pytest.mark.requirement("STO-06", "LIFE-04", "FACT-29", "SCP-01")
async def test_another_key_touches_nothing(
    memory: Memory, principal: Principal, other_tenant: Principal, admin: Connection
) -> None:
    ann = await create_entity(memory, principal, "Ann", "person")
    await store_fact(memory, principal, "user", "color", "green")
    for who, subject, predicate, extra in (
        (principal, "user", "food", {}),
        (principal, "guest", "color", {}),
        (principal, "user", "color", {"scope": "health"}),
        (principal, "user", "color", {"entity_id": ann["id"]}),  # C-22
        (other_tenant, "user", "color", {}),
    ):
        _, superseded = await store_fact(memory, who, subject, predicate, "x", **extra)
        assert superseded is None
    assert await admin.fetchval("SELECT count(*) FROM facts WHERE validity = 'active'") == 6


@pytest.mark.requirement("LIFE-04", "FACT-28")
async def test_facts_of_an_entity_are_keyed_by_it_whatever_their_subject(
    memory: Memory, principal: Principal
) -> None:
    ann = (await create_entity(memory, principal, "Ann", "person"))["id"]
    first, _ = await store_fact(memory, principal, "Ann", "job", "baker", entity_id=ann)
    _, superseded = await store_fact(memory, principal, "she", "job", "nurse", entity_id=str(ann))
    assert superseded == first


@pytest.mark.requirement("MNT-02", "STO-04")
async def test_identical_content_supersedes_too(memory: Memory, principal: Principal) -> None:
    first, _ = await store_fact(memory, principal, "user", "name", "John")
    second, superseded = await store_fact(memory, principal, "user", "name", "John")
    assert superseded == first != second


@pytest.mark.requirement("STO-04", "FACT-29")
async def test_sixty_four_writers_of_one_key_all_succeed_and_one_stays(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    writers = 64
    stored = await asyncio.gather(
        *(store_fact(memory, principal, "user", "mood", f"mood {n}") for n in range(writers))
    )
    assert len({id for id, _ in stored}) == writers
    (last,) = await admin.fetch("SELECT id FROM facts WHERE validity = 'active'")
    before = {row["id"]: row["supersedes_id"] for row in await admin.fetch("SELECT * FROM facts")}
    chain: list[UUID] = []
    step: UUID | None = last["id"]
    while step is not None:
        chain.append(step)
        step = before[step]
    assert sorted(chain) == sorted(id for id, _ in stored)
    assert before == dict(stored)
    links = await admin.fetch("SELECT source_id, target_id FROM memory_links")
    assert {row["source_id"]: row["target_id"] for row in links} == {
        id: old for id, old in before.items() if old is not None
    }
    types = await event_types(admin)
    assert types == ["fact_created"] * writers + ["fact_superseded"] * (writers - 1)


@pytest.mark.requirement("STO-07", "RES-10")
async def test_an_unknown_entity_is_refused_and_never_made(
    memory: Memory, principal: Principal, other_tenant: Principal, admin: Connection
) -> None:
    foreign = (await create_entity(memory, other_tenant, "Ann", "person"))["id"]
    for entity in (uuid4(), foreign):
        with pytest.raises(ValueError, match=f"entity {entity} does not exist"):
            await store_fact(memory, principal, "s", "p", "c", entity_id=entity)
    assert await count(admin, "facts") == 0
    assert await count(admin, "entities") == 1


async def test_a_merged_entity_is_refused_by_the_name_of_its_heir(
    memory: Memory, principal: Principal
) -> None:
    bob = (await create_entity(memory, principal, "Bob", "person"))["id"]
    robert = (await create_entity(memory, principal, "Robert", "person"))["id"]
    await merge_entities(memory, principal, bob, robert)
    with pytest.raises(InvalidInput, match=f"was merged into {robert}"):
        await store_fact(memory, principal, "s", "p", "c", entity_id=bob)


@pytest.mark.requirement("LINK-10", "LINK-09", "FACT-11", "RULE-11")
async def test_what_comes_from_an_episode_is_linked_to_it(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    episode = await store_episode(memory, principal, "she said so", "general")
    fact, _ = await store_fact(memory, principal, "s", "p", "c", source_episode_id=episode)
    rule = await store_rule(memory, principal, "c", source_episode_id=episode)
    links = await admin.fetch("SELECT * FROM memory_links ORDER BY source_type")
    assert [
        (one["source_type"], one["source_id"], one["target_type"], one["target_id"])
        for one in links
    ] == [("fact", fact, "episode", episode), ("rule", rule, "episode", episode)]
    assert {one["relation"] for one in links} == {"derived_from"}


async def test_an_unknown_episode_is_refused(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    with pytest.raises(InvalidInput, match="does not exist; it may have expired"):
        await store_fact(memory, principal, "s", "p", "c", source_episode_id=uuid4())
    with pytest.raises(InvalidInput, match="does not exist; it may have expired"):
        await store_rule(memory, principal, "c", source_episode_id=uuid4())
    assert await _nothing_stored(admin)


@pytest.mark.requirement("GEN-09")
async def test_a_fact_that_has_ended_is_history_and_touches_nothing(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    now, _ = await store_fact(memory, principal, "user", "home", "Porto")
    then, superseded = await store_fact(
        memory,
        principal,
        "user",
        "home",
        "Rome",
        valid_from=NOW - timedelta(days=900),
        valid_until=NOW - timedelta(days=10),
    )
    assert superseded is None
    assert (await row(admin, "facts", now))["validity"] == "active"
    old = await row(admin, "facts", then)
    assert (old["validity"], old["retired_at"]) == ("superseded", NOW)


async def test_a_fact_that_begins_in_the_future_is_refused(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    with pytest.raises(InvalidInput, match="lies in the future"):
        await store_fact(memory, principal, "s", "p", "c", valid_from=NOW + timedelta(days=1))
    assert await _nothing_stored(admin)


async def test_a_correction_leaves_the_old_fact_never_true(
    memory: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    since = NOW - timedelta(days=30)
    wrong, _ = await store_fact(memory, principal, "user", "job", "chef", valid_from=since)
    clock.advance(days=1)
    await store_fact(memory, principal, "user", "job", "baker", valid_from=since)
    assert (await row(admin, "facts", wrong))["valid_until"] is None


@pytest.mark.requirement("TXT-02", "TXT-03")
async def test_nuls_and_halves_of_characters_do_not_stop_a_text(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    id, _ = await store_fact(
        memory,
        principal,
        "us\x00er",
        "li\ud800kes",
        "green\x00\t tea\ud83d",
        tags=["a\x00"],
        metadata={"k\x00": ["v\udfff", 1, None, {"deep": True}]},
    )
    stored = await row(admin, "facts", id)
    assert (stored["subject"], stored["predicate"]) == ("user", "li\ufffdkes")
    assert stored["content"] == "green\t tea\ufffd"
    assert stored["tags"] == ["a"]
    assert stored["metadata"] == {"k": ["v\ufffd", 1, None, {"deep": True}]}
    _, superseded = await store_fact(memory, principal, "user", "li\ufffdkes", "black tea")
    assert superseded == id  # the key is the stored text, not the sent one
    assert FactKey.of("global", "p", "us\x00er") == FactKey.of("global", "p", "user")


@pytest.mark.requirement("TXT-01")
async def test_a_text_too_rich_for_a_search_vector_is_kept_whole(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    text = " ".join(f"w{number:06x}" for number in range(250_000))  # 2 MB of distinct words
    memory = replace(memory, config=MemoryModuleConfig(max_content_bytes=4_000_000))
    id = await store_episode(memory, principal, text, "general")
    stored = await admin.fetchrow(
        "SELECT length(content) AS kept, length(search_vector) AS words,"
        " search_vector @@ 'w000000'::tsquery AS begins FROM episodes WHERE id = $1",
        id,
    )
    assert stored["kept"] == len(text)
    assert stored["begins"]
    assert stored["words"] > 10_000


BAD_FACTS: list[tuple[dict[str, Any], str]] = [
    ({"subject": " \x00 "}, "subject is empty"),
    ({"predicate": ""}, "predicate is empty"),
    ({"content": "\n"}, "content is empty"),
    ({"content": "\u200b \ufeff"}, "content is empty"),
    ({"subject": "\u2060"}, "subject is empty"),
    ({"content": "x" * 65_537}, r"content has 65,537 bytes.*\(max_content_bytes in"),
    ({"content": 5}, "content must be a text"),
    ({"subject": "é" * 600}, "subject has 1,200 bytes"),
    ({"predicate": "p" * 501}, "predicate has 501 bytes"),
    ({"importance": math.nan}, "importance must be a finite number"),
    ({"importance": math.inf}, "importance must be a finite number"),
    ({"importance": True}, "importance must be a finite number"),
    ({"entity_id": "ann"}, "entity_id 'ann' is not a UUID"),
    ({"source_episode_id": "1"}, "source_episode_id '1' is not a UUID"),
    ({"permanence": "forever"}, "permanent, stable, standard, volatile, ephemeral"),
    ({"scope": ""}, "scope is empty"),
    ({"tags": ["t"] * 101}, "101 tags are given"),
    ({"tags": [" "]}, "a tag is empty"),
    ({"metadata": {"x": "y" * 16_384}}, "metadata has 16,393 bytes as JSON, at most 16,384"),
    ({"metadata": {str(n): 0 for n in range(257)}}, "more than 256 keys"),
    ({"metadata": {"x": [{"y": [{"z": 0}] * 9}] * 40}}, "more than 256 keys"),
    ({"metadata": {"x": math.nan}}, "must be a finite number"),
    ({"metadata": {"x": object()}}, "which JSON cannot express"),
    ({"valid_from": NOW.replace(tzinfo=None)}, "valid_from needs a time zone"),
    ({"valid_until": NOW}, "must be later than valid_from"),
]


@pytest.mark.requirement("PERM-07", "FAIL-02", "STO-07")
async def test_a_bad_fact_is_refused_clearly_and_nothing_is_stored(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    for changes, message in BAD_FACTS:
        fact: dict[str, Any] = {"subject": "s", "predicate": "p", "content": "c", **changes}
        with pytest.raises(InvalidInput, match=message):
            await store_fact(memory, principal, **fact)
        assert await _nothing_stored(admin), message


@pytest.mark.requirement("FAIL-02")
async def test_bad_episodes_and_rules_are_refused(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    bad_episodes: list[dict[str, Any]] = [
        {"content": ""},
        {"butler": ""},
        {"session_id": "not-one"},
        {"importance": math.nan},
        {"occurred_at": NOW.replace(tzinfo=None)},
        {"speaker": ""},
        {"turn": 2**40},
        {"turn": -1},
    ]
    for changes in bad_episodes:
        with pytest.raises(InvalidInput):
            await store_episode(memory, principal, **{"content": "c", "butler": "b", **changes})
    bad_rules: list[dict[str, Any]] = [
        {"content": " "},
        {"permanence": "forever"},
        {"scope": "x" * 501},
    ]
    for changes in bad_rules:
        with pytest.raises(InvalidInput):
            await store_rule(memory, principal, **{"content": "c", **changes})
    assert await _nothing_stored(admin)


@pytest.mark.requirement("FACT-06", "EPI-07")
async def test_importance_is_kept_as_given_within_its_scale(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    for given in (1, 2.5, 10):
        id, _ = await store_fact(memory, principal, "s", "p", "c", importance=given)
        assert (await row(admin, "facts", id))["importance"] == given
    for beyond in (0.999, 10.001, 1e300, -1e300):
        with pytest.raises(InvalidInput, match=r"between 1 \(trivial\) and 10 \(vital\)"):
            await store_fact(memory, principal, "s", "p", "c", importance=beyond)
        with pytest.raises(InvalidInput, match="between 1"):
            await store_episode(memory, principal, "c", "b", importance=beyond)


@pytest.mark.requirement("MEV-01", "MEV-02", "TEN-02")
async def test_each_store_leaves_an_event_of_the_caller_and_its_tenant(
    memory: Memory, other_tenant: Principal, admin: Connection
) -> None:
    episode = await store_episode(memory, other_tenant, "c", "b")
    fact, _ = await store_fact(memory, other_tenant, "s", "p", "c")
    rule = await store_rule(memory, other_tenant, "c")
    events = await admin.fetch("SELECT * FROM memory_events ORDER BY event_type")
    assert [
        (one["event_type"], one["payload"]["memory_id"], one["actor"], one["tenant_id"])
        for one in events
    ] == [
        ("episode_created", str(episode), "stranger", "other"),
        ("fact_created", str(fact), "stranger", "other"),
        ("rule_created", str(rule), "stranger", "other"),
    ]
    for table in ("episodes", "facts", "rules"):
        assert await admin.fetchval(f"SELECT tenant_id FROM {table}") == "other"


@pytest.mark.requirement("MEV-01", "FAIL-02", "STO-04")
async def test_a_write_that_fails_leaves_nothing_behind(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    old, _ = await store_fact(memory, principal, "user", "home", "Rome")
    await admin.execute(
        "ALTER TABLE memory_events ADD CONSTRAINT no_room CHECK (event_type <> 'fact_superseded')"
        " NOT VALID"
    )
    with pytest.raises(Exception, match="the store refused the change"):
        await store_fact(memory, principal, "user", "home", "Porto")
    assert (await row(admin, "facts", old))["validity"] == "active"
    assert await count(admin, "facts") == 1
    assert await count(admin, "memory_links") == 0
    assert await count(admin, "memory_versions") == 0
    assert await event_types(admin) == ["fact_created"]


@pytest.mark.requirement("STO-04")
async def test_a_writer_who_waited_is_known_later_than_the_one_it_supersedes(
    memory: Memory, principal: Principal, admin: Connection
) -> None:
    early = replace(memory, clock=lambda: NOW - timedelta(seconds=1))
    first, _ = await store_fact(memory, principal, "user", "city", "Lives in Lisbon")
    second, superseded = await store_fact(early, principal, "user", "city", "Lives in Porto")
    assert superseded == first
    old, new = [
        await admin.fetchrow("SELECT * FROM facts WHERE id = $1", id) for id in (first, second)
    ]
    assert new["created_at"] > old["created_at"]
    assert old["retired_at"] == new["created_at"] == new["valid_from"] == old["valid_until"]
