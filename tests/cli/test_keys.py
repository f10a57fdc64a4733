"""`memory-butler keys`, and exports that are encrypted, as a person types them."""

import errno
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.installation import Installation
from conftest import NOW
from memory_butler.vault.keyring import Keyring
from memory_butler.vault.master import CommandMaster

WORDS = "Zephyrine Quokkaschmidt plays the theremin"


@pytest.fixture
def bare(tmp_path: Path) -> Installation:
    """An installation without a database: most commands need none."""
    return Installation(tmp_path)


@pytest.fixture(scope="module")
def keyed(installation: Installation) -> Iterator[Installation]:
    """The shared installation, with keys while the tests of this file run."""
    installation.inside("keys", "init")
    yield installation
    shutil.rmtree(installation.data_dir / "keys")


def _secrets(folder: Path) -> list[str]:
    return [path.read_text().strip() for path in folder.glob("master-*.key")]


def test_keys_are_set_up_once_and_loudly(bare: Installation) -> None:
    said = bare.inside("keys", "status").out
    assert said.startswith(f"No keys in {bare.data_dir}/keys")  # which may be mistyped
    assert "not encrypted" in said
    assert bare.inside("keys", "status", "--json").json == {"set_up": False}
    done = bare.inside("keys", "init")
    assert "LOSING A KEY IS LOSING THE DATA" in done.err
    folder = bare.data_dir / "keys"
    (secret,) = _secrets(folder)
    assert secret not in done.out + done.err
    assert folder.stat().st_mode & 0o777 == 0o700
    assert "already" in bare.inside("keys", "init", code=5).err
    status = bare.inside("keys", "status")
    assert secret not in status.out
    assert "has changed since it was exported" in status.err


@pytest.mark.skipif(os.geteuid() != 0, reason="only root works in the folders of others")
def test_keys_that_root_sets_up_are_those_of_the_data_directorys_user(bare: Installation) -> None:
    bare.data_dir.mkdir()
    os.chown(bare.data_dir, 65534, 65534)
    bare.inside("keys", "init")
    assert {path.stat().st_uid for path in bare.data_dir.rglob("*")} == {65534}


