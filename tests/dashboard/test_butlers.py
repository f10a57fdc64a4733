"""Butlers: how each fares, what it learned last, and all that it can draw on."""

import re

import pytest
from playwright.sync_api import Page, expect

from dashboard.pages import visit


@pytest.fixture(scope="module")
def url(read_only_url: str) -> str:
    """These tests only read."""
    return read_only_url


@pytest.mark.requirement("DASH-17")
def test_a_butler_shows_its_health_last_three_learnings_and_sessions(page: Page) -> None:
    page.goto("/butlers")
    known = page.request.get("/api/butlers").json()["butlers"]
    assert len(known) >= 5
    expect(page.get_by_role("heading", level=2)).to_have_count(len(known))
    finance = page.get_by_role("listitem").filter(
        has=page.get_by_role("heading", level=2, name="finance")
    )
    expect(finance).to_contain_text("needs attention")
    finance.get_by_role("link", name="finance", exact=True).click()
    expect(page).to_have_url(re.compile("/butlers/finance$"))
    expect(page.get_by_role("region", name="Health")).to_contain_text("gave up on 1 episode")
    learned = page.request.get("/api/butlers/finance").json()["learnings"]
    assert len(learned) == 3
    entries = page.get_by_role("region", name="Recent learnings").get_by_role("listitem")
    expect(entries).to_have_count(3)
    for entry, fact in zip(entries.all(), learned, strict=True):
        expect(entry).to_contain_text(fact["content"])
    page.get_by_role("region", name="Recent sessions").get_by_role("link").first.click()
    expect(page.get_by_role("dialog")).to_contain_text("Memories from this session")
    page.go_back()
    expect(page.get_by_role("dialog")).to_have_count(0)
    visit(page, "/butlers/nobody")
    expect(page.get_by_role("heading", name="Not found")).to_be_visible()


@pytest.mark.requirement("DASH-01", "DASH-02", "DASH-06", "DASH-07")
def test_a_butlers_memory_is_its_own_and_what_all_share(page: Page) -> None:
    page.goto("/butlers/work")
    page.get_by_role("navigation", name="Pages of work").get_by_role("link", name="Memory").click()
    _the_playbook_and_the_episodes_stand_beside_the_facts(page)
    facts = page.get_by_role("region", name="Facts", exact=True)
    rui = facts.get_by_role("region", name="Rui", exact=True)
    card = rui.get_by_role("listitem").filter(has_text="Rui reads mail only in the morning")
    expect(card).to_contain_text("email style")
    expect(card).to_contain_text("standard")
    expect(card).to_contain_text("confirmed")
    shown = float(card.get_by_role("meter").get_attribute("aria-valuenow") or "")
    color = "bg-good" if shown > 0.8 else "bg-warn" if shown >= 0.5 else "bg-bad"
    expect(card.get_by_role("meter").locator("div")).to_have_class(re.compile(color))
    # What is in another's scope is none of this butler's.
    expect(facts.get_by_text("The passport expires in October")).to_have_count(0)
    seen = page.request.get("/api/butlers/work/memory/facts?limit=200").json()
    assert {one["scope"] for one in seen["items"]} == {"global", "work"}
    expect(page.get_by_role("status").filter(has_text=f"{seen['total']} facts")).to_be_visible()

    page.get_by_label("Subject").fill("Ana")
    page.get_by_label("Permanence").select_option("permanent")
    expect(facts.get_by_role("listitem")).to_have_count(1)
    expect(page).to_have_url(re.compile("subject=Ana"))
    page.reload()
    expect(facts.get_by_role("listitem")).to_contain_text("14 March")
    page.get_by_label("Confidence", exact=True).select_option("0.8")
    page.get_by_label("Source butler").fill("work")
    expect(page.get_by_text("No fact fits these filters")).to_be_visible()
    page.get_by_role("button", name="Clear the filters").click()
    page.get_by_label("Which facts").select_option("archive")
    past = facts.get_by_role("listitem").filter(has_text="Lives in Lisbon, near Graça")
    expect(past.get_by_text("Lives in Lisbon")).to_have_css("text-decoration-line", "line-through")
    past.get_by_role("link", name="what replaced it").click()
    expect(page.get_by_role("dialog")).to_contain_text("Moved to Porto")


def _the_playbook_and_the_episodes_stand_beside_the_facts(page: Page) -> None:
    playbook = page.get_by_role("region", name="Playbook")
    rules = page.request.get("/api/butlers/work/memory/rules?limit=200").json()["items"]
    assert {one["scope"] for one in rules} == {"global", "work"}
    for maturity in ("proven", "established", "candidate"):
        held = [one for one in rules if one["maturity"] == maturity]
        group = playbook.get_by_role("region", name=maturity)
        expect(group.get_by_role("listitem")).to_have_count(len(held))
    applied = next(one for one in rules if one["applied_count"] > 10)
    line = playbook.get_by_role("listitem").filter(has_text=applied["content"])
    expect(line).to_contain_text(applied["scope"])
    expect(line.get_by_role("meter", name="Effectiveness")).to_be_visible()
    expect(line).to_contain_text(
        f"{applied['applied_count']} applied, {applied['success_count']} helped,"
        f" {applied['harmful_count']} harmed"
    )
    told = page.request.get("/api/butlers/work/memory/episodes").json()["items"]
    stream = page.get_by_role("group").filter(has_text="Episodes")
    expect(stream.get_by_role("listitem")).to_have_count(len(told))
    assert {one["butler"] for one in told} == {"work"}
    stream.get_by_text("Episodes", exact=False).first.click()
    expect(stream.get_by_role("listitem").first).to_be_hidden()
