"""What a model reads when its call cannot be done: always what to mend, never a crash."""

import json
from typing import Any
from uuid import uuid4

import pytest
from mcp.shared.exceptions import MCPError

from conftest import Connection
from memory_butler.domain.permanence import PERMANENCES
from surfaces.conftest import Serve
from surfaces.serving import Client, Served

pytestmark = pytest.mark.anyio

_FACT: dict[str, Any] = {"subject": "user", "predicate": "name", "content": "Ana"}


# tool, arguments, what the refusal names
MISTAKES: list[tuple[str, dict[str, Any], str]] = [
    ("memory_get", {"memory_type": "dream", "memory_id": str(uuid4())}, "'episode', 'fact'"),
    ("memory_get", {"memory_type": "fact", "memory_id": "42"}, "memory_id"),
    ("memory_search", {"query": "x", "types": ["dream"]}, "types.0"),
    ("memory_search", {"query": "x", "mode": "fuzzy"}, "'hybrid'"),
    ("memory_search", {"query": "x", "limit": -1}, "limit"),
    ("memory_recall", {"topic": "x", "limit": 0}, "limit"),
    ("memory_recall", {"topic": "x", "limit": 10**9}, "limit"),
    ("memory_recall", {"topic": "x", "min_confidence": 1.5}, "min_confidence"),
    ("memory_recall", {"topc": "x"}, "topc: unknown name; is it misspelled?"),
    ("memory_search", {"query": "x", "top_k": 5}, "(it takes query, types, scope, mode,"),
    ("memory_search", {"query": "x", "types": "fact"}, 'types: must be a list, such as ["one"]'),
    ("memory_store_fact", _FACT | {"tags": "tea, drink"}, "tags: must be a list"),
    ("memory_store_fact", _FACT | {"tags": '["tea"'}, "tags: must be a list"),
    ("memory_store_fact", _FACT | {"tags": "[" * 100_000}, "tags: must be a list"),
    ("memory_get", {"memory_type": "fact", "memory_id": ""}, "memory_id: must be a UUID"),
    ("memory_recall", {}, "topic: is required"),
    ("memory_recall", {"topic": "x" * 100_001}, "100,001 characters"),
    ("memory_context", {"trigger_prompt": "x", "butler": " "}, "butler is empty"),
    ("memory_context", {"trigger_prompt": "x", "butler": "b", "token_budget": -1}, "budget"),
    ("memory_store_fact", _FACT | {"content": "  "}, "content is empty"),
    ("memory_store_fact", _FACT | {"subject": "x" * 1001}, "at most 1,000"),
    ("memory_store_fact", _FACT | {"entity_id": str(uuid4())}, "entity_create"),
    ("memory_store_fact", _FACT | {"valid_from": "new year"}, "valid_from"),
    ("memory_store_fact", _FACT | {"tags": ["t"] * 101}, "at most 100"),
    ("memory_store_episode", {"content": "x", "butler": "b", "turn": -1}, "turn"),
    (
        "memory_store_episode",
        {"content": "x", "butler": "b", "metadata": "mail"},
        "metadata: must be a JSON object",
    ),
    ("memory_mark_harmful", {"rule_id": "the first"}, "rule_id"),
    ("memory_run_consolidation", {"now": True}, "now: unknown name"),
    ("memory_run_episode_cleanup", {"max_entries": -1}, "max_entries"),
    (
        "entity_create",
        {"canonical_name": "Ana", "entity_type": "cat", "tenant_id": "default"},
        "entity_type",
    ),
]


async def test_a_mistake_is_an_error_that_names_it(client: Client) -> None:
    for tool, arguments, named in MISTAKES:
        refusal = await client.refusal(tool, **arguments)
        assert refusal.startswith("invalid_input: "), (tool, named)
        assert named in refusal, tool
        assert len(refusal) < 500, (tool, named)


@pytest.mark.requirement("TOOL-03")
async def test_an_unknown_permanence_is_answered_with_the_levels(client: Client) -> None:
    refusal = await client.refusal("memory_store_fact", **_FACT, permanence="eternal")
    assert refusal.startswith("invalid_input: permanence")
    assert all(level in refusal for level in PERMANENCES)


async def test_a_tool_that_is_none_is_named(client: Client) -> None:
    with pytest.raises(MCPError, match=r"unknown tool 'x'$"):
        await client.session.call_tool("x", {})
    for mistaken, meant in (
        ("store_fact", "memory_store_fact"),
        ("memory_recal", "memory_recall"),
        ("memory_store", ".* or memory_store_fact"),
    ):
        with pytest.raises(MCPError, match=f"unknown tool '{mistaken}'; did you mean {meant}"):
            await client.session.call_tool(mistaken, {})


async def _stored(client: Client, tool: str, /, **arguments: Any) -> str:
    """The id of what a model stores."""
    id: str = json.loads(await client.read(tool, **arguments))["id"]
    return id


