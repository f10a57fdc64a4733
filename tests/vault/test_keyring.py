"""The keyring: a key for each tenant, wrapped; destroyed ones stay destroyed."""

import base64
import multiprocessing
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from conftest import NOW
from memory_butler.domain.errors import ConfigurationError, Conflict, InvalidInput
from memory_butler.vault import keyring
from memory_butler.vault.keyring import FILE, Keyring
from memory_butler.vault.master import (
    CommandMaster,
    LocalMaster,
    Master,
    master_of_file,
    master_of_text,
    new_master,
    write_master,
)

ERASURE = "5f0c0f4e-0000-0000-0000-000000000000"
# A key management service that turns bytes round: enough to see what it is asked, and how often.
SERVICE = """
import base64, sys
data = base64.b64decode(sys.stdin.read())
open(sys.argv[1], "a").write(sys.argv[2] + "\\n")
print(base64.b64encode(data[::-1]).decode())
"""


@pytest.fixture
def master() -> LocalMaster:
    return new_master()


@pytest.fixture
def ring(tmp_path: Path, master: LocalMaster) -> Keyring:
    return keyring.create(tmp_path / "keys", master)


def test_a_key_is_made_once_and_kept_wrapped(ring: Keyring) -> None:
    made = ring.key_of("ana", NOW)
    again = Keyring(ring.folder, ring.master)
    assert again.key_of("ana", NOW) == again.key(made.id) == made
    assert again.key_of("bob", NOW) != made
    text = (ring.folder / FILE).read_bytes()
    for secret in (made.secret, base64.b64encode(made.secret), made.secret.hex().encode()):
        assert secret not in text
    assert (ring.folder / FILE).stat().st_mode & 0o777 == 0o600
    assert again.check() == 2


