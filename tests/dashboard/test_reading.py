"""The server that files share whose tests only read: it refuses to be changed."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from dashboard.asking import read
from dashboard.reading import unchanged


@pytest.fixture(scope="module")
def url(read_only_url: str) -> str:
    """These tests try to write, and fail at it."""
    return read_only_url


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/memory/facts", {"subject": "Ana", "predicate": "tea", "content": "Drinks tea"}),
        ("/api/memory/episodes", {"content": "Ana had tea", "butler": "home"}),
        ("/api/tokens", {"name": "guest", "scopes": ["read"]}),
    ],
)
def test_a_change_of_memory_is_refused(page: Page, path: str, body: dict[str, Any]) -> None:
    before = read(page, "/api/memory/events?limit=1")["total"]
    answer = page.request.post(path, data=body)
    assert answer.status == 503, answer.text()
    assert "ReadOnly" in answer.json()["detail"]
    assert read(page, "/api/memory/events?limit=1")["total"] == before


def test_a_change_of_the_journal_is_found(demo_folder: Path) -> None:
    (file,) = demo_folder.glob("journal/**/*.sqlite")
    with unchanged(demo_folder):
        _count(file)
    written = pytest.raises(AssertionError, match="wrote to the journal")
    with written, unchanged(demo_folder):
        journal = sqlite3.connect(file)
        journal.execute("CREATE TABLE written (by_a_test)")
        journal.commit()
        journal.close()


def _count(file: Path) -> None:
    journal = sqlite3.connect(file)
    assert journal.execute("SELECT count(*) FROM sqlite_master").fetchone()
    journal.close()
