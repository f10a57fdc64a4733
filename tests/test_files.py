"""Files that are replaced whole."""

import errno
import os
from pathlib import Path

import pytest

from memory_butler.files import replaced, rewrite


def test_a_file_is_replaced_when_the_block_ends_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    with replaced(path) as file:
        file.write(b"new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o600
    assert os.listdir(tmp_path) == ["file"]


def test_a_full_disk_is_told_with_the_name_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    with pytest.raises(OSError, match="kept") as failed, replaced(path):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert failed.value.filename == str(path)


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
