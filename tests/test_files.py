"""Files that are replaced whole."""

import errno
import os
import tempfile
from pathlib import Path

import pytest

from memory_butler.files import give_to_owner, replaced, rewrite


def test_a_file_is_replaced_when_the_block_ends_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    with replaced(path) as file:
        file.write(b"new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o600
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("size", [1, 1_000_000])
def test_a_full_disk_is_told_with_the_name_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    path, unfinished = tmp_path / "kept", str(tmp_path / "unfinished")
    full = os.open("/dev/full", os.O_WRONLY)
    monkeypatch.setattr(tempfile, "mkstemp", lambda **_: (full, unfinished))
    with pytest.raises(OSError, match="No space left") as failed, replaced(path) as file:
        file.write(bytes(size))
    assert failed.value.filename == str(path)


def test_a_path_that_cannot_be_written_is_told_by_its_own_name(tmp_path: Path) -> None:
    nowhere = tmp_path / "none" / "file"
    with pytest.raises(FileNotFoundError) as failed, replaced(nowhere):
        pass
    assert (failed.value.filename, failed.value.filename2) == (str(nowhere), None)
    with pytest.raises(IsADirectoryError) as refused, replaced(tmp_path):
        pass
    assert (refused.value.filename, refused.value.filename2) == (str(tmp_path), None)


def test_an_error_of_something_else_in_the_block_is_not_told_of_the_file(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No space left") as failed, replaced(tmp_path / "file"):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert failed.value.filename is None


def test_where_the_block_fails_the_old_file_stays_and_nothing_is_left(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")

    def half() -> None:
        with replaced(path) as file:
            file.write(b"ne")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        half()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["file"]


def test_a_file_is_on_disk_before_it_has_its_name(tmp_path: Path, to_disk: list[str]) -> None:
    """Else a power cut could leave the name with nothing under it."""
    with replaced(tmp_path / "file") as file:
        file.write(b"new")
    assert to_disk == ["synced", "named", "kept"]
    to_disk.clear()
    rewrite(tmp_path / "settings", b"new")
    assert to_disk == ["synced", "named"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes files for others")
def test_what_root_makes_in_a_users_data_directory_is_given_to_him(tmp_path: Path) -> None:
    data, elsewhere = tmp_path / "data", tmp_path / "elsewhere"
    elsewhere.touch()
    made = [data / "journal" / "ana" / "luna.sqlite", data / "keys" / "keyring.json", data / "id"]
    kept = [data / "postgres" / "server", data / "other" / "origin"]
    for one in (*made, *kept):
        one.parent.mkdir(parents=True, exist_ok=True)
        one.touch()
    (data / "audit").symlink_to(tmp_path)
    os.link(elsewhere, data / "journal" / "second name")
    give_to_owner(data)  # root's own
    assert made[0].stat().st_uid == 0
    os.chown(data, 65534, 65534)
    give_to_owner(data)
    for one in made:
        assert one.stat().st_uid == one.parent.stat().st_uid == 65534
    for one in (*kept, elsewhere):
        assert one.stat().st_uid == 0
