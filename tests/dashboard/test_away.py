"""When a token has ended, or the server is gone: the page says so and comes back by itself."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from dashboard.asking import read, stored
from dashboard.browser import window
from dashboard.serving import server, token_of

_SOON = 15_000

_DRAWER = "**/assets/FactDrawer-*.js"


@pytest.fixture(scope="module")
def locked_url(demo_dsn: str) -> Iterator[str]:
    """A server that demands a token."""
    with server("--dsn", demo_dsn, "--require-token") as url:
        yield url


def test_signing_in_leads_back_to_where_one_was(
    browser: Browser, demo_dsn: str, locked_url: str
) -> None:
    with window(browser, locked_url) as context:
        page = context.new_page()
        page.goto("/memory/facts?show=archive")
        expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
        expect(page).to_have_url(re.compile(r"/sign-in\?back=/memory/facts"))
        page.get_by_label("Token").fill("mbt_wrong")
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("alert")).to_contain_text("not known here")
        page.get_by_label("Token").fill(token_of(demo_dsn))
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_text("Lives in Lisbon, near Graça")).to_be_visible()
        expect(page).to_have_url(re.compile(r"/memory/facts\?show=archive"))
        assert page.evaluate("document.cookie") == ""
        page.reload()
        expect(page.get_by_text("Lives in Lisbon, near Graça")).to_be_visible()
        context.clear_cookies()
        # Where a request of the page itself was refused before, there is no link any more.
        page.evaluate("document.querySelector('a[href=\"/memory\"]')?.click()")
        expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_a_server_that_went_away_is_told_and_found_again(browser: Browser, url: str) -> None:
    with window(browser, url) as context:
        page = context.new_page()
        page.goto("/memory")
        expect(page.get_by_text("Facts over time")).to_be_visible()
        context.set_offline(True)
        page.get_by_role("link", name="Facts", exact=True).click()
        banner = page.get_by_role("alert").filter(has_text="does not answer")
        expect(banner).to_be_visible(timeout=_SOON)
        context.set_offline(False)
        expect(banner).to_have_count(0, timeout=_SOON)
        expect(page.get_by_text("Buys beans at Combi")).to_be_visible(timeout=_SOON)


def test_what_others_change_is_shown_without_asking(browser: Browser, url: str) -> None:
    with window(browser, url) as context:
        page = context.new_page()
        page.goto("/memory/facts")
        expect(page.get_by_text("Buys beans at Combi")).to_be_visible()
        fact = {"subject": "user", "predicate": "live_news", "content": "Told while one looks on"}
        assert page.request.post("/api/memory/facts", data=fact).ok
        expect(page.get_by_text("Told while one looks on")).to_be_visible(timeout=_SOON)


@pytest.mark.nightly
def test_what_is_opened_while_the_server_is_away_comes_once_it_is_back(
    browser: Browser, url: str
) -> None:
    with window(browser, url) as context:
        page = context.new_page()
        page.goto("/memory/facts")
        # Else it may have come already, as the pointer went over the row.
        page.route(_DRAWER, lambda route: route.abort())
        page.route("/", lambda route: route.abort())
        page.get_by_text("Takes calls after six").click()
        expect(page.get_by_role("alert").filter(has_text="does not answer")).to_be_visible()
        expect(page.get_by_role("heading", level=1, name="Facts")).to_be_visible()
        page.unroute_all()
        expect(page.get_by_role("dialog").get_by_role("button", name="Edit")).to_be_visible(
            timeout=_SOON
        )


@pytest.mark.nightly
def test_a_page_that_the_server_has_anew_is_loaded_anew(browser: Browser, url: str) -> None:
    def newer(route: Route) -> None:
        body = route.fetch().text()
        route.fulfill(body=body.replace("/assets/index-", "/assets/newer-"))

    with window(browser, url) as context:
        page = context.new_page()
        page.goto("/memory/facts")
        page.route(_DRAWER, lambda route: route.fulfill(status=404), times=1)
        page.route("/", newer)
        with page.expect_event("load"):
            page.get_by_text("Takes calls after six").click()
        expect(page.get_by_role("dialog").get_by_role("button", name="Edit")).to_be_visible()


@pytest.mark.nightly
def test_who_is_signed_in_is_asked_again_once_the_database_is_back(page: Page) -> None:
    page.route("**/api/session", lambda route: route.fulfill(status=503))
    page.goto("/memory/facts")
    expect(page.get_by_role("alert").filter(has_text="database is away")).to_be_visible()
    expect(page.get_by_role("table", name="Facts")).to_be_visible()
    page.unroute_all()
    expect(page.get_by_text("tenant default")).to_be_visible(timeout=_SOON)


@pytest.mark.nightly
def test_live_updates_go_on_after_the_server_refused_them(new_page: Page) -> None:
    refused: list[str] = []

    def refuse(route: Route) -> None:
        refused.append(route.request.url)
        route.fulfill(status=503)

    new_page.route("**/events/stream?*", refuse)
    # A page may show its answer before it asks for live updates.
    with new_page.expect_response("**/events/stream?*"):
        new_page.goto("/memory/facts?subject=weathercock")
    expect(new_page.get_by_text("No fact")).to_be_visible()
    new_page.unroute("**/events/stream?*", refuse)
    assert refused
    stored(new_page, "facts", subject="weathercock", predicate="points", content="Points north")
    expect(new_page.get_by_text("Points north")).to_be_visible(timeout=_SOON)


@pytest.mark.nightly
def test_a_page_that_asks_for_nothing_says_that_the_server_is_gone(
    browser: Browser, demo_dsn: str
) -> None:
    with browser.new_context() as context:
        page = context.new_page()
        with server("--dsn", demo_dsn) as url:
            page.goto(f"{url}/memory/map")
            expect(page.get_by_role("row").filter(has_text="Ana").first).to_be_visible()
            gone = page.get_by_role("alert").filter(has_text="does not answer")
            expect(gone).to_have_count(0)
        expect(gone).to_be_visible(timeout=_SOON)


@pytest.mark.nightly
def test_an_undo_that_reached_nobody_is_offered_again(page: Page) -> None:
    barn = stored(page, "facts", subject="barn", predicate="age", content="The barn is old")
    page.goto(f"/memory/facts?open=fact:{barn}")
    page.get_by_role("dialog").get_by_role("button", name="Forget").click()
    page.route("**/restore", lambda route: route.abort())
    page.get_by_role("button", name="Undo", exact=True).click()
    again = page.get_by_role("button", name="Try again", exact=True)
    expect(again).to_be_visible()
    page.unroute_all()
    again.click()
    expect(page.get_by_text("The fact is back.", exact=True)).to_be_visible(timeout=_SOON)
    assert read(page, f"/api/memory/facts/{barn}")["fact"]["validity"] == "active"


def test_nothing_is_saved_into_the_memory_of_another_tab(
    browser: Browser, url: str, demo_dsn: str
) -> None:
    """A browser has one cookie, and one of its tabs may sign in to another tenant."""
    with window(browser, url) as context:
        page, other = context.new_page(), context.new_page()
        page.goto("/memory/facts")
        page.get_by_role("button", name="Add a fact").click()
        dialog = page.get_by_role("dialog", name="Add a fact")
        dialog.get_by_label("Fact", exact=True).fill("Of the first tenant alone")
        dialog.get_by_label("Predicate").fill("wish")
        _sign_in(other, token_of(demo_dsn, "neighbours"))
        expect(other.get_by_text("tenant neighbours")).to_be_visible()

        dialog.get_by_role("button", name="Add").click()
        expect(dialog.get_by_role("alert")).to_contain_text("signed in to the tenant neighbours")
        expect(dialog.get_by_label("Fact", exact=True)).to_have_value("Of the first tenant alone")
        assert read(other, "/api/memory/facts")["total"] == 0
        # Nor does the page show theirs as its own.
        stored(other, "facts", subject="n", predicate="n", content="Of the neighbours")
        banner = page.get_by_text("signed in to another tenant by now")
        expect(banner).to_be_attached()
        page.wait_for_timeout(1_000)
        expect(page.get_by_text("Of the neighbours")).to_have_count(0)
        expect(page.get_by_text("tenant default")).to_be_attached()
        page.on("dialog", lambda asked: asked.accept())
        page.keyboard.press("Escape")
        page.get_by_role("link", name="Show the other tenant").click()
        expect(page.get_by_text("tenant neighbours")).to_be_visible()
        expect(banner).to_have_count(0)


@pytest.mark.nightly
def test_what_is_typed_outlives_the_token(browser: Browser, demo_dsn: str, locked_url: str) -> None:
    with window(browser, locked_url) as context:
        page, other = context.new_page(), context.new_page()
        token = token_of(demo_dsn)
        _sign_in(page, token)
        expect(page.get_by_text("tenant default")).to_be_visible()
        page.goto("/memory/facts")
        page.get_by_role("button", name="Add a fact").click()
        dialog = page.get_by_role("dialog", name="Add a fact")
        dialog.get_by_label("Fact", exact=True).fill("Typed before the token ended")
        dialog.get_by_label("Predicate").fill("stays")
        context.clear_cookies()
        dialog.get_by_role("button", name="Add").click()
        expect(dialog.get_by_role("alert")).to_contain_text("Sign in in another tab")
        _sign_in(other, token)
        expect(other.get_by_text("tenant default")).to_be_visible()
        dialog.get_by_role("button", name="Add").click()
        expect(dialog).to_have_count(0)
        expect(page.get_by_text("Typed before the token ended")).to_be_visible()
        expect(page.get_by_text("You are signed out")).to_have_count(0, timeout=_SOON)


def test_who_signs_out_in_one_tab_is_signed_out_in_all(
    browser: Browser, demo_dsn: str, locked_url: str
) -> None:
    with window(browser, locked_url) as context:
        page, other = context.new_page(), context.new_page()
        _sign_in(page, token_of(demo_dsn))
        expect(page.get_by_text("tenant default")).to_be_visible()
        page.goto("/memory/facts?show=archive")
        other.goto("/memory")
        expect(page.get_by_text("Lives in Lisbon, near Graça")).to_be_visible()
        other.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("heading", name="Sign in")).to_be_visible(timeout=5_000)
        expect(page.get_by_text("You see the memory")).to_have_count(0)


def _sign_in(page: Page, token: str) -> None:
    page.goto("/sign-in")
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Sign in").click()
