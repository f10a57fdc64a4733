"""What was masked, kept as it was typed or brought back by the key that an agent was told."""

import pytest
from playwright.sync_api import Page, expect

from dashboard.asking import read, sent
from dashboard.overlays import unmask

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"


def test_what_is_masked_while_somebody_types_is_kept_by_one_button(page: Page) -> None:
    page.goto("/memory/facts?add=yes")
    dialog = page.get_by_role("dialog", name="Add a fact")
    dialog.get_by_label("Fact").fill(f"Opens with {TOKEN}")
    dialog.get_by_label("Subject").fill("gate")
    dialog.get_by_label("Predicate").fill("login")
    dialog.get_by_role("button", name="Add").click()
    expect(
        page.get_by_text("Added, and what looks like a secret was masked.", exact=True)
    ).to_be_visible()
    page.get_by_role("button", name="Keep it as typed").click()
    expect(page.get_by_text("Restored 1 memory.", exact=True)).to_be_visible()
    (held,) = read(page, "/api/memory/facts?subject=gate&validity=active")["items"]
    assert held["content"] == f"Opens with {TOKEN}"


@pytest.mark.nightly
def test_the_key_of_an_agent_restores_from_any_page_and_a_wrong_one_says_so(page: Page) -> None:
    rule = sent(page, "POST", "/api/memory/rules", content=f"Push the docs with {TOKEN}")
    unmask(page)
    dialog = page.get_by_role("dialog", name="Restore what was masked")
    dialog.get_by_label("Key").fill("something else")
    dialog.get_by_role("button", name="Restore").click()
    expect(dialog.get_by_role("alert")).to_contain_text("26 letters and digits")
    dialog.get_by_label("Key").fill(f" {rule['unmask_key'].upper()} ")
    dialog.get_by_role("button", name="Restore").click()
    expect(dialog).to_have_count(0)
    expect(page.get_by_text("Restored 1 memory.", exact=True)).to_be_visible()
    said = read(page, f"/api/memory/rules/{rule['id']}")["rule"]["content"]
    assert said == f"Push the docs with {TOKEN}"
