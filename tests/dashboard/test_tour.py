"""The demonstration's guided tour: four steps that tick themselves, and go away when told to."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from dashboard.accessibility import violations_in_both_themes
from dashboard.serving import server
from memory_butler.demo.folder import mark


@pytest.fixture(scope="module")
def url(demo_dsn: str, demo_folder: Path) -> Iterator[str]:
    """A server on the demonstration that says what it is."""
    mark(demo_folder)
    with server("--dsn", demo_dsn, "--data-dir", str(demo_folder)) as url:
        yield url


@pytest.mark.nightly
def test_each_step_leads_to_its_page_and_ticks_itself(page: Page) -> None:
    page.goto("/memory")
    tour = page.get_by_role("region", name="Guided tour")
    expect(tour.get_by_role("listitem")).to_have_count(4)
    expect(tour).to_contain_text("0 of 4 done")
    assert violations_in_both_themes(page) == []

    # By the keyboard alone up to the fact.
    first = tour.get_by_role("link", name="Go to the fact", exact=True)
    first.focus()
    page.keyboard.press("Enter")
    rows = page.get_by_role("table", name="Facts").get_by_role("row")
    expect(rows).to_have_count(2)
    expect(tour).to_contain_text("Ana's piano lessons are on Thursdays now")
    rows.nth(1).focus()
    page.keyboard.press("Enter")
    drawer = page.get_by_role("dialog")
    drawer.get_by_role("button", name="Edit").click()
    drawer.get_by_label("Fact", exact=True).fill("Has piano lessons with Teresa on Thursdays")
    drawer.get_by_role("button", name="Save").click()
    expect(drawer.get_by_role("heading", name="on Thursdays")).to_be_visible()
    drawer.get_by_role("button", name="Close").click()
    expect(tour).to_contain_text("Correct a fact. Done.")

    tour.get_by_role("link", name="Next: See why a context").click()
    page.get_by_role("link", name=re.compile("weighed")).first.click()
    expect(page.get_by_role("region", name="Why each line is there")).to_be_visible()

    tour.get_by_role("link", name="Next: Undo a merge").click()
    page.get_by_role("table", name="Entities").get_by_role("row").nth(1).click()
    drawer.get_by_role("button", name="Undo the merge").click()
    expect(page.get_by_text("Merge undone.", exact=True)).to_be_visible()
    drawer.get_by_role("button", name="Close").click()
    expect(tour).to_contain_text("Undo a merge. Done.")

    tour.get_by_role("link", name="Next: Look back three months").click()
    expect(page.get_by_role("region", name="The past")).to_be_visible()
    expect(page.get_by_text("Lives in Lisbon, near Graça")).to_be_visible()
    assert violations_in_both_themes(page) == []

    tour.get_by_role("link", name="All steps").click()
    expect(tour).to_contain_text("4 of 4 done")
    page.reload()
    expect(tour).to_contain_text("4 of 4 done")
    tour.get_by_role("button", name="Hide the tour").click()
    expect(tour).to_have_count(0)
    page.reload()
    expect(page.get_by_role("heading", level=1, name="Overview")).to_be_visible()
    expect(page.get_by_text("A demonstration asks none")).to_be_visible()
    expect(tour).to_have_count(0)


def test_the_companion_of_a_demonstration_says_that_it_has_no_model(page: Page) -> None:
    page.goto("/chat")
    page.get_by_label("Message", exact=True).fill("What is new?")
    page.keyboard.press("Enter")
    told = page.get_by_role("status").filter(has_text="No reply; your message is kept.")
    expect(told).to_contain_text("A demonstration asks no language model.")
    expect(told).not_to_contain_text("API_KEY")
