"""What one does every day: with many at once, with views that one comes back to, and back again."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest
from playwright.sync_api import Dialog, Error, Locator, Page, Route, expect

from dashboard.asking import read, sent, stored
from dashboard.overlays import unmask
from long_profile import by_day


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


@pytest.mark.nightly
def test_what_was_selected_is_not_kept_for_another_view(page: Page) -> None:
    stored(page, "facts", subject="cellar", predicate="wine", content="Twelve bottles of red")
    page.goto("/memory/facts?subject=cellar")
    _rows(page, "bottles").get_by_label("Select").check()
    expect(page.get_by_role("group", name="With those selected")).to_be_visible()
    page.get_by_label("Order").select_option("confidence")
    expect(page.get_by_role("group", name="With those selected")).to_have_count(0)
    expect(_rows(page, "bottles").get_by_label("Select")).not_to_be_checked()


@pytest.mark.nightly
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


@pytest.mark.nightly
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


@pytest.mark.nightly
def test_a_change_of_many_is_stopped_by_hand(new_page: Page) -> None:
    new_page.add_init_script(_SLOW_TO_FORGET)
    bar = _three_chosen(new_page, "loft")
    bar.get_by_role("button", name="Forget").click()
    expect(bar).to_contain_text("0 of 3")
    bar.get_by_role("button", name="Stop").click()
    expect(new_page.get_by_text("1 fact forgotten. Stopped, 2 left.", exact=True)).to_be_visible()
    expect(bar).to_contain_text("2 selected")


@pytest.mark.nightly
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
    # What was undone says so, and cannot be once more.
    undone = lines.filter(has=page.get_by_text("undone", exact=True))
    expect(undone).to_have_count(2)
    expect(undone.get_by_role("button", name="Undo")).to_have_count(0)
    page.goto("/memory/facts?subject=boiler")
    expect(_rows(page, "The boiler is old")).to_have_count(1)
    expect(_rows(page, "The boiler is new")).to_have_count(0)


@contextmanager
def _nothing_read(page: Page) -> Iterator[None]:
    """What the page reads waits until the block's end; what it changes does not."""
    held: list[Route] = []

    def hold(route: Route) -> None:
        if route.request.method == "GET":
            held.append(route)
        else:
            route.continue_()

    page.route("**/api/memory/**", hold)
    yield
    page.unroute("**/api/memory/**", hold)
    for route in held:
        with suppress(Error):  # what the page asked for anew meanwhile, it took back
            route.continue_()


@pytest.mark.nightly
def test_a_form_closes_although_its_change_is_undone_before_the_page_is_read_anew(
    page: Page,
) -> None:
    hoe = stored(page, "rules", content="Clean the hoe before winter")
    page.goto(f"/memory/rules?open=rule:{hoe}")
    drawer = page.get_by_role("dialog")
    drawer.get_by_role("button", name="Edit").click()
    drawer.get_by_label("Rule", exact=True).fill("Clean the hoe after winter")
    with _nothing_read(page):
        drawer.get_by_role("button", name="Save").click()
        page.get_by_role("button", name="Undo", exact=True).click()
        expect(page.get_by_text("As it was before: candidate.", exact=True)).to_be_visible()
    expect(drawer.get_by_role("button", name="Edit")).to_be_visible()
    expect(drawer.get_by_role("heading", level=2)).to_have_text("Clean the hoe before winter")

    oak = stored(page, "entities", canonical_name="Oak Nursery", entity_type="organization")
    page.goto(f"/memory/entities?open=entity:{oak}")
    drawer.get_by_role("button", name="Edit").click()
    drawer.get_by_label("Name", exact=True).fill("Elm Nursery")
    with _nothing_read(page):
        drawer.get_by_role("button", name="Save").click()
        with page.expect_response(lambda answer: answer.request.method == "PATCH"):
            page.get_by_role("button", name="Undo", exact=True).click()
    expect(drawer.get_by_role("button", name="Edit")).to_be_visible()
    expect(drawer.get_by_role("heading", level=2)).to_have_text("Oak Nursery")


