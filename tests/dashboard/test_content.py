"""What memories say is text, whatever it says."""

import re
import urllib.parse

import pytest
from playwright.sync_api import Page, expect

_TRAP = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"


def _store(page: Page, kind: str, **body: object) -> str:
    answer = page.request.post(f"/api/memory/{kind}", data=body)
    assert answer.ok, answer.text()
    identifier: str = answer.json()["id"]
    return identifier


@pytest.fixture
def traps(page: Page) -> None:
    """Content that would do harm where it is taken for anything but text."""
    _store(page, "episodes", content=f"An episode with {_TRAP}", butler="home")
    _store(page, "facts", subject="🧨 💥", predicate="trap", content=_TRAP)
    _store(page, "facts", subject="عنوان", predicate="address", content="شارع الورد ١٢، بورتو")
    _store(page, "rules", content="Be thorough. " * 7_800)


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
