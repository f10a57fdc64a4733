"""The map of memory: what is drawn and listed, the way between two, the past, an empty memory."""

import re
from datetime import UTC, datetime, timedelta
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from dashboard.accessibility import violations_in_both_themes
from dashboard.asking import read
from dashboard.browser import PHONE


@pytest.fixture(scope="module")
def url(read_only_url: str) -> str:
    """These tests only read."""
    return read_only_url


def _settled(page: Page) -> None:
    page.wait_for_selector("canvas[data-state=settled]", timeout=30_000)


def _ids(page: Page) -> dict[str, str]:
    return {one["name"]: one["id"] for one in read(page, "/api/memory/map")["nodes"]}


# How many pixels of the canvas are not those of its ground.
_INK = """() => {
  const canvas = document.querySelector("canvas");
  const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  let found = 0;
  for (let at = 3; at < pixels.length; at += 4) if (pixels[at] > 60) found++;
  return found;
}"""
# Whether a pixel has about this colour.
_HAS = """([red, green, blue]) => {
  const canvas = document.querySelector("canvas");
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  for (let at = 0; at < data.length; at += 4)
    if (Math.abs(data[at] - red) < 8 && Math.abs(data[at + 1] - green) < 8
        && Math.abs(data[at + 2] - blue) < 8 && data[at + 3] > 250) return true;
  return false;
}"""
# Middles of squares of the canvas that are all ink, as the mouse counts: names and lines have none.
_SPOTS = """() => {
  const canvas = document.querySelector("canvas");
  const { width, height } = canvas, scale = devicePixelRatio;
  const pixels = canvas.getContext("2d").getImageData(0, 0, width, height).data;
  const isInk = (x, y) => pixels[4 * (y * width + x) + 3] > 60;
  const around = [-3, 0, 3].flatMap((across) => [-3, 0, 3].map((down) => [across, down]));
  const found = [];
  for (let y = 3; y < height - 3; y += 4)
    for (let x = 3; x < width - 3; x += 4)
      if (around.every(([across, down]) => isInk(x + across, y + down)))
        found.push([x / scale, y / scale]);
  return found;
}"""
_ACCENT = [79, 70, 229]  # of the light theme, in which ways are drawn


def test_the_list_says_what_the_picture_shows(page: Page) -> None:
    page.goto("/memory/map")
    _settled(page)
    found = read(page, "/api/memory/map")
    said = f"{len(found['nodes'])} entities, {len(found['edges'])} connections"
    expect(page.get_by_role("main").get_by_role("status").first).to_have_text(said)
    expect(
        page.get_by_role("img", name=re.compile(f"^Map of {said.split(',')[0]}"))
    ).to_be_visible()
    assert page.evaluate(_INK) > 500
    rows = page.get_by_role("table", name="Entities on the map").get_by_role("row")
    expect(rows.nth(1)).to_contain_text(found["nodes"][0]["name"])
    ana = rows.filter(has_text="Ana").filter(has_text="Teresa Antunes").first
    expect(ana).to_contain_text("person, agent inferred")
    ana.focus()
    page.keyboard.press("Enter")
    drawer = page.get_by_role("dialog")
    expect(drawer.get_by_role("heading", name="Ana", exact=True)).to_be_visible()
    drawer.get_by_role("button", name="Close").click()
    page.get_by_label("Search this map").fill("celes")
    expect(rows).to_have_count(2)
    expect(rows.nth(1)).to_contain_text("Dona Celeste")
    expect(page).to_have_url(re.compile("q=celes"))


def test_a_click_on_the_picture_opens_what_is_there(page: Page) -> None:
    page.goto("/memory/map")
    _settled(page)
    canvas = page.get_by_role("img", name=re.compile("^Map of"))
    box = canvas.bounding_box()
    assert box is not None
    for x, y in page.evaluate(_SPOTS):
        page.mouse.move(box["x"] + x, box["y"] + y)
        if canvas.evaluate("one => one.style.cursor") == "pointer":
            break
    else:
        raise AssertionError("nothing on the picture can be clicked")
    page.mouse.down()
    page.mouse.up()
    expect(page.get_by_role("dialog")).to_be_visible()
    expect(page).to_have_url(re.compile("open=entity:"))


@pytest.mark.nightly
def test_the_way_between_two_is_drawn_and_said(page: Page) -> None:
    page.goto("/memory/map")
    _settled(page)
    assert not page.evaluate(_HAS, _ACCENT)
    ids = _ids(page)
    page.get_by_label("From", exact=True).fill("Teresa Antunes")
    card = page.get_by_role("region", name="Connections")
    around = card.get_by_role("list", name="Connections")
    expect(around.get_by_role("listitem")).to_have_count(1)
    expect(around).to_contain_text("Ana: “Began piano lessons with Teresa”")
    page.get_by_label("To", exact=True).fill("dona celeste")
    expect(page).to_have_url(re.compile(rf"from={ids['Teresa Antunes']}&to={ids['Dona Celeste']}"))
    expect(card.get_by_role("status")).to_have_text(
        "Teresa Antunes shares “Began piano lessons with Teresa” with Ana, who shares "
        "“Goes to the Escola da Vitória in Porto” with Porto, which shares "
        "“The landlady is Dona Celeste” with Dona Celeste."
    )
    assert page.evaluate(_HAS, _ACCENT)
    page.reload()
    expect(page.get_by_label("To", exact=True)).to_have_value("Dona Celeste")
    expect(card.get_by_role("status")).to_contain_text("who shares")
    assert violations_in_both_themes(page) == []

    page.get_by_label("To", exact=True).fill("Lisbon")
    expect(card.get_by_role("status")).to_have_text(
        "No fact on this map leads from Teresa Antunes to Lisbon."
    )
    card.get_by_role("button", name="Clear").click()
    expect(page).to_have_url(re.compile("/memory/map$"))
    expect(page.get_by_label("From", exact=True)).to_have_value("")


