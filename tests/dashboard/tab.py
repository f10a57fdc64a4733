"""One tab for tests that visit one page each: a new tab compiles the dashboard anew."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from playwright.sync_api import Browser, CDPSession, ConsoleMessage, Page

from dashboard.browser import DESKTOP, window


@dataclass(frozen=True, slots=True)
class Tab:
    """A tab, and what happened in it during the test that has it now."""

    page: Page
    network: CDPSession
    asked: list[str] = field(default_factory=list)
    """The URLs of the requests."""
    complaints: list[str] = field(default_factory=list)
    """Errors, and what the console shows as an error or a warning."""
    received: list[float] = field(default_factory=list)
    """Bytes over the wire, headers included, of each answer."""

    def start_anew(self) -> None:
        """No page, storage, cookies or cache, and nothing heard; as wide as a desk, and light."""
        if self.page.url != "about:blank":
            self.page.evaluate("localStorage.clear(); sessionStorage.clear()")
            self.page.goto("about:blank")
        self.page.context.clear_cookies()
        self.network.send("Network.clearBrowserCache")
        width, height = DESKTOP
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.emulate_media(color_scheme="light")
        for heard in (self.asked, self.complaints, self.received):
            heard.clear()


@contextmanager
def kept_tab(browser: Browser, url: str) -> Iterator[Tab]:
    """A tab for many tests, each of which calls `start_anew`; closed at the end."""
    with window(browser, url) as context:
        page = context.new_page()
        network = context.new_cdp_session(page)
        tab = Tab(page, network)
        network.send("Network.enable")
        network.on(
            "Network.loadingFinished", lambda told: tab.received.append(told["encodedDataLength"])
        )
        page.on("request", lambda request: tab.asked.append(request.url))
        page.on("pageerror", lambda error: tab.complaints.append(str(error)))
        page.on("console", lambda message: _note(tab, message))
        yield tab


def _note(tab: Tab, message: ConsoleMessage) -> None:
    if message.type in ("error", "warning"):
        tab.complaints.append(message.text)
