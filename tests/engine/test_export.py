"""Everything out of one database and into another, and both are the same."""

import io
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import asyncpg
import pytest

from conftest import _CLONE, _TEMPLATE, Clock, Connection, Template
from memory_butler.domain.errors import InvalidInput
from memory_butler.domain.principals import Principal
from memory_butler.domain.trust import DEFAULT_TRUST, Trust, TrustName, parse_trust
from memory_butler.engine.curate import confirm_memory, forget_memory
from memory_butler.engine.entities import create_entity
from memory_butler.engine.export import export_all, restore_all
from memory_butler.engine.memory import Memory
from memory_butler.engine.recall import search
from memory_butler.engine.reembed import embed_imported
from memory_butler.engine.remember import store_episode, store_fact, store_rule
from memory_butler.store import embeddings, transfer
from memory_butler.store.transaction import open_pool, prepare_connection, transaction

pytestmark = pytest.mark.anyio

_OTHER = "memory_export_target"
_NOT_OURS = ("embedding_version_id",)


@pytest.fixture
async def other_admin(template: Template) -> AsyncIterator[Connection]:
    """A superuser's connection to a second database."""
    admin = await asyncpg.connect(template.endpoint.dsn("postgres"))
    await admin.execute(_CLONE.format(clone=_OTHER, template=_TEMPLATE))
    connection = await asyncpg.connect(template.endpoint.dsn(_OTHER))
    await prepare_connection(connection)
    yield connection
    await connection.close()
    await admin.execute(f"DROP DATABASE {_OTHER} WITH (FORCE)")
    await admin.close()


@pytest.fixture
async def other(
    memory: Memory, template: Template, other_admin: Connection
) -> AsyncIterator[Memory]:
    """A memory on the second database, which knew another model before ours."""
    pool = await open_pool(template.runtime_dsn.replace(f"/{_TEMPLATE}?", f"/{_OTHER}?"))
    engine = memory.embedder.engine
    await embeddings.register(pool, "another", "1", 384, memory.clock())
    version_id = await embeddings.register(
        pool, engine.model_name, engine.model_version, engine.dimensions, memory.clock()
    )
    assert version_id != memory.embedding_version_id
    yield replace(memory, pool=pool, embedding_version_id=version_id)
    await pool.close()


async def live(memory: Memory, principal: Principal, clock: Clock) -> None:
    """A life with something in every corner."""
    episode = await store_episode(
        memory, principal, "The user moved to Lisbon ☂", "home", trust="tool_output"
    )
    entity = await create_entity(
        memory, principal, "Ana Silva", "person", aliases=["Ana"], metadata={"n": 0.1}
    )
    assert entity is not None
    for city in ("Lives in Porto", "Lives in Lisbon"):
        clock.advance(days=0.3)
        await store_fact(
            memory,
            principal,
            "Ana",
            "city",
            city,
            entity_id=entity["id"],
            source_episode_id=episode,
            importance=7.3,
        )
    fact, _ = await store_fact(
        memory, principal, "user", "drink", "Prefers tea", tags=["taste"], trust="user_said"
    )
    clock.advance(hours=1, microseconds=123_457)
    await confirm_memory(memory, principal, "fact", fact)
    rule = await store_rule(memory, principal, "Ask before booking", source_episode_id=episode)
    await search(memory, principal, "tea", session_id=episode)
    gone, _ = await store_fact(memory, principal, "user", "car", "Drives a van")
    await forget_memory(memory, principal, "fact", gone)
    for table, row in (
        ("items", {"namespace": ["a", "b"], "key": "k", "value": {"big": 1}}),
        ("rule_applications", {"rule_id": rule, "outcome": "helpful", "context": {"x": None}}),
    ):
        async with transaction(memory.pool, principal.tenant) as tx:
            names = ", ".join(row)
            values = ", ".join(f"${place}" for place in range(2, len(row) + 2))
            await tx.connection.execute(
                f"INSERT INTO {table} (tenant_id, {names}) VALUES ($1, {values})",
                principal.tenant,
                *row.values(),
            )


