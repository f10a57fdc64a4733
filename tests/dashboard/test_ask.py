"""A question in the dashboard: answered with what it rests on, or nothing is known."""

import re

import pytest
from playwright.sync_api import Page, expect

from dashboard.asking import read, sent, stored


def test_an_answer_shows_its_lines_and_each_leads_to_its_memory(page: Page) -> None:
    page.goto("/memory/ask")
    page.get_by_label("Question").fill("When does the family have dinner?")
    answer = page.get_by_role("region", name="Answer")
    best = answer.get_by_role("listitem").first
    expect(best.locator("mark").first).to_be_visible()
    expect(page).to_have_url(re.compile(r"\?q=When"))
    best.get_by_role("link").first.click()
    expect(page.get_by_role("dialog")).to_be_visible()
    page.go_back()
    page.get_by_label("Question").fill("How does Rui want a review?")
    answer.get_by_role("link", name="Its episode").first.click()
    expect(page).to_have_url(re.compile("open=episode:"))


def test_nothing_is_known_and_three_steps_lead_on(page: Page) -> None:
    page.goto("/memory/ask?q=How+do+database+indexes+work")
    expect(page.get_by_text("Nothing is known about that", exact=True)).to_be_visible()
    expect(page.get_by_role("region", name="The nearest")).to_be_visible()
    expect(page.get_by_role("link", name="Search wider")).to_have_attribute(
        "href", "/memory?q=How+do+database+indexes+work"
    )
    lower = page.get_by_role("button", name="Ask again with a lower bar")
    lower.click()
    expect(page).to_have_url(re.compile(r"min_relevance=0\.1"))
    lower.click()
    expect(page.get_by_role("region", name="Answer")).to_be_visible()
    expect(lower).to_have_count(0)


def test_a_fact_is_added_where_nothing_is_known_and_taken_back(page: Page) -> None:
    before = stored(page, "facts", subject="Greta", predicate="allergy", content="Penicillin")
    page.goto("/memory/ask?q=asdf+qwer")
    page.get_by_role("button", name="Add the fact").click()
    form = page.get_by_role("dialog", name="Add a fact")
    form.get_by_label("Fact").fill("Peanuts")
    form.get_by_label("Subject").fill("Greta")
    form.get_by_label("Predicate").fill("allergy")
    form.get_by_role("button", name="Add").click()
    said = "Added. It supersedes “Penicillin”. If that is still true, store it again as"
    expect(page.get_by_text(f"{said} allergy_penicillin.", exact=True)).to_be_visible()
    found = read(page, "/api/memory/facts?subject=Greta")["items"]
    assert [(one["content"], one["trust"]) for one in found] == [("Peanuts", "user_said")]
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("The fact is gone again.", exact=True)).to_be_visible()
    assert read(page, f"/api/memory/facts/{before}")["fact"]["validity"] == "active"
    sent(page, "DELETE", f"/api/memory/facts/{before}")


@pytest.mark.nightly
def test_the_palette_asks(page: Page) -> None:
    page.goto("/memory")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.keyboard.press("Control+k")
    page.get_by_placeholder("Search facts").fill("When does the family have dinner")
    page.get_by_role("option", name=re.compile("^Ask ")).click()
    expect(page.get_by_role("region", name="Answer")).to_be_visible()


@pytest.mark.nightly
def test_the_palette_adds_a_fact(page: Page) -> None:
    page.goto("/memory/timeline")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.keyboard.press("Control+k")
    page.get_by_placeholder("Search facts").fill("add a")
    page.get_by_role("option", name="Add a fact").click()
    form = page.get_by_role("dialog", name="Add a fact")
    form.get_by_role("button", name="Cancel").click()
    expect(form).to_have_count(0)
    expect(page).to_have_url(re.compile("/memory/facts$"))
    page.get_by_role("button", name="Add a fact").click()
    expect(form).to_be_visible()
