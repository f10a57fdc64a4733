"""Every page in a real browser: it shows, is quiet, asks nobody else, and shuts nobody out."""

import itertools
import re
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from dashboard.accessibility import DARK, violations_but_of_contrast, violations_in_both_themes
from dashboard.asking import read
from dashboard.browser import DESKTOP, PHONE, SMALL_PHONE, window
from dashboard.pages import BETWEEN, PAGES, PageShown, visit
from dashboard.tab import Tab


@pytest.fixture(scope="module")
def url(read_only_url: str) -> str:
    """These tests only read."""
    return read_only_url


# Of a select: the room between its edges and its arrow, and what the longest of its choices takes.
_SHOWN = """select => {
  const { paddingLeft, paddingRight } = getComputedStyle(select);
  return select.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
}"""
_NEEDED = """select => {
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = getComputedStyle(select).font;
  return Math.max(...[...select.options].map((one) => pen.measureText(one.label).width));
}"""
# Whether an empty search box shows all of its placeholder.
_SHOWS_ITS_HINT = """box => {
  box.value = box.placeholder;
  return box.scrollWidth <= box.clientWidth;
}"""


def test_a_walk_through_every_page(tab: Tab, read_only_url: str) -> None:
    """One visit to all: quiet, asking nobody else, accessible but for contrast, fit for a phone."""
    page, wrong, last = tab.page, [], ""
    for number, shown in enumerate(PAGES):
        for one in (BETWEEN, shown) if shown.heading == last else (shown,):
            visit(page, one.path)
            expect(page.get_by_role("heading", level=1, name=one.heading)).to_be_visible()
        expect(page.get_by_role("status", name="Loading")).to_have_count(0)
        looks = (_at_a_desk, _on_a_phone)
        # A page begins at the width where the last one ended: each is laid out anew but once.
        for look in looks[:: -1 if number % 2 else 1]:
            wrong += [(shown.name, one) for one in look(page)]
        last = shown.heading
    assert wrong == []
    assert [one for one in tab.asked if not one.startswith(f"{read_only_url}/")] == []
    assert tab.complaints == []


def _at_a_desk(page: Page) -> list[str]:
    """What axe finds wrong besides contrast."""
    page.set_viewport_size({"width": DESKTOP[0], "height": DESKTOP[1]})
    return violations_but_of_contrast(page)


def _on_a_phone(page: Page) -> list[str]:
    """How wide the page is, where it is wider than a small phone."""
    page.set_viewport_size({"width": SMALL_PHONE[0], "height": SMALL_PHONE[1]})
    wide = page.evaluate("document.documentElement.scrollWidth")
    return [f"{wide} wide"] if wide > SMALL_PHONE[0] else []


@pytest.mark.nightly
@pytest.mark.parametrize("shown", PAGES, ids=[one.name for one in PAGES])
def test_every_page(tab: Tab, read_only_url: str, shown: PageShown) -> None:
    """One visit: light, quiet, asking nobody else, accessible in both themes, fit for a phone."""
    page = tab.page
    page.goto(shown.path)
    expect(page.get_by_role("heading", level=1, name=shown.heading)).to_be_visible()
    expect(page.get_by_role("status", name="Loading")).to_have_count(0)
    assert tab.asked
    assert [one for one in tab.asked if not one.startswith(f"{read_only_url}/")] == []
    assert tab.complaints == []

    assert violations_in_both_themes(page) == []

    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
    # As bench/dashboard.py measures it: what came over the wire, headers and answers included.
    assert 100_000 < sum(tab.received) < 200_000


@pytest.mark.nightly
def test_a_sweep_is_told_in_figures_with_their_names(tab: Tab) -> None:
    tab.page.goto("/memory/timeline?kind=decay_sweep_completed")
    told = tab.page.get_by_text(re.compile("facts evaluated")).first
    expect(told).to_have_text(re.compile(r"facts fade: \d+, .*facts evaluated: \d+"))


# These two never have the same date.
@pytest.mark.nightly
@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Pacific/Pago_Pago"])
def test_the_days_of_a_chart_are_those_of_the_reader(
    browser: Browser, read_only_url: str, zone: str
) -> None:
    with window(browser, read_only_url, time_zone=zone) as context:
        page = context.new_page()
        page.goto("/memory")
        newest = page.get_by_role("table").get_by_role("row").last.get_by_role("rowheader")
        expect(newest).to_have_text(f"{datetime.now(ZoneInfo(zone)):%-d %b}")


