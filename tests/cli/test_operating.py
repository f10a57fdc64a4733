"""Tokens, the database, the doctor."""

import asyncio
import json
import os
import re
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from cli.installation import Installation
from memory_butler.store import embedded
from memory_butler.store.transaction import connected


def mcp_call(url: str, token: str, tool: str) -> httpx.Response:
    call = {"name": tool, "arguments": {}}
    return httpx.post(
        f"{url}/mcp",
        headers={"Authorization": f"Bearer {token}", "Accept": "application/json"},
        json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call},
    )


def test_the_life_of_a_token(installation: Installation, tenant: str) -> None:
    made = installation.inside(
        *("token", "create", "--tenant", tenant, "--name", "laptop"),
        *("--scope", "read", "--expires-days", "1", "--json"),
    ).json
    assert (made["tenant_id"], made["scopes"]) == (tenant, ["read"])
    stats = f"{installation.url}/api/memory/stats"
    header = {"Authorization": f"Bearer {made['token']}"}
    assert httpx.get(stats, headers=header).status_code == 200
    refused = mcp_call(installation.url, made["token"], "memory_run_episode_cleanup").json()
    assert "permission_denied" in refused["result"]["content"][0]["text"]

    listed = installation.inside("token", "list", "--tenant", tenant)
    assert made["id"] in listed.out
    assert made["token"] not in listed.out
    (row,) = installation.inside("token", "list", "--tenant", tenant, "--json").json["tokens"]
    assert (row["name"], row["revoked_at"]) == ("laptop", None)

    revoke = ("token", "revoke", made["id"])
    assert "no valid token" in installation.inside(*revoke, code=4).err  # of another tenant
    revoked = (*revoke, "--tenant", tenant)
    assert installation.inside(*revoked).out.startswith("Revoked token")
    assert httpx.get(stats, headers=header).status_code == 401
    assert "revoked" in installation.inside("token", "list", "--tenant", tenant).out
    assert "no valid token" in installation.inside(*revoked, code=4).err


def test_a_token_is_revoked_by_its_name(installation: Installation, tenant: str) -> None:
    of = ("--tenant", tenant)
    create = ("token", "create", "--name", "ada", "--json", *of)
    first, second = (installation.inside(*create).json["id"] for _ in range(2))
    revoke = ("token", "revoke", "ada", *of)
    refused = installation.inside(*revoke, code=3).err
    assert refused == (
        f"error: 2 valid tokens are called ada: {first}, {second}; name one of them by its id\n"
    )
    installation.inside("token", "revoke", first, *of)
    assert installation.inside(*revoke).out == f"Revoked token {second}.\n"
    missing = installation.inside(*revoke, code=4).err
    assert missing.startswith("error: no valid token is called ada, and no id begins so")


def test_the_list_says_which_token_has_expired(installation: Installation, tenant: str) -> None:
    for name, days in (("intern", "0.0000001"), ("laptop", "365")):
        words = ("--tenant", tenant, "--name", name, "--expires-days", days)
        installation.inside("token", "create", *words)
    listed = installation.inside("token", "list", "--tenant", tenant).out.splitlines()
    (intern,), (laptop,) = (
        [line for line in listed if name in line] for name in ("intern", "laptop")
    )
    assert "expired" in intern
    assert "expired" not in laptop


def test_a_token_is_alone_on_standard_output(installation: Installation, tenant: str) -> None:
    made = installation.inside("token", "create", "--tenant", tenant, "--name", "n")
    assert made.out.startswith("mbt_")
    assert made.out.count("\n") == 1
    assert "not shown again" in made.err
    words = ("token", "create", "--name", "n", "--scope", "all")
    assert "--scope" in installation.inside(*words, code=3).err


@contextmanager
def admin_dsn(installation: Installation, database: str) -> Iterator[str]:
    """The embedded server as if it were an external one."""
    with embedded.acquire(installation.data_dir) as lease:
        yield lease.endpoint.dsn(database)


