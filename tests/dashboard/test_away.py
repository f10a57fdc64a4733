"""When a token has ended, or the server is gone: the page says so and comes back by itself."""

import re
import subprocess
import sys

from playwright.sync_api import Browser, expect

from dashboard.browser import window
from dashboard.serving import server

_SOON = 15_000


def token_of(dsn: str, tenant: str = "default") -> str:
    """A token, made as the sign-in page says."""
    create = ("token", "create", "--name", "ana", "--tenant", tenant, "--dsn", dsn)
    made = subprocess.run(
        [sys.executable, "-m", "memory_butler", *create],
        capture_output=True,
        text=True,
        check=True,
    )
    return made.stdout.strip()


def test_signing_in_leads_back_to_where_one_was(browser: Browser, demo_dsn: str) -> None:
    with server("--dsn", demo_dsn, "--require-token") as url, window(browser, url) as context:
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
        page.get_by_role("link", name="Overview").click()
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
