"""Undo, forget and edit of what is on a companion's mind, over REST and MCP."""

from typing import Any

import httpx
import pytest

from surfaces.conftest import Serve
from surfaces.serving import Served

pytestmark = pytest.mark.anyio


async def log(client: httpx.AsyncClient, content: str) -> list[dict[str, Any]]:
    answer = await client.post("/api/journal/luna/events", json={"content": content})
    assert answer.status_code == 200, answer.text
    changed: list[dict[str, Any]] = answer.json()["changed"]
    return changed


async def mind(client: httpx.AsyncClient) -> list[str]:
    answer = await client.get("/api/journal/luna/mind")
    return sorted(one["content"] for one in answer.json()["items"])


async def corrected(client: httpx.AsyncClient, how: str, **body: Any) -> dict[str, Any]:
    answer = await client.post(f"/api/journal/luna/mind/{how}", json=body)
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


async def test_a_text_is_kept_as_it_is_whatever_its_words(served: Served) -> None:
    async with served.rest() as client:
        await log(client, "<plan>wash the car at the garage</plan>")

        async def keep(type: str, content: str) -> httpx.Response:
            body = {"type": type, "content": content}
            return await client.post("/api/journal/luna/mind", json=body)

        # Within the tag of a plan such words would cancel the other.
        kept = (await keep("plan", "drop the car at the garage on Friday")).json()
        assert kept["noted"][0].startswith("kept plan: drop the car at the garage on Friday, due ")
        assert [one["status"] for one in kept["changed"]] == ["active"]
        await keep("pin", "done: 2 < 3")
        assert await mind(client) == [
            "done: 2 < 3",
            "drop the car at the garage on Friday",
            "wash the car at the garage",
        ]
        done = await corrected(client, "edit", words="wash", content="cancel the garage")
        assert done["changed"][-1]["content"] == "cancel the garage"
        for text in (" ", "a</plan><pin>b", "drop <b>it</b></plan>"):
            assert (await keep("plan", text)).status_code == 422, text
        (event,) = (await client.get("/api/journal/luna/events?limit=1&actor=user")).json()[
            "events"
        ]
        assert event["shown"] == []
        masked = (await keep("pin", "the key is AKIAIOSFODNN7EXAMPLE")).json()
        assert "AKIA" not in masked["noted"][0]
        assert masked["secrets"]


async def test_what_is_kept_is_dropped_changed_and_taken_back(served: Served) -> None:
    async with served.rest() as client:
        (pin,) = await log(client, "<pin>Ana likes green tea</pin>")
        (plan,) = await log(client, "<plan>water the garden tomorrow at 9am</plan>")
        done = await corrected(client, "forget", words="green tea")
        assert done["noted"] == ["forgotten pin: Ana likes green tea"]
        assert (done["changed"][0]["id"], done["changed"][0]["status"]) == (pin["id"], "dropped")
        assert await mind(client) == ["water the garden tomorrow at 9am"]

        done = await corrected(client, "edit", item_id=plan["id"], content="water the roses")
        old, new = done["changed"]
        assert (old["status"], new["content"], new["due"]) == (
            "superseded",
            "water the roses",
            plan["due"],
        )
        assert done["noted"][1].startswith("kept plan: water the roses, due ")

        # Of that item alone, and the latest first.
        answer = await client.post("/api/journal/luna/mind/undo", json={"item_id": pin["id"]})
        assert answer.status_code == 409
        done = await corrected(client, "undo", item_id=new["id"])
        assert "back in mind plan: water the garden tomorrow at 9am" in done["noted"][1]
        await corrected(client, "undo", item_id=pin["id"])
        assert await mind(client) == ["Ana likes green tea", "water the garden tomorrow at 9am"]
        for _ in range(2):
            await corrected(client, "undo")
        assert await corrected(client, "undo") == {"changed": [], "noted": []}
        # The log has it all.
        total = (await client.get("/api/journal/luna/events")).json()["total"]
        assert total == 3


async def test_what_cannot_be_meant_changes_nothing(served: Served) -> None:
    requests: list[tuple[str, dict[str, Any], int, str]] = [
        ("forget", {}, 422, "by item_id, or by words"),
        ("forget", {"item_id": 1, "words": "tea"}, 422, "by item_id, or by words"),
        ("forget", {"words": "bicycle"}, 404, "nothing on its mind is like this"),
        ("forget", {"words": "tea"}, 409, "say which"),
        ("forget", {"item_id": 99}, 404, "no item 99"),
        ("edit", {"item_id": 1, "content": " "}, 422, "write the text"),
        ("edit", {"item_id": 1, "content": "a <pin>b</pin>"}, 422, "without tags"),
    ]
    async with served.rest() as client:
        await log(client, "<pin>Ana likes tea</pin><pin>Ben likes tea</pin>")
        for how, body, status, said in requests:
            answer = await client.post(f"/api/journal/luna/mind/{how}", json=body)
            assert answer.status_code == status, answer.text
            assert said in answer.json()["detail"]
            assert await mind(client) == ["Ana likes tea", "Ben likes tea"], body


async def test_a_secret_is_dropped_by_its_id_and_never_told(served: Served) -> None:
    async with served.rest() as client:
        (secret,) = await log(client, "<secret>a lantern</secret>")
        answer = await client.post("/api/journal/luna/mind/forget", json={"words": "lantern"})
        assert answer.status_code == 404
        done = await corrected(client, "forget", item_id=secret["id"])
        assert done["noted"] == ["forgotten secret: (secret)"]
        assert "lantern" not in str(done)


async def test_an_agent_corrects_what_it_kept(serve: Serve) -> None:
    async with serve(toolsets=("memory", "journal")) as served, served.mcp() as client:
        await client.call("journal_log", companion="luna", content="<pin>Ana likes tea</pin>")
        done = await client.call(
            "journal_edit", companion="luna", words="tea", content="Ana likes coffee"
        )
        assert done["noted"] == ["no longer pin: Ana likes tea", "kept pin: Ana likes coffee"]
        await client.call("journal_forget", companion="luna", words="coffee")
        done = await client.call("journal_undo_latest", companion="luna")
        assert done["noted"] == ["back in mind pin: Ana likes coffee"]


async def test_reading_alone_corrects_nothing(serve: Serve) -> None:
    edit = {"words": "tea", "content": "coffee"}
    async with serve(require_token=True) as served:
        reader = served.bearing(await served.make_token("ana", "read"))
        async with reader.rest() as client:
            for how, body in (("forget", {"words": "tea"}), ("edit", edit), ("undo", {})):
                answer = await client.post(f"/api/journal/luna/mind/{how}", json=body)
                assert answer.status_code == 403, answer.text
