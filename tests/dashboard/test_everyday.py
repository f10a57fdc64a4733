"""What one does every day: with many at once, with views that one comes back to, and back again."""

import re

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from dashboard.asking import stored


def _rows(page: Page, said: str) -> Locator:
    return page.get_by_role("table", name="Facts").get_by_role("row").filter(has_text=said)


def test_several_facts_are_forgotten_at_once_and_come_back_at_once(page: Page) -> None:
    for number in range(3):
        stored(page, "facts", subject="shed", predicate=f"tool {number}", content=f"Spade {number}")
    page.goto("/memory/facts?subject=shed")
    rows = _rows(page, "Spade")
    expect(rows).to_have_count(3)
    expect(page.get_by_role("group", name="With those selected")).to_have_count(0)

    expect(rows.nth(0).get_by_role("checkbox")).to_have_accessible_name(
        re.compile(r"^Select: shed tool \d$")
    )
    rows.nth(0).get_by_label("Select").check()
    rows.nth(1).focus()
    page.keyboard.press("Control+x")
    expect(page.get_by_role("status").filter(has_text="1 selected")).to_have_count(1)
    page.keyboard.press("x")
    bar = page.get_by_role("group", name="With those selected")
    expect(bar).to_contain_text("2 selected")
    bar.get_by_role("button", name="Select all 3 shown").click()
    expect(bar).to_contain_text("3 selected")
    rows.nth(2).get_by_label("Select").uncheck()
    (kept,) = re.findall(r"Spade \d", rows.nth(2).inner_text())
    bar.get_by_role("button", name="Forget").click()
    expect(page.get_by_text("2 facts forgotten.", exact=True)).to_be_visible()
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text(kept)
    expect(bar).to_have_count(0)

    page.get_by_role("button", name="Undo", exact=True).click()
    expect(page.get_by_text("2 taken back.", exact=True)).to_be_visible()
    expect(rows).to_have_count(3)


def test_what_was_selected_is_not_kept_for_another_view(page: Page) -> None:
    stored(page, "facts", subject="cellar", predicate="wine", content="Twelve bottles of red")
    page.goto("/memory/facts?subject=cellar")
    _rows(page, "bottles").get_by_label("Select").check()
    expect(page.get_by_role("group", name="With those selected")).to_be_visible()
    page.get_by_label("Order").select_option("confidence")
    expect(page.get_by_role("group", name="With those selected")).to_have_count(0)
    expect(_rows(page, "bottles").get_by_label("Select")).not_to_be_checked()


def test_a_refusal_among_many_is_told_and_the_others_are_done(page: Page) -> None:
    """What was forgotten may be restored, what was replaced may not."""
    for content in ("The gate is green", "The gate is blue"):
        stored(page, "facts", subject="gate", predicate="color", content=content)
    forgotten = stored(page, "facts", subject="gate", predicate="lock", content="The gate locks")
    page.request.delete(f"/api/memory/facts/{forgotten}")
    page.goto("/memory/facts?subject=gate&show=archive")
    expect(_rows(page, "gate")).to_have_count(2)
    for row in _rows(page, "gate").all():
        row.get_by_label("Select").check()
    page.get_by_role("button", name="Restore").click()
    expect(page.get_by_text(re.compile(r"^1 fact restored\. 1 refused: "))).to_be_visible()
    expect(_rows(page, "gate")).to_have_count(1)


def _three_chosen(page: Page, subject: str) -> Locator:
    for number in range(3):
        stored(page, "facts", subject=subject, predicate=f"part {number}", content=f"{number} here")
    page.goto(f"/memory/facts?subject={subject}")
    boxes = page.get_by_role("table", name="Facts").get_by_role("checkbox")
    expect(boxes).to_have_count(3)
    for box in boxes.all():
        box.check()
    return page.get_by_role("group", name="With those selected")


def test_a_change_of_many_ends_with_the_first_that_the_server_does_not_answer(page: Page) -> None:
    bar = _three_chosen(page, "attic")
    asked: list[str] = []

    def second_is_lost(route: Route) -> None:
        if route.request.method != "DELETE":
            return route.fallback()
        asked.append(route.request.url)
        return route.abort() if len(asked) > 1 else route.fallback()

    page.route("**/api/memory/facts/*", second_is_lost)
    bar.get_by_role("button", name="Forget").click()
    expect(
        page.get_by_text(re.compile(r"^1 fact forgotten\. Stopped, 2 left\. The server"))
    ).to_be_visible()
    expect(bar).to_contain_text("2 selected")
    assert len(asked) == 2


_SLOW_TO_FORGET = """
    const real = window.fetch;
    window.fetch = async (...given) => {
        const request = given[0] instanceof Request ? given[0] : new Request(...given);
        if (request.method === "DELETE") await new Promise((done) => setTimeout(done, 1500));
        return real(request);
    };
"""


def test_a_change_of_many_is_stopped_by_hand(page: Page) -> None:
    page.add_init_script(_SLOW_TO_FORGET)
    bar = _three_chosen(page, "loft")
    bar.get_by_role("button", name="Forget").click()
    expect(bar).to_contain_text("0 of 3")
    bar.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("1 fact forgotten. Stopped, 2 left.", exact=True)).to_be_visible()
    expect(bar).to_contain_text("2 selected")


