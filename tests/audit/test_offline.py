"""The check needs nothing of ours: one file of the standard library, on another machine."""

import ast
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

import memory_butler.audit
from memory_butler.audit import verified
from memory_butler.domain.principals import Principal
from memory_butler.engine.audit_keys import AuditKeys
from memory_butler.engine.memory import Memory
from memory_butler.engine.remember import store_fact
from memory_butler.engine.sealing import audit, export

_FILE = Path(memory_butler.audit.__file__)


def test_the_check_is_one_short_file_of_the_standard_library() -> None:
    text = _FILE.read_text()
    assert len([line for line in text.splitlines() if line.strip()]) <= 300
    imported = {
        name.split(".")[0]
        for node in ast.walk(ast.parse(text))
        for name in (
            [one.name for one in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert imported <= sys.stdlib_module_names


@given(st.binary(min_size=32, max_size=32), st.binary(max_size=200), st.integers(0, 511))
def test_a_signature_holds_for_its_message_alone(seed: bytes, message: bytes, bit: int) -> None:
    key = Ed25519PrivateKey.from_private_bytes(seed)
    public, signature = key.public_key().public_bytes_raw(), key.sign(message)
    assert verified(public, signature, message)
    assert not verified(public, signature, message + b".")
    flipped = bytearray(signature)
    flipped[bit // 8] ^= 1 << bit % 8
    assert not verified(public, bytes(flipped), message)
    assert not verified(public[:31], signature, message)


@pytest.mark.anyio
async def test_a_bare_interpreter_checks_an_exported_log(
    sealed: Memory, principal: Principal, keys: AuditKeys, tmp_path: Path
) -> None:
    for number in range(5):
        await store_fact(sealed, principal, f"room {number}", "colour", "green")
    kept = tmp_path / "kept.json"
    await audit(sealed, principal, kept)
    dump, program = tmp_path / "log.jsonl", tmp_path / "audit.py"
    with dump.open("w") as file:
        assert await export(sealed, principal, file) == 7
    shutil.copy(_FILE, program)

    def check(*more: str) -> "subprocess.CompletedProcess[str]":
        key = str(keys.folder / "verify.key")
        command = [sys.executable, "-I", str(program), str(dump), "--key", key, *more]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)

    whole = check("--checkpoint", str(kept))
    assert (whole.returncode, whole.stderr) == (0, "")
    assert whole.stdout.startswith("Tenant default: 5 sealed events checked")
    assert whole.stdout.endswith("The log is whole.\n0 breaks.\n")

    lines = dump.read_text().splitlines()
    event = json.loads(lines[3])["event"]["id"]
    dump.write_text("\n".join([*lines[:3], lines[3].replace('"tester"', '"me"'), *lines[4:]]))
    changed = check()
    assert changed.returncode == 1
    assert f"changed at seal 3, event {event}:" in changed.stdout
    (found,) = json.loads(check("--json").stdout)["breaks"]
    assert (found["tenant"], found["seq"], found["event_id"]) == ("default", 3, event)

    dump.write_text("\n".join(lines[:4]))
    assert "truncated at seal 4" in check().stdout
    dump.write_text("no JSON")
    assert check().returncode == 2
    assert "cannot check" in check().stderr
