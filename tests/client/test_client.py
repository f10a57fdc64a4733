"""The client of programs: over HTTP, in the process, and held to the registry."""

import asyncio
import inspect
import os
import pickle
import re
import ssl
from datetime import UTC, date, datetime, time, timedelta, timezone
from pathlib import Path
from typing import Any, get_type_hints
from uuid import UUID, uuid4

import pytest
from pydantic import BaseModel

import client_code
from conftest import Connection
from example_programs import example
from memory_butler.client import UNSET, MemoryClient, SyncMemoryClient, shapes
from memory_butler.client.generated.endpoints import ENDPOINTS
from memory_butler.client.shape import read
from memory_butler.client.transport import base_of, certificates
from memory_butler.config import Settings
from memory_butler.domain.errors import (
    InvalidInput,
    NotFound,
    PermissionDenied,
    StaleRevision,
    Unauthenticated,
    Unavailable,
)
from memory_butler.domain.principals import Principal
from memory_butler.engine.memory import Memory
from memory_butler.operations.operation import Operation
from memory_butler.operations.registry import OPERATIONS
from surfaces.serving import Served, serving


def test_what_is_made_is_what_the_registry_says() -> None:
    stale = [
        name
        for name, text in client_code.modules().items()
        if (client_code.OUTPUT / name).read_text(encoding="utf-8") != text
    ]
    assert stale == [], "run `make client`"


@pytest.mark.parametrize("client", [MemoryClient, SyncMemoryClient])
@pytest.mark.parametrize("operation", client_code.offered(), ids=lambda one: one.name)
def test_a_method_takes_what_its_operation_takes(
    operation: Operation[BaseModel, BaseModel], client: type[object]
) -> None:
    method = getattr(client, client_code.method_name(operation))
    taken = {
        name: parameter.default is UNSET
        for name, parameter in inspect.signature(method).parameters.items()
        if name != "self"
    }
    fields = operation.input_model.model_fields
    assert taken == {
        name: not field.is_required() for name, field in fields.items() if name != "tenant_id"
    }
    assert operation.title in (inspect.getdoc(method) or "")
    shape = getattr(shapes, operation.output_model.__name__)
    assert get_type_hints(shape).keys() == operation.output_model.model_fields.keys()


def test_every_operation_of_rest_has_a_method() -> None:
    asked = {operation.name for operation in OPERATIONS if operation.routes}
    assert asked <= ENDPOINTS.keys()


@pytest.mark.anyio
async def test_the_same_over_http_and_in_the_process(served: Served, memory: Memory) -> None:
    here = MemoryClient.of(memory)
    async with MemoryClient.connect(served.url) as there:
        stored = await there.store_fact("user", "drink", "Prefers tea", tags=["taste"])
        for client in (here, there):
            (hit,) = (await client.recall("which drink?")).results
            assert (hit.id, hit.content) == (stored.id, "Prefers tea")
            assert (await client.get("fact", stored.id)).memory is not None
            # Over REST, where an operation is no tool.
            assert [fact.id for fact in (await client.facts_list()).items] == [stored.id]
            assert (await client.fact_look(stored.id)).fact.id == stored.id
        block = await there.context("a drink for the user", "kitchen")
        assert "Prefers tea" in block.context
        entity = await there.entity_create("Acme", "organization")
        assert entity.entity is not None
        assert (await there.entity_get(entity.entity.id)).entity == entity.entity
        assert (await there.forget("fact", stored.id)).status == "forgotten"
        assert (await there.restore("fact", stored.id)).memory_id == stored.id


@pytest.mark.anyio
async def test_without_an_event_loop(served: Served) -> None:
    def program() -> None:
        with SyncMemoryClient.connect(served.url) as memory:
            stored = memory.store_fact("user", "drink", "Prefers tea", tags=["taste"])
            (hit,) = memory.recall("which drink?").results
            assert (hit.id, hit.content) == (stored.id, "Prefers tea")
            assert memory.fact_look(stored.id).fact.tags == ["taste"]
            with pytest.raises(NotFound):
                memory.fact_look(uuid4())

        memory = SyncMemoryClient.connect(served.url)
        assert memory.recall("which drink?").results
        memory.close()
        with pytest.raises(RuntimeError, match="closed"):
            memory.recall("which drink?")

    await asyncio.to_thread(program)
    with (
        SyncMemoryClient.connect("http://127.0.0.1:9") as nowhere,
        pytest.raises(Unavailable, match="does not answer"),
    ):
        nowhere.stats()


