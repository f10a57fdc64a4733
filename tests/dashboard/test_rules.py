"""The playbook: rules by maturity, how each fared, and moving them by hand."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from dashboard.asking import read, sent, stored


@pytest.fixture
def rule(page: Page) -> Iterator[str]:
    """A rule that helped twice and did harm once; forgotten after the test."""
    id = stored(page, "rules", content="Quote the tariff when the laundry is discussed")
    for _ in range(2):
        sent(page, "POST", f"/api/memory/rules/{id}/helpful")
    sent(page, "POST", f"/api/memory/rules/{id}/harmful", reason="the tariff was out of date")
    yield id
    if read(page, f"/api/memory/rules/{id}")["rule"]["state"] != "forgotten":
        sent(page, "DELETE", f"/api/memory/rules/{id}")


def _row(page: Page) -> Locator:
    return page.get_by_role("listitem").filter(has_text="Quote the tariff")


def _group(page: Page, title: str) -> Locator:
    return page.get_by_role("region", name=re.compile(f"^{title}"))


@pytest.mark.requirement("DASH-07", "DASH-08", "GEN-05")
@pytest.mark.usefixtures("rule")
def test_rules_are_grouped_by_maturity_and_moved_with_a_click(page: Page) -> None:
    page.goto("/memory/rules")
    titles = page.get_by_role("heading", level=2)
    expect(titles).to_have_text(
        [re.compile(f"^{one}") for one in ("Proven", "Established", "Candidates", "Anti-patterns")]
    )
    expect(_group(page, "Anti-patterns").get_by_text("anti-pattern").first).to_be_visible()

    page.get_by_label("Search these rules").fill("tariff")
    expect(page.get_by_text("1 rule", exact=True)).to_be_visible()
    expect(_row(page)).to_contain_text("3 applied, 2 helped, 1 harmed")
    expect(_row(page)).to_contain_text("global")
    expect(_row(page).get_by_role("meter", name="Effectiveness")).to_be_visible()
    _row(page).get_by_role("button", name="Promote").click()
    expect(_group(page, "Established")).to_contain_text("Quote the tariff")
    page.get_by_role("button", name="Undo").click()
    expect(_group(page, "Candidates")).to_contain_text("Quote the tariff")
    expect(_row(page)).to_have_count(1)  # the other group has let go of it
    _row(page).get_by_role("button", name="Switch off").click()
    expect(_row(page)).to_contain_text("off")
    page.get_by_role("tab", name="Switched off").click()
    expect(page).to_have_url(re.compile("q=tariff&show=disabled"))
    page.reload()
    _row(page).get_by_role("button", name="Switch on").click()
    expect(page.get_by_text("No rule fits these filters")).to_be_visible()
    page.get_by_role("button", name="Clear the filters").click()
    expect(page.get_by_text("Every rule is on")).to_be_visible()


@pytest.mark.requirement("DASH-08", "RAP-03", "GEN-05")
def test_the_drawer_of_a_rule_shows_its_history_and_corrects_it(page: Page, rule: str) -> None:
    page.goto("/memory/rules?q=tariff")
    _row(page).get_by_role("link").focus()
    page.keyboard.press("Enter")
    drawer = page.get_by_role("dialog")
    fared = drawer.get_by_role("region", name="How it worked")
    expect(fared.get_by_role("listitem")).to_have_count(3)
    expect(fared.get_by_role("listitem").first).to_contain_text("the tariff was out of date")
    expect(fared.get_by_role("img", name="Of the last 3 uses, 2 helped.")).to_be_visible()
    expect(drawer.get_by_role("region", name="Why it is known")).to_contain_text("rule · candidate")

    drawer.get_by_role("button", name="Promote").click()
    expect(drawer.get_by_text("Rule · established · global")).to_be_visible()
    drawer.get_by_role("button", name="Edit").click()
    drawer.get_by_label("Rule", exact=True).fill("Quote the tariff of today")
    drawer.get_by_label("Tags").fill("money, house")
    drawer.get_by_role("button", name="Save").click()
    expect(drawer.get_by_text("Rule · candidate · global")).to_be_visible()
    edited = read(page, f"/api/memory/rules/{rule}")["rule"]
    assert (edited["content"], edited["tags"]) == ("Quote the tariff of today", ["money", "house"])
    assert edited["applied_count"] == 3
    page.get_by_role("button", name="Undo").last.click()
    # The text, the tags, and the maturity that the edit had taken.
    expect(drawer.get_by_text("Rule · established · global")).to_be_visible()
    back = read(page, f"/api/memory/rules/{rule}")["rule"]
    assert back["tags"] == []
    assert back["content"] == "Quote the tariff when the laundry is discussed"

    drawer.get_by_role("button", name="Confirm").click()
    history = drawer.get_by_role("region", name="History")
    expect(history.get_by_role("listitem").first).to_contain_text("memory confirmed")
    drawer.get_by_role("button", name="Demote").click()
    expect(drawer.get_by_text("Rule · candidate · global")).to_be_visible()
    drawer.get_by_role("button", name="Forget").click()
    expect(drawer.get_by_role("button", name="Restore")).to_be_visible()
    page.get_by_role("button", name="Undo").last.click()
    expect(drawer.get_by_role("button", name="Forget")).to_be_visible()
    drawer.get_by_role("button", name="Forget").click()
    drawer.get_by_role("button", name="Restore").click()
    expect(drawer.get_by_role("button", name="Forget")).to_be_visible()
    drawer.get_by_role("button", name="Close").click()
    expect(drawer).to_have_count(0)


def test_an_edit_of_a_rule_that_comes_too_late_shows_both_versions(page: Page, rule: str) -> None:
    page.goto(f"/memory/rules?open=rule:{rule}")
    drawer = page.get_by_role("dialog")
    drawer.get_by_role("button", name="Edit").click()
    drawer.get_by_label("Rule", exact=True).fill("Mine")
    sent(page, "PUT", f"/api/memory/rules/{rule}", content="Theirs")
    drawer.get_by_role("button", name="Save").click()
    expect(drawer.get_by_role("cell", name="Theirs")).to_be_visible()
    drawer.get_by_role("button", name="Put mine in its place").click()
    expect(drawer.get_by_role("heading", name="Mine")).to_be_visible()


@pytest.mark.requirement("DASH-08")
def test_an_anti_pattern_warns_and_tells_what_it_used_to_say(page: Page) -> None:
    warning = read(page, "/api/memory/rules?maturity=anti_pattern&q=emoji")["items"][0]
    page.goto(f"/memory/rules?open=rule:{warning['id']}")
    drawer = page.get_by_role("dialog")
    expect(drawer).to_contain_text("as a warning of what not to do")
    expect(drawer.locator("q")).to_have_text("Add an emoji to every message for Ana")
    expect(drawer.get_by_role("button", name="Promote")).to_have_count(0)
