"""The demonstration's memory, servers on it, and a browser.

A file whose tests write has a server of its own, on a copy of the demonstration. Files whose tests
only read share one for each worker: they say so by a fixture `url` that returns `read_only_url`.
"""

import asyncio
import os
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import asyncpg
import pytest
from playwright.sync_api import Browser, BrowserContext, Dialog, Page, expect

from conftest import _CLONE, _TEMPLATE, Template
from dashboard.browser import CHROMIUM, DESKTOP, chromium, window
from dashboard.reading import REFUSE_TO_WRITE, unchanged
from dashboard.serving import seed_apart, server
from dashboard.tab import Tab, kept_tab
from memory_butler.store.transaction import connected
from memory_butler.surfaces.web import BUILT
from requirements_ledger import ABSENT

# What is awaited comes within a second; a busy machine may take longer than Playwright's five.
expect.set_options(timeout=20_000)

COPY = "memory_dashboard_copy"  # the database that the pages of a file show
_READ_ONLY = "memory_dashboard_read_only"  # the one of the files that only read


@pytest.fixture(scope="package")
def needed() -> None:
    """A browser, and a page to show in it; asked before anything costly begins."""
    _need(CHROMIUM is not None, "Chromium; apt-get install chromium-headless-shell")
    _need((BUILT / "index.html").is_file(), "a built dashboard; make frontend")


@dataclass(frozen=True)
class Demo:
    """The demonstration as it was told, to be copied: its database's name, its journal's folder."""

    database: str
    folder: Path


@pytest.fixture(scope="package")
def demo(
    needed: None, template: Template, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Demo]:
    """The demonstration, which nobody changes."""
    told = Demo("memory_dashboard", tmp_path_factory.mktemp("dashboard"))
    with copied(template, _TEMPLATE, told.database) as dsn:
        seed_apart(dsn, told.folder)
        yield told


@pytest.fixture(scope="module")
def demo_folder(demo: Demo, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the demonstration's journal lies."""
    folder = tmp_path_factory.mktemp("dashboard")
    return shutil.copytree(demo.folder, folder, dirs_exist_ok=True)


@pytest.fixture(scope="module")
def demo_dsn(demo: Demo, template: Template) -> Iterator[str]:
    """The runtime's login to a database with the demonstration in it: what the tests of one file
    change, those of others do not see, in whatever order they run.
    """
    with copied(template, demo.database, COPY) as dsn:
        yield dsn


@contextmanager
def copied(template: Template, source: str, name: str) -> Iterator[str]:
    """A copy of a database, gone at the end; the runtime's login to it."""
    execute(template, "postgres", _CLONE.format(clone=name, template=source))
    try:
        yield template.runtime_dsn.replace(f"/{_TEMPLATE}?", f"/{name}?")
    finally:
        execute(template, "postgres", f"DROP DATABASE {name} WITH (FORCE)")


def execute(template: Template, database: str, statement: str) -> None:
    """As the database's owner; in a thread, as Playwright keeps the loop of this one."""

    async def on_a_connection() -> None:
        async with connected(template.endpoint.dsn(database)) as admin:
            for more in reversed(range(5)):
                try:
                    await admin.execute(statement)
                    break
                except asyncpg.DeadlockDetectedError:  # with a job of the server beside it
                    if not more:
                        raise

    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, on_a_connection()).result()


@pytest.fixture(scope="module")
def url(demo_dsn: str, demo_folder: Path) -> Iterator[str]:
    """A server that needs no token."""
    with server("--dsn", demo_dsn, "--data-dir", str(demo_folder)) as url:
        yield url


@pytest.fixture(scope="package")
def read_only_url(
    demo: Demo, template: Template, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """A server that needs no token and refuses to change a memory or the journal."""
    folder = tmp_path_factory.mktemp("dashboard")
    shutil.copytree(demo.folder, folder, dirs_exist_ok=True)
    with copied(template, demo.database, _READ_ONLY) as dsn:
        execute(template, _READ_ONLY, REFUSE_TO_WRITE)
        with unchanged(folder), server("--dsn", dsn, "--data-dir", str(folder)) as url:
            yield url


@pytest.fixture(scope="package")
def browser(needed: None, template: Template) -> Iterator[Browser]:
    """Debian's Chromium.

    Playwright keeps an event loop running in this thread: nothing else asynchronous may begin in it
    until the folder's tests have ended, and the template, which does, comes before.
    """
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def profile(browser: Browser, url: str) -> Iterator[BrowserContext]:
    """The window of a file's tests: one that is new compiles the dashboard anew."""
    with window(browser, url) as context:
        yield context


@pytest.fixture(scope="module")
def _page(profile: BrowserContext) -> Iterator[Page]:
    page = profile.new_page()
    yield page
    page.close()


@pytest.fixture
def page(_page: Page, url: str) -> Iterator[Page]:
    """The tab of a file, as new, which costs less than a new one; see `new_page`.

    It is as wide as a desk's, in a window that keeps nothing but the dashboard's code.
    """
    if _page.url.startswith(url):
        _page.evaluate("sessionStorage.clear()")
    _leave(_page)
    _forget(_page, url)
    width, height = DESKTOP
    _page.set_viewport_size({"width": width, "height": height})
    _page.emulate_media(color_scheme="light", reduced_motion="reduce")
    yield _page
    _page.unroute_all(behavior="ignoreErrors")


@pytest.fixture
def new_page(profile: BrowserContext, url: str) -> Iterator[Page]:
    """A tab of the test's own, for what a tab keeps for good: a script that runs in each page."""
    page = profile.new_page()
    _forget(page, url)
    yield page
    page.close()


def _leave(page: Page) -> None:
    """With whatever is typed there."""

    def agree(asked: Dialog) -> None:
        asked.accept()

    page.on("dialog", agree)
    page.goto("about:blank")
    page.remove_listener("dialog", agree)


def _forget(page: Page, url: str) -> None:
    page.context.clear_cookies()
    page.context.clear_permissions()
    storage = page.context.new_cdp_session(page)
    storage.send("Storage.clearDataForOrigin", {"origin": url, "storageTypes": "local_storage"})
    storage.detach()


@pytest.fixture(scope="package")
def _tab(browser: Browser, read_only_url: str) -> Iterator[Tab]:
    with kept_tab(browser, read_only_url) as tab:
        yield tab


@pytest.fixture
def tab(_tab: Tab) -> Tab:
    """A tab on the read-only server, as new: for a test that visits one page."""
    _tab.start_anew()
    return _tab


def _need(there: bool, wanted: str) -> None:
    """In CI a missing browser is a failure; elsewhere the tests skip, and say why."""
    if there:
        return
    if os.environ.get("CI"):
        pytest.fail(f"{ABSENT}: {wanted}")
    pytest.skip(f"{ABSENT}: {wanted}")