@pytest.mark.anyio
async def test_without_a_block_it_is_closed_by_hand(served: Served) -> None:
    memory = MemoryClient.connect(served.url)
    assert (await memory.recall("which drink?")).results == []
    await memory.aclose()
    with pytest.raises(RuntimeError, match="closed"):
        await memory.recall("which drink?")


@pytest.mark.parametrize("client", [MemoryClient, SyncMemoryClient])
def test_an_address_alone_says_how_to_connect(client: Any) -> None:
    with pytest.raises(TypeError, match=r"write \.connect\('http://127.0.0.1:8150'\)"):
        client("http://127.0.0.1:8150")


@pytest.mark.parametrize("tail", ["", "/", "/mcp", "/mcp/", "/mcp/core", "/mcp/core/"])
def test_the_address_of_mcp_is_one_of_the_server(tail: str) -> None:
    assert base_of(f"https://memory.example/mcp/notes{tail}") == "https://memory.example/mcp/notes"


def test_only_a_connection_by_tls_reads_certificates() -> None:
    assert certificates("https://memory.example") is True
    none = certificates("http://127.0.0.1:8150/mcp")
    assert isinstance(none, ssl.SSLContext)
    assert none.get_ca_certs() == []
    assert none.verify_mode == ssl.CERT_REQUIRED


@pytest.mark.anyio
async def test_an_answer_has_the_types_that_its_operation_says(
    served: Served, memory: Memory
) -> None:
    async with MemoryClient.connect(served.url) as client:
        stored = await client.store_fact("user", "drink", "Prefers tea")
        for asked in (client, MemoryClient.of(memory)):
            (found,) = (await asked.facts_list(subject="user")).items
            assert isinstance(found, shapes.ListedFact)
            assert isinstance(found, shapes.Fact)
            assert type(found.id) is UUID
            assert type(found.confidence) is float
            assert found.created_at == memory.clock()
            (hit,) = (await asked.search("tea")).results
            assert isinstance(hit, shapes.Fact)
            assert hit.scores is not None
            assert hit.scores.rrf_score is not None
        told = await client.run("fact_look", {"fact_id": stored.id})
        assert read(shapes.FactDetail, told) == await client.fact_look(stored.id)
        with pytest.raises(InvalidInput, match="try one of memory_store_episode"):
            await client.run("fact_lock", {})


@pytest.mark.anyio
async def test_an_input_that_rest_calls_otherwise_is_sent_so(
    served: Served, memory: Memory
) -> None:
    async with MemoryClient.connect(served.url) as client:
        await client.store_fact("user", "drink", "Prefers tea")
        soon = memory.clock() + timedelta(hours=1)
        assert (await client.facts_list(until=soon)).total == 1
        assert (await client.facts_list(since=soon, scope=None)).total == 0


@pytest.mark.anyio
async def test_a_refusal_names_the_argument(served: Served, memory: Memory) -> None:
    async with MemoryClient.connect(served.url) as there:
        for client in (MemoryClient.of(memory), there):
            with pytest.raises(InvalidInput, match=r"^limit: must be at most 200$"):
                await client.facts_list(limit=1000)
            since: Any = "soon"
            with pytest.raises(InvalidInput, match=r"^since: must be a date .*; until: must be a"):
                await client.facts_list(since=since, until=since)
            with pytest.raises(InvalidInput, match=r"^fact_id: must be a UUID"):
                await client.fact_look(since)


@pytest.mark.anyio
async def test_what_cannot_be_sent_is_refused_by_its_name(served: Served) -> None:
    async with MemoryClient.connect(served.url) as client:
        said = {"subject": "user", "predicate": "city", "content": "Lisbon"}
        stored = await client.run("memory_store_fact", said | {"valid_from": date(2026, 1, 1)})
        shown = (await client.fact_look(UUID(stored["id"]))).fact
        assert shown.valid_from == datetime(2026, 1, 1, tzinfo=UTC)
        for limit in (float("nan"), float("inf")):
            with pytest.raises(InvalidInput, match=rf"^min_relevance: {limit} cannot be sent"):
                await client.ask("tea", min_relevance=limit)
        with pytest.raises(InvalidInput, match=r"^content: a bytes cannot be sent; give text, a"):
            await client.run("memory_store_fact", {"content": b"Lisbon"})
        assert (await client.store_fact("user", "emoji", "cut \ud83d")).id


