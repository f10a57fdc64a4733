"""What hooks keep on disk while the server is away: sealed for the tenant, and only for it."""

import asyncio
import base64
import json
import os
import sys
import venv
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from conftest import Connection
from engine.importers import exports
from integrations.test_hooks import NOWHERE, Session, session  # noqa: F401 -- a fixture
from memory_butler.client import MemoryClient
from memory_butler.config import Settings
from memory_butler.domain.errors import (
    ConfigurationError,
    InvalidInput,
    PermissionDenied,
    Unavailable,
)
from memory_butler.domain.principals import Principal
from memory_butler.engine.memory import Memory
from memory_butler.erasure.erasing import erase
from memory_butler.erasure.scope import Target
from memory_butler.integrations.clients import HOOK
from memory_butler.surfaces.cli.installation import _hooks as doctor
from memory_butler.vault import keyring, letters
from memory_butler.vault.keyring import Keyring
from memory_butler.vault.master import new_master
from surfaces.serving import Served, serving

pytestmark = pytest.mark.anyio

NOW = datetime(2026, 3, 2, tzinfo=UTC)
CANARY = "Decimal"  # what the transcript says and no name of a file does


@dataclass(frozen=True, slots=True)
class Place:
    """A server with keys."""

    served: Served
    ring: Keyring


@pytest.fixture
async def place(memory: Memory, tmp_path: Path) -> AsyncIterator[Place]:
    ring = keyring.create(tmp_path / "data" / "keys", new_master())
    keyed = replace(memory, keys=lambda: ring)
    await keyed.embedded("warm", "warm")  # a hook does not wait for the model to be loaded
    async with serving(keyed, Settings(data_dir=tmp_path / "data")) as served:
        yield Place(served, ring)


def spooled(session: Session) -> list[Path]:  # noqa: F811
    return sorted(one for one in (session.folder / "spool").iterdir() if one.is_file())


def said(folder: Path) -> bytes:
    """All bytes of a spool, however a program might read them."""
    found = [one.read_bytes() for one in folder.rglob("*") if one.is_file()]
    return b"\n".join([*found, *(base64.b64decode(one.strip(b'"')) for one in found)])


async def kept_while_away(session: Session, place: Place) -> Path:  # noqa: F811
    """A session began with the server there, and ended while it was away."""
    await session.hook("SessionStart", place.served.url, source="startup")
    await session.hook("SessionEnd", NOWHERE, reason="other")
    (waits,) = spooled(session)
    return waits


async def _sent(session: Session) -> None:  # noqa: F811
    """Nothing waits any more: a start sends it too, by a process of its own."""
    async with asyncio.timeout(20):
        while spooled(session):  # noqa: ASYNC110 -- another process does it
            await asyncio.sleep(0.05)