def test_a_database_of_ones_own(installation: Installation, tenant: str) -> None:
    with admin_dsn(installation, "elsewhere") as admin:
        words = ("db", "init", "--admin-dsn", admin)
        first = installation.inside(*words)
        runtime = first.out.strip()
        assert "elsewhere_runtime" in runtime
        use = ("--dsn", runtime, "--tenant", tenant)
        assert installation.inside("store-rule", "Stay", *use).out.startswith("Stored rule")
        assert installation.inside("stats", *use, "--json").json["rules"]["candidate"] == 1
        assert (
            installation.inside("stats", "--tenant", tenant, "--json").json["rules"]["candidate"]
            == 0
        )

        again = installation.inside(*words)
        assert "keeps its password" in again.err
        given = replace(installation, extra={"SECRET": "a new one"})
        printed = given.inside(*words, "--runtime-password-env", "SECRET")
        assert "new" not in printed.out + printed.err
        changed = printed.out.strip().replace(
            "elsewhere_runtime@", "elsewhere_runtime:a%20new%20one@"
        )
        assert installation.inside("stats", "--dsn", changed, "--json").json
        # The password that was before is refused, and told nowhere.
        told = installation.inside("stats", "--dsn", runtime, code=7).err
        assert runtime.partition("@")[0] not in told
        missing = installation.inside(*words, "--runtime-password-env", "NO_SUCH", code=8).err
        assert "NO_SUCH is not set" in missing
        owners = installation.inside(
            *("db-url", "--role", "owner", "--dsn", admin, "--tenant", tenant)
        ).out
        assert asyncio.run(_look(owners.strip())) == ("elsewhere_owner", 1)
        assert "must look like" in installation.inside("stats", "--dsn", "host=x", code=8).err
        doctored = installation.inside("doctor", "--dsn", admin, "--json", code=8).json
        assert _states(doctored)["role"] == "failed"


async def _look(dsn: str) -> tuple[str, int]:
    async with connected(dsn) as connection:
        row = await connection.fetchrow("SELECT current_user AS who, count(*) FROM rules")
        return row["who"], row["count"]


