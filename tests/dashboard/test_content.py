"""What memories say is text, whatever it says."""

import re
import urllib.parse
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from conftest import Template
from dashboard.asking import stored
from dashboard.browser import PHONE, window
from dashboard.conftest import COPY, execute

_TRAP = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"
_ARABIC = "شارع الورد ١٢، بورتو"
_LONG = "Be thorough. " * 4_800


@pytest.fixture(scope="module")
def traps(browser: Browser, url: str) -> dict[str, str]:
    """Content that would do harm where it is taken for anything but text, by what it would do."""
    with window(browser, url) as context:
        page = context.new_page()
        return {
            "episode": stored(page, "episodes", content=f"An episode with {_TRAP}", butler="home"),
            "markup": stored(page, "facts", subject="🧨 💥", predicate="trap", content=_TRAP),
            "arabic": stored(
                page, "facts", subject="عنوان", predicate="address", content=_ARABIC, tags=["سكن"]
            ),
            "long": stored(page, "rules", content=_LONG),
        }


@pytest.mark.usefixtures("traps")
def test_markup_emoji_right_to_left_and_huge_texts_are_shown_as_they_are(page: Page) -> None:
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.goto("/memory/facts")
    expect(page.get_by_text(_TRAP)).to_be_visible()
    expect(page.get_by_text("🧨 💥").first).to_be_visible()
    expect(page.get_by_text("شارع الورد")).to_be_visible()
    for sought in ("An episode with an image", "Be thorough"):
        page.goto(f"/memory?q={urllib.parse.quote_plus(sought)}")
        expect(page.get_by_role("status").filter(has_text="best first")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    expect(page.get_by_text("Be thorough.").first).to_be_visible()
    page.goto(f"/memory?q={urllib.parse.quote_plus('img onerror script')}")
    expect(page.get_by_text(f"An episode with {_TRAP}")).to_be_visible()
    assert page.locator("main img").count() == 0
    assert page.title() == "Overview · Memory Butler"
    assert [one for one in said if "verbose" not in one] == []


def test_the_policy_stops_what_the_page_would_not(page: Page) -> None:
    """Even where a line of ours set HTML: the browser refuses."""
    page.goto("/memory")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    refused = page.evaluate(
        """() => { try { document.body.innerHTML = "<b>x</b>"; return "" }
                  catch (error) { return error.message } }"""
    )
    assert re.search("TrustedHTML", refused)
    blocked = page.evaluate("fetch('http://127.0.0.1:1/').then(() => '', error => error.message)")
    assert "Content Security Policy" in blocked or blocked == "Failed to fetch"


@pytest.mark.nightly
def test_a_subject_without_spaces_stays_in_its_column(page: Page) -> None:
    long = "subject" * 40
    stored(page, "facts", subject=long, predicate="size", content="Is small")
    page.goto(f"/memory/facts?subject={long}")
    row = page.get_by_role("table", name="Facts").get_by_role("row").filter(has_text="Is small")
    subject, fact = row.get_by_text(long).first, row.get_by_text("Is small")
    said, begins = subject.bounding_box(), fact.bounding_box()
    assert said is not None
    assert begins is not None
    assert said["x"] + said["width"] <= begins["x"]
    # Nor does what is typed run under the button that clears it.
    typed = page.get_by_role("searchbox", name="Subject").bounding_box()
    clear = page.get_by_label("Clear the search").bounding_box()
    room = page.get_by_role("searchbox", name="Subject").evaluate(
        "node => parseFloat(getComputedStyle(node).paddingRight)"
    )
    assert typed is not None
    assert clear is not None
    assert typed["x"] + typed["width"] - room <= clear["x"]

    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    expect(row.get_by_text(long).first).to_be_hidden()
    table = page.get_by_role("table", name="Facts")
    assert table.evaluate("node => node.scrollWidth <= node.clientWidth")


def _open(page: Page, kind: str, id: str) -> Locator:
    page.goto(f"/memory/{kind}s?open={kind}:{id}")
    drawer = page.get_by_role("dialog")
    expect(drawer.get_by_role("region", name="Details")).to_be_visible()
    box = drawer.evaluate("node => [node.scrollWidth, node.clientWidth]")
    assert box[0] <= box[1]
    return drawer


@pytest.mark.nightly
def test_drawers_show_such_texts_as_they_are(page: Page, traps: dict[str, str]) -> None:
    for kind, name in (("fact", "markup"), ("episode", "episode")):
        drawer = _open(page, kind, traps[name])
        expect(drawer.get_by_role("heading", level=2)).to_contain_text(_TRAP)
        assert drawer.locator("img, script").count() == 0
    assert page.title() == "Episodes · Memory Butler"
    expect(_open(page, "fact", traps["markup"])).to_contain_text("🧨 💥")

    title = _open(page, "fact", traps["arabic"]).get_by_role("heading", level=2)
    expect(title).to_have_text(_ARABIC)
    # Each text begins where its own writing begins: at the right, for this one.
    assert title.evaluate(
        """node => { const range = document.createRange(); range.selectNodeContents(node);
                     return range.getBoundingClientRect().right
                         >= node.getBoundingClientRect().right - 2 }"""
    )


@pytest.mark.nightly
def test_a_name_without_spaces_is_never_wider_than_its_drawer_or_dialog(page: Page) -> None:
    long = "Donaudampfschifffahrt" * 9
    key = {"subject": "ship", "predicate": long}
    _open(page, "fact", stored(page, "facts", content="Sails on Sundays", **key))
    _open(page, "episode", stored(page, "episodes", content="It sailed", butler=long))
    named = stored(page, "entities", canonical_name=long, entity_type="organization")
    page.goto(f"/memory/entities?open=entity:{named}")
    page.get_by_role("dialog").get_by_role("button", name="Merge").click()
    dialog = page.get_by_role("dialog", name="Merge")
    expect(dialog.get_by_role("listitem").first).to_be_visible()
    assert dialog.evaluate("node => node.scrollWidth <= node.clientWidth")


@pytest.mark.nightly
def test_an_undo_of_a_long_word_says_in_full_what_it_does(page: Page) -> None:
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    stored(page, "facts", subject="ship", predicate="name", content="Donaudampfschifffahrt" * 9)
    page.goto("/memory/timeline")
    page.get_by_role("button", name="Undo").first.click()
    does = page.get_by_role("dialog").get_by_role("listitem").get_by_text("removed", exact=True)
    expect(does).to_be_visible()
    assert does.evaluate("node => node.scrollWidth <= node.clientWidth")


@pytest.mark.nightly
def test_a_rule_of_sixty_kilobytes_can_be_read_and_edited(
    page: Page, traps: dict[str, str]
) -> None:
    page.goto("/memory/rules?q=thorough")
    row = page.get_by_role("main").get_by_role("listitem").filter(has_text="Be thorough.")
    box = row.bounding_box()
    assert box is not None
    assert box["height"] < 120
    drawer = _open(page, "rule", traps["long"])
    text = drawer.get_by_role("region", name="In full")
    shown = len(text.inner_text())
    text.get_by_role("button", name="Show all").click()
    expect(text.get_by_role("button", name="Show less")).to_be_visible()
    assert len(text.inner_text()) > 48 * shown
    drawer.get_by_role("button", name="Edit").click()
    assert len(drawer.get_by_label("Rule", exact=True).input_value()) == len(_LONG)


# Signs are no words: a text of them is looked for row by row, and counted only so far.
_MANY = """
INSERT INTO facts (tenant_id, subject, predicate, content, validity, created_at, retired_at)
SELECT 'default', 'signs', 'sign ' || n, '-> ' || n, 'retracted', '2000-01-01', '2000-01-02'
FROM generate_series(1, 600) n
"""


@pytest.fixture
def many_signs(template: Template) -> Iterator[None]:
    """Six hundred forgotten facts of long ago, which no other test comes upon."""
    execute(template, COPY, _MANY)
    yield
    execute(template, COPY, "DELETE FROM facts WHERE subject = 'signs'")


@pytest.mark.nightly
@pytest.mark.usefixtures("many_signs")
def test_a_list_that_is_too_long_to_count_says_so_until_its_end(page: Page) -> None:
    page.goto("/memory/facts?show=archive&q=->")
    length = page.get_by_role("status").filter(has_text="facts")
    table = page.get_by_role("table", name="Facts")
    expect(length).to_have_text("at least 501 facts")
    expect(table).to_have_attribute("aria-rowcount", "-1")
    for _ in range(50):
        page.keyboard.press("End")
        if not length.inner_text().startswith("at least"):
            break
        page.wait_for_timeout(100)
    expect(length).to_have_text("600 facts")
    expect(table).to_have_attribute("aria-rowcount", "601")
