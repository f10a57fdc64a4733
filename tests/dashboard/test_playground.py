"""The recall playground: the block of a session, and why each line is there."""

import re

import pytest
from playwright.sync_api import Page, expect


@pytest.fixture(scope="module")
def url(read_only_url: str) -> str:
    """These tests only read."""
    return read_only_url


def test_the_block_is_shown_to_the_letter_with_what_was_weighed(page: Page) -> None:
    page.goto("/memory/recall")
    page.get_by_role("button", name="Plan a dinner for the family").click()
    page.get_by_label("Budget").select_option("100")
    block = page.get_by_role("region", name="The block")
    expect(page).to_have_url(re.compile("budget=100"))
    expect(block).to_contain_text(re.compile("About (100|[1-9]?[0-9]) tokens"))
    asked = {"trigger_prompt": "Plan a dinner for the family", "butler": "global"}
    answer = page.request.post("/api/memory/context", data=asked | {"token_budget": 100}).json()
    assert answer["included"]
    assert answer["left_out"]
    for line in filter(None, answer["context"].split("\n")):
        expect(block.get_by_text(line, exact=True)).to_be_visible()
    reasons = page.get_by_role("region", name="Why each line is there")
    expect(reasons.get_by_role("listitem")).to_have_count(len(answer["included"]))
    missed = page.get_by_role("region", name="What just missed it")
    expect(missed.get_by_role("listitem")).to_have_count(len(answer["left_out"]))
    score = reasons.get_by_role("img").first
    name = score.get_attribute("aria-label")
    assert name is not None
    whole, *parts = (float(number) for number in re.findall(r"\d\.\d{3}", name))
    assert abs(whole - sum(parts)) < 0.003
    page.reload()
    expect(reasons.get_by_role("listitem")).to_have_count(len(answer["included"]))
    reasons.get_by_role("link").first.click()
    expect(page.get_by_role("dialog")).to_be_visible()


def test_another_butler_is_told_something_else(page: Page) -> None:
    page.goto("/memory/recall?prompt=allergies&budget=3000")
    block = page.get_by_role("region", name="The block")
    expect(block).to_be_visible()
    before = block.inner_text()
    page.get_by_label("Butler").select_option("health")
    expect(page).to_have_url(re.compile("butler=health"))
    expect(block).not_to_have_text(before)
