"""The fifth milestone in one walk: what an agent stores, a person sees, corrects and finds."""

import asyncio
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from mcp.client.session import ClientSession
from mcp.client.streamable_http import streamable_http_client
from playwright.sync_api import Page, expect

from dashboard.asking import read, sent

_LINE = "The cello is tuned by Marta"
_CORRECTED = "The cello is tuned by Joana"
_RULE = "Book the tuner before a concert"


def _agent(url: str, tool: str, **arguments: Any) -> dict[str, Any]:
    """A call by an agent's MCP client; in a thread, as Playwright keeps the loop of this one."""

    async def call() -> dict[str, Any]:
        async with (
            streamable_http_client(f"{url}/mcp") as (reading, writing),
            ClientSession(reading, writing) as session,
        ):
            await session.initialize()
            asked: Any = {"memory-butler/structured": True}
            result = await session.call_tool(tool, arguments, meta=asked)
            assert not result.is_error, result.content
            assert isinstance(result.structured_content, dict)
            return result.structured_content

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, call()).result(60)


@pytest.mark.requirement("MS-05")
def test_what_an_agent_learns_a_person_sees_corrects_and_finds(page: Page, url: str) -> None:
    told = {"subject": "Cello", "predicate": "tuner", "scope": "home"}
    first = _agent(url, "memory_store_fact", content=_LINE, source_butler="home", **told)
    rule = _agent(url, "memory_store_rule", content=_RULE, scope="home")

    # A butler's overview says how it fares; its memory tab has the fact, under its subject.
    page.goto("/butlers/home")
    expect(page.get_by_role("region", name="Health")).to_contain_text(re.compile("backlog|wait"))
    page.get_by_role("navigation", name="Pages of home").get_by_role("link", name="Memory").click()
    cello = page.get_by_role("region", name="Cello", exact=True)
    expect(cello).to_contain_text(_LINE)

    # Editing and deleting, by the agent's own client: the page and the endpoints follow.
    second = _agent(url, "memory_store_fact", content=_CORRECTED, **told)
    assert second["supersedes_id"] == first["id"]
    page.reload()
    expect(cello).to_contain_text(_CORRECTED)
    expect(cello).not_to_contain_text(_LINE)
    assert read(page, f"/api/memory/facts/{first['id']}")["superseded_by"] == second["id"]

    page.goto("/memory")
    expect(page.get_by_role("heading", level=1, name="Overview")).to_be_visible()
    page.keyboard.press("Control+k")
    page.get_by_placeholder("Search facts, rules, episodes").fill("cello")
    expect(page.get_by_role("option").filter(has_text=_CORRECTED)).to_be_visible()
    page.keyboard.press("Escape")
    _agent(url, "memory_forget", memory_type="fact", memory_id=second["id"])
    assert read(page, f"/api/memory/facts/{second['id']}")["fact"]["validity"] == "retracted"

    # A rule is moved by hand.
    page.goto("/memory/rules?q=tuner")
    line = page.get_by_role("listitem").filter(has_text=_RULE)
    for button, maturity in (("Promote", "established"), ("Demote", "candidate")):
        line.get_by_role("button", name=button).click()
        group = page.get_by_role("region", name=re.compile(f"^{maturity}", re.IGNORECASE))
        expect(group).to_contain_text(_RULE)
        expect(line).to_have_count(1)  # gone from the group that it left
        assert read(page, f"/api/memory/rules/{rule['id']}")["rule"]["maturity"] == maturity
    line.get_by_role("button", name="Switch off").click()
    expect(line.get_by_role("button", name="Switch on")).to_be_visible()
    assert read(page, f"/api/memory/rules/{rule['id']}")["rule"]["state"] == "disabled"

    # The timeline tells all of it.
    page.goto("/memory/timeline")
    lines = page.get_by_role("main").get_by_role("listitem")
    for happened in ("fact superseded", "rule promoted", "rule demoted"):
        expect(lines.filter(has_text=happened).first).to_be_visible()
    sent(page, "DELETE", f"/api/memory/rules/{rule['id']}")
