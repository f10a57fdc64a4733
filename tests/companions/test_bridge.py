"""The bridge between a journal and memory, on the real database: nothing lost, nothing twice."""

import os
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conftest import Clock, Connection
from memory_butler.companions import bridge
from memory_butler.companions.bridge import hand_over, recalled
from memory_butler.companions.opening import names, opened, use
from memory_butler.domain.errors import ConfigurationError, InvalidInput, NotFound, Unavailable
from memory_butler.domain.principals import Principal
from memory_butler.engine.memory import Memory
from memory_butler.engine.remember import store_episode, store_fact
from memory_butler.inference.batching import BatchingEmbedder
from memory_butler.inference.minilm import EmbeddingEngine
from memory_butler.journal import sessions
from memory_butler.journal_config import JournalBridgeConfig, JournalConfig
from memory_butler.vault import keyring
from memory_butler.vault.keyring import no_keys
from memory_butler.vault.master import new_master

pytestmark = pytest.mark.anyio

ON = JournalConfig(bridge=JournalBridgeConfig(episodes=True, recall=True))


@pytest.fixture
def bridged(memory: Memory, tmp_path: Path) -> Memory:
    config = memory.config.model_copy(update={"journal": ON})
    return replace(memory, config=config, data_dir=tmp_path)


async def say(memory: Memory, principal: Principal, content: str, actor: str = "user") -> None:
    await use(memory, principal, "default", lambda one: one.live.log(content, actor), create=True)


async def episodes(admin: Connection) -> list[dict[str, Any]]:
    rows = await admin.fetch("SELECT * FROM episodes ORDER BY occurred_at, id")
    return [dict(row) for row in rows]


