"""The demonstration's memory, a server on it, and a browser: once for all tests of this folder."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import asyncpg
import pytest
from playwright.sync_api import Browser, Page

from conftest import _CLONE, _TEMPLATE, Template
from dashboard.browser import CHROMIUM, chromium, window
from dashboard.serving import seed_apart, server
from memory_butler.surfaces.web import BUILT
from requirements_ledger import ABSENT

DEMO_DATABASE = "memory_dashboard"


@pytest.fixture(scope="package")
def needed() -> None:
    """A browser, and a page to show in it; asked before anything costly begins."""
    _need(CHROMIUM is not None, "Chromium; apt-get install chromium")
    _need((BUILT / "index.html").is_file(), "a built dashboard; make frontend")


@pytest.fixture(scope="package")
def demo_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the demonstration's journal lies."""
    return tmp_path_factory.mktemp("dashboard")


@pytest.fixture(scope="package")
def demo_dsn(needed: None, template: Template, demo_folder: Path) -> Iterator[str]:
    """The runtime's login to a database with the demonstration in it."""
    dsn = template.runtime_dsn.replace(f"/{_TEMPLATE}?", f"/{DEMO_DATABASE}?")
    asyncio.run(_execute(template, _CLONE.format(clone=DEMO_DATABASE, template=_TEMPLATE)))
    try:
        seed_apart(dsn, demo_folder)
        yield dsn
    finally:
        asyncio.run(_execute(template, f"DROP DATABASE {DEMO_DATABASE} WITH (FORCE)"))


async def _execute(template: Template, statement: str) -> None:
    admin = await asyncpg.connect(template.endpoint.dsn("postgres"))
    try:
        await admin.execute(statement)
    finally:
        await admin.close()


@pytest.fixture(scope="package")
def url(demo_dsn: str, demo_folder: Path) -> Iterator[str]:
    """A server that needs no token."""
    with server("--dsn", demo_dsn, "--data-dir", str(demo_folder)) as url:
        yield url


@pytest.fixture(scope="package")
def browser(url: str) -> Iterator[Browser]:
    """Debian's Chromium.

    Playwright keeps an event loop running in this thread, so that nothing asynchronous of a wider
    scope may begin after it, nor a test of another folder run beside it.
    """
    assert url
    with chromium() as browser:
        yield browser


@pytest.fixture
def page(browser: Browser, url: str) -> Iterator[Page]:
    """A page in a window of its own, as wide as a desk's."""
    with window(browser, url) as context:
        yield context.new_page()


def _need(there: bool, wanted: str) -> None:
    """In CI a missing browser is a failure; elsewhere the tests skip, and say why."""
    if there:
        return
    if os.environ.get("CI"):
        pytest.fail(f"{ABSENT}: {wanted}")
    pytest.skip(f"{ABSENT}: {wanted}")