async def contents(admin: Connection, tenant: str) -> dict[str, list[str]]:
    """Every row of the tenant, in every table that has tenants, as text; the model by its name."""
    found = {}
    tables = await admin.fetch(
        "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace"
        " AND relkind = 'r' AND relrowsecurity"
    )
    names = dict(await admin.fetch("SELECT id, model_name FROM embedding_versions"))
    for (table,) in tables:
        rows = await admin.fetch(
            f"SELECT to_jsonb(t) - 'tenant_id' FROM {table} t WHERE tenant_id = $1", tenant
        )
        for (row,) in rows:
            if row.get("embedding_version_id") is not None:
                row["embedding_version_id"] = names[row["embedding_version_id"]]
        found[table] = sorted(json.dumps(row, sort_keys=True) for (row,) in rows)
    return found


async def exported(memory: Memory, principal: Principal, **options: Any) -> bytes:
    file = io.StringIO()
    await export_all(memory, principal, file, **options)
    return file.getvalue().encode()


async def test_out_and_in_again_is_the_same_in_every_table(
    memory: Memory,
    other: Memory,
    principal: Principal,
    other_tenant: Principal,
    clock: Clock,
    admin: Connection,
    other_admin: Connection,
) -> None:
    await live(memory, principal, clock)
    await store_fact(memory, other_tenant, "theirs", "secret", "Nobody else's")
    before = await contents(admin, principal.tenant)
    empty = {table for table, rows in before.items() if not rows}
    # Receipts of contexts, records of erasures, seals and what was masked stay with this store.
    stay = {"context_receipts", "erasures", "event_seals", "audit_checkpoints", "masked_texts"}
    assert empty <= {"consolidation_runs", "butler_state"} | stay
    data = await exported(memory, principal)
    assert b"Nobody else" not in data
    columns = json.loads(data.splitlines()[0])["columns"]
    for table in before.keys() - stay:  # also those that have their default here
        there = await admin.fetch(
            "SELECT column_name FROM information_schema.columns"
            " WHERE table_name = $1 AND table_schema = 'public' AND is_generated = 'NEVER'",
            table,
        )
        assert {name for (name,) in there} == {*columns[table], "tenant_id"}
    report = await restore_all(other, principal, io.BytesIO(data), trust="user_said")
    assert (report.bad_lines, report.already_there) == ([], 0)
    assert await contents(other_admin, principal.tenant) == before
    # Again, it changes nothing.
    again = await restore_all(other, principal, io.BytesIO(data), trust="user_said")
    assert (again.restored.total(), again.already_there) == (0, report.restored.total())
    assert await contents(other_admin, principal.tenant) == before
    hits = await search(other, principal, "a hot drink", mode="semantic")
    assert hits[0].row["content"] == "Prefers tea"


async def test_into_another_tenant_of_the_same_store(
    memory: Memory, principal: Principal, other_tenant: Principal, clock: Clock, admin: Connection
) -> None:
    await live(memory, principal, clock)
    data = await exported(memory, principal)
    await restore_all(memory, other_tenant, io.BytesIO(data), trust="user_said")
    assert await contents(admin, other_tenant.tenant) == await contents(admin, principal.tenant)


async def test_without_vectors_it_is_embedded_where_it_comes_to(
    memory: Memory, other: Memory, principal: Principal, clock: Clock
) -> None:
    await live(memory, principal, clock)
    small = await exported(memory, principal, vectors=False)
    assert len(small) < len(await exported(memory, principal)) / 2
    await restore_all(other, principal, io.BytesIO(small), trust="user_said")
    assert await search(other, principal, "a hot drink", mode="semantic") == []
    assert await embed_imported(other)
    hits = await search(other, principal, "a hot drink", mode="semantic")
    assert hits[0].row["content"] == "Prefers tea"


async def test_what_is_broken_or_missing_is_told_and_the_rest_is_stored(
    memory: Memory, other: Memory, principal: Principal, clock: Clock
) -> None:
    await live(memory, principal, clock)
    lines = (await exported(memory, principal)).splitlines(keepends=True)
    place = next(i for i, line in enumerate(lines) if b'"table": "rules"' in line)
    lines[place] = lines[place][:40] + b"\n"
    lines[place + 1 : place + 1] = [b'{"table": "rules"}\n', b'{"table": "rules", "row": []}\n']
    report = await restore_all(
        other, principal, io.BytesIO(b"".join(lines[:-1])), trust="user_said"
    )
    told = [(bad.number, bad.reason.split(":")[0]) for bad in report.bad_lines]
    # The use of the rule that is broken refers to nothing.
    assert [number for number, _ in told[:3]] == [place + 1, place + 2, place + 3]
    assert [said for _, said in told[:3]] == [
        "it is no row",
        "it is no row",
        "its row is no object",
    ]
    assert "rule_applications" in told[3][1]
    assert told[4][1] == "the file ends before its end"
    assert report.restored["facts"] == 4


