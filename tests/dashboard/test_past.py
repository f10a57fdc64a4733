"""Memory as it stood: the date slider, in lists and drawers, and the way back."""

import re
from datetime import UTC, date, datetime, timedelta
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from dashboard.accessibility import violations_in_both_themes
from dashboard.asking import read


@pytest.fixture(scope="module")
def url(read_only_url: str) -> str:
    """These tests only read."""
    return read_only_url


def _end_of(page: Page, day: str) -> str:
    """The end of a day of the window's time zone, for the API."""
    moment: str = page.evaluate(f"new Date('{day}T23:59:59.999').toISOString()")
    return quote(moment)


def _replaced(page: Page) -> tuple[dict[str, str], str]:
    """A fact that was replaced, and the day before, when it was known already."""
    for fact in read(page, "/api/memory/facts?validity=superseded&limit=200")["items"]:
        day_before = datetime.fromisoformat(fact["retired_at"]) - timedelta(days=1)
        if datetime.fromisoformat(fact["created_at"]) < day_before:
            return fact, day_before.date().isoformat()
    raise AssertionError("the demonstration has a fact that held for more than a day")


def test_lists_and_drawers_show_memory_as_it_stood(page: Page) -> None:
    page.goto("/memory/facts")
    old, day = _replaced(page)
    page.goto(f"/memory/facts?known_at={day}&subject={quote(old['subject'])}")
    banner = page.get_by_role("region", name="The past")
    # The day first, and the month in letters: nobody takes 3/11 for another day.
    then_day = date.fromisoformat(day)
    named = f"{then_day.day} {then_day:%B %Y}"
    expect(banner).to_contain_text(f"memory as it was known at the end of {named}")
    then = read(
        page, f"/api/memory/facts?known_at={_end_of(page, day)}&subject={quote(old['subject'])}"
    )
    expect(page.get_by_text(f"{then['total']} fact", exact=False).first).to_be_visible()
    row = page.get_by_role("row").filter(has_text=old["content"])
    row.click()
    drawer = page.get_by_role("dialog")
    expect(drawer).to_contain_text(f"as it was known at the end of {named}")
    expect(drawer.get_by_text("It was replaced")).to_have_count(0)
    for act in ("Confirm", "Edit", "Forget", "Erase…"):
        expect(drawer.get_by_role("button", name=act)).to_have_count(0)
    page.reload()
    expect(drawer).to_contain_text(f"as it was known at the end of {named}")
    expect(drawer.get_by_text("fact superseded")).to_have_count(0)  # has not happened yet
    drawer.get_by_role("button", name="Close").click()
    assert violations_in_both_themes(page) == []

    banner.get_by_role("button", name="Back to now").click()
    expect(banner).to_have_count(0)
    expect(page).to_have_url(re.compile(r"/memory/facts\?subject=[^&]*$"))
    expect(row).to_have_count(0)
    expect(page.get_by_role("button", name="Look back")).to_be_visible()


@pytest.mark.nightly
def test_the_slider_moves_from_day_to_day_on_every_page_that_has_a_past(page: Page) -> None:
    page.goto("/memory/facts")
    page.get_by_role("button", name="Look back").click()
    banner = page.get_by_role("region", name="The past")
    slider = banner.get_by_role("slider", name="Days ago")
    expect(slider).to_have_value("-7")
    slider.focus()
    for _ in range(23):
        page.keyboard.press("ArrowLeft")
    day = (datetime.now(UTC) - timedelta(days=30)).date().isoformat()
    expect(page).to_have_url(re.compile(f"known_at={day}"))
    for name, noun in (("Rules", "rule"), ("Entities", "entit"), ("Episodes", "episode")):
        page.get_by_role("navigation", name="Pages").get_by_role("link", name=name).click()
        expect(page).to_have_url(re.compile(rf"{name.lower()}\?known_at={day}"))
        path = f"/api/memory/{name.lower()}?known_at={_end_of(page, day)}&limit=1"
        total = read(page, path)["total"]
        expect(page.get_by_role("main").get_by_role("status").first).to_have_text(
            re.compile(rf"^{total} {noun}")
        )
        expect(banner).to_be_visible()
        expect(page.get_by_role("button", name=re.compile("Promote|Retry"))).to_have_count(0)
    banner.get_by_label("What of that day").select_option("as_of")
    expect(banner).to_contain_text("what was true at the end of")
    expect(page).to_have_url(re.compile(rf"\?as_of={day}"))
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Timeline").click()
    expect(page).to_have_url(re.compile(r"/memory/timeline$"))
    expect(banner).to_have_count(0)


@pytest.mark.nightly
def test_the_journal_shows_what_was_said_and_on_its_mind_by_then(page: Page) -> None:
    page.goto("/journal?tab=mind")
    first = read(page, "/api/journal/default/events?limit=200")["events"][-1]
    day = datetime.fromisoformat(first["ts"]).date().isoformat()
    then = read(page, f"/api/journal/default/events?known_at={_end_of(page, day)}")
    assert 0 < then["total"] < read(page, "/api/journal/default/events")["total"]
    page.goto(f"/journal?known_at={day}")
    expect(page.get_by_role("main").get_by_role("status").first).to_have_text(
        re.compile(f"^{then['total']} message")
    )
    expect(page.get_by_role("region", name="The past")).to_be_visible()
    expect(page.get_by_role("tab", name="Maintenance")).to_have_count(0)
    page.get_by_role("tab", name="On its mind").click()
    mind = read(page, f"/api/journal/default/mind?known_at={_end_of(page, day)}")
    expect(page.get_by_role("meter")).to_have_count(len(mind["items"]))


@pytest.mark.nightly
def test_a_day_that_has_not_ended_is_the_present(page: Page) -> None:
    page.goto(f"/memory/facts?known_at={datetime.now(UTC).date() + timedelta(days=2)}")
    expect(page.get_by_role("button", name="Look back")).to_be_visible()
    expect(page.get_by_role("region", name="The past")).to_have_count(0)
