"""Erasing: looked at, agreed to by a typed word, certified, and gone."""

from pathlib import Path

from playwright.sync_api import Page, expect

from dashboard.accessibility import violations_in_both_themes
from dashboard.asking import read, stored
from memory_butler.erasure.certificate import verify


def test_a_fact_is_erased_for_good(page: Page, demo_folder: Path, tmp_path: Path) -> None:
    said = {"subject": "Isengrim", "predicate": "phone", "content": "His number is 555 0199"}
    id = stored(page, "facts", **said)
    page.goto(f"/memory/facts?subject=Isengrim&open=fact:{id}")
    page.get_by_role("dialog").get_by_role("button", name="Erase…").click()
    dialog = page.get_by_role("dialog", name="Erase this fact for good")
    going = dialog.get_by_label("What goes")
    expect(going).to_contain_text("Facts1")
    expect(dialog.get_by_label("What it says")).to_contain_text(said["content"])
    erase = dialog.get_by_role("button", name="Erase for good")
    expect(erase).to_be_disabled()
    dialog.get_by_label("Type “erase” to go on").fill("eras")
    expect(erase).to_be_disabled()
    assert read(page, f"/api/memory/facts/{id}")["fact"]["content"] == said["content"]
    dialog.get_by_label("Type “erase” to go on").fill("erase")
    assert violations_in_both_themes(page, "[role=dialog]") == []
    erase.click()

    done = page.get_by_role("dialog", name="Erased for good")
    expect(done.get_by_label("Probes")).to_contain_text("found 0")
    with page.expect_download() as downloading:
        done.get_by_role("button", name="Download the certificate").click()
    kept = tmp_path / downloading.value.suggested_filename
    downloading.value.save_as(kept)
    key = demo_folder / "erasures" / "signing-key.pub"
    found = verify(kept, str(key))
    assert found.pinned
    assert found.certificate["target"]["id"] == id
    done.get_by_role("button", name="Done").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_text("No fact fits these filters")).to_be_visible()
    assert page.request.get(f"/api/memory/facts/{id}").status == 404


def test_an_entity_goes_with_what_has_its_name_where_asked(page: Page) -> None:
    id = stored(page, "entities", canonical_name="Reynard Vulpes", entity_type="person")
    stored(page, "facts", subject="barn", predicate="key", content="Reynard Vulpes has the spare")
    page.goto(f"/memory/entities?open=entity:{id}")
    page.get_by_role("dialog").get_by_role("button", name="Erase…").click()
    going = page.get_by_label("What goes")
    expect(going).to_contain_text("Facts0")
    page.get_by_label("Also what else has its name in the text").check()
    expect(going).to_contain_text("Facts1")