async def test_a_list_and_an_object_may_come_as_their_json(client: Client) -> None:
    """Several models and clients send them so, again and again."""
    stored = await _stored(client, "memory_store_fact", **_FACT, tags='["tea", "drink"]')
    got = await client.call("memory_get", memory_type="fact", memory_id=stored)
    assert got["memory"]["tags"] == ["tea", "drink"]
    episode = await _stored(
        client, "memory_store_episode", content="x", butler="b", metadata='{"room": "kitchen"}'
    )
    got = await client.call("memory_get", memory_type="episode", memory_id=episode)
    assert got["memory"]["metadata"] == {"room": "kitchen"}
    # A text stays a text, whatever it looks like.
    stored = await _stored(client, "memory_store_fact", **_FACT | {"content": '["Ana"]'})
    got = await client.call("memory_get", memory_type="fact", memory_id=stored)
    assert got["memory"]["content"] == '["Ana"]'
    assert "tags.0" in await client.refusal("memory_store_fact", **_FACT, tags="[1]")
    # A program is mended once, and hears of it.
    with pytest.raises(AssertionError, match="tags: must be a list"):
        await client.call("memory_store_fact", **_FACT, tags='["tea"]')


async def test_a_choice_is_known_in_any_case(client: Client) -> None:
    stored = await _stored(
        client, "memory_store_fact", **_FACT, permanence="Stable", trust="User-Said", tags=["Tea"]
    )
    got = await client.call("memory_get", memory_type="fact", memory_id=stored)
    assert await client.read("memory_get", memory_type="FACT", memory_id=stored)
    kept = got["memory"]
    assert (kept["permanence"], kept["trust"], kept["tags"]) == ("stable", "user_said", ["Tea"])


async def test_an_empty_text_where_none_fits_is_left_out(client: Client) -> None:
    """Small models fill in every input that they are shown."""
    empty = dict.fromkeys(
        ("importance", "permanence", "tags", "entity_id", "valid_from", "valid_until", "trust"), ""
    )
    stored = await _stored(client, "memory_store_fact", **_FACT, **empty)
    got = await client.call("memory_get", memory_type="fact", memory_id=stored)
    kept = got["memory"]
    assert (kept["importance"], kept["permanence"], kept["tags"]) == (5.0, "standard", [])
    assert (kept["entity_id"], kept["valid_until"], kept["trust"]) == (None, None, "agent_inferred")
    assert await client.read("memory_search", query="Ana", types="", limit=" ", mode="")


async def test_what_takes_away_is_never_guessed_at(serve: Serve) -> None:
    """ "Undo this event" without one is not "undo the latest change"."""
    async with serve(toolsets=("memory", "trust")) as served, served.mcp() as client:
        stored = await _stored(client, "memory_store_fact", **_FACT)
        for arguments in ({"event_id": ""}, {"event_id": "", "run_id": ""}, {"dry_run": ""}):
            assert await client.refusal("memory_undo", **arguments)
        assert await client.refusal("memory_run_episode_cleanup", max_entries="")
        got = await client.call("memory_get", memory_type="fact", memory_id=stored)
        assert got["memory"]["validity"] == "active"


async def test_an_error_does_not_repeat_a_text(client: Client) -> None:
    refusal = await client.refusal("memory_get", memory_type="fact", memory_id="s3cret" * 1000)
    assert "s3cret" not in refusal


@pytest.mark.requirement("TOOL-14", "TEN-02")
async def test_a_foreign_tenant_is_refused(client: Client) -> None:
    one, other = str(uuid4()), str(uuid4())
    arguments: dict[str, dict[str, Any]] = {
        "entity_create": {"canonical_name": "Ana", "entity_type": "person"},
        "entity_get": {"entity_id": one},
        "entity_update": {"entity_id": one},
        "entity_resolve": {"name": "Ana"},
        "entity_merge": {"source_entity_id": one, "target_entity_id": other},
    }
    for tool, given in arguments.items():
        refusal = await client.refusal(tool, tenant_id="other", **given)
        assert refusal.startswith("permission_denied: tenant_id 'other' is not yours"), tool


@pytest.mark.requirement("TEN-02", "TOOL-16")
async def test_a_tenant_left_out_is_the_callers(served: Served) -> None:
    token = await served.make_token("acme")
    async with served.bearing(token).mcp() as client:
        made = await client.call(
            "entity_create", canonical_name="Ana", entity_type="person", tenant_id="acme"
        )
        assert made["entity"]["tenant_id"] == "acme"
        found = await client.call("entity_resolve", name="Ana")
        assert [one["entity_id"] for one in found["candidates"]] == [made["entity"]["id"]]
        # "default" is the parameter's default, and yet another tenant when it is said.
        refusal = await client.refusal("entity_resolve", name="Ana", tenant_id="default")
        assert refusal.startswith("permission_denied")