async def test_what_waits_is_sealed_and_arrives_as_it_would_have(
    place: Place,
    session: Session,  # noqa: F811
    admin: Connection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waits = await kept_while_away(session, place)
    assert waits.suffix == ".sealed"
    assert oct(waits.stat().st_mode & 0o777) == "0o600"
    raw = base64.b64decode(json.loads(waits.read_text()))
    assert CANARY not in said(session.folder / "spool").decode("latin-1")
    assert exports.SESSION.encode() not in raw
    monkeypatch.setenv("MEMORY_BUTLER_HOOK_DIR", str(session.folder))
    (finding,) = doctor()
    assert finding.said.endswith(", encrypted")
    await session.hook("SessionEnd", place.served.url, reason="other")
    assert spooled(session) == []
    row = await admin.fetchrow("SELECT * FROM episodes")
    assert f"- Prices must be {CANARY}, never float." in row["content"]
    assert (row["butler"], str(row["session_id"])) == ("claude-code", exports.SESSION)
    assert row["trust"] == 4  # an agent's word, as without a seal


async def test_it_is_sealed_while_the_server_is_there_too_and_stored_once(
    place: Place,
    session: Session,  # noqa: F811
    admin: Connection,
) -> None:
    waits = await kept_while_away(session, place)
    letter = waits.read_bytes()
    for _ in range(2):  # an acknowledgement that was lost
        waits.write_bytes(letter)
        await session.hook("SessionEnd", place.served.url, reason="other")
    assert await admin.fetchval("SELECT count(*) FROM episodes") == 1


async def test_an_erased_tenants_letters_are_of_no_use_and_hold_up_nobody(
    place: Place,
    session: Session,  # noqa: F811
    principal: Principal,
    admin: Connection,
) -> None:
    waits = await kept_while_away(session, place)
    await erase(place.served.memory, principal, Target(everything=True))
    with session.transcript.open("a") as file:
        file.write(exports._line("user", "c1", "And mind the VAT.") + "\n")
    # A session that starts after the erasure is told of the new key.
    await session.hook("SessionStart", place.served.url, source="resume")
    await session.hook("SessionEnd", place.served.url, reason="other")
    await _sent(session)
    aside = session.folder / "spool" / "refused" / waits.name
    assert CANARY not in said(aside.parent).decode("latin-1")
    with pytest.raises(InvalidInput, match="destroyed"):
        letters.opened(json.loads(aside.read_text()), principal.tenant, place.ring)
    contents = [row[0] for row in await admin.fetch("SELECT content FROM episodes")]
    assert len(contents) == 1
    assert CANARY not in contents[0]


async def test_a_letter_whose_key_is_elsewhere_waits_and_holds_up_no_other(
    place: Place,
    session: Session,  # noqa: F811
    tmp_path: Path,
    admin: Connection,
) -> None:
    waits = await kept_while_away(session, place)
    other = keyring.create(tmp_path / "other" / "keys", new_master())
    there = replace(place.served.memory, keys=lambda: other)
    async with serving(there, Settings(data_dir=tmp_path / "other")) as served:
        with session.transcript.open("a") as file:
            file.write(exports._line("user", "c1", "And mind the VAT.") + "\n")
        await session.hook("SessionStart", served.url, source="resume")
        await session.hook("SessionEnd", served.url, reason="other")
    assert spooled(session) == [waits]
    assert "VAT" in await admin.fetchval("SELECT content FROM episodes")
    await session.hook("SessionEnd", place.served.url, reason="other")
    assert spooled(session) == []
    assert await admin.fetchval("SELECT count(*) FROM episodes") == 2


async def test_a_letter_to_one_tenant_waits_while_another_signs_in(
    place: Place,
    session: Session,  # noqa: F811
    tmp_path: Path,
    admin: Connection,
) -> None:
    waits = await kept_while_away(session, place)
    settings = Settings(data_dir=tmp_path / "data", local_tenant="ben")
    async with serving(place.served.memory, settings) as bens:
        await session.hook("SessionEnd", bens.url, reason="other")
    assert spooled(session) == [waits]
    await session.hook("SessionEnd", place.served.url, reason="other")
    assert spooled(session) == []
    assert [row[0] for row in await admin.fetch("SELECT tenant_id FROM episodes")] == ["default"]


async def test_where_it_cannot_be_sealed_it_is_readable_and_doctor_says_so(
    place: Place,
    session: Session,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    admin: Connection,
) -> None:
    await session.hook("SessionStart", place.served.url, source="startup")
    venv.create(tmp_path / "bare", with_pip=False)  # a Python without any package
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bare" / "bin" / "python"))
    await session.hook("SessionEnd", NOWHERE, reason="other")
    (waits,) = spooled(session)
    assert (waits.suffix, CANARY in waits.read_text()) == (".json", True)
    monkeypatch.setenv("MEMORY_BUTLER_HOOK_DIR", str(session.folder))
    assert doctor()[0].said.endswith(", not encrypted")
    await session.hook("SessionEnd", place.served.url, reason="other")
    assert await admin.fetchval("SELECT count(*) FROM episodes") == 1


async def test_without_keys_nothing_changes(
    place: Place,
    session: Session,  # noqa: F811
    memory: Memory,
    tmp_path: Path,
) -> None:
    await session.hook("SessionStart", place.served.url, source="startup")
    async with serving(memory, Settings(data_dir=tmp_path / "none")) as bare:
        await session.hook("SessionStart", bare.url, source="startup")
    await session.hook("SessionEnd", NOWHERE, reason="other")
    assert spooled(session)[0].suffix == ".json"


_DAMAGED = ['"x"', "[]", '"00.AAAA"', '"0011223344556677.!"', "7"]


@pytest.mark.parametrize(
    "accounts",
    [
        *(f'{{"{NOWHERE}": {{"address": {one}}}}}' for one in _DAMAGED),
        f'{{"{NOWHERE}": 7}}',
        "{",
        "[]",
    ],
)
async def test_an_address_that_is_damaged_loses_no_episode(
    session: Session,  # noqa: F811
    accounts: str,
) -> None:
    session.folder.mkdir()
    (session.folder / "accounts").write_text(accounts)
    await session.hook("SessionEnd", NOWHERE, reason="other")
    assert spooled(session)[0].suffix == ".json"


def _sealed(ring: Keyring, tenant: str, episode: object, tmp_path: Path) -> str:
    """A letter as the script writes it."""
    os.environ["MEMORY_BUTLER_HOOK_DIR"] = str(tmp_path)
    try:
        spelled = {"__name__": "hook"}
        exec(compile(HOOK.read_text(), str(HOOK), "exec"), spelled)  # noqa: S102 -- our own script
        address = letters.address_of(ring.key_of(tenant, NOW))
        letter: str = spelled["sealed"](episode, address)  # type: ignore[operator]
        return letter
    finally:
        del os.environ["MEMORY_BUTLER_HOOK_DIR"]


def test_only_the_tenants_key_opens_a_letter_and_no_bit_of_it_can_be_changed(
    tmp_path: Path,
) -> None:
    ring = keyring.create(tmp_path / "keys", new_master())
    letter = _sealed(ring, "ana", {"content": "x"}, tmp_path)
    assert json.loads(letters.opened(letter, "ana", ring)) == {"content": "x"}
    assert letter != _sealed(ring, "ana", {"content": "x"}, tmp_path)
    with pytest.raises(PermissionDenied, match="of another tenant"):
        letters.opened(letter, "ben", ring)
    other = keyring.create(tmp_path / "other", new_master())
    with pytest.raises(ConfigurationError, match="is not in"):
        letters.opened(letter, "ana", other)
    raw = base64.b64decode(letter)
    for at in range(len(raw)):
        changed = base64.b64encode(raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :]).decode()
        with pytest.raises((InvalidInput, ConfigurationError)):
            letters.opened(changed, "ana", ring)
    for cut in ("", "x", letter[:40], letter[:-4], base64.b64encode(raw[:41]).decode()):
        with pytest.raises(InvalidInput):
            letters.opened(cut, "ana", ring)


