"""What a memory that has just begun shows: a checklist that ticks itself, and whether it learns."""

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from playwright.sync_api import Page, expect

from conftest import _TEMPLATE, Template
from dashboard.accessibility import violations_in_both_themes
from dashboard.asking import sent, stored
from dashboard.conftest import copied
from dashboard.serving import server


@pytest.fixture(scope="module")
def url(
    needed: None, template: Template, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """A server on an empty memory."""
    folder: Path = tmp_path_factory.mktemp("empty")
    with (
        copied(template, _TEMPLATE, "memory_dashboard_empty") as dsn,
        server("--dsn", dsn, "--data-dir", str(folder)) as url,
    ):
        yield url


def test_the_first_steps_are_copied_and_tick_themselves(page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    said: list[str] = []
    page.on(
        "console",
        lambda message: said.append(message.text) if message.type in ("error", "warning") else None,
    )
    page.goto("/memory")
    steps = page.get_by_role("region", name="First steps")
    expect(steps).to_contain_text("0 of 4 done")
    expect(page.get_by_role("region", name="Guided tour")).to_have_count(0)
    expect(page.get_by_text("No model: nothing will be learned")).to_have_count(0)
    expect(page.get_by_text("No fact was stored yet.")).to_be_visible()
    assert violations_in_both_themes(page) == []
    assert said == []
    # This server is not where `connect` looks by itself.
    command = f"memory-butler connect claude-code --url {page.evaluate('location.origin')}"
    steps.get_by_role("button", name=f"Copy {command}").click()
    expect(steps.get_by_role("button", name=f"Copied {command}")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == command

    stored(page, "facts", subject="user", predicate="city", content="Lives in Porto")
    expect(steps.get_by_role("listitem").filter(has_text="Store a first memory")).to_contain_text(
        "(done)"
    )
    sent(page, "POST", "/api/memory/context", trigger_prompt="Plan my week", butler="home")
    expect(steps.get_by_role("listitem").filter(has_text="Ask for a context")).to_contain_text(
        "(done)", timeout=15_000
    )
    expect(steps).to_contain_text("2 of 4 done")

    # An agent's session leaves an episode, which no model will read.
    stored(page, "episodes", content="Moved house", butler="home", session_id=str(uuid4()))
    expect(steps).to_contain_text("3 of 4 done", timeout=15_000)
    warning = page.get_by_text("No model: nothing will be learned")
    expect(page.get_by_role("region", name="Backlog").filter(has=warning)).to_be_visible()
    page.goto("/memory/episodes?show=pending")
    expect(warning).to_be_visible()
    page.get_by_role("tab", name="Consolidated").click()
    expect(warning).to_have_count(0)

    page.goto("/memory")
    # The first day is as wide as the chart.
    day = page.get_by_role("figure", name="Active facts by permanence").locator("path").first
    expect(day).to_be_attached()
    assert day.evaluate("one => one.getBoundingClientRect().width") > 100
    steps.get_by_role("button", name="Hide").click()
    expect(steps).to_have_count(0)
    page.reload()
    expect(page.get_by_role("region", name="Backlog")).to_be_visible()
    expect(steps).to_have_count(0)


@pytest.mark.nightly
def test_without_a_journal_the_page_leads_to_the_first_message(page: Page) -> None:
    page.goto("/journal")
    page.get_by_role("link", name="Begin a conversation").click()
    expect(page.get_by_role("heading", level=1, name="Chat")).to_be_visible()
    expect(page.get_by_label("Message", exact=True)).to_be_visible()
