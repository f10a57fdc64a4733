"""Contexts, changes and calibration: what one can check memory by."""

import re

import pytest
from playwright.sync_api import Page, expect

from dashboard.accessibility import violations_in_both_themes
from dashboard.asking import read, sent
from dashboard.browser import PHONE
from dashboard.overlays import receipt, without


def test_a_context_is_explained_and_replayed(page: Page) -> None:
    page.goto("/memory/contexts")
    page.get_by_label("Butler").select_option("home")
    line = page.get_by_role("listitem").filter(has_text="memories weighed").first
    line.get_by_role("link").click()
    expect(page).to_have_url(re.compile("butler=home&receipt="))
    page.go_back()
    expect(line).to_be_visible()

    receipt(page)
    kept = read(page, f"/api/memory/contexts/{page.url.rpartition('=')[2]}")
    lines = page.get_by_role("region", name="Why each line is there")
    places = [one["place"] for one in kept["memories"]]
    expect(lines.get_by_role("listitem")).to_have_count(places.count("in"))
    missed = page.get_by_role("region", name="What just missed it")
    expect(missed.get_by_role("listitem")).to_have_count(places.count("missed"))
    block = page.get_by_role("region", name="What the session got")
    expect(block).to_contain_text("# Memory Context")
    for one in kept["memories"]:
        if one["place"] == "in" and one["memory_type"] == "rule":
            expect(block).to_contain_text(one["text"])
    assert violations_in_both_themes(page) == []
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
    lines.get_by_role("link").first.click()
    expect(page.get_by_role("dialog")).to_be_visible()


@pytest.mark.nightly
def test_a_line_is_looked_at_as_if_it_were_gone(page: Page) -> None:
    without(page)
    gone = page.get_by_role("region", name="If this memory were gone")
    block = page.get_by_role("region", name="The block")
    left = gone.get_by_role("deletion").first.inner_text()
    came = gone.get_by_role("insertion").first.inner_text()
    expect(block).to_contain_text(left)
    expect(block).not_to_contain_text(came)
    assert violations_in_both_themes(page) == []
    page.reload()
    expect(gone.get_by_role("deletion").first).to_have_text(left)
    gone.get_by_role("button", name="Close the comparison").click()
    expect(gone).to_have_count(0)


@pytest.mark.nightly
def test_changes_between_two_days(page: Page) -> None:
    told = {"subject": "Ysolde", "predicate": "instrument", "content": "Plays the viola"}
    first = sent(page, "POST", "/api/memory/facts", **told)["id"]
    last = sent(page, "POST", "/api/memory/facts", **told | {"content": "Plays the lute"})["id"]
    page.goto("/memory/changes")
    learned = page.get_by_role("region", name="Learned")
    line = learned.get_by_role("listitem").filter(has_text="Ysolde")
    expect(line).to_contain_text("Plays the lute")
    expect(line).not_to_contain_text("viola")  # what came and went leaves no trace
    expect(line).to_contain_text("on this computer")
    expect(line.locator("time")).to_be_visible()
    sent(page, "DELETE", f"/api/memory/facts/{last}")
    expect(line).to_have_count(0)  # live

    page.get_by_role("button", name="90 days").click()
    expect(page).to_have_url(re.compile(r"from=\d{4}-\d\d-\d\d$"))
    changed = page.get_by_role("region", name="Changed")
    expect(changed).to_be_visible()
    since = page.url.rpartition("=")[2]
    # A day begins where the reader is.
    begins = page.evaluate("(day) => new Date(`${day}T00:00`).toISOString()", since)
    diff = read(page, f"/api/memory/diff?from={begins}&limit=200")
    expect(changed).to_contain_text(str(diff["changed_total"]))
    page.reload()
    expect(changed.get_by_role("listitem")).to_have_count(len(diff["changed"]))
    changed.get_by_role("link").first.click()
    expect(page.get_by_role("dialog")).to_be_visible()
    page.goto("/memory/changes?from=2026-03-02&to=2026-03-01")
    expect(page.get_by_text("The first day comes after the second")).to_be_visible()
    assert read(page, f"/api/memory/facts/{first}")["fact"]["validity"] == "superseded"


@pytest.mark.nightly
def test_the_overview_says_how_sure_memory_should_be(page: Page) -> None:
    page.goto("/memory")
    panel = page.get_by_role("region", name="Calibration")
    found = read(page, "/api/memory/calibration")
    assert found["outcomes"] > 10
    expect(panel).to_contain_text(f"Brier score{found['brier']:.3f}")
    expect(panel).to_contain_text(f"{found['outcomes']} outcomes of {found['memories']} memories")
    shown = [one for one in found["bins"] if one["outcomes"]]
    curve = panel.get_by_role("figure", name="Reliability curve")
    expect(curve.get_by_role("listitem")).to_have_count(len(shown))
