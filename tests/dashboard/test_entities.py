"""Entities: finding whom a name means, correcting names, and merging two that are one."""

import re

import pytest
from playwright.sync_api import Page, expect

from dashboard.asking import read, sent, stored


def test_an_entity_is_looked_at_corrected_resolved_and_merged(page: Page) -> None:
    goes = stored(page, "entities", canonical_name="J. Pinheiro", entity_type="person")
    stays = stored(page, "entities", canonical_name="Joana Pinheiro", entity_type="person")
    for entity, predicate, content in (
        (goes, "garden", "Grows tomatoes on the balcony"),
        (goes, "car", "Drives a red van"),
        (stays, "car", "Drives a blue van"),
        (goes, "birthday", "Was born on 3 May"),
        (stays, "birthday", "Was born on 4 May"),
    ):
        stored(
            page,
            "facts",
            subject="Joana",
            predicate=predicate,
            content=content,
            entity_id=entity,
        )

    page.goto("/memory/entities")
    page.get_by_label("Search these entities").fill("pinheiro")
    rows = page.get_by_role("table", name="Entities").get_by_role("row")
    expect(rows).to_have_count(3)
    rows.nth(1).focus()
    page.keyboard.press("Enter")
    drawer = page.get_by_role("dialog")
    expect(drawer.get_by_role("heading", name="J. Pinheiro")).to_be_visible()
    expect(drawer).to_contain_text("Grows tomatoes on the balcony")
    everything = drawer.get_by_role("link", name="3 facts in the list")
    expect(everything).to_have_attribute("href", f"/memory/facts?entity={goes}")

    drawer.get_by_role("button", name="Edit").click()
    drawer.get_by_label("Other names").fill("Jo\nJoaninha")
    drawer.get_by_role("button", name="Save").click()
    expect(drawer.get_by_role("region", name="Details")).to_contain_text("Joaninha")
    page.get_by_role("button", name="Undo").click()
    expect(drawer.get_by_text("Joaninha")).to_have_count(0)
    drawer.get_by_role("button", name="Close").click()

    page.get_by_role("tab", name="Try a name").click()
    page.get_by_label("Name", exact=True).fill("joana pinheiro")
    page.get_by_label("Also similar names").check()
    first = page.get_by_role("list", name="Candidates").get_by_role("listitem").first
    expect(first).to_contain_text("The name itself")
    expect(first).to_contain_text("100.0")
    expect(page).to_have_url(re.compile("fuzzy=yes"))
    page.reload()
    expect(page.get_by_text("A similar name")).to_be_visible()

    page.goto(f"/memory/entities?open=entity:{goes}")
    drawer.get_by_role("button", name="Merge").click()
    dialog = page.get_by_role("dialog", name="Merge J. Pinheiro")
    dialog.get_by_label("Other entity").fill("joana")
    dialog.get_by_role("button", name="Joana Pinheiro").click()
    expect(dialog).to_contain_text("This can be undone")
    expect(dialog).to_contain_text("Grows tomatoes on the balcony")
    expect(dialog).to_contain_text("Other names afterwards: J. Pinheiro")
    expect(dialog.get_by_text("Was born on 3 May").last).to_have_css(
        "text-decoration-line", "line-through"
    )
    # Somebody may have two cars: nobody said the one in place of the other.
    expect(dialog.get_by_text("Drives a red van")).to_be_visible()
    expect(dialog.get_by_text("Drives a red van")).not_to_have_css(
        "text-decoration-line", "line-through"
    )
    previews: list[str] = []
    page.on("request", lambda one: previews.append(one.url) if "preview" in one.url else None)
    dialog.get_by_role("button", name="Merge", exact=True).click()
    expect(dialog).to_have_count(0)
    assert previews == []  # of what is merged: refused
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Merge undone.", exact=True)).to_be_visible()
    assert "merged_into" not in read(page, f"/api/memory/entities/{goes}")["entity"]["metadata"]
    sent(
        page,
        "POST",
        "/api/memory/entities/merge",
        source_entity_id=goes,
        target_entity_id=stays,
    )
    page.goto(f"/memory/entities?open=entity:{stays}")
    expect(page).to_have_url(re.compile(stays))
    expect(drawer).to_contain_text("Grows tomatoes on the balcony")
    merged = read(page, f"/api/memory/entities/{goes}")["entity"]
    assert merged["metadata"]["merged_into"] == stays
    page.goto(f"/memory/entities?show=merged&open=entity:{goes}")
    drawer.get_by_role("link", name="see what it became").click()
    expect(drawer.get_by_role("heading", name="Joana Pinheiro")).to_be_visible()


def test_an_edit_of_an_entity_keeps_what_somebody_else_changed_meanwhile(page: Page) -> None:
    elder = stored(page, "entities", canonical_name="Old Mill", entity_type="place")
    page.goto(f"/memory/entities?open=entity:{elder}")
    drawer = page.get_by_role("dialog")
    drawer.get_by_role("button", name="Edit").click()
    drawer.get_by_label("Other names").fill("the mill")
    with page.expect_response(f"**/api/memory/entities/{elder}"):
        sent(page, "PATCH", f"/api/memory/entities/{elder}", canonical_name="Old Mill of Avintes")
    drawer.get_by_role("button", name="Save").click()
    expect(drawer.get_by_role("button", name="Edit")).to_be_visible()
    expect(drawer.get_by_role("heading", level=2)).to_have_text("Old Mill of Avintes")
    assert read(page, f"/api/memory/entities/{elder}")["entity"]["aliases"] == ["the mill"]


@pytest.mark.nightly
def test_a_merge_whose_preview_no_longer_holds_says_so_and_changes_nothing(page: Page) -> None:
    goes = stored(page, "entities", canonical_name="B. Quintela", entity_type="person")
    stored(page, "entities", canonical_name="Beatriz Quintela", entity_type="person")
    fact = {"subject": "Beatriz", "entity_id": goes}
    stored(page, "facts", **fact, predicate="boat", content="Sails a small boat")
    # Nobody tells the page meanwhile: it is the server that refuses.
    page.route("**/api/memory/events/stream*", lambda route: route.abort())
    page.goto(f"/memory/entities?open=entity:{goes}")
    page.get_by_role("dialog").get_by_role("button", name="Merge").click()
    dialog = page.get_by_role("dialog", name="Merge B. Quintela")
    dialog.get_by_role("button", name="Beatriz Quintela").click()
    expect(dialog).to_contain_text("Sails a small boat")
    stored(page, "facts", **fact, predicate="car", content="Drives nothing at all")
    merge = dialog.get_by_role("button", name="Merge", exact=True)
    merge.click()
    changed = dialog.get_by_role("alert")
    expect(changed).to_contain_text("Nothing is merged")
    expect(merge).to_be_disabled()
    expect(dialog.get_by_text("Drives nothing at all")).to_have_count(0)
    assert "merged_into" not in read(page, f"/api/memory/entities/{goes}")["entity"]["metadata"]

    changed.get_by_role("button", name="Look again").click()
    expect(changed).to_have_count(0)
    expect(dialog).to_contain_text("Drives nothing at all")
    merge.click()
    expect(dialog).to_have_count(0)
    assert "merged_into" in read(page, f"/api/memory/entities/{goes}")["entity"]["metadata"]
