"""The demonstration's memory, a server on it, and a browser: once for the tests of each file."""

import asyncio
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import asyncpg
import pytest
from playwright.sync_api import Browser, Page

from conftest import _CLONE, _TEMPLATE, Template
from dashboard.browser import CHROMIUM, chromium, window
from dashboard.serving import seed_apart, server
from memory_butler.surfaces.web import BUILT
from requirements_ledger import ABSENT

COPY = "memory_dashboard_copy"  # the database that the pages of a file show


@pytest.fixture(scope="package")
def needed() -> None:
    """A browser, and a page to show in it; asked before anything costly begins."""
    _need(CHROMIUM is not None, "Chromium; apt-get install chromium")
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
    asyncio.run(_execute(template, _CLONE.format(clone=name, template=source)))
    try:
        yield template.runtime_dsn.replace(f"/{_TEMPLATE}?", f"/{name}?")
    finally:
        asyncio.run(_execute(template, f"DROP DATABASE {name} WITH (FORCE)"))


async def _execute(template: Template, statement: str) -> None:
    admin = await asyncpg.connect(template.endpoint.dsn("postgres"))
    try:
        await admin.execute(statement)
    finally:
        await admin.close()


@pytest.fixture(scope="module")
def url(demo_dsn: str, demo_folder: Path) -> Iterator[str]:
    """A server that needs no token."""
    with server("--dsn", demo_dsn, "--data-dir", str(demo_folder)) as url:
        yield url


@pytest.fixture(scope="module")
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
