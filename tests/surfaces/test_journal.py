"""The journal over MCP and REST: the same operations, of the caller's tenant alone."""

import re
import threading
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from conftest import Clock
from memory_butler.companions.opening import opened
from memory_butler.config import Settings
from memory_butler.engine.memory import Memory
from memory_butler.engine.screening import screened_text
from memory_butler.inference.language_models.scripted import ScriptedModel
from memory_butler.journal.fragments import PutEdge, PutFragment
from memory_butler.journal_config import JournalConfig
from memory_butler.operations import journal
from memory_butler.vault.keyring import no_keys
from surfaces.conftest import Serve
from surfaces.serving import Served, serving

pytestmark = pytest.mark.anyio

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
MASK = "[masked: GitHub token, …q7R8]"
HELLO = "Hello! <plan>call Ada in ten days</plan>"
REPLY = "thinking <say>Good morning.</say><feeling>calm</feeling><secret>a lantern</secret>"


async def ok(client: httpx.AsyncClient, path: str, **query: Any) -> Any:
    answer = await client.get(f"/api/journal/{path}", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def compiled(data_dir: Path, clock: Clock) -> None:
    with opened(
        data_dir, "default", "ada", JournalConfig(), no_keys, create=True, now=clock
    ) as one:
        one.desk.apply("bootstrap", [PutFragment("garden", "A garden.", "Dug in March.")])
        clock.advance(hours=1)
        one.desk.apply(
            "manual",
            [
                PutFragment("garden", "The garden."),
                PutFragment("well", "A well.", inventory="Deep."),
                PutEdge("garden", "well", "holds"),
            ],
        )


async def test_a_dashboard_finds_everything_that_its_pages_show(
    serve: Serve, tmp_path: Path, clock: Clock
) -> None:
    compiled(tmp_path, clock)
    async with serve(data_dir=tmp_path) as served, served.rest() as client:
        logged = await client.post("/api/journal/ada/events", json={"content": HELLO})
        assert logged.status_code == 200, logged.text
        assert [one["type"] for one in logged.json()["changed"]] == ["plan"]
        body = {"content": REPLY, "actor": "assistant"}
        said = (await client.post("/api/journal/ada/events", json=body)).json()
        assert said["shown"] == [{"kind": "say", "text": "Good morning."}]

        (summary,) = (await ok(client, "companions"))["companions"]
        assert (summary["name"], summary["events"], summary["fragments"]) == ("ada", 2, 2)
        # The stream, page by page, by speaker and tag.
        page = await ok(client, "ada/events", limit=1)
        masked = REPLY.replace("a lantern", "(secret)")
        assert (page["events"][0]["content"], page["next"], page["total"]) == (masked, 2, 2)
        told = await ok(client, "ada/events", limit=1, secrets=True)
        assert told["events"][0]["content"] == REPLY
        rest = await ok(client, "ada/events", limit=1, before=2)
        assert (rest["events"][0]["content"], rest["next"]) == (HELLO, None)
        assert rest["events"][0]["shown"] == [{"kind": "plain", "text": "Hello!"}]
        for query in ({"actor": "user"}, {"tag": "plan"}):
            assert [one["id"] for one in (await ok(client, "ada/events", **query))["events"]] == [1]
        # Working memory with all that a decay bar needs; secrets are named, not told.
        items = {one["type"]: one for one in (await ok(client, "ada/mind"))["items"]}
        assert items["feeling"]["score"] == 1.0
        assert (items["feeling"]["half_life_hours"], items["feeling"]["half_life_turns"]) == (2, 3)
        assert items["plan"]["submerged"]
        assert items["plan"]["phase"] == "submerged"
        assert items["plan"]["half_life_hours"] is None
        assert (items["plan"]["repeats"], items["plan"]["often"]) == (None, None)
        assert items["secret"]["content"] == "(secret)"
        told = await ok(client, "ada/mind", secrets=True)
        assert "a lantern" in {one["content"] for one in told["items"]}
        # The map, one fragment of it with its past, and the map of an hour ago.
        graph = await ok(client, "ada/fragments")
        assert [one["key"] for one in graph["nodes"]] == ["garden", "well"]
        assert graph["edges"] == [{"source": "garden", "target": "well", "relation": "holds"}]
        before = (clock() - timedelta(minutes=30)).isoformat()
        assert [
            one["key"] for one in (await ok(client, "ada/fragments", known_at=before))["nodes"]
        ] == ["garden"]
        # Nothing had been said by then, and the fragment was not linked yet.
        assert (await ok(client, "ada/events", known_at=before))["total"] == 0
        assert (await ok(client, "ada/mind", known_at=before))["items"] == []
        assert (await ok(client, "ada/plans", known_at=before))["items"] == []
        recalled = await ok(client, "ada/recall", key="garden", known_at=before)
        assert (recalled["text"], recalled["neighbours"]) == ("Dug in March.", [])
        seen = await ok(client, "ada/fragment", key="garden", known_at=before)
        assert (seen["fragment"]["ambient"], seen["versions"]) == ("A garden.", [])
        garden = await ok(client, "ada/fragment", key="garden")
        assert garden["fragment"]["recognition"] == "Dug in March."
        assert [one["fragment"]["ambient"] for one in garden["versions"]] == ["A garden."]
        assert (await ok(client, "ada/fragment", key="well"))["incoming"][0]["source"] == "garden"
        # The prompt with its receipt.
        prompt = await ok(client, "ada/prompt")
        parts = {one["part"]: one for one in prompt["parts"]}
        assert (parts["lingering"]["cap"], parts["hot"]["text"]) == (1500, HELLO)
        assert parts["lingering"]["left_out"][0]["reason"].startswith("set aside")
        assert {one["pool"]: one["cap"] for one in prompt["pools"]} == {
            "user": 1500,
            "say": 1500,
            "do": 1000,
            "flex": 1000,
        }
        assert prompt["user"].endswith(HELLO)
        # The companion is told its secrets; a page that shows the prompt is not.
        assert "[secret, Ada] a lantern" in prompt["user"]
        shown = await ok(client, "ada/prompt", secrets=False)
        assert "[secret, Ada] (secret)" in shown["user"]
        assert "lantern" not in str(shown)
        # Begun over REST it knows its name and the tags.
        assert prompt["system"].startswith("Your name is Ada.")
        assert "<say>" in prompt["system"]
        # Runs and what they changed.
        runs = await ok(client, "ada/runs")
        assert [one["state"] for one in runs["runs"]] == ["completed", "completed"]
        run = await ok(client, "ada/runs/2")
        assert {one["key"]: one["change"] for one in run["changes"]} == {
            "garden": "changed",
            "well": "created",
        }
        assert "+ garden -> well: holds" in run["changes"][0]["lines"]
        # Look-ups.
        assert (await ok(client, "ada/recall", key="garden"))["text"] == "Dug in March."
        assert (await ok(client, "ada/plans"))["items"][0]["type"] == "plan"
        (found,) = (await ok(client, "ada/search", question="mornings"))["found"]
        assert (found["event"]["id"], found["before"]["id"], found["after"]) == (2, 1, None)
        assert found["event"]["shown"] == [{"kind": "say", "text": "Good morning."}]
        # What is not shown is neither found nor told.
        assert "lantern" not in str(found)
        assert (await ok(client, "ada/search", question="lantern"))["found"] == []
        asked = {"question": "mornings", "known_at": before}
        assert (await ok(client, "ada/search", **asked))["found"] == []


async def test_who_speaks_must_be_known(serve: Serve, tmp_path: Path) -> None:
    async with serve(data_dir=tmp_path) as served, served.rest() as client:
        for actor, said in (
            ("Assistant", "assistant"),
            ("ada", "ada"),
            ("User", "user"),
            (None, "user"),
        ):
            body = {"content": "Hello", "actor": actor}
            logged = await client.post("/api/journal/ada/events", json=body)
            assert logged.json()["actor"] == said, logged.text
        events = (await ok(client, "ada/events"))["events"]
        assert [one["by_companion"] for one in events] == [False, False, True, True]
        body = {"content": "Hello", "actor": "claude"}
        refused = await client.post("/api/journal/ada/events", json=body)
        assert refused.status_code == 422
        assert "unknown actor 'claude'; here speak assistant, ada, user" in refused.json()["detail"]


async def test_maintenance_over_rest(memory: Memory, tmp_path: Path) -> None:
    reply = '{"put": [{"key": "ada", "ambient": "Ada.", "sources": ["M1"]}], "fly": []}'
    thinking = replace(memory, language_model=ScriptedModel([reply, reply]))
    settings = Settings(data_dir=tmp_path)
    async with serving(thinking, settings) as served, served.rest() as client:
        await client.post("/api/journal/ada/events", json={"content": "Ada came."})
        dry = (await client.post("/api/journal/ada/runs", json={"dry_run": True})).json()
        assert (dry["run_id"], len(dry["changes"])) == (None, 1)
        assert (await ok(client, "ada/runs"))["runs"] == []
        done = (await client.post("/api/journal/ada/runs", json={})).json()
        assert done["run_id"] == 1
        assert done["refused"][0].startswith("'fly' is no action")
        assert (await ok(client, "ada/runs"))["unread"] == 0
        back = await client.post("/api/journal/ada/runs/1/undo")
        assert back.json()["changes"][0]["change"] == "deleted"
        assert (await ok(client, "ada/fragments"))["nodes"] == []


async def test_without_a_model_a_run_says_what_to_set(serve: Serve, tmp_path: Path) -> None:
    async with serve(data_dir=tmp_path) as served, served.rest() as client:
        await client.post("/api/journal/ada/events", json={"content": "Ada came."})
        refused = await client.post("/api/journal/ada/runs", json={"run_type": "manual"})
        assert (refused.status_code, refused.json()["code"]) == (503, "configuration")
        assert "no language model was found. Set ANTHROPIC_API_KEY" in refused.json()["detail"]
        (run,) = (await ok(client, "ada/runs"))["runs"]
        assert run["state"] == "failed"


async def test_nobody_sees_another_tenant_s_journal(serve: Serve, tmp_path: Path) -> None:
    async with serve(data_dir=tmp_path, require_token=True) as served:
        one = served.bearing(await served.make_token("one"))
        two = served.bearing(await served.make_token("two"))
        reader = served.bearing(await served.make_token("one", "read"))
        async with one.rest() as client:
            await client.post("/api/journal/ada/events", json={"content": "mine"})
            for path in ("events", "mind", "fragments", "runs", "prompt", "plans"):
                assert (await client.get(f"/api/journal/ada/{path}")).status_code == 200
        async with two.rest() as client:
            assert (await ok(client, "companions")) == {"companions": []}
            for path in ("events", "mind", "fragments", "runs", "prompt", "plans"):
                assert (await client.get(f"/api/journal/ada/{path}")).status_code == 404
            for name in ("..%2Fone%2Fada", "%2e%2e", "a.b", "x" * 64):
                assert (await client.get(f"/api/journal/{name}/events")).status_code in (404, 422)
        async with reader.rest() as client:
            assert len((await ok(client, "ada/events"))["events"]) == 1
            denied = await client.post("/api/journal/ada/events", json={"content": "x"})
            assert denied.status_code == 403


async def test_a_secret_in_a_message_is_masked_and_the_caller_may_insist(
    serve: Serve, tmp_path: Path
) -> None:
    said = f"I push with {TOKEN}"
    async with serve(data_dir=tmp_path) as served, served.rest() as client:
        logged = (await client.post("/api/journal/ada/events", json={"content": said})).json()
        assert logged["secrets"].startswith("Masked before it was stored: 1 × GitHub token.")
        insisted = {"content": said, "allow_secrets": True}
        await client.post("/api/journal/ada/events", json=insisted)
        kept, masked = (await ok(client, "ada/events"))["events"]
        assert masked["content"] == f"I push with {MASK}"
        assert kept["content"] == said
        pin = {"type": "pin", "content": said}
        told = (await client.post("/api/journal/ada/mind", json=pin)).json()
        assert "1 × GitHub token" in told["secrets"]
        assert [one["content"] for one in told["changed"]] == [f"I push with {MASK}"]
        # A correction brings in what was left out before.
        edit = {"words": "push", "content": f"My token is {TOKEN}"}
        told = (await client.post("/api/journal/ada/mind/edit", json=edit)).json()
        assert "1 × GitHub token" in told["secrets"]
        assert TOKEN not in str(told)
        (item,) = (await ok(client, "ada/mind"))["items"]
        assert item["content"] == f"My token is {MASK}"


async def test_a_long_message_is_searched_for_secrets_off_the_event_loop(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A megabyte takes a third of a second, in which others want to be served."""
    where: list[int] = []

    def noted(*given: Any, **more: Any) -> tuple[str, str | None]:
        where.append(threading.get_ident())
        return screened_text(*given, **more)

    monkeypatch.setattr(journal, "screened_text", noted)
    async with serve(data_dir=tmp_path) as served, served.rest() as client:
        for path, wanted in (("events", 200), ("turns", 202)):
            said = await client.post(f"/api/journal/ada/{path}", json={"content": "word " * 9_000})
            assert said.status_code == wanted, said.text
    assert len(where) == 2
    assert threading.get_ident() not in where


async def test_an_agent_keeps_its_journal_over_mcp(serve: Serve, tmp_path: Path) -> None:
    toolsets = ("memory", "journal")
    async with serve(data_dir=tmp_path, toolsets=toolsets) as served, served.mcp() as client:
        assert len(client.tools) == 19 + 13
        await client.call("journal_log", content=HELLO)
        prompt = await client.call("journal_prompt")
        assert prompt["user"].endswith(HELLO)
        (text,) = (await client.result("journal_prompt")).content
        assert text.text == f"{prompt['system']}\n\n{prompt['user']}"  # type: ignore[union-attr]
        # Begun over MCP its model is told of the tags.
        assert "`plan>done …`" in prompt["system"]
        said = await client.call("journal_log", content=REPLY, actor="assistant")
        assert said["actor"] == "assistant"
        assert len((await client.call("journal_mind"))["items"]) == 3
        assert len((await client.call("journal_plans", when="in ten days"))["items"]) == 1
        assert (await client.call("journal_events"))["total"] == 2
        (text,) = (await client.result("journal_search", question="mornings")).content
        assert re.fullmatch(
            r"  before: user: Hello!\n- message 2, [\d-]+ [\d:]+ UTC: assistant: Good morning\.",
            text.text,  # type: ignore[union-attr]
        )
        assert (await client.call("journal_search", question="submarine"))["found"] == []
        assert (await client.call("journal_end_session")) == {"stored": 0, "waiting": 0}
        assert "no fragment 'garden'" in await client.refusal("journal_recall", key="garden")
        assert "no companion 'bob'" in await client.refusal("journal_mind", companion="bob")


async def test_who_is_there_is_said_over_any_way_in(serve: Serve, tmp_path: Path) -> None:
    toolsets = ("memory", "journal")
    async with serve(data_dir=tmp_path, toolsets=toolsets) as served, served.mcp() as client:
        told = await client.call("journal_introduce", user="Ana", time_zone="tokyo", manner="brief")
        assert told == {
            "name": "",
            "user": "Ana",
            "time_zone": "Asia/Tokyo",
            "manner": "brief",
            "wake_context": True,
        }
        # What is left out stays.
        told = await client.call("journal_introduce", name="Luna", manner="")
        assert (told["name"], told["user"], told["manner"]) == ("Luna", "Ana", "")
        await client.call("journal_log", content="Hello")
        await client.call("journal_log", content="<say>Hello, Ana.</say>", actor="assistant")
        await client.call("journal_log", content="Well?")
        prompt = await client.call("journal_prompt")
        assert prompt["system"].startswith("Your name is Luna. You talk with Ana.\n\nYou are a")
        assert "Ana: Hello\nLuna: Hello, Ana." in prompt["user"]
        assert "(JST)" in prompt["user"]
        for wrong in ({"name": "ana"}, {"user": "assistant"}, {"time_zone": "Atlantis"}):
            assert await client.refusal("journal_introduce", **wrong)


@pytest.mark.parametrize(
    "wrong",
    [{"time_zone": "Atlantis"}, {"name": "<Luna>"}, {"user": "a" * 41}, {"manner": "x" * 301}],
)
async def test_an_introduction_that_cannot_be_read_makes_no_companion(
    serve: Serve, tmp_path: Path, wrong: dict[str, str]
) -> None:
    async with serve(data_dir=tmp_path) as served, served.rest() as client:
        answer = await client.post("/api/journal/luna/introduction", json={"user": "Ana"} | wrong)
        assert answer.status_code == 422, answer.text
        assert (await ok(client, "companions"))["companions"] == []


async def test_the_toolset_is_off_by_default(served: Served) -> None:
    async with served.mcp() as client:
        assert not [name for name in client.tools if name.startswith("journal")]


async def test_a_memory_without_a_folder_has_no_journals(memory: Memory) -> None:
    from memory_butler.companions.opening import data_dir
    from memory_butler.domain.errors import ConfigurationError

    with pytest.raises(ConfigurationError, match="without a data directory"):
        data_dir(replace(memory, data_dir=None))


async def test_a_damaged_journal_is_named_and_blocks_no_other(
    serve: Serve, tmp_path: Path, clock: Clock
) -> None:
    compiled(tmp_path, clock)
    folder = tmp_path / "journal" / "default"
    (folder / "aaa.sqlite").write_bytes(b"not a journal at all " * 1_000)
    with opened(
        tmp_path, "default", "bob", JournalConfig(), no_keys, create=True, now=clock
    ) as one:
        one.live.log("hello", "user")
        with one.file.writing() as db:
            db.execute("INSERT INTO events (ts, content, actor) VALUES ('not a time', 'x', 'user')")
    async with serve(data_dir=tmp_path) as served, served.rest() as client:
        found = (await ok(client, "companions"))["companions"]
    assert [one["name"] for one in found] == ["aaa", "ada", "bob"]
    broken, whole, odd = found
    assert "aaa.sqlite is no SQLite file" in broken["problem"]
    assert "not a time" in odd["problem"]
    assert whole["problem"] is None
    assert whole["fragments"] == 2
    assert broken["events"] == odd["events"] == 0


async def test_a_plan_that_repeats_says_how_often(tmp_path: Path, serve: Serve) -> None:
    async with serve(data_dir=tmp_path) as served, served.rest() as client:
        body = {"content": "<plan>Swimming every Tuesday at 7pm</plan>"}
        (made,) = (await client.post("/api/journal/ada/events", json=body)).json()["changed"]
        (plan,) = (await ok(client, "ada/plans"))["items"]
        for one in (made, plan):
            assert one["repeats"].startswith("FREQ=WEEKLY;BYDAY=TU;BYHOUR=19")
            assert one["often"] == "every Tuesday"