@pytest.mark.nightly
@pytest.mark.parametrize("width", [PHONE[0], 1280])
def test_search_boxes_show_what_they_are_for(tab: Tab, width: int) -> None:
    page = tab.page
    page.set_viewport_size({"width": width, "height": 832})
    for path in ("/memory", "/memory/facts", "/memory/rules", "/memory/entities", "/journal"):
        page.goto(path)
        boxes = page.get_by_role("main").get_by_role("searchbox")
        expect(boxes.first).to_be_visible()
        for box in boxes.all():
            assert box.evaluate(_SHOWS_ITS_HINT), (path, box.get_attribute("placeholder"))


@pytest.mark.nightly
def test_a_form_shows_the_choices_of_its_select_in_full(tab: Tab) -> None:
    page = tab.page
    page.goto("/memory/facts")
    page.get_by_role("button", name="Add a fact").click()
    select = page.get_by_role("dialog").get_by_label("Permanence")
    for width in (1280, PHONE[0]):
        page.set_viewport_size({"width": width, "height": 832})
        assert select.evaluate(_SHOWN) >= select.evaluate(_NEEDED)


@pytest.mark.nightly
def test_how_a_name_matched_is_on_one_line_on_a_phone(tab: Tab) -> None:
    page = tab.page
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    page.goto("/memory/entities?show=resolve&name=tavares&fuzzy=yes")
    told = page.get_by_text("Part of a name or alias")
    expect(told).to_have_count(2)
    for one in told.all():
        assert one.evaluate(
            "one => one.offsetHeight < 2 * parseFloat(getComputedStyle(one).fontSize)"
        )


@pytest.mark.nightly
@pytest.mark.parametrize("width", [768, 1024])
def test_what_one_reads_has_most_of_the_room_on_a_tablet(tab: Tab, width: int) -> None:
    page = tab.page
    page.set_viewport_size({"width": width, "height": 1024})
    for path, said in (
        ("/memory/facts", page.get_by_role("table").get_by_text("Takes calls after six")),
        ("/memory/timeline", page.get_by_role("main").locator("li p").first),
    ):
        page.goto(path)
        expect(said).to_be_visible()
        assert said.evaluate("node => node.clientWidth") > 300
    page.goto("/journal?tab=fragments")
    name = page.get_by_role("group", name="Fragments and their links").locator("text").first
    expect(name).to_be_visible()
    place = name.bounding_box()
    assert place is not None
    assert place["height"] >= 10


@pytest.mark.requirement("DASH-10", "DASH-12", "DASH-13")
def test_the_overview_shows_what_the_figures_say_and_what_happened(page: Page) -> None:
    page.goto("/memory")
    stats = page.request.get("/api/memory/stats").json()
    facts = page.get_by_role("region", name="Active facts")
    held = stats["facts"]["active"] + stats["facts"]["fading"]
    expect(facts).to_contain_text(f"Active facts{held}")
    for level, number in stats["facts"]["by_permanence"].items():
        expect(facts.get_by_role("listitem").filter(has_text=level)).to_have_text(
            re.compile(rf"{level}\s*{number}$")
        )
    rules = page.get_by_role("region", name="Rules", exact=True)
    expect(rules.get_by_role("listitem").filter(has_text="proven")).to_contain_text(
        str(stats["rules"]["proven"])
    )
    expect(page.get_by_role("region", name="Fading facts")).to_contain_text(
        str(stats["facts"]["fading"])
    )
    expect(page.get_by_role("region", name="Backlog")).to_contain_text(
        str(stats["episodes"]["unconsolidated"])
    )
    chart = page.get_by_role("img", name=re.compile("Active facts by effective confidence"))
    expect(chart).to_be_visible()
    expect(page.get_by_role("img", name=re.compile("Applied rules"))).to_be_visible()

    # Newest first.
    feed = page.get_by_role("region", name="Activity")
    told = page.request.get("/api/memory/activity?limit=12").json()["items"]
    expect(feed.get_by_role("listitem")).to_have_count(len(told))
    moments = feed.locator("time")
    assert [one.get_attribute("datetime") for one in moments.all()] == [
        one["created_at"] for one in told
    ]
    assert moments.first.get_attribute("title")