@pytest.mark.nightly
def test_the_slider_shows_what_was_not_learned_yet(page: Page) -> None:
    page.goto("/memory/map")
    _settled(page)
    now = read(page, "/api/memory/map")
    day = (datetime.now(UTC) - timedelta(days=60)).date().isoformat()
    end = page.evaluate(f"new Date('{day}T23:59:59.999').toISOString()")
    then = read(page, f"/api/memory/map?known_at={quote(end)}")
    assert 0 < len(then["edges"]) < len(now["edges"])
    page.goto(f"/memory/map?known_at={day}")
    expect(page.get_by_role("main").get_by_role("status").first).to_have_text(
        re.compile(rf", {len(then['edges'])} connections?$")
    )
    expect(page.get_by_role("region", name="The past")).to_be_visible()
    _settled(page)
    page.get_by_role("button", name="Back to now").click()
    expect(page.get_by_role("main").get_by_role("status").first).to_have_text(
        re.compile(rf", {len(now['edges'])} connections$")
    )


@pytest.mark.nightly
def test_what_is_new_appears_by_and_by_where_motion_is_wanted(page: Page) -> None:
    page.emulate_media(reduced_motion="no-preference")
    page.goto("/memory/map")
    _settled(page)
    # It may be at rest again before anybody has looked.
    page.evaluate("""() => {
        const canvas = document.querySelector("canvas");
        new MutationObserver(() => {
            if (canvas.dataset.state === "moving") document.body.dataset.moved = "yes";
        }).observe(canvas, { attributes: true });
    }""")
    page.get_by_role("button", name="Look back").click()
    page.wait_for_selector("body[data-moved]")
    _settled(page)
    page.emulate_media(reduced_motion="reduce")


@pytest.mark.nightly
def test_what_only_goes_moves_nothing_that_stays(page: Page) -> None:
    page.add_init_script("""
        const post = Worker.prototype.postMessage;
        window.layouts = 0;
        Worker.prototype.postMessage = function (...given) {
            window.layouts++;
            return post.apply(this, given);
        };
    """)
    # Between these days nothing was merged, and so nobody went.
    days = [(datetime.now(UTC) - timedelta(days=ago)).date().isoformat() for ago in (20, 60)]
    found = [
        read(page, f"/api/memory/map?known_at={quote(f'{day}T23:59:59.999Z')}")["edges"]
        for day in days
    ]
    later, earlier = ({(one["source_id"], one["target_id"]) for one in some} for some in found)
    assert earlier < later
    page.goto(f"/memory/map?known_at={days[0]}")
    _settled(page)
    assert page.evaluate("window.layouts") == 1
    page.get_by_role("region", name="The past").get_by_label("Day", exact=True).fill(days[1])
    expect(page.get_by_role("main").get_by_role("status").first).to_have_text(
        re.compile(rf", {len(earlier)} connections?$")
    )
    _settled(page)
    assert page.evaluate("window.layouts") == 1


@pytest.mark.nightly
def test_it_fits_a_phone(page: Page) -> None:
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    page.goto("/memory/map")
    _settled(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
    page.get_by_role("button", name="Zoom in").click()
    page.get_by_role("button", name="Show all of it").click()
    expect(page.get_by_role("table", name="Entities on the map")).to_be_visible()


@pytest.mark.nightly
def test_on_a_phone_every_name_is_drawn_and_covers_no_other(new_page: Page) -> None:
    new_page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    new_page.add_init_script("""
        window.names = new Map();
        const write = CanvasRenderingContext2D.prototype.fillText;
        CanvasRenderingContext2D.prototype.fillText = function (name, left, y) {
            const right = left + this.measureText(name).width;
            window.names.set(name, { left, right, y });
            write.call(this, name, left, y);
        };
        const clear = CanvasRenderingContext2D.prototype.clearRect;
        CanvasRenderingContext2D.prototype.clearRect = function (...area) {
            window.names.clear();
            clear.apply(this, area);
        };
    """)
    new_page.goto("/memory/map")
    _settled(new_page)
    width = new_page.get_by_role("img", name=re.compile("^Map of")).evaluate(
        "one => one.clientWidth"
    )
    drawn = new_page.evaluate("[...window.names]")
    assert len(drawn) == len(read(new_page, "/api/memory/map")["nodes"])
    for number, (name, one) in enumerate(drawn):
        assert 0 <= one["left"] < one["right"] <= width, name
        for other_name, other in drawn[:number]:
            apart = one["left"] > other["right"] or other["left"] > one["right"]
            assert apart or abs(one["y"] - other["y"]) >= 12, (name, other_name)


@pytest.mark.nightly
def test_an_empty_memory_says_how_the_first_entity_comes_to_be(page: Page) -> None:
    page.route(
        "**/api/memory/map*",
        lambda route: route.fulfill(json={"total": 0, "complete": True, "nodes": [], "edges": []}),
    )
    page.goto("/memory/map")
    expect(page.get_by_text("No entity yet")).to_be_visible()
    assert violations_in_both_themes(page) == []
