"""Erasing over REST: looked at first, and certified."""

from pathlib import Path

import pytest

from memory_butler.domain.principals import Principal
from memory_butler.engine.memory import Memory
from memory_butler.engine.remember import store_fact
from memory_butler.erasure.certificate import text_of, verify
from surfaces.conftest import Serve

pytestmark = pytest.mark.anyio

_WHERE = "/api/memory/erase"


async def test_rest_looks_erases_and_certifies(
    serve: Serve, memory: Memory, principal: Principal
) -> None:
    id, _ = await store_fact(memory, principal, "Ann", "phone", "Her number is 555 0100")
    wanted = {"memory_type": "fact", "memory_id": str(id)}
    async with serve() as served, served.rest() as client:
        looked = await client.post(_WHERE, json={**wanted, "preview": True})
        assert (looked.status_code, looked.json()["facts"]) == (200, [str(id)])
        refused = await client.post(_WHERE, json={"memory_type": "fact"})
        assert refused.status_code == 422
        done = await client.post(_WHERE, json=wanted)
        assert done.status_code == 200
        certificate = done.json()["certificate"]
        assert certificate["target"]["id"] == str(id)
        file = Path(done.json()["file"])
        assert verify(file).certificate == certificate
        assert done.json()["certificate_text"] == text_of(certificate)
        assert _read(file) == text_of(certificate)
        assert (await client.get(f"/api/memory/facts/{id}")).status_code == 404


def _read(file: Path) -> str:
    return file.read_text(encoding="utf-8")