def test_database_urls_connect_as_their_role(installation: Installation, tenant: str) -> None:
    installation.inside("store-rule", "Mine", "--tenant", tenant)
    seen: dict[str, tuple[str, int]] = {}
    for role in ("runtime", "owner"):
        words = ("db-url", "--role", role, "--tenant", tenant)
        url = installation.inside(*words).out.strip()
        seen[role] = asyncio.run(_look(url))
        psql = ["psql", url, "-At", "-c", "SELECT current_user, count(*) FROM rules"]
        done = subprocess.run(psql, capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "|".join(map(str, seen[role]))
    assert seen["runtime"] == ("butler_memory_runtime", 1)
    assert seen["owner"][0] == "butler_memory_owner"
    assert seen["owner"][1] >= 1
    assert "unknown role" in installation.inside("db-url", "--role", "admin", code=3).err


def test_psql(installation: Installation, tenant: str) -> None:
    installation.inside("store-rule", "Seen in psql", "--tenant", tenant)
    query = "SELECT content FROM rules"
    done = installation.apart("psql", "--tenant", tenant, "-At", "-c", query)
    assert done.out == "Seen in psql\n"
    words = ("psql", "--role", "owner", "--tenant", tenant, "--", "--csv", "-c")
    owner = installation.apart(*words, "SELECT current_user")
    assert owner.out == "current_user\nbutler_memory_owner\n"
    failed = installation.apart("psql", "-v", "ON_ERROR_STOP=1", "-c", "SELECT nothing", code=1)
    assert "nothing" in failed.err


def _states(answer: Any) -> dict[str, str]:
    return {one["name"]: one["state"] for one in answer["findings"]}


def test_a_healthy_installation(installation: Installation) -> None:
    port = installation.url.rpartition(":")[2]
    here = replace(installation, extra={"MEMORY_BUTLER_PORT": port})
    done = here.apart("doctor")
    assert "✘" not in done.out
    assert "All is well" in done.out
    assert "is served by Memory Butler" in done.out
    assert "computes in float32: set so" in " ".join(done.out.split())
    states = _states(here.inside("doctor", "--json").json)
    assert states.pop("consolidation") == "warning"  # there is no language model here
    states.pop("learning", None)  # models of other tests' tenants fail on purpose
    assert set(states.values()) == {"ok"}
    assert {"python", "database", "pgvector", "role", "schema", "model", "port"} <= set(states)


def test_what_can_be_wrong(installation: Installation, tmp_path: Path) -> None:
    broken = tmp_path / "butler.toml"
    broken.write_text("[server]\nprot = 1\n")
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        sick = replace(
            installation,
            extra={
                "MEMORY_BUTLER_PORT": str(other.getsockname()[1]),
                "MEMORY_BUTLER_MEMORY__EMBEDDING_PATH": str(tmp_path),
                "MEMORY_BUTLER_DSN": "postgresql://someone:hidden@127.0.0.1:1/nothing",
            },
        )
        answer = sick.inside("doctor", code=8)
        states = _states(sick.inside("doctor", "--json", code=8).json)
    failed = {name for name, state in states.items() if state == "failed"}
    assert failed == {"database", "model", "port"}
    assert "3 to fix." in answer.out
    assert "hidden" not in answer.out
    assert "memory-butler serve --port" in answer.out

    states = _states(installation.inside("doctor", "--config", str(broken), "--json", code=8).json)
    assert states["configuration"] == "failed"
    assert states["model"] == "ok"


def test_the_doctor_finds_the_time_that_a_server_refuses(
    installation: Installation, tmp_path: Path
) -> None:
    (file := tmp_path / "butler.toml").write_text(
        '[modules.memory.schedule]\nconsolidate = "every day"\n'
        '[modules.memory.journal.maintenance]\nweekly = "mondays"\n'
    )
    said = installation.inside("doctor", "--config", str(file), code=8).out
    said = " ".join(said.split())
    assert "modules.memory.schedule.consolidate: 'every day' is not a cron expression" in said
    assert "modules.memory.journal.maintenance.weekly: 'mondays' is not a cron" in said


@pytest.mark.nightly
def test_a_database_without_its_version_is_not_taken_for_none(empty_folder: Path) -> None:
    """And what the message says brings the backup in the place of what is damaged."""
    (folder := empty_folder / "damaged").mkdir()
    folder.chmod(0o755)
    broken, backup = Installation(folder), str(empty_folder / "one.tar")
    broken.apart("store-fact", "user", "drink", "Likes green tea")
    broken.apart("backup", backup, "--no-check")
    (marker,) = folder.rglob("data/PG_VERSION")
    marker.unlink()
    said = broken.apart("doctor", code=8)
    place = marker.parent.parent
    assert f"move {place} away" in " ".join(said.out.split())
    assert f"move {place} away" in broken.apart("restore-backup", backup, "--replace", code=8).err
    place.rename(place.with_name("aside"))
    broken.apart("restore-backup", backup, "--replace")
    assert "green tea" in broken.apart("facts").out


def test_a_data_directory_that_cannot_be_made(installation: Installation, tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    tmp_path.chmod(0o500)
    words = ("doctor", "--data-dir", str(tmp_path / "in"), "--json")
    assert _states(installation.inside(*words, code=8).json)["data directory"] == "failed"


def test_nothing_is_made_by_looking(installation: Installation, tmp_path: Path) -> None:
    answer = installation.inside("doctor", "--data-dir", str(tmp_path / "new"), "--json")
    assert json.loads(answer.out)["healthy"]
    assert list(tmp_path.iterdir()) == []


def test_the_doctor_says_what_to_set_for_a_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    # No program that is one.
    here = Installation(tmp_path, extra={"PATH": ""})
    (advice,) = [
        one["advice"]
        for one in here.inside("doctor", "--json").json["findings"]
        if one["name"] == "consolidation"
    ]
    assert "set ANTHROPIC_API_KEY or OPENAI_API_KEY" in advice
    assert "MEMORY_BUTLER_MEMORY__CONSOLIDATION__MODEL=ollama:MODEL" in advice


def test_the_doctor_looks_at_the_database_that_is_configured(installation: Installation) -> None:
    named = replace(installation, extra={"MEMORY_BUTLER_DATABASE": "of_a_butler"})
    assert _states(named.inside("doctor", "--json", code=None).json)["database"] != "ok"
    assert named.inside("token", "create", "--name", "laptop")
    assert _states(named.inside("doctor", "--json").json)["database"] == "ok"


def test_the_doctor_says_that_the_data_directory_is_a_file(
    installation: Installation, tmp_path: Path
) -> None:
    (file := tmp_path / "file").touch()
    found = installation.inside("doctor", "--json", "--data-dir", str(file), code=8).json
    assert _states(found)["data directory"] == "failed"
    assert f"{file} is a file, not a folder" in str(found)


def test_a_backup_of_no_installation_is_refused(installation: Installation, tmp_path: Path) -> None:
    """A cron job of another user, or a mistyped folder, would make empty backups for ever."""
    target, typo = tmp_path / "one.tar", tmp_path / "typo"
    refused = installation.inside("backup", str(target), "--data-dir", str(typo), code=4)
    assert refused.err.startswith(f"error: nothing to back up: there is no database in {typo}")
    assert "MEMORY_BUTLER_DATA_DIR" in refused.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "typed",
    [
        "facts list",
        "search tea",
        "recall tea --json",
        "get fact 3f0c9d6e",
        "stats",
        "token list",
        "undo",
        "forget fact 3f0c9d6e-5a41-4b6b-9d0e-2f1c7a8b9e10",
        "run decay-sweep",
        "audit",
        "export -",
        "push notes",
        "sync notes --check",
        "write-rules AGENTS.md",
        "scan-secrets",
        "erase --everything --preview",
        "reembed",
        "reindex-words",
        "move --to-data-dir elsewhere --preview",
        "db preview",
        "db drop-former",
        "db-url",
        "index status",
        "journal list",
        "journal mind",
        "journal runs",
    ],
)
def test_what_needs_a_memory_makes_none_in_a_mistyped_folder(
    installation: Installation, tmp_path: Path, typed: str
) -> None:
    """It would answer "no results", and leave a new database in the wrong folder."""
    typo = tmp_path / "typo"
    refused = installation.inside(*typed.split(), "--data-dir", str(typo), code=4)
    missing, way = "database butler_memory", "make one there with `memory-butler serve`"
    if typed.startswith("journal"):
        missing, way = "journal", "begin one with `memory-butler journal chat`"
    assert refused.err == (
        f"error: there is no {missing} in {typo}: name the folder with --data-dir or "
        f"MEMORY_BUTLER_DATA_DIR, or {way}\n"
    )
    assert (refused.out, typo.exists()) == ("", False)


def test_a_folder_with_an_empty_name_is_refused(
    installation: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As of a variable that a script has not set: the data would lie wherever it was run."""
    monkeypatch.chdir(tmp_path)
    store = ("store-fact", "user", "drink", "Likes green tea")
    assert "it is empty" in installation.inside(*store, "--data-dir", "", code=2).err
    unset = replace(installation, extra={"MEMORY_BUTLER_DATA_DIR": ""})
    assert unset.inside(*store, code=8).err == (
        "error: the environment variable MEMORY_BUTLER_DATA_DIR: is empty; name a folder or file, "
        "or leave it out\n"
    )
    assert "it is empty" in installation.inside("move", "--to-data-dir", "", code=2).err
    assert list(tmp_path.iterdir()) == []


def test_what_reads_makes_no_other_database(installation: Installation) -> None:
    typo = replace(installation, extra={"MEMORY_BUTLER_DATABASE": "butler_memmory"})
    assert "there is no database butler_memmory in " in typo.inside("stats", code=4).err
    assert "there is no database" in typo.inside("facts", code=4).err  # the first made none


def test_what_stores_makes_the_database(empty_folder: Path) -> None:
    (folder := empty_folder / "first").mkdir()
    folder.chmod(0o755)
    fresh = Installation(folder)
    fresh.apart("store-fact", "user", "drink", "Likes green tea")
    assert "green tea" in fresh.apart("facts").out


def test_a_backup_that_cannot_be_written_names_the_place(installation: Installation) -> None:
    refused = installation.inside("backup", "/proc/one.tar", code=3)
    assert refused.err.startswith("error: /proc/one.tar cannot be written: ")


def test_what_cannot_be_read_back_says_why(installation: Installation, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    for words, why in (
        (("restore-backup", str(tmp_path)), f"{tmp_path} is a folder; name the file in it"),
        (("restore-backup", str(gone)), f"{gone} is not there"),
        (("keys", "import", str(gone)), f"{gone} cannot be read: No such file or directory"),
    ):
        assert installation.inside(*words, code=3).err == f"error: {why}\n"


def test_a_folder_that_is_not_there_gets_no_file_in_its_place(
    installation: Installation, tmp_path: Path
) -> None:
    """As where the disk for backups is not mounted: the next night's would be refused."""
    folder = tmp_path / "backups"
    refused = installation.inside("backup", f"{folder}/", code=3)
    assert refused.err == f"error: no such folder: {folder}/\n"
    assert not folder.exists()


def test_a_backup_is_no_import(installation: Installation, tmp_path: Path) -> None:
    backup = str(tmp_path / "one.tar")
    installation.inside("backup", backup, "--no-check")
    refused = installation.inside("import", backup, code=3)
    assert refused.err == (
        f"error: {backup} is a backup: `memory-butler restore-backup` reads it\n"
    )


def test_the_approximate_index(installation: Installation, tenant: str) -> None:
    installation.inside("store-fact", "user", "drink", "Likes green tea", "--tenant", tenant)
    assert " 0 memories" not in installation.inside("index", "status").out  # not counted yet
    assert "No table has 5,000 memories" in installation.inside("index", "build").out
    assert installation.inside("index", "build", "facts").out.startswith("facts: built, ")
    told = {one["table"]: one for one in installation.inside("index", "status", "--json").json}
    assert [table for table in told if told[table]["built"]] == ["facts"]
    assert "approximate where a tenant has many" in installation.inside("index", "status").out
    recalled = installation.inside("recall", "tea", "--tenant", tenant, "--json").json
    assert [one["content"] for one in recalled["results"]] == ["Likes green tea"]
    assert "exact" in installation.inside("index", "drop").out
    assert "built" not in installation.inside("index", "status").out
    assert "unknown table" in installation.inside("index", "build", "rows", code=3).err


def test_the_index_belongs_to_the_owner(installation: Installation, tenant: str) -> None:
    with admin_dsn(installation, "butler_memory"):
        runtime = installation.inside("db-url", "--tenant", tenant).out.strip()
        refused = installation.inside("index", "build", "facts", "--dsn", runtime, code=8)
    assert "belongs to the owner of the schema" in refused.err


def test_words_are_indexed_anew(installation: Installation, tenant: str) -> None:
    said = "Die Schlüssel zum Keller hängen hinter der Tür"
    installation.inside("store-rule", said, "--tenant", tenant)
    url = installation.inside("db-url", "--role", "runtime", "--tenant", tenant).out.strip()
    old = "UPDATE rules SET search_vector = to_tsvector('english', content)"
    subprocess.run(["psql", url, "-c", old], capture_output=True, check=True)
    asked = ("search", "bei den Schlüsseln", "--mode", "keyword", "--tenant", tenant)
    assert said not in installation.inside(*asked).out
    indexed = installation.inside("reindex-words")
    done = indexed.out
    assert re.fullmatch(r"(memory \d+ of \d+\n)*", indexed.err)  # no bar in a pipe
    assert done.startswith("1 of ")
    assert said in installation.inside(*asked).out
    assert installation.inside("reindex-words").out.startswith("0 of ")
