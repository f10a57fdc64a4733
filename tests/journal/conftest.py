"""What the journal's tests share: a file in a temporary folder, both of its sides, a set clock."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import Clock
from memory_butler.journal.desk import MaintenanceDesk
from memory_butler.journal.file import JournalFile
from memory_butler.journal.live import LiveJournal


@pytest.fixture
def file(tmp_path: Path) -> Iterator[JournalFile]:
    with JournalFile.open(tmp_path, "default", "companion") as file:
        yield file


@pytest.fixture
def live(file: JournalFile, clock: Clock) -> LiveJournal:
    return LiveJournal(file, now=clock)


@pytest.fixture
def desk(file: JournalFile, clock: Clock) -> MaintenanceDesk:
    return MaintenanceDesk(file, clock)
