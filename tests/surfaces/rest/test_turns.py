"""Turns of a conversation over REST: kept first, told as they are written, one at a time."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from conftest import Clock
from memory_butler.companions.opening import opened
from memory_butler.config import MemoryModuleConfig, Settings
from memory_butler.engine.memory import Memory
from memory_butler.engine.tokens import list_tokens, revoke_token
from memory_butler.inference.language_models.port import Completion, ModelUnreachable, Request
from memory_butler.inference.language_models.scripted import ScriptedModel
from memory_butler.journal.conversation import answering
from memory_butler.journal.importing import export_lines, import_lines
from memory_butler.journal_config import JournalConfig
from memory_butler.operations import turns
from memory_butler.vault.keyring import no_keys
from surfaces.serving import Served, serving

pytestmark = pytest.mark.anyio

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n the garden").decode()
TURNS = "/api/journal/luna/turns"
CURRENT = f"{TURNS}/current"


class Held:
    """A model whose reply comes in parts, each when the test lets it."""

    name = "held"

    def __init__(self) -> None:
        self.parts: asyncio.Queue[str | None] = asyncio.Queue()

    async def complete(self, request: Request) -> Completion:
        assert request.heard is not None
        text = ""
        while (part := await self.parts.get()) is not None:
            text += part
            request.heard(part)
        return Completion(text, 1, 1, None, self.name)


@asynccontextmanager
async def talking(
    memory: Memory, folder: Path, model: Any, journal: JournalConfig | None = None
) -> AsyncIterator[tuple[Served, httpx.AsyncClient]]:
    config = MemoryModuleConfig(journal=journal or JournalConfig())
    thinking = replace(memory, language_model=model)
    settings = Settings(memory=config, data_dir=folder)
    async with serving(thinking, settings) as served, served.rest() as client:
        yield served, client


async def told(client: httpx.AsyncClient) -> list[tuple[str, dict[str, Any]]]:
    """Everything that the stream of the current turn tells."""
    answer = await client.get(CURRENT)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("text/event-stream")
    found = []
    for block in answer.text.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if line[:1] != ":")
        if lines:
            found.append((lines["event"], json.loads(lines["data"])))
    return found


def shown(events: Sequence[tuple[str, dict[str, Any]]]) -> list[dict[str, str]]:
    """The pieces, after all that was told."""
    pieces: list[dict[str, str]] = []
    for kind, data in events:
        if kind == "shown":
            pieces[data["at"] :] = data["pieces"]
    return pieces


async def say(client: httpx.AsyncClient, content: str | None = "Hello.", **more: Any) -> Any:
    answer = await client.post(TURNS, json={"content": content, **more})
    assert answer.status_code == 202, answer.text
    return answer.json()["logged"]


async def messages(client: httpx.AsyncClient) -> list[str]:
    answer = await client.get("/api/journal/luna/events")
    return [one["content"] for one in reversed(answer.json()["events"])]


async def test_a_turn_is_kept_answered_and_told(memory: Memory, tmp_path: Path) -> None:
    reply = "Friendly. <say>Good morning!</say><pin>Ana likes tea</pin><secret>a lantern</secret>"
    async with talking(memory, tmp_path, ScriptedModel([reply])) as (_, client):
        assert (await client.get(CURRENT)).status_code == 204
        logged = await say(client, "Hello. <plan>water the garden</plan>")
        assert logged["noted"] == ["kept plan: water the garden, without a date"]
        events = await told(client)
        kind, done = events[-1]
        assert kind == "answered"
        assert done["event"]["shown"] == [{"kind": "say", "text": "Good morning!"}]
        assert done["noted"] == ["kept pin: Ana likes tea", "kept secret: (secret)"]
        assert done["answers"] == logged["event_id"]
        mind = (await client.get("/api/journal/luna/mind")).json()["items"]
        kept = {one["id"] for one in mind if one["type"] != "plan"}
        assert (set(done["changed"]), len(kept)) == (kept, 2)
        assert "a lantern" not in json.dumps(events)
        assert "Friendly" not in json.dumps(events[:-1])
        assert await messages(client) == [
            "Hello. <plan>water the garden</plan>",
            reply.replace("a lantern", "(secret)"),
        ]
        # Whoever comes late is told how it ended.
        assert await told(client) == [(kind, done)]


async def test_what_is_written_is_told_at_once_and_goes_on_without_listeners(
    memory: Memory, tmp_path: Path
) -> None:
    model = Held()
    async with talking(memory, tmp_path, model) as (_, client):
        await say(client)
        model.parts.put_nowait("<say>Once upon ")
        async with client.stream("GET", CURRENT) as stream:
            lines = stream.aiter_lines()
            # At once, though nothing may be shown yet: whoever looks on knows it is at work.
            while (line := await anext(lines)) != "event: shown":
                assert line == "" or line.startswith(":")
            while "Once upon" not in (line := await anext(lines)):
                assert line.startswith('data: {"at": 0, "pieces": []}') or line in (
                    "",
                    "event: shown",
                )
        # The window is closed; another looks on, and is told all of it.
        looking = asyncio.create_task(told(client))
        for part in ("a time</say>", None):
            await asyncio.sleep(0.05)
            model.parts.put_nowait(part)
        events = await looking
        assert shown(events[:-1])[0]["text"].startswith("Once upon")
        assert events[-1][1]["event"]["content"] == "<say>Once upon a time</say>"


async def test_one_reply_at_a_time_whoever_asks(memory: Memory, tmp_path: Path) -> None:
    model = Held()
    async with talking(memory, tmp_path, model) as (_, client):
        await say(client)
        refused = await client.post(TURNS, json={"content": "And me?"})
        assert refused.status_code == 409
        assert "another window" in refused.json()["detail"]
        # Not even kept: it is still in the box of whoever typed it.
        assert await messages(client) == ["Hello."]
        # Another journal of the same tenant is free.
        other = await client.post("/api/journal/nova/turns", json={"content": "Hi."})
        assert other.status_code == 202
        model.parts.put_nowait("<say>Yes.</say>")
        for _ in range(2):
            model.parts.put_nowait(None)
        await client.delete("/api/journal/nova/turns/current")
        assert (await told(client))[-1][0] in ("answered", "failed")
        # A terminal answers here: its lock holds this process, too.
        terminal = opened(tmp_path, "default", "luna", JournalConfig(), no_keys)
        with terminal as one, answering(one.file):
            refused = await client.post(TURNS, json={"content": "And now?"})
            assert refused.status_code == 409
        assert "And now?" not in await messages(client)
        await say(client, "At last.")
        await client.delete(CURRENT)


async def test_what_was_shown_of_a_stopped_reply_is_kept(memory: Memory, tmp_path: Path) -> None:
    model = Held()
    async with talking(memory, tmp_path, model) as (_, client):
        await say(client)
        looking = asyncio.create_task(told(client))
        model.parts.put_nowait("<say>It all began <feel")
        await asyncio.sleep(0.2)
        assert (await client.delete(CURRENT)).json() == {"stopped": True}
        kind, done = (await looking)[-1]
        assert (kind, done["cut"]) == ("answered", True)
        assert done["event"]["content"] == "<say>It all began […]"
        assert (await client.delete(CURRENT)).json() == {"stopped": False}
        # Nothing was shown yet: nothing is kept, and it can be asked for again.
        logged = await say(client, "Go on.")
        model.parts.put_nowait("Let me think. ")
        await asyncio.sleep(0.1)
        await client.delete(CURRENT)
        assert (await told(client))[-1] == ("stopped", {"answers": logged["event_id"]})
        assert (await messages(client))[-1] == "Go on."
        assert await say(client, None) is None
        model.parts.put_nowait("<say>Well.</say>")
        model.parts.put_nowait(None)
        assert (await told(client))[-1][0] == "answered"
        again = await client.post(TURNS, json={})
        assert (again.status_code, again.json()["detail"]) == (
            409,
            "the latest message is answered already",
        )


async def test_a_draft_that_looks_something_up_is_taken_back(
    memory: Memory, tmp_path: Path
) -> None:
    model = Held()
    async with talking(memory, tmp_path, model) as (_, client):
        await say(client, "How deep is the well?")
        looking = asyncio.create_task(told(client))
        for part in (
            "<say>Let me see.</say>",
            " recall(well)",
            None,
            "<say>Very deep.</say>",
            None,
        ):
            await asyncio.sleep(0.15)
            model.parts.put_nowait(part)
        events = await looking
        pieces = [[one["text"] for one in data["pieces"]] for _, data in events[:-1]]
        assert pieces == [[], ["Let me see."], [], ["Very deep."]]
        assert shown(events) == [{"kind": "say", "text": "Very deep."}]
        done = events[-1][1]
        assert done["looked_up"] == ["recall(well)"]
        assert done["event"]["content"] == "<say>Very deep.</say>"


async def test_without_a_model_the_message_is_kept(memory: Memory, tmp_path: Path) -> None:
    journal = JournalConfig(model="none")
    async with talking(memory, tmp_path, None, journal) as (_, client):
        await say(client)
        kind, failed = (await told(client))[-1]
        assert (kind, failed["code"]) == ("failed", "configuration")
        assert "ANTHROPIC_API_KEY" in failed["detail"]
        assert await messages(client) == ["Hello."]


async def test_a_model_that_fails_costs_the_reply_alone(memory: Memory, tmp_path: Path) -> None:
    model = ScriptedModel([ModelUnreachable("nobody there"), "<say>Here.</say>"])
    async with talking(memory, tmp_path, model) as (_, client):
        answers = (await say(client))["event_id"]
        assert (await told(client))[-1] == (
            "failed",
            {"answers": answers, "code": "unavailable", "detail": "nobody there"},
        )
        await say(client, None)
        assert (await told(client))[-1][0] == "answered"
        assert await messages(client) == ["Hello.", "<say>Here.</say>"]


async def test_a_server_that_stops_keeps_what_was_shown(memory: Memory, tmp_path: Path) -> None:
    model = Held()
    async with talking(memory, tmp_path, model) as (_, client):
        await say(client)
        model.parts.put_nowait("<say>Until the very ")
        await asyncio.sleep(0.2)
    with opened(tmp_path, "default", "luna", JournalConfig(), no_keys) as one:
        assert one.live.events()[-1].content == "<say>Until the very […]"


@pytest.mark.requirement("JASM-02")
async def test_a_picture_is_kept_shown_to_the_model_and_shown_again(
    memory: Memory, tmp_path: Path
) -> None:
    model = ScriptedModel(["<say>A garden.</say>", "<say>Again.</say>"])
    async with talking(memory, tmp_path, model) as (_, client):
        logged = await say(client, "What is this?", picture=f"data:image/png;base64,{PNG}")
        assert (await told(client))[-1][0] == "answered"
        (picture,) = model.calls[0].pictures
        assert (picture.media_type, base64.b64encode(picture.data).decode()) == ("image/png", PNG)
        answer = await client.get(f"/api/journal/luna/events/{logged['event_id']}/picture")
        assert (answer.headers["content-type"], answer.content) == ("image/png", picture.data)
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "sandbox" in answer.headers["content-security-policy"]
        # An erased picture does not stay in the browser.
        assert answer.headers["cache-control"] == "no-store"
        missing = await client.get(f"/api/journal/luna/events/{logged['event_id'] + 1}/picture")
        assert missing.status_code == 404
        refused = await client.post(
            TURNS, json={"picture": base64.b64encode(b"<svg/>").decode(), "content": "And this?"}
        )
        assert refused.status_code == 422
        assert len(await messages(client)) == 2
        huge = await client.get(f"/api/journal/luna/events/{2**63}/picture")
        assert huge.status_code == 422
        # A picture alone is a message.
        await say(client, None, picture=PNG)
        await told(client)
        assert len(model.calls[1].pictures) == 1


async def test_scopes_and_tenants_hold(memory: Memory, tmp_path: Path) -> None:
    model = ScriptedModel(["<say>Hi.</say>"])
    config = Settings(memory=MemoryModuleConfig(), data_dir=tmp_path, require_token=True)
    async with serving(replace(memory, language_model=model), config) as served:
        writer = served.bearing(await served.make_token("ana", "read", "write"))
        reader = served.bearing(await served.make_token("ana", "read"))
        other = served.bearing(await served.make_token("ben", "read", "write"))
        async with writer.rest() as client:
            logged = await say(client, "Hello.", picture=PNG)
            await told(client)
        path = f"/api/journal/luna/events/{logged['event_id']}/picture"
        async with reader.rest() as client:
            assert (await client.post(TURNS, json={"content": "Hi"})).status_code == 403
            assert (await client.delete(CURRENT)).status_code == 403
            assert (await told(client))[-1][0] == "answered"
            assert (await client.get(path)).status_code == 200
        async with other.rest() as client:
            assert (await client.get(CURRENT)).status_code == 204
            assert (await client.get(path)).status_code == 404
        async with served.rest() as client:
            assert (await client.get(CURRENT)).status_code == 401
        async with writer.rest() as client:
            foreign = {"origin": "https://elsewhere.example"}
            answer = await client.post(TURNS, json={"content": "Hi"}, headers=foreign)
            assert answer.status_code == 403


async def test_nobody_sees_or_stops_the_reply_of_another_tenant(
    memory: Memory, tmp_path: Path
) -> None:
    """While it is being written, though both have a companion of the same name."""
    model = Held()
    config = Settings(memory=MemoryModuleConfig(), data_dir=tmp_path, require_token=True)
    async with serving(replace(memory, language_model=model), config) as served:
        owner = served.bearing(await served.make_token("ana", "read", "write"))
        other = served.bearing(await served.make_token("ben", "read", "write"))
        async with owner.rest() as ana, other.rest() as ben:
            await ben.post("/api/journal/luna/events", json={"content": "Mine."})
            await say(ana)
            model.parts.put_nowait("<say>A lantern.</say>")
            async with asyncio.timeout(20):  # a stream of hers would not end
                assert (await ben.get(CURRENT)).status_code == 204
            assert (await ben.delete(CURRENT)).json() == {"stopped": False}
            model.parts.put_nowait(None)
            assert (await told(ana))[-1][1]["event"]["content"] == "<say>A lantern.</say>"


async def test_a_revoked_token_ends_the_stream_of_a_reply(memory: Memory, tmp_path: Path) -> None:
    model = Held()
    config = Settings(memory=MemoryModuleConfig(), data_dir=tmp_path, require_token=True)
    async with serving(replace(memory, language_model=model), config) as served:
        first = served.bearing(await served.make_token("ana", "read", "write"))
        async with first.rest() as client:
            await say(client)
            async with client.stream("GET", CURRENT) as stream:
                lines = stream.aiter_lines()
                assert "thinking" in await anext(lines)
                (row,) = await list_tokens(served.memory, "ana")
                await revoke_token(served.memory, row["id"])
                async with asyncio.timeout(5):
                    async for _ in lines:
                        pass
        model.parts.put_nowait("<say>Nobody heard it.</say>")
        model.parts.put_nowait(None)


async def test_an_erased_reply_is_told_no_more(
    memory: Memory, tmp_path: Path, clock: Clock
) -> None:
    """A late look at a turn is one at the journal, whichever process erased from it."""
    memory = replace(memory, data_dir=tmp_path)
    reply = "<say>It is Quokkaschmidt.</say><pin>her name is Quokkaschmidt</pin>"
    model = ScriptedModel([reply, "<say>Something else.</say>", reply])
    async with talking(memory, tmp_path, model) as (_, client):
        await say(client, "What is her name?")
        done = (await told(client))[-1][1]
        assert "Quokkaschmidt" in json.dumps((await told(client))[-1])  # the positive control
        erase = {"companion": "luna", "message_id": done["event"]["id"]}
        erased = await client.post("/api/memory/erase", json=erase)
        assert erased.status_code == 200, erased.text
        assert (await client.get(CURRENT)).status_code == 204
        # Its number is given to another message, which this turn did not write.
        clock.advance(timedelta(seconds=1))
        logged = await client.post("/api/journal/luna/events", json={"content": "Hm."})
        assert logged.json()["event_id"] == done["event"]["id"]
        assert (await client.get(CURRENT)).status_code == 204
        await say(client, "And his?")
        assert "Something else" in json.dumps((await told(client))[-1])
        await say(client, "And hers again?")
        assert (await told(client))[-1][0] == "answered"
        erased = await client.post("/api/memory/erase", json={"everything": True})
        assert erased.status_code == 200, erased.text
        assert (await client.get(CURRENT)).status_code == 204


async def test_nothing_is_erased_from_a_journal_while_a_reply_is_written(
    memory: Memory, tmp_path: Path
) -> None:
    """The reply may be drawn from what is erased, and would be kept after the certificate."""
    memory = replace(memory, data_dir=tmp_path)
    model = Held()
    async with talking(memory, tmp_path, model) as (_, client):
        logged = await say(client, "Her name is Quokkaschmidt.")
        for what in (
            {"companion": "luna", "message_id": logged["event_id"]},
            {"everything": True},
        ):
            refused = await client.post("/api/memory/erase", json=what)
            assert refused.status_code == 409
            assert "a reply is being written" in refused.json()["detail"]
        assert len(await messages(client)) == 1
        await client.delete(CURRENT)
        await told(client)
        erased = await client.post("/api/memory/erase", json=what)
        assert erased.status_code == 200, erased.text
        assert (await client.get("/api/journal/luna/events")).status_code == 404


async def test_blank_messages_are_refused_and_silent_ones_need_no_answer(
    memory: Memory, tmp_path: Path
) -> None:
    model = ScriptedModel(["<say>Yes.</say>", "<say>Here.</say>"])
    async with talking(memory, tmp_path, model) as (_, client):
        assert (await client.post(TURNS, json={"content": " \n"})).status_code == 422
        await say(client)
        await told(client)
        keep = {"content": "<pin>Ana likes tea</pin>"}
        await client.post("/api/journal/luna/events", json=keep)
        assert (await client.post(TURNS, json={})).status_code == 409
        asked = await client.post("/api/journal/luna/events", json={"content": "Are you there?"})
        await client.post("/api/journal/luna/events", json=keep)
        await say(client, None)
        assert (await told(client))[-1][1]["answers"] == asked.json()["event_id"]
        assert model.calls[1].prompt.endswith("Are you there?")


async def test_so_many_replies_at_once_and_no_more(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "MOST_OF_A_TENANT", 2)
    async with talking(memory, tmp_path, Held()) as (_, client):
        for name in ("luna", "nova"):
            begun = await client.post(f"/api/journal/{name}/turns", json={"content": "Hi."})
            assert begun.status_code == 202
        refused = await client.post("/api/journal/vega/turns", json={"content": "Hi."})
        assert (refused.status_code, refused.json()["code"]) == (409, "conflict")
        assert "2 of your replies" in refused.json()["detail"]
        await client.delete("/api/journal/nova/turns/current")
        await client.get("/api/journal/nova/turns/current")
        begun = await client.post("/api/journal/vega/turns", json={"content": "Hi."})
        assert begun.status_code == 202
        for name in ("luna", "vega"):
            await client.delete(f"/api/journal/{name}/turns/current")


async def test_a_reply_that_breaks_off_is_kept_and_its_error_named(
    memory: Memory, tmp_path: Path
) -> None:
    class Breaking:
        name = "breaking"

        async def complete(self, request: Request) -> Completion:
            assert request.heard is not None
            request.heard("<say>It all began when")
            raise ModelUnreachable("breaking cannot be reached")

    async with talking(memory, tmp_path, Breaking()) as (_, client):
        await say(client)
        kind, done = (await told(client))[-1]
        assert (kind, done["cut"], done["problem"]) == (
            "answered",
            True,
            "breaking cannot be reached",
        )
        assert (await messages(client))[-1] == "<say>It all began when […]"


async def test_no_path_names_the_picture_of_another_message(memory: Memory, tmp_path: Path) -> None:
    async with talking(memory, tmp_path, ScriptedModel(["<say>A garden.</say>"])) as (_, client):
        logged = await say(client, "What is this?", picture=PNG)
        await told(client)
        (first,) = (await client.get("/api/journal/luna/events?actor=user")).json()["events"]
        stolen = {"content": "Mine.", "image_path": first["image_path"]}
        refused = await client.post("/api/journal/luna/events", json=stolen)
        assert refused.status_code == 422
        # Nor does an import: what it has is an export, without the pictures.
        line = {"actor": "user", "content": "Mine.", "image_path": first["image_path"]}
        with opened(tmp_path, "default", "luna", JournalConfig(), no_keys) as one:
            import_lines(one.file, json.dumps(line).encode())
            export = "\n".join(export_lines(one.file)).encode()
            assert one.live.events()[-1].image_path is None
            # One's own export is known again, with the picture and without.
            assert import_lines(one.file, export).added == 0
        with opened(tmp_path, "default", "nova", JournalConfig(), no_keys, create=True) as one:
            assert import_lines(one.file, export).added == 3
            assert import_lines(one.file, b"\n" + export).added == 0
        picture = f"/api/journal/luna/events/{logged['event_id']}/picture"
        assert (await client.get(picture)).status_code == 200