def test_a_backup_names_the_file_that_is_in_its_way(
    bare: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not the folder of the backup, which is as it should be."""
    keys = bare.data_dir / "keys" / "keyring.json"

    async def refused(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(keys))

    monkeypatch.setattr("memory_butler.backup.making.back_up", refused)
    (backups := tmp_path / "backups").mkdir()
    said = bare.inside("backup", str(backups), code=8).err
    assert said == f"error: {keys}: Permission denied\n"


def test_a_master_key_of_the_environment(tmp_path: Path) -> None:
    secret = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="
    here = Installation(tmp_path, extra={"MEMORY_BUTLER_MASTER_KEY": secret})
    assert "keys init" in here.inside("keys", "status", code=8).err
    done = here.inside("keys", "init")
    assert "the variable MEMORY_BUTLER_MASTER_KEY" in done.out
    assert secret not in done.out + done.err
    assert _secrets(here.data_dir / "keys") == []
    other = Installation(tmp_path, extra={"MEMORY_BUTLER_MASTER_KEY": secret.replace("M", "N", 1)})
    refused = other.inside("keys", "status", "--debug", code=8)
    assert "the keyring needs the master key" in refused.err
    assert secret[1:] not in refused.out + refused.err
    wrong = Installation(tmp_path, extra={"MEMORY_BUTLER_MASTER_KEY": "hunter2"})
    refused = wrong.inside("keys", "status", "--debug", code=8)
    assert "openssl rand -base64 32" in refused.err
    assert "hunter2" not in refused.err
    both = Installation(
        tmp_path,
        extra={"MEMORY_BUTLER_MASTER_KEY": secret, "MEMORY_BUTLER_MASTER_KEY_FILE": "/x"},
    )
    assert "not several" in both.inside("keys", "status", code=8).err


def test_a_master_key_file_of_ones_own_and_another_one(tmp_path: Path) -> None:
    first, second = tmp_path / "usb" / "first.key", tmp_path / "usb" / "second.key"
    here = Installation(tmp_path, extra={"MEMORY_BUTLER_MASTER_KEY_FILE": str(first)})
    here.inside("keys", "init")
    assert first.stat().st_mode & 0o777 == 0o600
    assert "--to" in here.inside("keys", "rotate", code=8).err
    assert str(second) in here.inside("keys", "rotate", "--to", str(second)).out
    assert "the keyring needs the master key" in here.inside("keys", "status", code=8).err
    renewed = Installation(tmp_path, extra={"MEMORY_BUTLER_MASTER_KEY_FILE": str(second)})
    renewed.inside("keys", "status")


def test_a_command_of_a_key_management_service(tmp_path: Path) -> None:
    program, asked = tmp_path / "service.py", tmp_path / "asked"
    program.write_text(
        "import sys\n"
        f"open({str(asked)!r}, 'a').write(sys.argv[-1] + '\\n')\n"
        "print(sys.stdin.read().strip())\n"
    )
    command = json.dumps([sys.executable, str(program)])
    here = Installation(tmp_path, extra={"MEMORY_BUTLER_MASTER_KEY_COMMAND": command})
    assert "the command" in here.inside("keys", "init").out
    Keyring(here.data_dir / "keys", CommandMaster(json.loads(command))).key_of("ana", NOW)
    here.inside("keys", "status")
    here.inside("keys", "rotate")
    assert asked.read_text().split() == ["wrap", "unwrap", "unwrap", "wrap"]
    assert _secrets(here.data_dir / "keys") == []


def test_rotating_replaces_the_master_key_in_its_place(bare: Installation) -> None:
    bare.inside("keys", "init")
    (before,) = _secrets(bare.data_dir / "keys")
    done = bare.inside("keys", "rotate")
    (after,) = _secrets(bare.data_dir / "keys")
    assert before != after
    assert after not in done.out + done.err
    bare.inside("keys", "status")


def test_a_copy_of_the_keyring_elsewhere(bare: Installation, tmp_path: Path) -> None:
    copy = tmp_path / "copy.json"
    assert "there is no keyring" in bare.inside("keys", "export", str(copy), code=8).err
    bare.inside("keys", "init")
    exported = bare.inside("keys", "export", str(copy))
    assert "The master key is not in it" in exported.err
    assert bare.inside("keys", "status", "--json").json["exported"] is True
    elsewhere = Installation(tmp_path / "elsewhere")
    elsewhere.folder.mkdir()
    assert "cannot be used yet" in elsewhere.inside("keys", "import", str(copy)).err
    (master,) = (bare.data_dir / "keys").glob("master-*.key")
    shutil.copy(master, elsewhere.data_dir / "keys")
    elsewhere.inside("keys", "status")


def test_the_doctor_looks_at_the_keys(keyed: Installation, tmp_path: Path) -> None:
    folder = keyed.data_dir / "keys"
    (master,) = folder.glob("master-*.key")
    found = _findings(keyed.inside("doctor", "--json").json)
    assert found["keys"]["state"] == "ok"
    assert found["keyring"]["state"] == "warning"
    keyed.inside("keys", "export", str(tmp_path / "copy.json"))
    master.chmod(0o644)
    found = _findings(keyed.inside("doctor", "--json").json)
    assert "keyring" not in found
    assert "chmod 600" in found["master key"]["advice"]
    master.rename(tmp_path / "gone")
    found = _findings(keyed.inside("doctor", "--json", code=8).json)
    assert found["keys"]["state"] == "failed"
    assert "the master key of the keyring is not there" in found["keys"]["said"]
    (tmp_path / "gone").rename(master)
    master.chmod(0o600)


def test_journals_that_are_there_are_encrypted_and_the_doctor_tells(bare: Installation) -> None:
    bare.inside("journal", "import", str(_conversation(bare)), "--companion", "mira")
    file = bare.data_dir / "journal" / "default" / "mira.sqlite"
    assert "no keys are set up" in bare.inside("keys", "seal-journals", code=8).err
    assert "seal-journals" in bare.inside("keys", "init").err
    assert WORDS.encode() in file.read_bytes()
    found = _findings(bare.inside("doctor", "--json", code=None).json)["journals"]
    assert found["state"] == "warning"
    assert "mira.sqlite" in found["said"]
    assert "default/mira: encrypted" in bare.inside("keys", "seal-journals").out
    assert "was encrypted already" in bare.inside("keys", "seal-journals").out
    assert WORDS.encode() not in file.read_bytes()
    bare.inside("journal", "import", str(_conversation(bare)), "--companion", "new")
    found = _findings(bare.inside("doctor", "--json", code=None).json)["journals"]
    assert (found["state"], found["said"]) == ("ok", "2, each read through; 2 encrypted")
    for companion in ("mira", "new"):
        told = bare.inside("journal", "assemble", "--companion", companion).out
        assert WORDS in told
    bare.inside("keys", "rotate")
    assert WORDS in bare.inside("journal", "assemble", "--companion", "mira").out
    shutil.move(bare.data_dir / "keys", bare.folder / "lost")
    refused = bare.inside("journal", "assemble", "--companion", "mira", code=8).err
    assert "no keys are set up here: bring back the keyring" in refused
    found = _findings(bare.inside("doctor", "--json", code=8).json)["journals"]
    assert (found["state"], "keys import" in found["said"]) == ("failed", True)
    shutil.move(bare.folder / "lost", bare.data_dir / "keys")
    assert "default/mira: plain" in bare.inside("keys", "seal-journals", "--undo").out
    assert WORDS.encode() in file.read_bytes()


def _conversation(here: Installation) -> Path:
    lines = here.folder / "conversation.jsonl"
    lines.write_text(json.dumps({"actor": "user", "content": WORDS}) + "\n")
    return lines


def _findings(answer: "dict[str, list[dict[str, str]]]") -> dict[str, dict[str, str]]:
    return {one["name"]: one for one in answer["findings"]}


@pytest.mark.parametrize("name", ["all.jsonl", "all.jsonl.gz"])
def test_an_export_is_encrypted_and_comes_back(
    keyed: Installation, tmp_path: Path, tenant: str, name: str
) -> None:
    keyed.inside("store-fact", "artist", "plays", WORDS, "--tenant", tenant)
    file = tmp_path / name
    done = keyed.inside("export", str(file), "--tenant", tenant)
    assert "encrypted" in done.err
    assert WORDS.encode() not in file.read_bytes()
    copy = f"{tenant}-copy"
    own = ("--trust", "user_said")
    assert "Restored" in keyed.inside("import", str(file), *own, "--tenant", copy).out
    found = keyed.inside("search", "theremin", "--tenant", copy, "--json").json["results"]
    assert [one["content"] for one in found] == [WORDS]
    with tempfile.TemporaryDirectory() as without:
        stranger = Installation(Path(without))
        refused = stranger.inside("import", str(file), *own, code=8).err
        assert "is encrypted, and there is no keyring here" in refused
    file.write_bytes(file.read_bytes()[:-5])
    cut = keyed.inside("import", str(file), *own, "--tenant", f"{tenant}-cut", code=3)
    assert "cut off" in cut.err


def test_a_plain_export_is_one_that_was_asked_for(
    keyed: Installation, tmp_path: Path, tenant: str
) -> None:
    keyed.inside("store-fact", "artist", "plays", WORDS, "--tenant", tenant)
    assert "add --plain" in keyed.inside("export", "-", "--tenant", tenant, code=3).err
    out = keyed.inside("export", "-", "--plain", "--tenant", tenant).out
    assert json.loads(out.splitlines()[-1])["kind"] == "end"
    keyed.inside("export", str(tmp_path), "--tenant", tenant)
    assert (tmp_path / f"memory-butler-{tenant}.jsonl.sealed").exists()


def test_after_an_erasure_an_encrypted_export_cannot_be_read(
    keyed: Installation, tmp_path: Path, tenant: str
) -> None:
    keyed.inside("store-fact", "artist", "plays", WORDS, "--tenant", tenant)
    file = tmp_path / "all.sealed"
    keyed.inside("export", str(file), "--tenant", tenant)
    key = keyed.inside("keys", "status", "--json").json["keys"][tenant]
    erased = keyed.inside("erase", "--everything", "--yes", "--tenant", tenant)
    assert f"Key {key} destroyed" in erased.out
    refused = keyed.inside(
        "import", str(file), "--trust", "user_said", "--tenant", tenant, code=3
    ).err
    assert f"the key {key} of this file was destroyed" in refused
    status = keyed.inside("keys", "status")
    assert f"{key}  destroyed" in status.out
    assert tenant not in keyed.inside("keys", "status", "--json").json["keys"]
