"""The folder of the keys: made once, written whole, and never in the way of a start."""

import json
from pathlib import Path

import pytest
from pydantic import SecretStr
from structlog.testing import capture_logs

from conftest import Connection, Database
from memory_butler.config import MemoryModuleConfig, Settings
from memory_butler.domain.errors import ConfigurationError
from memory_butler.domain.principals import Principal
from memory_butler.engine.audit_keys import open_keys, read_checkpoint
from memory_butler.engine.diagnosis import Finding, diagnose
from memory_butler.engine.memory import Memory
from memory_butler.engine.opening import memory_on
from memory_butler.engine.remember import store_fact
from memory_butler.engine.sealing import accept, audit, seal
from memory_butler.inference import embedder

pytestmark = pytest.mark.anyio


def test_keys_are_made_once_for_their_owner_alone(tmp_path: Path) -> None:
    keys = open_keys(tmp_path / "audit")
    again = open_keys(tmp_path / "audit")
    assert (keys.made, again.made) == (True, False)
    assert again.chain == keys.chain
    assert {path.stat().st_mode & 0o777 for path in keys.folder.iterdir()} == {0o600}
    assert sorted(path.name for path in keys.folder.iterdir()) == ["signing-secret", "verify.key"]
    assert keys.secret.hex() not in repr(keys)
    (keys.folder / "signing-secret").write_text("short")
    with pytest.raises(ConfigurationError, match="not a secret of 32 bytes"):
        open_keys(keys.folder)
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigurationError, match="set audit_dir to a folder"):
        open_keys(tmp_path / "file" / "audit")
    (tmp_path / "none.json").write_text("[]")
    with pytest.raises(ConfigurationError, match="not a checkpoint"):
        read_checkpoint(tmp_path / "none.json")


def test_the_public_half_follows_a_secret_that_was_copied(tmp_path: Path) -> None:
    one, two = open_keys(tmp_path / "one"), open_keys(tmp_path / "two")
    (two.folder / "signing-secret").write_bytes((one.folder / "signing-secret").read_bytes())
    open_keys(two.folder)
    assert json.loads((two.folder / "verify.key").read_text()) == {
        "chain": one.chain.hex(),
        "public": one.public.hex(),
    }
    (two.folder / "verify.key").write_text("[]")
    open_keys(two.folder)
    assert (two.folder / "verify.key").read_bytes() == (one.folder / "verify.key").read_bytes()


def test_two_containers_with_the_same_process_id_do_not_share_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "audit").mkdir()
    theirs = tmp_path / "audit" / ".signing-secret.1"
    theirs.write_text("half written")
    monkeypatch.setattr("os.getpid", lambda: 1)
    open_keys(tmp_path / "audit")
    assert theirs.read_text() == "half written"


@pytest.mark.parametrize("broken", [False, True])
async def test_a_memory_without_usable_keys_opens_and_says_that_it_seals_nothing(
    broken: bool,
    database: Database,
    admin: Connection,
    principal: Principal,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The process has one embedding engine, and other tests may have made it with other settings.
    for name in ("engine", "settings"):
        monkeypatch.setattr(embedder._Singleton, name, None)
    folder = tmp_path / "file" / "audit"
    if broken:
        folder.mkdir(parents=True)
        (folder / "signing-secret").write_text("short")
    else:
        folder.parent.write_text("")
    with capture_logs() as logs:
        async with memory_on(
            database.runtime_dsn, MemoryModuleConfig(), folder, with_model=False
        ) as memory:
            await store_fact(memory, principal, "wall", "colour", "green")
            with pytest.raises(ConfigurationError, match="no audit keys; set audit_dir"):
                await audit(memory, principal)
    assert [one["event"] for one in logs if one["log_level"] == "warning"] == [
        "events are stored without seals, and the audit reports them"
    ]
    assert await admin.fetchval("SELECT count(*) FROM event_seals") == 0
    settings = Settings(data_dir=tmp_path / "data", audit_dir=folder)
    (found,) = [one for one in await diagnose(settings, None) if one.name == "audit"]
    assert found.state == "warning"
    assert "without seals" in found.said


async def test_new_keys_on_a_database_that_others_sealed_are_warned_of(
    sealed: Memory,
    principal: Principal,
    database: Database,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("engine", "settings"):
        monkeypatch.setattr(embedder._Singleton, name, None)
    folder = tmp_path / "elsewhere"
    await store_fact(sealed, principal, "wall", "colour", "green")
    await seal(sealed, principal.tenant)
    with capture_logs() as logs:
        async with memory_on(database.runtime_dsn, MemoryModuleConfig(), folder, with_model=False):
            pass
    (warned,) = [one for one in logs if one["log_level"] == "warning"]
    assert "another installation has sealed this database" in warned["event"]
    for audit_dir, state in ((folder, "warning"), (tmp_path / "audit", "ok")):
        settings = Settings(
            data_dir=tmp_path / "data", audit_dir=audit_dir, dsn=SecretStr(database.runtime_dsn)
        )
        (found,) = [one for one in await diagnose(settings, None) if one.name == "audit"]
        assert found.state == state


async def test_a_log_that_is_older_than_its_checkpoint_is_told_until_it_is_accepted(
    sealed: Memory,
    principal: Principal,
    database: Database,
    admin: Connection,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As after a restored backup: events wait, and only the server's log said so."""
    for name in ("engine", "settings"):
        monkeypatch.setattr(embedder._Singleton, name, None)
    settings = Settings(
        data_dir=tmp_path / "data",
        audit_dir=tmp_path / "audit",
        dsn=SecretStr(database.runtime_dsn),
    )

    async def told() -> Finding:
        (found,) = [one for one in await diagnose(settings, None) if one.name == "audit"]
        return found

    await store_fact(sealed, principal, "wall", "colour", "green")
    await seal(sealed, principal.tenant)
    before = await admin.fetchrow("SELECT statement, signature FROM audit_checkpoints")
    assert before is not None
    await store_fact(sealed, principal, "wall", "colour", "blue")
    await seal(sealed, principal.tenant)
    assert (await told()).state == "ok"
    await admin.execute("UPDATE audit_checkpoints SET statement = $1, signature = $2", *before)
    found = await told()
    assert found.state == "warning"
    assert found.advice is not None
    assert f"memory-butler audit --accept --tenant {principal.tenant}" in found.advice
    await accept(sealed, principal.tenant)
    assert (await told()).state == "ok"