async def test_another_tenant_opens_nothing_and_a_seal_gives_no_trust(
    place: Place, tmp_path: Path, admin: Connection
) -> None:
    said = {"content": "Ana moved", "butler": "x", "trust": "untrusted_web"}
    letter = _sealed(place.ring, "default", said, tmp_path)
    own = letters.address_of(place.ring.key_of("default", NOW))
    for tenant, same in (("default", True), ("theirs", False)):
        token = await place.served.make_token(tenant, "write")
        async with place.served.bearing(token).rest() as client:
            address = (await client.get("/api/memory/letters/address")).json()["address"]
        assert (address == own) is same
    no_episode = _sealed(place.ring, "default", {"content": "canary", "x": 1}, tmp_path)
    for tenant, scopes, given, status in (
        ("theirs", ("write",), letter, 403),
        ("default", ("read",), letter, 403),
        ("default", ("write",), no_episode, 422),
        ("default", ("write",), letter, 201),
    ):
        token = await place.served.make_token(tenant, *scopes)
        async with place.served.bearing(token).rest() as client:
            answer = await client.post("/api/memory/letters", json={"letter": given})
        assert answer.status_code == status, answer.text
        assert "canary" not in answer.text
    rows = await admin.fetch("SELECT tenant_id, content, trust FROM episodes")
    assert [tuple(row) for row in rows] == [("default", "Ana moved", 1)]


async def test_a_letter_that_is_not_stored_is_an_error_to_a_program(
    place: Place, tmp_path: Path, admin: Connection
) -> None:
    runtime = await place.served.memory.pool.fetchval("SELECT current_user")
    await admin.execute(f'REVOKE INSERT ON memory_events FROM "{runtime}"')
    letter = _sealed(place.ring, "default", {"content": "Ana moved", "butler": "x"}, tmp_path)
    async with MemoryClient.connect(place.served.url) as client:
        with pytest.raises(Unavailable, match="the database refused"):
            await client.episode_deliver(letter)
