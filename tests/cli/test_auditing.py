"""`memory-butler audit`: the answer for a person and for programs, and the exit code."""

import errno
import json
import os
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cli.installation import Answer, Installation
from memory_butler.audit import main
from memory_butler.engine import sealing


def test_the_log_is_checked_exported_and_found_changed(
    installation: Installation, tenant: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    of = ("--tenant", tenant)
    installation.inside("store-fact", "Ann", "tea", "green", *of)
    kept, dump = tmp_path / "kept.json", tmp_path / "log.jsonl"
    whole = installation.inside("audit", "--checkpoint", str(kept), *of)
    assert f"Tenant {tenant}: 1 sealed events checked" in whole.out
    assert "The log is whole." in whole.out
    # Nothing was compared: a mistyped name must not look like a checkpoint that agrees.
    assert (
        whole.err == f"There was no {kept} to compare the log with; the latest one is there now.\n"
    )
    assert installation.inside("audit", "--checkpoint", str(kept), *of).err == ""
    wrote = installation.inside("audit", "--export", str(dump), *of).out
    assert f"Wrote 3 lines to {dump}" in wrote
    _, _, command = wrote.strip().partition("To check them offline: ")
    keys = installation.data_dir / "audit"
    words = command.replace("verify.key", str(keys / "verify.key"))
    words = words.replace("checkpoint.json", str(kept))
    done = subprocess.run(words.split(), capture_output=True, text=True)
    assert (done.returncode, "The log is whole." in done.stdout) == (0, True), done.stderr
    assert dump.stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept.json", "log.jsonl"]
    nowhere = str(tmp_path / "none" / "log.jsonl")
    for option in ("--export", "--checkpoint"):
        assert "no such folder" in installation.inside("audit", option, nowhere, *of, code=3).err
    folder = installation.inside("audit", "--export", str(tmp_path), *of, code=3).err
    assert folder == f"error: {tmp_path} cannot be written: Is a directory\n"
    key = installation.data_dir / "audit" / "verify.key"
    assert main([str(dump), "--key", str(key), "--checkpoint", str(kept)]) == 0
    assert "The log is whole." in capsys.readouterr().out

    newer = json.loads(kept.read_text())
    newer["statement"] = newer["statement"].replace('"seq":1,"tenant"', '"seq":2,"tenant"')
    kept.write_text(json.dumps(newer))
    found = installation.inside("audit", "--json", "--checkpoint", str(kept), *of, code=1).json
    assert [one["kind"] for one in found["breaks"]] == ["checkpoint"]
    assert "1 sealed" not in installation.inside("audit", "--accept", *of).out


def test_a_full_disk_is_told_of_the_file_and_not_of_the_database(
    installation: Installation, tenant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dump = tmp_path / "log.jsonl"
    mkstemp = tempfile.mkstemp

    def full(prefix: str, **given: Any) -> tuple[int, str]:
        if prefix == f".{dump.name}.":
            return os.open("/dev/full", os.O_WRONLY), str(tmp_path / "unfinished")
        return mkstemp(prefix=prefix, **given)

    installation.inside("store-fact", "Ann", "tea", "green " * 9_000, "--tenant", tenant)
    monkeypatch.setattr(tempfile, "mkstemp", full)
    told = installation.inside("audit", "--export", str(dump), "--tenant", tenant, code=7).err
    assert told == f"error: {dump} cannot be written: No space left on device\n"


@pytest.mark.parametrize("option", ["", "--checkpoint", "--export"])
def test_what_fails_in_the_data_folder_is_not_told_of_the_file(
    installation: Installation,
    tenant: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    option: str,
) -> None:
    async def fails(*_: Any) -> None:
        raise failure

    for name in ("audit", "export"):
        monkeypatch.setattr(sealing, name, fails)
    installation.inside("store-fact", "Ann", "tea", "green", "--tenant", tenant)
    words = ["audit", "--tenant", tenant, *([option, str(tmp_path / "kept")] if option else [])]
    failure = OSError(errno.ENOSPC, "No space left on device", "/data/log")
    told = installation.inside(*words, code=7).err
    assert told == "error: /data/log: No space left on device\n"
    failure = OSError(errno.ENOSPC, "No space left on device")  # of a descriptor
    assert installation.inside(*words, code=7).err == "error: No space left on device\n"
    failure = PermissionError(errno.EACCES, "Permission denied", "/data/key")
    assert installation.inside(*words, code=8).err == "error: /data/key: Permission denied\n"


def test_a_mistyped_tenant_is_told(installation: Installation, tenant: str) -> None:
    """ "The log is whole" of a log that nobody has begun would be heard for years."""
    unknown = installation.inside("audit", "--tenant", f"{tenant}-mistyped")
    assert unknown.err.startswith(f"There is no tenant {tenant}-mistyped yet.")


def _said(answer: Answer) -> str:
    """What a command says on standard error, without what a server in this process logs there."""
    return "\n".join(line for line in answer.err.splitlines() if not line.startswith("{"))


def test_seals_of_another_installation_are_told_before_what_was_found(
    installation: Installation, tenant: str, tmp_path: Path
) -> None:
    of = ("--tenant", tenant)
    installation.inside("store-fact", "Ann", "tea", "green", *of)
    assert _said(installation.inside("audit", *of)) == ""
    # As after a backup was restored elsewhere.
    other = replace(installation, extra={"MEMORY_BUTLER_AUDIT_DIR": str(tmp_path)})
    found = other.inside("audit", *of, code=1)
    assert "changed at seal 1" in found.out
    assert _said(found).startswith(
        f"Another installation has sealed this log, with other keys than in {tmp_path}: "
        f"copy signing-secret of the first installation to {tmp_path}, or set audit_dir"
    )
    assert "memory-butler audit --accept" in found.err
    as_json = other.inside("audit", "--json", *of, code=1).out
    assert json.loads(as_json[as_json.index("{\n") :])["breaks"]  # this process logs before it
    assert _said(other.inside("audit", "--accept", *of)) == ""
    assert _said(other.inside("audit", *of)) == ""
