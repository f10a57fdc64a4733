"""A fact in detail: why it is known, how sure that is, and correcting it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

import pytest
from playwright.sync_api import Locator, Page, expect

from dashboard.asking import read, sent, stored

_numbers = count()


@dataclass(frozen=True, slots=True)
class Told:
    """A fact that was learned in an episode, replaced another, and supports a rule."""

    episode: str
    before: str
    fact: str
    rule: str


@pytest.fixture
def told(page: Page) -> Iterator[Told]:
    """The memories of one test, gone from the lists of the others afterwards."""
    key = {"subject": f"Walk {next(_numbers)}", "predicate": "favourite_tea"}
    before = stored(page, "facts", content="Drinks black tea", trust="tool_output", **key)
    episode = stored(
        page,
        "episodes",
        content="Asked for green tea at breakfast",
        butler="home",
        trust="tool_output",
    )
    fact = stored(
        page,
        "facts",
        content="Drinks green tea",
        source_episode_id=episode,
        source_butler="home",
        tags=["drinks"],
        **key,
    )
    rule = stored(page, "rules", content=f"Offer {key['subject']} green tea")
    sent(
        page,
        "POST",
        "/api/memory/links",
        source_type="fact",
        source_id=fact,
        target_type="rule",
        target_id=rule,
        relation="supports",
    )
    yield Told(episode, before, fact, rule)
    sent(page, "DELETE", f"/api/memory/rules/{rule}")
    held = read(page, f"/api/memory/facts?subject={key['subject']}")["items"]
    for one in held:
        sent(page, "DELETE", f"/api/memory/facts/{one['id']}")


def _open(page: Page, fact: str) -> Locator:
    page.goto(f"/memory/facts?open=fact:{fact}")
    drawer = page.get_by_role("dialog")
    expect(drawer.get_by_role("region", name="Details")).to_be_visible()
    return drawer


def _opened(page: Page) -> str:
    found = re.search(r"open=fact:([0-9a-f-]{36})", page.url)
    assert found is not None, page.url
    return found[1]


@pytest.mark.requirement("DASH-04")
def test_the_graph_shows_what_it_came_from_replaced_and_supports(page: Page, told: Told) -> None:
    drawer = _open(page, told.fact)
    graph = drawer.get_by_role("region", name="Why it is known")
    expect(graph.get_by_role("link", name="Asked for green tea at breakfast")).to_be_visible()
    expect(graph.get_by_role("link", name=re.compile("supports · rule"))).to_be_visible()
    # Episode to fact, old to new, fact to rule.
    expect(graph.locator("path[marker-end]")).to_have_count(3)
    details = drawer.get_by_role("region", name="Details")
    expect(details).to_contain_text("by home")
    expect(details).to_contain_text("drinks")
    # The fact was an agent's; the episode that it came from was not.
    expect(details).to_contain_text("tool output")
    history = drawer.get_by_role("region", name="History")
    expect(history.get_by_role("listitem").first).to_contain_text("fact created")

    graph.get_by_role("link", name="Drinks black tea").click()
    expect(drawer).to_contain_text("It was replaced")
    expect(page).to_have_url(re.compile(told.before))
    drawer.get_by_role("link", name="see what holds now").click()
    expect(page).to_have_url(re.compile(told.fact))
    page.go_back()
    expect(drawer.get_by_role("heading", name="Drinks black tea")).to_be_visible()

    sent(page, "DELETE", f"/api/memory/episodes/{told.episode}")
    drawer = _open(page, told.fact)
    expect(drawer.get_by_text("episode · expired")).to_be_visible()


@pytest.mark.nightly
def test_what_an_undo_has_removed_is_not_shown_as_current(page: Page, told: Told) -> None:
    drawer = _open(page, told.fact)
    drawer.get_by_role("button", name="Edit").click()
    drawer.get_by_label("Fact", exact=True).fill("Drinks mint tea")
    page.keyboard.press("Control+Enter")
    expect(drawer.get_by_role("heading", name="Drinks mint tea")).to_be_visible()
    page.get_by_role("button", name="Undo", exact=True).last.click()
    expect(drawer.get_by_role("heading", name="Drinks mint tea")).to_have_count(0)
    page.go_back()
    expect(drawer.get_by_role("heading", name="Drinks mint tea")).to_be_visible()
    expect(drawer.get_by_text("no longer in memory")).to_be_visible()
    expect(drawer.get_by_role("button", name="Confirm")).to_have_count(0)


@pytest.mark.requirement("DASH-05", "GEN-05")
def test_an_edit_supersedes_and_can_be_taken_back(page: Page, told: Told) -> None:
    drawer = _open(page, told.fact)
    drawer.get_by_role("button", name="Edit").click()
    expect(drawer.get_by_role("button", name="Save")).to_be_disabled()
    drawer.get_by_label("Fact", exact=True).fill("Drinks white tea")
    drawer.get_by_label("Importance").fill("7")
    drawer.get_by_role("button", name="Save").click()
    expect(drawer.get_by_role("heading", name="Drinks white tea")).to_be_visible()
    edited = read(page, f"/api/memory/facts/{_opened(page)}")["fact"]
    assert edited["supersedes_id"] == told.fact
    # What was left alone is inherited (C-81).
    assert (edited["importance"], edited["tags"]) == (7, ["drinks"])
    assert read(page, f"/api/memory/facts/{told.fact}")["fact"]["validity"] == "superseded"

    page.get_by_role("button", name="Undo").click()
    expect(drawer.get_by_role("heading", name="Drinks green tea")).to_be_visible()
    # It is the fact of before, not a third version.
    assert _opened(page) == told.fact
    back = read(page, f"/api/memory/facts/{told.fact}")["fact"]
    assert (back["content"], back["importance"]) == ("Drinks green tea", 5)
    assert page.request.get(f"/api/memory/facts/{edited['id']}").status == 404

    drawer.get_by_role("button", name="Forget").click()
    expect(drawer.get_by_role("button", name="Restore")).to_be_visible()
    forgotten = read(page, f"/api/memory/facts/{back['id']}")["fact"]
    assert forgotten["validity"] == "retracted"
    page.get_by_role("button", name="Undo").last.click()
    expect(drawer.get_by_role("button", name="Edit")).to_be_visible()
    drawer.get_by_role("button", name="Forget").click()
    drawer.get_by_role("button", name="Restore").click()
    expect(drawer.get_by_role("button", name="Edit")).to_be_visible()
    assert read(page, f"/api/memory/facts/{back['id']}")["fact"]["validity"] == "active"


def test_of_two_who_edit_the_second_sees_the_other_version_and_chooses(
    page: Page, told: Told
) -> None:
    drawer = _open(page, told.fact)
    drawer.get_by_role("button", name="Edit").click()
    drawer.get_by_label("Fact", exact=True).fill("Drinks rooibos")
    theirs = sent(page, "PUT", f"/api/memory/facts/{told.fact}", content="Drinks mint tea")
    drawer.get_by_role("button", name="Save").click()
    expect(drawer.get_by_role("cell", name="Drinks mint tea")).to_be_visible()
    expect(drawer.get_by_role("cell", name="Drinks rooibos")).to_be_visible()
    drawer.get_by_role("button", name="Keep theirs").click()
    expect(drawer.get_by_role("heading", name="Drinks mint tea")).to_be_visible()
    assert _opened(page) == theirs["fact"]["id"]

    drawer.get_by_role("button", name="Edit").click()
    drawer.get_by_label("Fact", exact=True).fill("Drinks rooibos")
    sent(page, "PUT", f"/api/memory/facts/{_opened(page)}", content="Drinks maté", importance=9)
    drawer.get_by_role("button", name="Save").click()
    drawer.get_by_role("button", name="Put mine in its place").click()
    expect(drawer.get_by_role("heading", name="Drinks rooibos")).to_be_visible()
    held = read(page, f"/api/memory/facts/{_opened(page)}")["fact"]
    # Mine where I changed something, theirs where only they did.
    assert (held["content"], held["importance"]) == ("Drinks rooibos", 9)


@pytest.mark.requirement("DASH-14")
def test_confirming_starts_the_decay_anew(page: Page, told: Told) -> None:
    before = read(page, f"/api/memory/facts/{told.fact}")["fact"]["last_confirmed_at"]
    drawer = _open(page, told.fact)
    drawer.get_by_role("button", name="Confirm").click()
    history = drawer.get_by_role("region", name="History")
    expect(history.get_by_role("listitem").first).to_contain_text("memory confirmed")
    assert read(page, f"/api/memory/facts/{told.fact}")["fact"]["last_confirmed_at"] > before
    page.get_by_role("button", name="Undo").click()
    said = page.get_by_text("The fact is as certain as it was before.", exact=True)
    expect(said).to_be_visible()
    assert read(page, f"/api/memory/facts/{told.fact}")["fact"]["last_confirmed_at"] == before


@pytest.mark.nightly
@pytest.mark.requirement("DASH-15")
def test_a_fading_fact_says_so_and_what_confirming_would_do(page: Page) -> None:
    fading = read(page, "/api/memory/facts?validity=fading")["items"][0]
    drawer = _open(page, fading["id"])
    confidence = drawer.get_by_role("region", name="Confidence")
    expect(confidence).to_contain_text("fading")
    expect(confidence).to_contain_text("Recall has left it out since")
    expect(confidence).to_contain_text("Confirmed now it is back at")
    expect(confidence).to_contain_text("today")
    expired = read(page, "/api/memory/facts?validity=expired")["items"][0]
    drawer = _open(page, expired["id"])
    expect(drawer).to_contain_text("nobody confirmed it in time")
    expect(drawer.get_by_role("button", name="Confirm")).to_have_count(0)
    expect(drawer.get_by_text("Confirmed now")).to_have_count(0)


@pytest.mark.nightly
def test_the_keyboard_keeps_its_place_in_a_drawer_whatever_is_pressed(page: Page) -> None:
    plum = stored(page, "facts", subject="plum", predicate="age", content="The plum is old")
    page.goto(f"/memory/facts?open=fact:{plum}")
    drawer = page.get_by_role("dialog")
    confirm, forget = (drawer.get_by_role("button", name=one) for one in ("Confirm", "Forget"))
    confirm.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("is as certain as it ever was", exact=False).first).to_be_visible()
    expect(confirm).to_be_focused()

    drawer.get_by_role("button", name="Edit").focus()
    page.keyboard.press("Enter")
    drawer.get_by_role("button", name="Cancel").focus()
    page.keyboard.press("Enter")
    expect(drawer).to_be_focused()
    forget.focus()
    page.keyboard.press("Enter")
    expect(drawer.get_by_role("button", name="Restore")).to_be_focused()
    undo = page.get_by_role("button", name="Undo", exact=True).last
    undo.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("The fact is back.", exact=True)).to_be_visible()
    expect(drawer).to_be_focused()
    # The toasts that are still there do not take Esc from it.
    page.keyboard.press("Escape")
    expect(drawer).to_have_count(0)
    expect(page.get_by_text("The fact is back.", exact=True)).to_be_visible()


@pytest.mark.nightly
def test_yesterday_is_the_day_before_today_by_the_readers_clock(new_page: Page) -> None:
    """Whatever the hours between: at one in the morning the evening of two days ago is not it."""
    lamp = stored(
        new_page,
        "facts",
        subject="lamp",
        predicate="place",
        content="The lamp is in the hall",
        valid_from="2026-03-08T22:00:00Z",
    )
    since = new_page.get_by_role("dialog").get_by_role("region", name="Details")
    for now, said in (
        ("2026-03-10T01:00:00Z", "since 2 days ago"),
        ("2026-03-09T23:00:00Z", "since yesterday"),
        ("2026-05-05T12:00:00Z", "since 1 month ago"),
    ):
        new_page.clock.set_fixed_time(now)
        new_page.goto(f"/memory/facts?open=fact:{lamp}")
        expect(since).to_contain_text(said)