async def test_nul_bytes_are_dropped_everywhere(client: Client) -> None:
    fact = await client.call(
        "memory_store_fact",
        subject="us\x00er",
        predicate="na\x00me",
        content="A\x00na",
        tags=["\x00a"],
    )
    episode = await client.call(
        "memory_store_episode", content="x\x00y", butler="b\x00", metadata={"k\x00": ["\x00v"]}
    )
    got = await client.call("memory_get", memory_type="fact", memory_id=fact["id"])
    shown = got["memory"]
    assert (shown["subject"], shown["predicate"], shown["content"]) == ("user", "name", "Ana")
    assert shown["tags"] == ["a"]
    got = await client.call("memory_get", memory_type="episode", memory_id=episode["id"])
    assert (got["memory"]["content"], got["memory"]["metadata"]) == ("xy", {"k": ["v"]})
    found = await client.call("memory_search", query="A\x00na", scope="glo\x00bal")
    assert fact["id"] in [one["id"] for one in found["results"]]
    await client.call("entity_resolve", name="\x00", enable_fuzzy=True)
    await client.call("memory_context", trigger_prompt="\x00Ana", butler="b\x00")


async def test_a_lone_surrogate_breaks_nothing(served: Served, admin: Connection) -> None:
    call = (
        '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name":'
        ' "memory_store_episode", "arguments": {"content": "half \\ud83d a face", "butler": "b"}}}'
    )
    headers = {"accept": "application/json", "content-type": "application/json"}
    async with served.rest() as rest:
        answer = await rest.post("/mcp", content=call, headers=headers)
        assert answer.status_code in {200, 400}
        answer.json()
    for content in await admin.fetch("SELECT content FROM episodes"):
        assert content["content"].encode().decode() == "half \ufffd a face"
    async with served.mcp() as client:
        await client.call("memory_stats")


async def test_five_megabytes_are_refused_with_the_limit(client: Client, admin: Connection) -> None:
    content = "word " * 1_000_000
    for tool, more in (("memory_store_episode", {"butler": "b"}), ("memory_store_rule", {})):
        refusal = await client.refusal(tool, content=content, **more)
        assert refusal == (
            "invalid_input: content has 5,000,000 bytes, at most 65,536 are stored "
            "(max_content_bytes in [modules.memory]); shorten or split it"
        )
    assert await admin.fetchval("SELECT count(*) FROM episodes") == 0
    await client.call("memory_store_episode", content="A short one", butler="b")


async def test_a_body_beyond_the_limit_is_refused_unread(served: Served) -> None:
    length = 17 * 1024 * 1024
    status = await served.raw(
        f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {length}\r\n"
        "Content-Type: application/json\r\nAccept: application/json\r\n\r\n"
    )
    assert status == 413


@pytest.mark.requirement("FAIL-02")
async def test_a_broken_invariant_fails_closed(client: Client, admin: Connection) -> None:
    for table in ("facts", "episodes"):
        await admin.execute(
            f"ALTER TABLE {table} ADD CONSTRAINT no_lies CHECK (content <> 'A lie')"
        )
    told = {
        "memory_store_fact": _FACT | {"content": "A lie"},
        "memory_store_episode": {"content": "A lie", "butler": "b"},
    }
    for tool, arguments in told.items():
        refusal = await client.refusal(tool, **arguments)
        assert refusal.startswith("integrity: the store refused the change (no_lies)")
    assert await admin.fetchval("SELECT count(*) FROM memory_events") == 0


@pytest.mark.requirement("FAIL-02")
async def test_an_invalid_transition_changes_nothing(client: Client, admin: Connection) -> None:
    entity = (
        await client.call(
            "entity_create", canonical_name="Ana", entity_type="person", tenant_id="default"
        )
    )["entity"]["id"]
    refusal = await client.refusal("entity_merge", source_entity_id=entity, target_entity_id=entity)
    assert refusal.startswith("invalid_input: an entity cannot be merged into itself")
    assert await admin.fetchval("SELECT count(*) FROM memory_events") == 1


async def test_a_bug_is_told_as_one_without_its_details(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("password=geheim")

    monkeypatch.setattr("memory_butler.operations.curation.get_memory", broken)
    async with served.mcp() as client:
        refusal = await client.refusal("memory_get", memory_type="fact", memory_id=str(uuid4()))
        assert refusal.startswith("internal: ")
        assert "geheim" not in refusal


async def test_an_answer_that_does_not_fit_its_shape_is_a_bug_and_no_mistake_of_the_caller(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def misshapen(*_: Any, **__: Any) -> dict[str, str]:
        return {"subject": "geheim"}

    monkeypatch.setattr("memory_butler.operations.curation.get_memory", misshapen)
    async with served.mcp() as client:
        refusal = await client.refusal("memory_get", memory_type="fact", memory_id=str(uuid4()))
        assert refusal.startswith("internal: ")
        assert "geheim" not in refusal