@pytest.mark.nightly
def test_the_cards_lead_to_what_they_count(page: Page) -> None:
    page.goto("/memory")
    kept = page.request.get("/api/memory/stats").json()["episodes"]["total"]
    card = page.get_by_role("region", name="Episodes", exact=True)
    expect(card).to_contain_text(f"Episodes{kept}")
    active, expired = re.findall(r"\d+", card.get_by_text("expired").locator("..").inner_text())
    assert int(active) + int(expired) == kept
    card.get_by_role("link", name="expired").click()
    expect(page.get_by_role("tab", name="Expired")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_text(f"{expired} episodes", exact=True)).to_be_visible()
    page.get_by_role("tab", name="All").click()
    expect(page.get_by_text(f"{active} episodes", exact=True)).to_be_visible()
    page.go_back()
    expect(page.get_by_text(f"{expired} episodes", exact=True)).to_be_visible()
    page.go_back()
    page.get_by_role("link", name="Fading facts").click()
    expect(page).to_have_url(re.compile("show=fading"))


@pytest.mark.nightly
def test_what_is_not_there_says_so_and_leaves_the_rest_as_it_is(page: Page) -> None:
    missing = "00000000-0000-0000-0000-000000000000"
    page.goto(f"/memory/facts?permanence=stable&open=rule:{missing}")
    drawer = page.get_by_role("dialog")
    expect(drawer.get_by_role("heading", name="There is no such rule")).to_be_visible()
    expect(page.get_by_role("table", name="Facts").get_by_role("row").nth(1)).to_be_visible()
    drawer.get_by_role("button", name="Close").click()
    expect(drawer).to_have_count(0)

    page.goto("/butlers/nobody")
    expect(page.get_by_role("heading", level=1, name="Not found")).to_be_visible()
    expect(page.get_by_text("no butler named 'nobody'")).to_be_visible()
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Butlers").click()
    expect(page.get_by_role("heading", level=1, name="Butlers")).to_be_visible()


@pytest.mark.nightly
@pytest.mark.parametrize(
    "address",
    [
        "/memory/facts?permanence=eternal&min_confidence=7&entity=Ana&open=fact:1",
        "/memory/episodes?from=2026-99-99&show=nothing",
        "/memory/timeline?kind=unheard_of&utm_source=letter",
    ],
)
def test_what_an_address_says_that_means_nothing_is_passed_over(page: Page, address: str) -> None:
    page.goto(address)
    expect(page.get_by_role("main").get_by_role("status").first).to_have_text(
        re.compile(r"^\d+ (facts|episodes|events)$")
    )
    expect(page).to_have_url(re.compile(rf"{address.partition('?')[0]}$"))


@pytest.mark.requirement("DASH-11")
def test_one_search_over_everything_with_filters_in_the_address(page: Page) -> None:
    page.goto("/memory")
    page.get_by_label("Search everything").fill("where do they live")
    expect(page.get_by_text("Moved to Porto")).to_be_visible()
    page.get_by_label("Type").select_option("rule")
    expect(page.get_by_text("Moved to Porto")).to_have_count(0)
    page.get_by_label("Type").select_option("fact")
    page.get_by_label("Permanence").select_option("stable")
    expect(page).to_have_url(re.compile(r"q=where\+do\+they\+live.*type=fact.*permanence=stable"))
    expect(page.get_by_text("Moved to Porto")).to_be_visible()
    page.reload()
    expect(page.get_by_label("Search everything")).to_have_value("where do they live")
    expect(page.get_by_label("Permanence")).to_have_value("stable")
    expect(page.get_by_text("Moved to Porto")).to_be_visible()

    # Facts, rules and episodes are weighed together.
    visit(page, "/memory?q=When+does+the+family+have+dinner")
    found = page.get_by_role("main").get_by_role("listitem")
    expect(found.nth(0)).to_contain_text("Has dinner at half past seven")
    # By ranks a rule that hardly bears on it would come between the two.
    expect(found.nth(1)).to_contain_text("Cooks something new for dinner")
    expect(found.nth(0).locator("mark")).to_have_text("dinner")