async def test_what_is_in_the_way_is_told(
    memory: Memory, other: Memory, principal: Principal, clock: Clock
) -> None:
    await live(memory, principal, clock)
    await store_fact(other, principal, "user", "drink", "Prefers mate")
    data = await exported(memory, principal)
    report = await restore_all(other, principal, io.BytesIO(data), trust="user_said")
    (bad,) = report.bad_lines
    assert "uq_facts_subject_active" in bad.reason


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"format": 2}, "format 2, this version reads 1"),
        ({"columns": {"facts": ["id", "mood"]}}, "facts with mood"),
        ({"columns": {"dreams": ["id"]}}, "dreams with the table"),
        ({"kind": "other"}, "not a memory-butler export"),
        ({"rows": None}, "first line of the export is damaged: rows"),
        ({"columns": ["facts"]}, "first line of the export is damaged: columns"),
    ],
)
async def test_an_export_that_is_not_understood_is_refused_whole(
    memory: Memory, principal: Principal, change: dict[str, Any], said: str
) -> None:
    header, *rest = (await exported(memory, principal)).splitlines()
    changed = json.dumps(json.loads(header) | change).encode()
    with pytest.raises(InvalidInput, match=said):
        await restore_all(
            memory, principal, io.BytesIO(b"\n".join([changed, *rest])), trust="user_said"
        )


@pytest.mark.parametrize("without_column", [False, True])
@pytest.mark.parametrize("most", ["user_said", "imported"])
async def test_nothing_in_an_export_is_trusted_further_than_whoever_imports_it_says(
    memory: Memory,
    other: Memory,
    principal: Principal,
    clock: Clock,
    other_admin: Connection,
    most: TrustName,
    without_column: bool,
) -> None:
    said, _ = await store_fact(
        memory, principal, "user", "bank", "Banks at Evil", trust="user_said"
    )
    await store_fact(memory, principal, "shop", "bank", "Banks at Shop", trust="untrusted_web")
    clock.advance(days=1)
    await confirm_memory(memory, principal, "fact", said)  # which leaves a past state
    data = await exported(memory, principal)
    if without_column:  # as an older version wrote it, or somebody who would have the default
        data = _without(data, "trust")
    report = await restore_all(other, principal, io.BytesIO(data), trust=most)
    assert report.bad_lines == []
    found = await other_admin.fetch("SELECT content, trust FROM facts ORDER BY content")
    past = await other_admin.fetchval("SELECT state ->> 'trust' FROM memory_versions")
    told = (DEFAULT_TRUST, DEFAULT_TRUST) if without_column else (Trust.USER_SAID, Trust(1))
    levels = [min(one, parse_trust(most)) for one in told]
    assert [row["trust"] for row in found] == levels
    assert int(past) == (levels[0] if not without_column else min(5, parse_trust(most)))


def _without(data: bytes, column: str) -> bytes:
    header, *lines = (json.loads(line) for line in data.splitlines())
    header["columns"]["facts"].remove(column)
    for line in lines:
        if line.get("table") == "facts":
            del line["row"][column]
    return b"\n".join(json.dumps(line).encode() for line in [header, *lines])


async def test_of_each_table_it_is_decided_whether_a_part_of_an_export_has_it(
    memory: Memory, principal: Principal
) -> None:
    # A row of these is of several memories, or of none.
    shared = {
        "audit_checkpoints",
        "butler_state",
        "consolidation_runs",
        "context_receipts",
        "erasures",
        "event_seals",
        "items",
        "masked_texts",
        "served",
    }
    async with memory.reading(principal.tenant) as tx:
        names = {one.name: transfer.is_of_items(one) for one in await transfer.tables(tx)}
    assert {name for name, is_part in names.items() if not is_part} <= shared
    assert sum(names.values()) == 8