@pytest.mark.anyio
async def test_what_stands_in_an_address_reaches_the_server_as_it_is(served: Served) -> None:
    async with MemoryClient.connect(served.url) as client:
        for asked, name in (("fact_look", "fact_id"), ("journal_events", "companion")):
            for nothing in ("", None):
                with pytest.raises(InvalidInput, match=rf"^{name}: is empty; give a value$"):
                    await client.run(asked, {name: nothing})
        for name in (".", "..", "a/../b", "%2e", "cut \ud83d"):
            await client.store_episode("Talked", name)
            assert (await client.butler_look(name)).butler.name == name.replace("\ud83d", "\ufffd")
            assert (await client.episodes_list(butler=name)).total == 1
        assert (await client.facts_list(q="cut \ud83d")).total == 0


@pytest.mark.anyio
async def test_a_moment_before_there_were_time_zones(served: Served) -> None:
    local_mean_time = timezone(timedelta(hours=-5, seconds=238))
    async with MemoryClient.connect(served.url) as client:
        said = datetime(1883, 1, 1, tzinfo=local_mean_time)
        stored = await client.store_fact("bridge", "opened", "Opened then", valid_from=said)
        assert (await client.fact_look(stored.id)).fact.valid_from == said
        first = datetime.min.replace(tzinfo=timezone(timedelta(hours=14, seconds=1)))
        with pytest.raises(InvalidInput, match="valid_from"):
            await client.store_fact("bridge", "opened", "Opened then", valid_from=first)


@pytest.mark.anyio
async def test_a_date_is_midnight_in_utc(served: Served, memory: Memory) -> None:
    today = memory.clock().date()
    async with MemoryClient.connect(served.url) as there:
        for client in (MemoryClient.of(memory), there):
            stored = await client.store_fact("user", "city", "Lisbon", valid_from=today)
            shown = (await client.fact_look(stored.id)).fact
            assert shown.valid_from == datetime.combine(today, time(), UTC)
            assert (await client.facts_list(until=today)).total == 0
            assert (await client.facts_list(since=today)).total == 1


def test_an_answer_of_another_version() -> None:
    newer: dict[str, object] = {
        "id": str(uuid4()),
        "supersedes_id": None,
        "alike": [],
        "added_later": 1,
    }
    assert read(shapes.StoredFact, newer).alike == []
    with pytest.raises(Unavailable, match=r"StoredRule needs id.*update the older"):
        read(shapes.StoredRule, {})


@pytest.mark.anyio
async def test_an_error_is_the_same_whichever_way_it_came(served: Served, memory: Memory) -> None:
    async with MemoryClient.connect(served.url) as there:
        for client in (MemoryClient.of(memory), there):
            with pytest.raises(InvalidInput, match="content is empty"):
                await client.store_fact("user", "drink", " ")
            with pytest.raises(InvalidInput, match=r"^limit: must be at least 1$"):
                await client.search("x", limit=0)
            with pytest.raises(NotFound):
                await client.fact_edit(uuid4(), content="new", expected_revision="1")


@pytest.mark.anyio
async def test_an_episode_that_is_not_stored_is_an_error(
    served: Served, memory: Memory, admin: Connection
) -> None:
    # A model is answered with an object that says so; a program might not look at it.
    runtime = await memory.pool.fetchval("SELECT current_user")
    await admin.execute(f'REVOKE INSERT ON memory_events FROM "{runtime}"')
    async with MemoryClient.connect(served.url) as client:
        for one in (client, MemoryClient.of(memory)):
            with pytest.raises(Unavailable, match="the database refused"):
                await one.store_episode("We had tea", "general")


@pytest.mark.anyio
async def test_what_is_no_default_tool_works_on_a_server_of_the_default_tools(
    memory: Memory, tmp_path: Path
) -> None:
    async with (
        serving(memory, Settings(data_dir=tmp_path)) as served,
        MemoryClient.connect(served.url) as client,
    ):
        stored = await client.store_fact("user", "drink", "Prefers tea")
        assert (await client.calibration()).outcomes == 0
        without = await client.context_without("which drink?", "kitchen", [stored.id])
        assert "Prefers tea" not in without.context_without
        assert (await client.undo(dry_run=True)).removed == 1
        assert (await client.undo()).items[0].id == stored.id
        # A companion that is left out is the default one, in a path too.
        await client.journal_log("Good morning")
        (logged,) = (await client.journal_events()).events
        assert logged.content == "Good morning"
        assert (await client.journal_fragments()).nodes == []