@pytest.mark.requirement("JSCH-18")
async def test_a_closed_session_becomes_an_episode_once(
    bridged: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    began = clock()
    await say(bridged, principal, "Hello! <secret>a lantern</secret>")
    clock.advance(minutes=2)
    await say(
        bridged, principal, "thinking <say>Good morning.</say><feeling>calm</feeling>", "assistant"
    )
    # Not closed yet: the conversation may go on.
    assert (await hand_over(bridged, principal, "default")).stored == 0
    clock.advance(minutes=61)
    done = await hand_over(bridged, principal, "default")
    assert (done.stored, done.waiting, done.problem) == (1, 0, None)
    (episode,) = await episodes(admin)
    assert episode["content"] == "user: Hello!\nassistant: Good morning."
    assert (episode["butler"], episode["occurred_at"]) == ("journal", began)
    # Again and again: nothing new.
    assert (await hand_over(bridged, principal, "default")).stored == 0
    # The next session is another episode; closing it by hand needs no silence.
    await say(bridged, principal, "And another thing.")
    await use(bridged, principal, "default", lambda one: sessions.end(one.file, clock()))
    assert (await hand_over(bridged, principal, "default")).stored == 1
    assert len(await episodes(admin)) == 2


async def test_while_memory_is_away_sessions_wait(
    bridged: Memory,
    principal: Principal,
    admin: Connection,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def away(*_: object, **__: object) -> None:
        raise Unavailable("the database is away")

    await say(bridged, principal, "one")
    clock.advance(hours=2)
    await say(bridged, principal, "two")
    clock.advance(hours=2)
    with monkeypatch.context() as outage:
        outage.setattr(bridge, "store_episode", away)
        outage.setattr(bridge, "recall", away)
        done = await hand_over(bridged, principal, "default")
        assert (done.stored, done.waiting, done.problem) == (0, 2, "the database is away")
        # The journal itself does not mind.
        await say(bridged, principal, "three")
        assert await recalled(bridged, principal, "tea") == []
    clock.advance(hours=2)
    assert (await hand_over(bridged, principal, "default")).stored == 3
    assert [one["content"] for one in await episodes(admin)] == [
        "user: one",
        "user: two",
        "user: three",
    ]


@pytest.mark.parametrize("when", ["before", "after"])
async def test_cut_off_on_the_way_it_is_the_same_session_again(
    bridged: Memory,
    principal: Principal,
    admin: Connection,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
    when: str,
) -> None:
    class Killed(BaseException):
        pass

    stored = store_episode

    async def killed(*args: Any, **more: Any) -> None:
        if when == "after":
            await stored(*args, **more)
        raise Killed

    await say(bridged, principal, "one")
    clock.advance(hours=2)
    with monkeypatch.context() as crash:
        crash.setattr(bridge, "store_episode", killed)
        with suppress(Killed):
            await hand_over(bridged, principal, "default")
    # Said meanwhile, and with other ideas of what a session is: the same one goes all the same.
    await say(bridged, principal, "two")
    config = bridged.config.model_copy(
        update={
            "journal": ON.model_copy(
                update={"bridge": ON.bridge.model_copy(update={"session_minutes": 600})}
            )
        }
    )
    await hand_over(replace(bridged, config=config), principal, "default")
    assert [one["content"] for one in await episodes(admin)] == ["user: one"]
    clock.advance(hours=11)
    await hand_over(bridged, principal, "default")
    assert [one["content"] for one in await episodes(admin)] == ["user: one", "user: two"]


async def test_a_session_of_thinking_alone_is_no_episode(
    bridged: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    await say(bridged, principal, "<secret>only this</secret>")
    clock.advance(hours=2)
    done = await hand_over(bridged, principal, "default")
    assert (done.stored, done.waiting) == (0, 0)
    assert await episodes(admin) == []


async def test_a_long_session_goes_in_parts(
    bridged: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    def chat(one: Any) -> None:
        for number in range(sessions.MAX_MESSAGES + 5):
            one.live.log(f"message {number}", "user")

    await use(bridged, principal, "default", chat, create=True)
    clock.advance(hours=2)
    assert (await hand_over(bridged, principal, "default")).stored == 2
    lines = "\n".join(one["content"] for one in await episodes(admin)).splitlines()
    assert sorted(lines) == sorted(
        f"user: message {number}" for number in range(sessions.MAX_MESSAGES + 5)
    )


async def test_a_session_that_is_too_long_for_one_episode_is_several(
    bridged: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    small = bridged.config.model_copy(update={"max_content_bytes": 1024})
    bridged = replace(bridged, config=small)
    long = "\n".join(f"{number} " + "ü" * 300 for number in range(4)) + "é" * 1500

    def chat(one: Any) -> None:
        for content in ("Hello!", long, "Good night."):
            one.live.log(content, "user")

    await use(bridged, principal, "default", chat, create=True)
    clock.advance(hours=2)
    for stored in (1, 0):
        done = await hand_over(bridged, principal, "default")
        assert (done.stored, done.waiting, done.problem) == (stored, 0, None)
    told = await admin.fetch("SELECT content, metadata FROM episodes ORDER BY created_at")
    assert len(told) > 4
    assert all(len(one["content"].encode()) <= 1024 for one in told)
    assert sum(one["content"].count("ü") for one in told) == 1200
    assert sum(one["content"].count("é") for one in told) == 1500
    # By these an erasure of one message finds them all.
    assert {(one["metadata"]["first_event"], one["metadata"]["last_event"]) for one in told} == {
        (1, 3)
    }
    contents = {one["content"].split("\n")[0][:12] for one in told}
    assert "user: Hello!" in contents


async def test_memory_fills_the_recalled_section(bridged: Memory, principal: Principal) -> None:
    await store_fact(bridged, principal, "Ada", "likes", "Ada likes green tea")
    await say(bridged, principal, "What does Ada like to drink?")
    also = await recalled(bridged, principal, "What does Ada like to drink?")
    prompt = await use(
        bridged, principal, "default", lambda one: one.live.assemble(also_recalled=also)
    )
    assert "## Recalled\n\nmemory\n- [Ada] [likes]: Ada likes green tea" in prompt.user


async def test_a_memory_that_cannot_answer_costs_no_reply(
    bridged: Memory, principal: Principal, tmp_path: Path
) -> None:
    without_model = BatchingEmbedder(EmbeddingEngine(tmp_path / "no model here"))
    assert await recalled(replace(bridged, embedder=without_model), principal, "Who is Ada?") == []
    await without_model.aclose()


async def test_a_journal_belongs_to_its_tenant(tmp_path: Path) -> None:
    with opened(tmp_path, "one", "ada", ON, no_keys, create=True):
        pass
    assert (names(tmp_path, "one"), names(tmp_path, "two")) == (["ada"], [])
    with (
        pytest.raises(NotFound, match="no companion 'ada'"),
        opened(tmp_path, "two", "ada", ON, no_keys),
    ):
        pass
    for name in ("../ada", "", "a/b", ".", "ada.sqlite", "x" * 64):
        with pytest.raises(InvalidInput), opened(tmp_path, "one", name, ON, no_keys, create=True):
            pass
    with pytest.raises(InvalidInput):
        names(tmp_path, "../one")
    # What people leave beside the journals is none.
    (tmp_path / "journal" / "one" / "ada backup.sqlite").touch()
    assert names(tmp_path, "one") == ["ada"]


def test_the_time_zone_is_the_machines_where_none_is_configured() -> None:
    code = (
        "from memory_butler.companions.opening import zone_of\n"
        "from memory_butler.journal_config import JournalConfig\n"
        "print(zone_of(JournalConfig()), zone_of(JournalConfig(time_zone='Europe/Lisbon')))"
    )
    # Another process: the zone of a machine is looked up once.
    environment = {**os.environ, "TZ": "Asia/Tokyo"}
    said = subprocess.check_output([sys.executable, "-c", code], env=environment, text=True)
    assert said == "Asia/Tokyo Europe/Lisbon\n"
    with pytest.raises(ValueError, match="unknown time zone"):
        JournalConfig(time_zone="Lisbon")


async def test_a_memory_with_keys_encrypts_what_is_said(
    bridged: Memory, principal: Principal, tmp_path: Path
) -> None:
    assert bridged.data_dir is not None
    ring = keyring.create(tmp_path / "keys", new_master())
    keyed = replace(bridged, keys=lambda: ring)
    words = "Zephyrine plays the theremin"
    await use(keyed, principal, "mira", lambda one: one.live.log(words, "user"), create=True)
    said = await use(keyed, principal, "mira", lambda one: one.live.events())
    assert [one.content for one in said] == [words]
    for file in (bridged.data_dir / "journal").rglob("mira*"):
        assert file.is_dir() or b"theremin" not in file.read_bytes()
    with pytest.raises(ConfigurationError, match="no keys are set up here"):
        await use(bridged, principal, "mira", lambda one: one.live.events())


async def test_a_secret_is_not_cut_in_two_parts_of_a_long_session(
    bridged: Memory, principal: Principal, admin: Connection, clock: Clock
) -> None:
    small = bridged.config.model_copy(update={"max_content_bytes": 1024})
    bridged = replace(bridged, config=small)
    key = "\n".join(f"{number:02}" + "Qm9keQ" * 10 for number in range(8))
    pem = f"-----BEGIN PRIVATE KEY-----\n{key}\n-----END PRIVATE KEY-----"

    def chat(one: Any) -> None:
        one.live.log("a" * 700, "user")
        one.live.log(f"Keep this:\n{pem}", "user")

    await use(bridged, principal, "default", chat, create=True)
    clock.advance(hours=2)
    await hand_over(bridged, principal, "default")
    told = await admin.fetch("SELECT content FROM episodes")
    assert len(told) > 1
    assert not any("Qm9keQ" in one["content"] for one in told)