def test_keys_are_made_in_one_write_and_known_ones_need_none(
    ring: Keyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    writes: list[Path] = []
    write = keyring._write

    def noting(path: Path, content: keyring.Content) -> None:
        writes.append(path)
        write(path, content)

    monkeypatch.setattr(keyring, "_write", noting)
    held = ring.held(["ana", "bob", "ana"], NOW)
    assert writes == [ring.folder / FILE]
    assert set(held.by_tenant) == {"ana", "bob"}
    (ring.folder / ".lock").unlink()
    (ring.folder / ".lock").mkdir()  # nobody can lock it now
    again = Keyring(ring.folder, ring.master)
    assert again.held(["bob", "ana"], NOW).by_tenant == held.by_tenant
    assert held.key_of("ana", NOW) == again.key_of("ana", NOW)
    with pytest.raises(ConfigurationError, match=r"keyring\.json cannot be written: Is a dir"):
        again.key_of("eve", NOW)
    with pytest.raises(Conflict, match="tenant eve appeared meanwhile: try again"):
        held.key_of("eve", NOW)


def test_held_keys_work_while_the_keyring_is_away(ring: Keyring) -> None:
    held, other = ring.held(["ana"], NOW), ring.key_of("bob", NOW)
    ana = held.by_tenant["ana"]
    assert held.key(other.id) == other
    (ring.folder / FILE).unlink()
    assert held.key(ana.id) == held.key_of("ana", NOW) == ana
    assert repr(ana.secret) not in repr(held)
    with pytest.raises(ConfigurationError, match="there is no keyring"):
        held.key(other.id)


def test_keys_are_on_disk_before_anything_is_sealed_with_them(
    ring: Keyring, tmp_path: Path, to_disk: list[str]
) -> None:
    """A key that a power cut takes would take all that was sealed with it."""
    ring.key_of("ana", NOW)
    assert to_disk == ["synced", "named", "kept"]
    to_disk.clear()
    write_master(new_master(), tmp_path / "master")
    assert to_disk == ["synced", "kept"]


def test_no_secret_is_in_a_representation(ring: Keyring) -> None:
    made = ring.key_of("ana", NOW)
    shown = f"{ring!r} {made!r} {ring.master!r}"
    assert isinstance(ring.master, LocalMaster)
    assert repr(made.secret) not in shown
    assert repr(ring.master.key) not in shown


def test_another_master_key_is_told_in_a_sentence(ring: Keyring) -> None:
    ring.key_of("ana", NOW)
    other = Keyring(ring.folder, new_master())
    wanted = f"the keyring needs the master key {ring.master.id}, and this one is {other.master.id}"
    for ask in (other.check, lambda: other.key_of("ana", NOW)):
        with pytest.raises(ConfigurationError) as refused:
            ask()
        assert str(refused.value) == wanted


def test_a_wrapped_key_fits_its_own_tenant_only(ring: Keyring) -> None:
    ring.key_of("ana", NOW)
    text = (ring.folder / FILE).read_text()
    (ring.folder / FILE).write_text(text.replace('"ana"', '"eve"'))
    with pytest.raises(ConfigurationError, match=r"does not unwrap the key .* of eve"):
        Keyring(ring.folder, ring.master).key_of("eve", NOW)


def test_a_destroyed_key_is_gone_and_says_which(ring: Keyring) -> None:
    made, kept = ring.key_of("ana", NOW), ring.key_of("bob", NOW)
    assert keyring.destroy(ring.folder, "ana", ERASURE, NOW) == [made.id]
    assert keyring.destroy(ring.folder, "ana", ERASURE, NOW) == [made.id]
    assert keyring.destroy(ring.folder, "ana", "another", NOW) == []
    # Whoever has used it forgets it with the next look at the keyring.
    assert ring.key(kept.id) == kept
    assert ring._unwrapped.keys() == {kept.id}
    assert ring.key(made.id) is None
    assert ring.key(kept.id) == kept
    assert ring.key_of("ana", NOW).id != made.id


def test_where_no_keys_are_set_up_nothing_is_destroyed(tmp_path: Path) -> None:
    assert keyring.destroy(tmp_path / "keys", "ana", ERASURE, NOW) == []
    assert not (tmp_path / "keys").exists()


def test_a_key_that_nobody_knows_is_told(ring: Keyring) -> None:
    with pytest.raises(ConfigurationError, match=r"the key 00ff is not in .*keys import"):
        ring.key("00ff")


def test_rewrapped_the_keys_are_the_same_and_the_old_master_is_of_no_use(ring: Keyring) -> None:
    made = ring.key_of("ana", NOW)
    renewed = ring.rewrap(new_master())
    assert Keyring(ring.folder, renewed.master).key(made.id) == made
    with pytest.raises(ConfigurationError, match="the keyring needs the master key"):
        Keyring(ring.folder, ring.master).check()


def test_a_copy_brings_keys_back_but_none_that_was_destroyed(
    ring: Keyring, tmp_path: Path, master: LocalMaster
) -> None:
    ana, bob = ring.key_of("ana", NOW), ring.key_of("bob", NOW)
    assert not keyring.read(ring.folder).exported
    copy = tmp_path / "copy.json"
    assert keyring.export(ring.folder, copy) == 2
    assert keyring.read(ring.folder).exported
    assert copy.stat().st_mode & 0o777 == 0o600

    elsewhere = tmp_path / "new" / "keys"
    assert keyring.bring_back(elsewhere, copy) == 2
    assert Keyring(elsewhere, master).key(ana.id) == ana

    keyring.destroy(ring.folder, "ana", ERASURE, NOW)
    assert not keyring.read(ring.folder).exported
    assert keyring.bring_back(ring.folder, copy) == 0
    assert ring.key(ana.id) is None
    assert ring.key(bob.id) == bob
    with pytest.raises(Conflict, match="need the master key"):
        keyring.bring_back(keyring.create(tmp_path / "third", new_master()).folder, copy)


def test_what_is_no_keyring_is_told_without_quoting_it(ring: Keyring, tmp_path: Path) -> None:
    odd = tmp_path / "odd.json"
    odd.write_text('{"format": 1, "master": 7, "secret": "hush"}')
    with pytest.raises(InvalidInput) as refused:
        keyring.bring_back(ring.folder, odd)
    assert str(refused.value) == f"{odd} is not a keyring"
    (ring.folder / FILE).write_bytes(odd.read_bytes())
    with pytest.raises(ConfigurationError, match="is damaged") as damaged:
        ring.check()
    assert "hush" not in str(damaged.value)
    with pytest.raises(ConfigurationError, match="there is no keyring"):
        keyring.read(tmp_path / "nowhere")
    with pytest.raises(Conflict, match="already"):
        keyring.create(ring.folder, ring.master)


def _wanted_by_many(ring: Keyring, answers: "multiprocessing.Queue[list[str]]") -> None:
    answers.put([ring.key_of(f"t{number}", NOW).id for number in range(20)])


def test_processes_that_want_a_key_at_once_get_the_same(ring: Keyring) -> None:
    context = multiprocessing.get_context("spawn")
    answers: multiprocessing.Queue[list[str]] = context.Queue()
    asking = [
        context.Process(target=_wanted_by_many, args=(replace(ring), answers)) for _ in range(3)
    ]
    for one in asking:
        one.start()
    found = [answers.get(timeout=600) for _ in asking]
    for one in asking:
        one.join()
    assert found[0] == found[1] == found[2]
    assert ring.check() == 20


def test_a_master_key_is_32_bytes_of_base64_in_a_file_of_its_owner(tmp_path: Path) -> None:
    made, path = new_master(), tmp_path / "deep" / "master.key"
    write_master(made, path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert master_of_file(path) == made
    with pytest.raises(Conflict, match="not replaced"):
        write_master(made, path)
    for wrong in ("hunter2", "aGk=", "", "ä"):
        with pytest.raises(ConfigurationError, match=r"openssl rand -base64 32") as refused:
            master_of_text(wrong, "the variable")
        assert "hunter2" not in str(refused.value)
    with pytest.raises(ConfigurationError, match="cannot be read: No such file"):
        master_of_file(tmp_path / "none")


def _service(tmp_path: Path) -> tuple[Master, Path]:
    program, asked = tmp_path / "service.py", tmp_path / "asked"
    program.write_text(SERVICE)
    return CommandMaster((sys.executable, str(program), str(asked))), asked


def test_a_command_wraps_and_unwraps(tmp_path: Path) -> None:
    master, asked = _service(tmp_path)
    ring = keyring.create(tmp_path / "keys", master)
    made = ring.key_of("ana", NOW)
    assert Keyring(ring.folder, master).key(made.id) == made
    assert asked.read_text().split() == ["wrap", "unwrap"]
    text = (ring.folder / FILE).read_text()
    (ring.folder / FILE).write_text(text.replace('"ana"', '"eve"'))
    with pytest.raises(ConfigurationError, match="does not unwrap"):
        Keyring(ring.folder, master).key_of("eve", NOW)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("/nowhere/wrap",), "`wrap` cannot be started: No such file or directory"),
        ((sys.executable, "-c", "print('hush'); raise SystemExit('hush')"), "ended with code 1"),
        ((sys.executable, "-c", "print('hush!')"), "did not answer with base64"),
    ],
)
def test_what_a_command_says_is_not_told(command: tuple[str, ...], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said) as refused:
        CommandMaster(command).wrap(b"secret", "of ana")
    assert "hush" not in str(refused.value)