@pytest.mark.nightly
def test_a_list_is_printed_whole_on_white_paper(tab: Tab) -> None:
    page = tab.page
    page.emulate_media(color_scheme="dark")
    page.goto("/memory/facts")
    rows = page.get_by_role("table", name="Facts").get_by_role("row")
    expect(rows.nth(1)).to_be_visible()
    total = read(page, "/api/memory/facts")["total"]
    assert rows.count() < total + 1  # with the header

    page.emulate_media(color_scheme="dark", media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert rows.count() == total + 1
    edges = rows.evaluate_all(
        "all => all.map((one) => one.getBoundingClientRect()).map((box) => [box.top, box.bottom])"
    )
    assert all(above[1] <= below[0] + 1 for above, below in itertools.pairwise(edges))
    expect(page.get_by_role("navigation", name="Pages")).to_be_hidden()
    expect(page.locator("body")).to_have_css("background-color", "rgb(247, 247, 248)")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")
    assert rows.count() < total + 1


@pytest.mark.nightly
def test_rows_of_an_earlier_question_are_dimmed(page: Page) -> None:
    page.goto("/memory/facts")
    table = page.get_by_role("table", name="Facts")
    expect(table).to_have_attribute("aria-busy", "false")
    held: list[Route] = []
    page.route("**/api/memory/facts?*", lambda route: held.append(route))
    page.get_by_label("Subject").fill("Ana")
    expect(table).to_have_attribute("aria-busy", "true")
    expect(table).to_have_css("opacity", "0.5")
    for one in held:
        one.continue_()
    expect(table).to_have_attribute("aria-busy", "false")


@pytest.mark.requirement("DASH-06")
def test_facts_are_filtered_and_the_view_survives_back_and_reload(page: Page) -> None:
    page.goto("/memory/facts")
    rows = page.get_by_role("table", name="Facts").get_by_role("row")
    expect(rows.first).to_be_visible()
    page.get_by_label("Subject").fill("Ana")
    expect(page.get_by_role("status").filter(has_text="facts")).to_be_visible()
    expect(page).to_have_url(re.compile("subject=Ana"))
    page.get_by_label("Permanence").select_option("permanent")
    expect(page.get_by_text("Ana's birthday is on 14 March")).to_be_visible()
    expect(page.get_by_text("1 fact", exact=True)).to_be_visible()
    page.get_by_text("Ana's birthday is on 14 March").click()
    drawer = page.get_by_role("dialog")
    expect(drawer).to_contain_text("never fades")
    page.reload()
    expect(drawer).to_contain_text("never fades")
    page.go_back()
    expect(drawer).to_have_count(0)
    expect(page.get_by_text("1 fact", exact=True)).to_be_visible()
    page.get_by_label("Confidence", exact=True).select_option("0.8")
    page.get_by_label("Source butler").fill("nobody")
    expect(page.get_by_text("No fact fits these filters")).to_be_visible()
    page.get_by_role("button", name="Clear the filters").click()
    expect(rows.nth(5)).to_be_visible()


@pytest.mark.requirement("DASH-03", "DASH-15")
def test_what_no_longer_holds_is_in_the_archive_alone(page: Page) -> None:
    page.goto("/memory/facts")
    table = page.get_by_role("table", name="Facts")
    expect(table.get_by_text("fading").first).to_be_visible()
    expect(table.get_by_text("expired", exact=True)).to_have_count(0)
    expect(table.get_by_text("superseded", exact=True)).to_have_count(0)
    page.get_by_role("tab", name="Archive").click()
    sought = page.get_by_label("Search these facts")
    sought.fill("Parked on level")
    expect(table.get_by_text("expired", exact=True).first).to_be_visible()
    sought.fill("Lives in Lisbon")
    replaced = table.get_by_role("row").filter(has_text="Lives in Lisbon, near Graça")
    expect(replaced.get_by_text("Lives in Lisbon")).to_have_css(
        "text-decoration-line", "line-through"
    )
    replaced.get_by_role("link", name="what replaced it").click()
    expect(page.get_by_role("dialog")).to_contain_text("Moved to Porto, Rua do Almada")


@pytest.mark.requirement("DASH-19")
def test_by_keyboard_a_fact_opens_and_the_palette_finds_memories_and_pages(page: Page) -> None:
    page.goto("/memory/facts")
    rows = page.get_by_role("table", name="Facts").get_by_role("row")
    rows.nth(1).focus()
    page.keyboard.press("ArrowDown")
    expect(rows.nth(2)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(rows.nth(2)).to_be_focused()
    page.keyboard.press("g")
    page.keyboard.press("o")
    expect(page).to_have_url(re.compile("/memory$"))
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)

    page.keyboard.press("Control+k")
    box = page.get_by_placeholder("Search facts, rules, episodes, entities and pages")
    box.fill("Berlin")
    options = page.get_by_role("option")
    expect(options.filter(has_text="Flies to Berlin in two weeks")).to_be_visible()
    expect(options.filter(has_text="Checked in for the flight to Berlin")).to_be_visible()
    box.fill("restaurant")
    expect(options.filter(has_text="Ask about allergies")).to_be_visible()
    box.fill("rui tav")
    expect(options.filter(has_text="Rui Tavares")).to_be_visible()
    box.fill("facts")
    # Pages come before memories: down and Enter is enough.
    expect(options.nth(1)).to_have_text("Facts")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/memory/facts$"))


_ENDLESS = """document.getAnimations().filter(
    (one) => one.effect.getComputedTiming().endTime === Infinity).length"""


@pytest.mark.nightly
def test_nothing_moves_for_long_where_little_motion_is_asked_for(page: Page) -> None:
    held: list[Route] = []
    page.route("**/api/memory/facts?*", lambda route: held.append(route))
    page.goto("/memory/facts")
    expect(page.get_by_role("status", name="Loading")).to_be_visible()
    assert page.evaluate(_ENDLESS) == 0
    assert held


@pytest.mark.nightly
def test_no_key_is_lost_while_the_palette_loads(page: Page) -> None:
    held: list[Route] = []
    page.route("**/assets/Palette-*.js", lambda route: held.append(route))
    page.goto("/memory")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.keyboard.press("Control+k")
    page.keyboard.type("grinder")
    expect(page).to_have_url(re.compile("/memory$"))
    assert len(held) == 1
    held[0].continue_()
    box = page.get_by_placeholder("Search facts, rules, episodes, entities and pages")
    expect(box).to_have_value("grinder")
    page.keyboard.type("s")
    expect(box).to_have_value("grinders")


@pytest.mark.nightly
def test_no_key_is_lost_right_after_the_palette_was_asked_for(page: Page) -> None:
    page.goto("/memory")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.keyboard.press("Control+k")
    page.keyboard.type("where do they live")
    box = page.get_by_placeholder("Search facts, rules, episodes, entities and pages")
    expect(box).to_have_value("where do they live")


@pytest.mark.nightly
def test_a_header_orders_the_facts_and_gives_the_order_back(page: Page) -> None:
    page.goto("/memory/facts")
    table = page.get_by_role("table", name="Facts")
    header = table.get_by_role("columnheader", name="Confidence")
    header.get_by_role("button").click()
    expect(header).to_have_attribute("aria-sort", "descending")
    expect(page).to_have_url(re.compile("sort=confidence"))
    expect(page.get_by_label("Order")).to_have_value("confidence")
    best = page.request.get("/api/memory/facts?sort=confidence&limit=1").json()["items"][0]
    expect(table.get_by_role("row").nth(1)).to_contain_text(best["content"])
    header.get_by_role("button").click()
    expect(page).to_have_url(re.compile("/memory/facts$"))


@pytest.mark.nightly
def test_links_of_the_timeline_name_both_ends(page: Page) -> None:
    page.goto("/memory/timeline")
    link = page.get_by_role("listitem").filter(has_text="link created").first
    expect(link).to_contain_text("→ supports →")
    links = page.get_by_role("main").get_by_role("listitem").filter(has_text="→ supports →")
    expect(links).to_have_count(1)  # eight made together say little one by one
    page.get_by_role("button", name="Show 7 more links").click()
    expect(links).to_have_count(8)


@pytest.mark.nightly
def test_the_timeline_says_who_replaced_what_by_what(page: Page) -> None:
    page.goto("/memory/timeline?kind=fact_superseded")
    event = read(page, "/api/memory/events?kind=fact_superseded&limit=1")["items"][0]
    line = page.get_by_role("main").get_by_role("listitem").first
    expect(line.get_by_role("deletion")).to_have_text(event["before"])
    expect(line).to_contain_text(f"by {event['actor']}")
    line.get_by_role("link", name=event["after"]).click()
    expect(page).to_have_url(re.compile(event["payload"]["superseded_by"]))


@pytest.mark.nightly
def test_a_search_folds_what_hardly_bears_on_it(page: Page) -> None:
    page.goto("/memory?q=Flight+to+Berlin")
    good = page.get_by_text("Flies to Berlin in two weeks")
    expect(good).to_be_visible()
    page.goto("/memory?q=Explain+quicksort")
    expect(page.get_by_text("No good match")).to_be_visible()
    results = page.get_by_role("main").get_by_role("listitem")
    expect(results).to_have_count(3)
    page.get_by_text(re.compile(r"^\d+ weaker matches$")).click()
    expect(results.nth(3)).to_be_visible()


@pytest.mark.nightly
def test_a_chosen_theme_stays(page: Page) -> None:
    page.goto("/memory")
    toggle = page.get_by_role("button", name=re.compile("^Theme"))
    toggle.click()
    toggle.click()
    ground = page.locator("body")
    expect(ground).to_have_css("background-color", DARK)
    # The window asks for little motion; a browser begins what a change of style moves at once.
    assert page.evaluate("document.getAnimations().length") == 0
    page.reload()
    expect(ground).to_have_css("background-color", DARK)