@pytest.mark.nightly
def test_an_undo_that_is_refused_says_so_although_the_form_is_gone(page: Page) -> None:
    rake = stored(page, "rules", content="Lend the rake to Elm Street")
    page.goto(f"/memory/rules?open=rule:{rake}")
    drawer = page.get_by_role("dialog")
    drawer.get_by_role("button", name="Edit").click()
    drawer.get_by_label("Rule", exact=True).fill("Lend the rake to nobody")
    drawer.get_by_role("button", name="Save").click()
    expect(drawer.get_by_role("button", name="Edit")).to_be_visible()
    sent(page, "PUT", f"/api/memory/rules/{rake}", content="Lend the rake to everybody")
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(page.get_by_text("was changed by somebody else meanwhile").first).to_be_visible()
    assert read(page, f"/api/memory/rules/{rake}")["rule"]["content"].endswith("everybody")


@pytest.mark.nightly
def test_a_double_click_takes_back_one_change(page: Page) -> None:
    """Its second click meets the toast that moved to where the first one was."""
    ids = [
        stored(page, "facts", subject="bench", predicate=f"leg {number}", content=f"Leg {number}")
        for number in range(2)
    ]
    drawer = page.get_by_role("dialog")
    page.goto(f"/memory/facts?subject=bench&open=fact:{ids[0]}")
    drawer.get_by_role("button", name="Forget").click()
    expect(drawer.get_by_role("button", name="Restore")).to_be_visible()
    _rows(page, "Leg 1").get_by_text("Leg 1", exact=True).click()
    expect(drawer.get_by_role("heading", level=2)).to_have_text("Leg 1")
    drawer.get_by_role("button", name="Forget").click()
    undo = page.get_by_role("button", name="Undo", exact=True)
    expect(undo).to_have_count(2)
    undo.last.dblclick()
    expect(page.get_by_text("The fact is back.", exact=True)).to_be_visible()
    expect(_rows(page, "Leg")).to_have_count(1)
    states = [read(page, f"/api/memory/facts/{id}")["fact"]["validity"] for id in ids]
    assert states == ["retracted", "active"]


@pytest.mark.nightly
def test_an_undo_leaves_the_drawer_of_another_fact_as_it_is(page: Page) -> None:
    first, second = (
        stored(page, "facts", subject="fence", predicate=f"post {number}", content=f"Post {number}")
        for number in range(2)
    )
    drawer = page.get_by_role("dialog")
    page.goto(f"/memory/facts?subject=fence&open=fact:{first}")
    drawer.get_by_role("button", name="Edit").click()
    drawer.get_by_label("Fact", exact=True).fill("Post of oak")
    drawer.get_by_role("button", name="Save").click()
    expect(drawer.get_by_role("heading", level=2)).to_have_text("Post of oak")
    _rows(page, "Post 1").get_by_text("Post 1", exact=True).click()
    drawer.get_by_role("button", name="Edit").click()
    drawer.get_by_label("Fact", exact=True).fill("Half typed")
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(page.get_by_text("Edit undone.", exact=True)).to_be_visible()
    expect(_rows(page, "Post 0")).to_have_count(1)
    expect(drawer.get_by_label("Fact", exact=True)).to_have_value("Half typed")
    expect(page).to_have_url(re.compile(f"open=fact:{second}"))


@pytest.mark.nightly
def test_a_click_beside_a_form_does_not_discard_what_was_typed(page: Page) -> None:
    page.goto("/memory/facts")
    page.get_by_role("button", name="Add a fact").click()
    dialog = page.get_by_role("dialog", name="Add a fact")
    dialog.get_by_label("Fact", exact=True).fill("Half typed")
    page.mouse.click(5, 400)
    expect(dialog.get_by_label("Fact", exact=True)).to_have_value("Half typed")


def _add_a_fact(page: Page) -> Locator:
    page.goto("/memory/facts")
    page.get_by_role("button", name="Add a fact").click()
    return page.get_by_role("dialog").get_by_label("Fact", exact=True)


def _edit_a_fact(page: Page) -> Locator:
    moss = stored(page, "facts", subject="moss", predicate="color", content="The moss is green")
    page.goto(f"/memory/facts?open=fact:{moss}")
    page.get_by_role("dialog").get_by_role("button", name="Edit").click()
    return page.get_by_role("dialog").get_by_label("Fact", exact=True)


def _make_a_token(page: Page) -> Locator:
    page.goto("/tokens")
    page.get_by_role("button", name="New token").click()
    return page.get_by_role("dialog").get_by_label("Name")


def _unmask(page: Page) -> Locator:
    unmask(page)
    return page.get_by_role("dialog").get_by_label("Key")


