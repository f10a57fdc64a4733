"""A key that restores what was masked: told to whoever stored it, and written nowhere else."""

from typing import Any

import pytest
import structlog
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from structlog.testing import capture_logs

from conftest import Connection
from memory_butler.client import MemoryClient
from memory_butler.domain.errors import NotFound
from surfaces.conftest import Serve

pytestmark = pytest.mark.anyio

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"


async def test_it_stands_in_the_answer_and_in_no_log_span_or_row(
    serve: Serve, exporter: InMemorySpanExporter, admin: Connection
) -> None:
    with capture_logs([structlog.contextvars.merge_contextvars]) as lines:
        async with serve(require_token=True) as served:
            token = await served.make_token("ana", "write", "read")
            ana = served.bearing(token)
            async with ana.mcp() as agent:
                said = await agent.read(
                    "memory_store_fact", subject="ci", predicate="login", content=f"Has {TOKEN}"
                )
                answer = await agent.call("memory_store_rule", content=f"Push with {TOKEN}")
                assert "memory_unmask" not in agent.tools
            key = answer["unmask_key"]
            assert f"`memory-butler unmask {key} --tenant ana`" in answer["secrets"]
            first = said.partition("memory-butler unmask ")[2][: len(key)]
            async with ana.rest() as rest:
                edited = {"content": f"Pull with {TOKEN}"}
                changed = await rest.put(f"/api/memory/rules/{answer['id']}", json=edited)
                newer = changed.json()["unmask_key"]
                left = await rest.post("/api/memory/unmask", json={"unmask_key": key})
                assert (left.status_code, key in left.text) == (409, False)
                done = await rest.post("/api/memory/unmask", json={"unmask_key": newer})
            assert done.json() == {
                "restored": [
                    {"memory_type": "rule", "id": answer["id"], "masked_id": answer["id"]}
                ],
                "left": [],
            }
            async with MemoryClient.connect(served.url, token=token) as client:
                restored = await client.unmask(first)
                found = await client.get("fact", restored.restored[0].id)
                assert found.memory is not None
                assert found.memory.content == f"Has {TOKEN}"
                with pytest.raises(NotFound, match="restored already"):
                    await client.unmask(first)
            reader = await served.make_token("ana", "read")
            async with served.bearing(reader).rest() as rest:
                refused = await rest.post("/api/memory/unmask", json={"unmask_key": key})
            assert refused.status_code == 403
    kept = await _everything(admin)
    spans = "".join(one.to_json() for one in exporter.get_finished_spans())
    assert spans
    for each in (first, key, newer):
        assert each not in repr(lines) + spans + kept
    assert TOKEN not in repr(lines) + spans


async def _everything(admin: Connection) -> str:
    """Every row of every table."""
    said: list[Any] = []
    named = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
    for (table,) in await admin.fetch(named):
        said.append(await admin.fetchval(f"SELECT string_agg(t::text, ' ') FROM {table} t"))
    return repr(said)