def test_rules_and_episodes_are_chosen_as_facts_are(page: Page) -> None:
    for number in range(2):
        stored(page, "rules", content=f"Oil the hinge number {number} in spring")
        stored(page, "episodes", content=f"The hinge {number} squeaked", butler="home")
    page.goto("/memory/rules?q=hinge")
    rules = page.get_by_role("listitem").filter(has_text="Oil the hinge")
    expect(rules).to_have_count(2)
    for rule in rules.all():
        rule.get_by_label("Select").check()
    page.get_by_role("button", name="Switch off", exact=True).first.click()
    expect(page.get_by_text("2 rules switched off.", exact=True)).to_be_visible()

    page.goto("/memory/episodes?q=hinge")
    episodes = page.get_by_role("tabpanel").get_by_role("listitem")
    expect(episodes).to_have_count(2)
    for episode in episodes.all():
        episode.get_by_label("Select").check()
    page.get_by_role("group").get_by_role("button", name="Forget").click()
    expect(page.get_by_text("2 episodes forgotten.", exact=True)).to_be_visible()
    expect(episodes).to_have_count(0)


def test_a_view_is_saved_chosen_and_deleted(page: Page) -> None:
    page.goto("/memory/facts")
    expect(page.get_by_role("table", name="Facts")).to_be_visible()
    expect(page.get_by_role("button", name="Save this view")).to_have_count(0)
    page.get_by_label("Permanence").select_option("stable")
    page.get_by_label("Order").select_option("confidence")
    page.get_by_role("button", name="Save this view").click()
    page.get_by_label("Name of this view").fill("Stable ones")
    page.keyboard.press("Enter")
    views = page.get_by_label("Saved views")
    expect(views).to_have_value("Stable ones")

    page.goto("/memory/facts")
    expect(views).to_have_value("")
    views.select_option("Stable ones")
    expect(page).to_have_url(re.compile(r"permanence=stable"))
    expect(page).to_have_url(re.compile(r"sort=confidence"))
    expect(page.get_by_label("Permanence")).to_have_value("stable")
    # Another view does not take the name unseen.
    page.get_by_label("Order").select_option("")
    page.get_by_role("button", name="Save this view").click()
    page.get_by_label("Name of this view").fill("Stable ones")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_have_text("There is a view of this name.")
    page.keyboard.press("Escape")
    # Another tenant that signs in with this browser has views of its own.
    kept = page.evaluate("Object.keys(localStorage).filter((one) => one.startsWith('views-'))")
    assert kept == ["views-default-facts"]
    views.select_option("Stable ones")
    page.get_by_role("button", name="Delete the view Stable ones").click()
    expect(views).to_have_count(0)
    page.goto("/memory/rules")
    expect(page.get_by_role("heading", level=1, name="Rules")).to_be_visible()
    expect(views).to_have_count(0)


@pytest.mark.requirement("DASH-18")
def test_an_event_of_the_timeline_is_undone_once_one_has_seen_what_that_does(page: Page) -> None:
    for content in ("The boiler is old", "The boiler is new"):
        stored(page, "facts", subject="boiler", predicate="age", content=content)
    page.goto("/memory/timeline?kind=fact_created")
    lines = page.get_by_role("main").get_by_role("listitem")
    newest, older = (lines.filter(has_text=f"The boiler is {one}") for one in ("new", "old"))

    # What something later rests on leads there first.
    older.get_by_role("button", name="Undo: fact created").click()
    dialog = page.get_by_role("dialog", name="Undo this change?")
    expect(dialog.get_by_role("alert")).to_contain_text("Undo that first")
    expect(dialog.get_by_role("button", name="Undo it")).to_have_count(0)
    dialog.get_by_role("button", name="Cancel").click()

    # What was asked for comes back once what stood in its way is undone; no refusal is told.
    older.get_by_role("button", name="Undo: fact created").click()
    dialog.get_by_role("button", name="Look at that").first.click()
    dialog.get_by_role("button", name="Undo it").click()
    expect(page.get_by_text("Undone: 1 removed, 1 restored.", exact=True)).to_be_visible()
    expect(dialog.get_by_role("listitem").filter(has_text="removed")).to_contain_text("is old")
    expect(dialog.get_by_role("alert")).to_have_count(0)
    dialog.get_by_role("button", name="Cancel").click()
    stored(page, "facts", subject="boiler", predicate="age", content="The boiler is new")
    page.reload()

    newest.first.get_by_role("button", name="Undo: fact created").click()
    expect(dialog.get_by_role("listitem").filter(has_text="removed")).to_contain_text("is new")
    expect(dialog.get_by_role("listitem").filter(has_text="restored")).to_contain_text("is old")
    dialog.get_by_role("button", name="Undo it").click()
    expect(page.get_by_text("Undone: 1 removed, 1 restored.", exact=True)).to_be_visible()
    page.goto("/memory/facts?subject=boiler")
    expect(_rows(page, "The boiler is old")).to_have_count(1)
    expect(_rows(page, "The boiler is new")).to_have_count(0)