def _correct_what_is_on_its_mind(page: Page) -> Locator:
    page.goto("/journal?tab=mind")
    page.get_by_role("button", name=re.compile("^Edit: ")).first.click()
    return page.get_by_role("textbox", name=re.compile("^New text of "))


@pytest.mark.parametrize(
    "open_form",
    by_day(
        (_add_a_fact, _edit_a_fact, _make_a_token, _unmask, _correct_what_is_on_its_mind),
        _edit_a_fact,
    ),
)
def test_no_form_discards_what_was_typed_unasked(
    page: Page, open_form: Callable[[Page], Locator]
) -> None:
    typed = open_form(page)
    typed.fill("Half typed")
    cancel = page.get_by_role("button", name="Cancel")
    leaving: tuple[Callable[[], None], ...] = (lambda: typed.press("Escape"), cancel.click)
    for leave in leaving:
        with page.expect_event("dialog") as asked:
            page.once("dialog", lambda dialog: dialog.dismiss())
            leave()
        assert asked.value.message == "Discard what you have typed?"
        expect(typed).to_have_value("Half typed")
    page.once("dialog", lambda dialog: dialog.accept())
    cancel.click()
    expect(typed).to_have_count(0)


@pytest.mark.nightly
def test_back_does_not_discard_a_new_fact_unasked(page: Page) -> None:
    page.goto("/memory/facts")
    page.get_by_role("tab", name="Archive").click()
    typed = page.get_by_role("dialog").get_by_label("Fact", exact=True)
    page.get_by_role("button", name="Add a fact").click()
    typed.fill("Half typed")
    page.once("dialog", lambda dialog: dialog.dismiss())
    page.go_back()
    expect(page).to_have_url(re.compile("add=yes"))
    expect(typed).to_have_value("Half typed")
    page.once("dialog", lambda dialog: dialog.accept())
    page.go_back()
    expect(typed).to_have_count(0)


@pytest.mark.nightly
def test_what_is_being_saved_cannot_be_cancelled(page: Page) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    typed = _add_a_fact(page)
    typed.fill("The well is deep")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Predicate").fill("depth")
    page.route("**/api/memory/facts", hold)
    dialog.get_by_role("button", name="Add").click()
    expect(dialog.get_by_role("button", name="Cancel")).to_be_disabled()
    page.keyboard.press("Escape")
    expect(typed).to_have_value("The well is deep")
    held[0].continue_()
    page.unroute("**/api/memory/facts", hold)
    expect(dialog).to_have_count(0)


def test_what_is_typed_is_not_discarded_unasked(page: Page) -> None:
    asked: list[str] = []

    def refuse(dialog: Dialog) -> None:
        asked.append(dialog.message or dialog.type)
        dialog.dismiss()

    first, _ = (
        stored(page, "facts", subject="hedge", predicate=f"row {number}", content=f"Row {number}")
        for number in range(2)
    )
    page.goto("/memory/facts?subject=hedge")
    row = _rows(page, "Row 1").get_by_text("Row 1", exact=True)
    _rows(page, "Row 0").get_by_text("Row 0", exact=True).click()
    drawer = page.get_by_role("dialog")
    drawer.get_by_role("button", name="Edit").click()
    row.click()  # nothing is typed yet
    expect(drawer.get_by_role("heading", level=2)).to_have_text("Row 1")
    page.go_back()
    drawer.get_by_role("button", name="Edit").click()
    typed = drawer.get_by_label("Fact", exact=True)
    typed.fill("Half typed")
    page.on("dialog", refuse)
    page.get_by_label("Order").select_option("confidence")  # beside the drawer, which stays
    row.click()
    page.keyboard.press("Escape")
    page.get_by_role("link", name="Rules", exact=True).click()
    assert asked == ["Discard what you have typed?"] * 3
    expect(typed).to_have_value("Half typed")
    page.evaluate("location.reload()")
    page.wait_for_timeout(300)
    assert asked[3:] == ["beforeunload"]
    expect(typed).to_have_value("Half typed")

    drawer.get_by_role("button", name="Save").click()
    expect(drawer.get_by_role("heading", level=2)).to_have_text("Half typed")
    row.click()
    expect(drawer.get_by_role("heading", level=2)).to_have_text("Row 1")
    assert len(asked) == 4
    assert read(page, f"/api/memory/facts/{first}")["fact"]["validity"] == "superseded"