def test_what_a_path_names_is_given_or_has_a_default() -> None:
    for operation in client_code.offered():
        fields, routes = operation.input_model.model_fields, ENDPOINTS[operation.name].routes
        assert not routes or any(
            all(
                fields[name].is_required() or name in route.defaults
                for name in re.findall(r"\{(\w+)\}", route.path)
            )
            for route in routes
        ), operation.name


@pytest.mark.parametrize("connect", [MemoryClient.connect, SyncMemoryClient.connect])
def test_a_token_is_refused_where_it_can_be_none_and_not_shown(connect: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^token: is empty; leave it out"):
        connect("http://127.0.0.1:8150", token="")
    for wrong in ("mbt_se\ncret", "mbt_se cret", "mbt_sécret"):
        with pytest.raises(InvalidInput, match=r"^token: is no token; give what") as refused:
            connect("http://127.0.0.1:8150", token=wrong)
        assert "cret" not in str(refused.value)


@pytest.mark.parametrize("connect", [MemoryClient.connect, SyncMemoryClient.connect])
def test_what_names_no_server_or_leaves_no_time_is_refused(connect: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^url: 'localhost:8150' must begin with http"):
        connect("localhost:8150")
    for wrong in ("http://", "http://[::1", "http://127.0.0.1:99999", "http://:8150"):
        with pytest.raises(InvalidInput, match=r"^url: .* names no server; write it as http"):
            connect(wrong)
    for seconds in (0, -1, float("nan")):
        with pytest.raises(InvalidInput, match=r"^seconds: .* is no time to wait"):
            connect("http://127.0.0.1:8150", seconds=seconds)


@pytest.mark.anyio
async def test_a_token_from_a_file_may_end_with_a_line_end(memory: Memory) -> None:
    async with serving(memory, Settings(require_token=True)) as served:
        token = await served.make_token("acme", "read")
        async with MemoryClient.connect(served.url, token=f"{token}\n") as client:
            assert (await client.stats()).facts.active == 0


@pytest.mark.anyio
@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
async def test_a_server_on_this_machine_is_asked_without_the_proxy(
    served: Served, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    for variable in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(variable, "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    url = served.url.replace("127.0.0.1", name)
    async with MemoryClient.connect(url) as client:
        assert (await client.stats()).facts.active == 0

    def ask() -> int:
        with SyncMemoryClient.connect(url) as client:
            return client.stats().facts.active

    assert await asyncio.to_thread(ask) == 0


@pytest.mark.anyio
async def test_an_answer_that_takes_too_long() -> None:
    async def silent(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(1)
        writer.close()

    async with await asyncio.start_server(silent, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        async with MemoryClient.connect(f"http://127.0.0.1:{port}", seconds=0.1) as client:
            with pytest.raises(Unavailable, match=r"in time: connect with more `seconds`; it may"):
                await client.store_rule("Never")


@pytest.mark.anyio
async def test_an_answer_that_breaks_off() -> None:
    async def leaving(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(leaving, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        async with MemoryClient.connect(f"http://127.0.0.1:{port}") as client:
            with pytest.raises(Unavailable, match=r"broke off: .*; it may have done what was"):
                await client.store_rule("Never")


@pytest.mark.anyio
@pytest.mark.parametrize(
    "said",
    [
        "{}",
        "[]",
        "null",
        '"hello"',
        '{"result": {}}',
        '{"result": 1}',
        '{"result": {"isError": true, "content": []}}',
    ],
)
async def test_an_answer_of_another_program(said: str) -> None:
    async def other(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        head = f"HTTP/1.1 200 OK\r\ncontent-length: {len(said)}\r\nconnection: close\r\n\r\n"
        writer.write((head + said).encode())
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(other, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        async with MemoryClient.connect(f"http://127.0.0.1:{port}") as client:
            for ask in (client.stats, client.facts_list):
                with pytest.raises(Unavailable, match="the server's answer is no"):
                    await ask()


def test_a_client_belongs_to_one_event_loop() -> None:
    client = MemoryClient.connect("http://127.0.0.1:9")  # where nobody answers
    with pytest.raises(Unavailable):
        asyncio.run(client.stats())
    with pytest.raises(RuntimeError, match="another process or event loop"):
        asyncio.run(client.stats())


def test_a_client_belongs_to_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    # A forked process would share its connections, and read the answers of the first.
    clients = [SyncMemoryClient.connect("http://127.0.0.1:9") for _ in range(2)]
    with pytest.raises(Unavailable):
        clients[0].stats()
    monkeypatch.setattr(os, "getpid", lambda: 0)
    with pytest.raises(RuntimeError, match="another process"):
        clients[0].stats()
    with pytest.raises(Unavailable):
        clients[1].stats()


@pytest.mark.anyio
async def test_more_than_a_request_may_have_is_invalid(served: Served) -> None:
    async with MemoryClient.connect(served.url) as client:
        for send in (client.store_fact, lambda *given: client.fact_edit(uuid4(), content=given[2])):
            with pytest.raises(InvalidInput, match="more than 8 MB"):
                await send("user", "note", "a" * (8 * 1024 * 1024))


@pytest.mark.anyio
async def test_an_edit_that_comes_too_late_brings_what_it_says_now(
    served: Served, memory: Memory
) -> None:
    async with MemoryClient.connect(served.url) as there:
        for client in (MemoryClient.of(memory), there):
            stored = await client.store_rule("Write short letters")
            seen = (await client.rule_look(stored.id)).revision
            await client.rule_edit(stored.id, content="Write brief letters", expected_revision=seen)
            with pytest.raises(StaleRevision, match="somebody else") as late:
                await client.rule_edit(stored.id, content="Write", expected_revision=seen)
            # As multiprocessing brings it from another process.
            known = pickle.loads(pickle.dumps(late.value))  # noqa: S301 -- our own
            assert str(known) == str(late.value)
            assert known.current["content"] == "Write brief letters"
            again = known.current_revision
            await client.rule_edit(stored.id, content="Write", expected_revision=again)


@pytest.mark.anyio
async def test_a_naive_datetime_is_refused_as_it_may_mean_any_clock(served: Served) -> None:
    async with MemoryClient.connect(served.url) as client:
        with pytest.raises(InvalidInput, match=r"^known_at: needs a time zone"):
            await client.search("tents", known_at=datetime(2026, 2, 20))  # noqa: DTZ001


@pytest.mark.anyio
async def test_an_argument_that_is_left_out_is_left_out(served: Served, memory: Memory) -> None:
    episode = UUID("6f7a1d7e-3a51-4c1e-9d43-0d0f4b0a1e01")
    async with MemoryClient.connect(served.url) as client:
        first = await client.store_episode("Talked", "home", episode_id=episode)
        again = await client.store_episode("Talked", "home", episode_id=episode)
        assert first.id == again.id == episode
        found = await client.get("episode", episode)
        assert found.memory is not None
        assert found.memory.model_dump()["importance"] == 5.0


@pytest.mark.anyio
async def test_a_token_decides_who_asks(memory: Memory) -> None:
    async with serving(memory, Settings(require_token=True)) as served:
        async with MemoryClient.connect(served.url) as client:
            for ask in (client.stats, client.facts_list):
                with pytest.raises(Unauthenticated, match="token"):
                    await ask()
        token = await served.make_token("acme", "read")
        async with MemoryClient.connect(served.url, token=token) as client:
            assert (await client.stats()).facts.active == 0
            with pytest.raises(PermissionDenied, match="scope") as refused:
                await client.store_rule("Never")
            assert refused.value.code == "permission_denied"


@pytest.mark.anyio
async def test_a_server_that_is_away(memory: Memory, principal: Principal) -> None:
    async with MemoryClient.connect("http://127.0.0.1:9/mcp") as client:
        with pytest.raises(Unavailable, match=r"127\.0\.0\.1:9 does not answer"):
            await client.recall("anything")


@pytest.mark.anyio
async def test_the_example_of_tests_with_memory(memory: Memory) -> None:
    tests = example("testing_with_memory")
    await tests.test_a_guest_gets_what_they_like(tests.empty(memory))
    await tests.test_a_guest_whom_nobody_knows_gets_water(tests.empty(memory))
