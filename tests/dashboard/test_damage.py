"""What the overview says of damage to the database and to a journal."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import asyncpg
import pytest
from playwright.sync_api import Page, expect

from conftest import Template
from dashboard.accessibility import violations_in_both_themes
from dashboard.asking import read
from dashboard.conftest import COPY, execute
from memory_butler.store.transaction import connected


def test_damage_is_told_with_what_to_type(
    page: Page, template: Template, demo_folder: Path
) -> None:
    told = page.get_by_role("note").filter(has_text="Something is wrong")
    with page.expect_response("**/readyz"), page.expect_response("**/api/journal/companions"):
        page.goto("/memory")
    expect(page.get_by_text("Facts over time")).to_be_visible()
    expect(told).to_have_count(0)

    (demo_folder / "journal" / "default" / "ana.sqlite").write_bytes(b"no journal " * 1000)
    with ThreadPoolExecutor(1) as thread:  # Playwright keeps the loop of this one
        thread.submit(asyncio.run, _damage_a_page(template.endpoint.dsn(COPY))).result()
    assert read(page, "/readyz")["database"] == "damaged pages were read: 1"

    page.reload()
    expect(told.get_by_role("listitem")).to_have_count(2)
    expect(told).to_contain_text("Database: damaged pages were read: 1")
    expect(told).to_contain_text("Journal of ana: ana.sqlite is no SQLite file")
    command = "memory-butler doctor --deep"
    expect(told).to_contain_text(command)
    expect(told.get_by_role("button", name=f"Copy {command}")).to_be_visible()
    assert violations_in_both_themes(page) == []
    execute(template, COPY, "SELECT pg_stat_reset()")
    assert read(page, "/readyz")["database"] == "ok"


@pytest.mark.nightly
def test_an_overview_that_cannot_look_for_damage_shows_the_rest(page: Page) -> None:
    for path in ("**/readyz", "**/api/journal/companions"):
        page.route(path, lambda route: route.fulfill(status=500, body="{}"))
    with page.expect_response("**/readyz"), page.expect_response("**/api/journal/companions"):
        page.goto("/memory")
    expect(page.get_by_text("Facts over time")).to_be_visible()
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()


async def _damage_a_page(dsn: str) -> None:
    """As a disk does: another byte in a file, which PostgreSQL notices when it reads the page."""
    async with connected(dsn) as connection:
        await connection.execute("CREATE EXTENSION pg_buffercache")
        await connection.execute("CREATE TABLE spoilt AS SELECT generate_series(1, 9) AS number")
        await connection.execute("CHECKPOINT")
        await connection.execute("SELECT pg_buffercache_evict_relation('spoilt')")
        root = await connection.fetchval("SHOW data_directory")
        place = await connection.fetchval("SELECT pg_relation_filepath('spoilt')")
        with Path(root, place).open("r+b") as file:  # noqa: ASYNC230 -- nothing else runs here
            file.seek(4000)
            file.write(b"\xff")
        with pytest.raises(asyncpg.DataCorruptedError):
            await connection.fetchval("SELECT sum(number) FROM spoilt")
