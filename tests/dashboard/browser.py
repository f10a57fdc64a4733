"""Debian's Chromium, driven by Playwright."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, BrowserContext, sync_playwright

# The first has no window of its own, and takes half the processor time of the others.
_PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser")
CHROMIUM = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, _PROGRAMS)), None)

# Nothing of the browser's own asks the network: what is asked, the page asked.
_QUIET = (
    "--no-sandbox",
    # A process for each page that a kept tab visits costs more than the page.
    "--renderer-process-limit=1",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

DESKTOP = (1280, 832)
PHONE = (390, 844)
# The narrowest that a page must fit without scrolling sideways (WCAG 2.2, 1.4.10).
SMALL_PHONE = (320, 640)


@contextmanager
def chromium() -> Iterator[Browser]:
    """A headless browser; it ends with the block."""
    assert CHROMIUM is not None, (
        "no Chromium on this machine: apt-get install chromium-headless-shell"
    )
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(_QUIET))
        try:
            yield browser
        finally:
            browser.close()


def window(
    browser: Browser,
    url: str,
    *,
    theme: str = "light",
    size: tuple[int, int] = DESKTOP,
    time_zone: str = "Europe/Lisbon",
) -> BrowserContext:
    """A window with a profile of its own; `theme` is what the system prefers."""
    width, height = size
    return browser.new_context(
        base_url=url,
        viewport={"width": width, "height": height},
        color_scheme="dark" if theme == "dark" else "light",
        reduced_motion="reduce",
        locale="en-GB",
        timezone_id=time_zone,
    )
