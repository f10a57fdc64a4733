"""Facts that repeat or contradict each other: shown, settled with one click, and taken back."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from dashboard.asking import read, sent, stored


@pytest.fixture
def pair(page: Page) -> Iterator[tuple[str, str]]:
    """Two facts of one person that cannot both be true; forgotten after the test."""
    said = {"subject": "Berengar", "permanence": "stable"}
    left = stored(page, "facts", predicate="hand", content="is left-handed", **said)
    right = stored(page, "facts", predicate="handedness", content="is right-handed", **said)
    yield left, right
    for id in (left, right):
        sent(page, "DELETE", f"/api/memory/facts/{id}")


def test_a_contradiction_is_settled_with_one_click_and_taken_back(
    page: Page, pair: tuple[str, str]
) -> None:
    left, right = pair
    page.goto("/memory/conflicts")
    article = page.get_by_role("article").filter(has_text="Berengar")
    expect(article).to_contain_text("contradiction")
    earlier = article.get_by_role("region", name="Earlier")
    expect(earlier).to_contain_text("is left-handed")
    expect(article.get_by_role("region", name="Later")).to_contain_text("is right-handed")
    earlier.get_by_role("link", name="is left-handed").click()
    expect(page.get_by_role("dialog")).to_contain_text("is left-handed")
    page.go_back()

    article.get_by_role("button", name="The later one holds").click()
    expect(article).to_have_count(0)
    assert read(page, f"/api/memory/facts/{left}")["fact"]["validity"] == "superseded"
    page.get_by_role("button", name="Undo").click()
    expect(article).to_be_visible()
    assert read(page, f"/api/memory/facts/{left}")["fact"]["validity"] == "active"

    article.get_by_role("button", name="Keep both").click()
    expect(article).to_have_count(0)
    expect(page.get_by_role("status").filter(has_text=re.compile("conflict"))).to_be_visible()
    assert read(page, f"/api/memory/facts/{right}")["fact"]["validity"] == "active"
