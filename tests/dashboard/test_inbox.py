"""The inbox: one key a decision, without waiting for the server, and each taken back."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from dashboard.asking import read, sent, stored


@pytest.fixture
def pair(page: Page) -> Iterator[tuple[str, str]]:
    """Two facts of one person that cannot both be true; forgotten after the test."""
    said = {"subject": "Berengar", "permanence": "stable"}
    left = stored(page, "facts", predicate="hand", content="is left-handed", **said)
    right = stored(page, "facts", predicate="handedness", content="is right-handed", **said)
    yield left, right
    for id in (left, right):
        sent(page, "DELETE", f"/api/memory/facts/{id}")


def _current(page: Page) -> Locator:
    return page.locator("article[aria-current]")


def _validity(page: Page, id: str) -> str:
    validity: str = read(page, f"/api/memory/facts/{id}")["fact"]["validity"]
    return validity


def test_a_contradiction_is_settled_and_taken_back(page: Page, pair: tuple[str, str]) -> None:
    left, right = pair
    page.goto("/memory/conflicts")
    expect(page).to_have_url(re.compile("/memory/inbox$"))
    article = page.get_by_role("article").filter(has_text="Berengar")
    expect(article).to_contain_text("contradiction")
    earlier = article.get_by_role("region", name="Earlier")
    earlier.get_by_role("link", name="is left-handed").click()
    expect(page.get_by_role("dialog")).to_contain_text("is left-handed")
    page.go_back()

    article.get_by_role("button", name="The later one holds").click()
    expect(article).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(article).to_be_visible()
    assert _validity(page, left) == "active"

    article.get_by_role("button", name="Keep both").click()
    expect(article).to_have_count(0)
    expect(page.get_by_text("Both are kept.", exact=True)).to_be_visible()
    assert _validity(page, right) == "active"
    page.reload()
    expect(page.get_by_role("article").first).to_be_visible()
    expect(article).to_have_count(0)


def test_what_else_waits_about_the_fact_that_goes_leaves_with_it(
    page: Page, pair: tuple[str, str]
) -> None:
    left, right = pair
    third = stored(
        page,
        "facts",
        subject="Berengar",
        predicate="hands",
        content="is right-handed and left-handed",
        permanence="stable",
    )
    page.goto("/memory/inbox")
    cards = page.get_by_role("article").filter(has_text="Berengar")
    about_right = cards.filter(has=page.locator(f'a[href*="{right}"]'))
    expect(about_right).to_have_count(2)
    # The server has not answered yet, and no card is left that it would refuse.
    page.route("**/settle", lambda route: None)
    pair_card = about_right.filter(has=page.locator(f'a[href*="{left}"]'))
    pair_card.get_by_role("button", name=re.compile("earlier")).click()
    expect(about_right).to_have_count(0)
    page.unroute("**/settle")
    sent(page, "DELETE", f"/api/memory/facts/{third}")


def test_each_kind_is_decided_by_a_key_and_undone_by_another(page: Page) -> None:
    page.goto("/memory/inbox")
    for kind, key in (("fading", "k"), ("fading", "a"), ("dead letter", "r")):
        card = page.get_by_role("article").filter(has=page.get_by_text(kind, exact=True)).first
        card.click(position={"x": 2, "y": 2})
        expect(_current(page)).to_contain_text(kind)
        link = _current(page).get_by_role("link").first.get_attribute("href")
        assert link is not None
        about = page.get_by_role("article").filter(has=page.locator(f'a[href="{link}"]'))
        page.keyboard.press(key)
        expect(about).to_have_count(0)
        expect(page.get_by_role("button", name="Undo").last).to_be_visible()
        page.keyboard.press("u")
        expect(about).to_be_visible()


@pytest.mark.nightly
def test_one_goes_down_the_list_and_skips(page: Page) -> None:
    page.goto("/memory/inbox")
    cards = page.get_by_role("article")
    expect(cards.nth(1)).to_be_visible()
    second = cards.nth(1).inner_text().splitlines()[1]
    page.keyboard.press("ArrowDown")
    expect(_current(page)).to_contain_text(second)
    page.keyboard.press("ArrowUp")
    left = cards.count()
    page.keyboard.press("s")
    expect(cards).to_have_count(left - 1)
    expect(_current(page)).to_contain_text(second)
    for _ in range(left - 1):
        page.keyboard.press("s")
    expect(page.get_by_text("Nothing else to decide")).to_be_visible()
    page.get_by_role("button", name="Show what was skipped").click()
    expect(cards).to_have_count(left)


def test_one_kind_is_listed_alone_and_what_is_skipped_brings_more(
    page: Page, pair: tuple[str, str]
) -> None:
    few = re.compile("limit=50")
    page.route(few, lambda route: route.continue_(url=few.sub("limit=1", route.request.url)))
    page.goto("/memory/inbox")
    cards = page.get_by_role("article")
    expect(cards).to_have_count(1)
    page.keyboard.press("s")
    expect(cards.nth(1)).to_be_visible()
    page.get_by_label("Kind").select_option("contradictions")
    expect(page).to_have_url(re.compile("kind=contradiction"))
    expect(cards.first).to_contain_text("contradiction")
    expect(cards.filter(has=page.get_by_text("fading", exact=True))).to_have_count(0)


@pytest.mark.nightly
def test_one_key_takes_back_what_was_done_last_and_leads_to_it(page: Page) -> None:
    page.goto("/memory/inbox")
    cards = page.get_by_role("article")
    first, second = (cards.nth(place).get_by_role("link").first.inner_text() for place in (0, 1))
    fading = page.get_by_role("article").filter(has=page.get_by_text("fading", exact=True))
    kept = fading.first.get_by_role("link").inner_text()
    fading.first.click(position={"x": 2, "y": 2})
    page.keyboard.press("k")
    said = page.get_by_text("Confirmed: the fact is as certain as it ever was.", exact=True)
    expect(said).to_be_visible()
    rest = cards.count()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("s")
    expect(cards).to_have_count(rest - 1)
    skipped = next(one for one in (first, second) if page.get_by_text(one).count() == 0)

    # The skip was last, not the confirmation.
    page.keyboard.press("u")
    expect(_current(page)).to_contain_text(skipped)
    expect(said).to_be_visible()

    page.keyboard.press("u")
    expect(_current(page)).to_contain_text(kept)
    expect(said).to_have_count(0)  # it offered to take back what is taken back


@pytest.mark.nightly
def test_what_is_refused_comes_back(page: Page, pair: tuple[str, str]) -> None:
    page.goto("/memory/inbox")
    article = page.get_by_role("article").filter(has_text="Berengar")
    expect(article).to_be_visible()
    page.route("**/settle", lambda route: route.fulfill(status=409, json={"detail": "Too late"}))
    article.get_by_role("button", name="The later one holds").click()
    expect(page.get_by_text("Too late", exact=True)).to_be_visible()
    expect(article).to_be_visible()
    assert {_validity(page, id) for id in pair} == {"active"}


@pytest.mark.nightly
def test_no_key_decides_while_a_drawer_is_open(page: Page, pair: tuple[str, str]) -> None:
    page.goto("/memory/inbox")
    article = page.get_by_role("article").filter(has_text="Berengar")
    article.get_by_role("link", name="is left-handed").click()
    expect(page.get_by_role("dialog")).to_contain_text("is left-handed")
    page.keyboard.press("l")
    page.go_back()
    expect(article).to_be_visible()
    assert {_validity(page, id) for id in pair} == {"active"}
