"""axe-core, which the dashboard's build brings, on what a browser shows."""

from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

_AXE = Path(__file__).parents[2] / "frontend" / "node_modules" / "axe-core" / "axe.min.js"

# Of what passes one element a rule: to describe thousands took longer than to find them. What it
# would load first (style sheets, media) only rules ask for that are off by default.
_RUN = """([within, options]) =>
    axe.run(within, { ...options, resultTypes: ["violations"], preload: false }).then(
        ({ violations, passes }) => ({ violations, passed: passes.length }))"""

# After another theme, what is not in sight gets its colours with a later frame.
_TWO_FRAMES = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"

# The page's ground in the dark theme.
DARK = "rgb(12, 13, 16)"


def violations_in_both_themes(page: Page, within: str = "html") -> list[str]:
    """What axe finds wrong in the light theme and in the dark one, which it leaves the page in.

    The dark one differs in its colours alone, so that of its rules only that of contrast is asked.
    `within` is a selector: of a drawer, the page behind which is looked at by itself.
    """
    _bring_axe(page)
    light = _violations(page, within, {})
    page.emulate_media(color_scheme="dark")
    expect(page.locator("body")).to_have_css("background-color", DARK)
    page.evaluate(_TWO_FRAMES)
    return light + _violations(page, within, {"runOnly": ["color-contrast"]})


def violations_but_of_contrast(page: Page, within: str = "html") -> list[str]:
    """What axe finds wrong besides contrast, which is two thirds of its work: for many pages."""
    _bring_axe(page)
    return _violations(page, within, {"rules": {"color-contrast": {"enabled": False}}})


def _bring_axe(page: Page) -> None:
    """Once for a page: its code is compiled anew each time."""
    if page.evaluate("typeof axe") == "undefined":
        page.evaluate(_AXE.read_text(encoding="utf-8"))


def _violations(page: Page, within: str, options: dict[str, Any]) -> list[str]:
    """Each violation with the element and the reason."""
    found: dict[str, Any] = page.evaluate(_RUN, [within, options])
    assert found["passed"] > 0  # it found something to look at
    return [
        f"{one['id']}: {one['help']}: {node['html'][:200]} {node['failureSummary'][:300]}"
        for one in found["violations"]
        for node in one["nodes"]
    ]
