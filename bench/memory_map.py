"""How fast the map of memory comes, and how smoothly it moves, in a real browser.

    python bench/memory_map.py [--entities 2000] [--facts 6000] [--seconds 5] [--pictures FOLDER]

The entities are made up; each fact is about one and names another, mostly one of its
neighbourhood, so that there are groups, as among people. Measured: how long the server takes for
the map, now and as of an earlier moment; how long the layout takes to come to rest; and the frames
while it does, while a pointer drags the map, and while one looks back. Server, database and browser
share the machine's cores, and the browser draws without a graphics card. Prints Markdown.
"""

import argparse
import asyncio
import random
import statistics
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final
from uuid import UUID

import asyncpg
import httpx

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from playwright.sync_api import Browser, Page

from bench.dashboard import _load
from bench.everyday import TENANT, VERSION, analyze
from bench.metrics import percentile
from bench.server import machine, running_server
from dashboard.browser import DESKTOP, PHONE, chromium, window
from memory_butler.config import Settings
from memory_butler.engine.opening import open_database
from memory_butler.store.transaction import prepare_connection

KINDS: Final = ("person", "person", "person", "place", "organization", "other")
AHEAD: Final = 12  # so far from an entity lie most of those that its facts name

_RECORD = """() => {
  window.frames_ = [];
  let last = performance.now();
  const step = (now) => { window.frames_.push(now - last); last = now;
                          window.recording_ = requestAnimationFrame(step); };
  window.recording_ = requestAnimationFrame(step);
}"""
_RECORDED = "() => { cancelAnimationFrame(window.recording_); return window.frames_.slice(2); }"


def main() -> None:
    """Run and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entities", type=int, default=2_000)
    parser.add_argument("--facts", type=int, default=6_000)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--requests", type=int, default=20)
    parser.add_argument("--pictures", type=Path, help="a folder for pictures of what was drawn")
    given = parser.parse_args()
    with running_server() as (url, data_dir):
        asyncio.run(_fill(data_dir, given.entities, given.facts))
        print(f"{given.entities} entities, {given.facts} facts; {machine()}; {_load()}\n")
        _answers(url, given.requests)
        with chromium() as browser:
            _frames(browser, url, given.seconds)
            if given.pictures:
                _pictures(browser, url, given.pictures)
        print(f"\n{_load()}")


async def _fill(data_dir: Path, entities: int, facts: int) -> None:
    rng = random.Random(5)
    ids = [UUID(int=rng.getrandbits(128), version=4) for _ in range(entities)]
    now = datetime.now(UTC)
    levels = (5, 4, 4, 4, 3, 2, 1)
    trusts = [rng.choice(levels) for _ in range(entities)]
    async with open_database(Settings(data_dir=data_dir)) as database:
        connection = await asyncpg.connect(database.runtime_dsn)
        await prepare_connection(connection)
        version = await connection.fetchval(VERSION)
        async with connection.transaction():
            await connection.execute("SELECT set_config('butler.tenant_id', $1, true)", TENANT)
            await connection.executemany(
                "INSERT INTO entities (tenant_id, id, canonical_name, entity_type, created_at)"
                " VALUES ($1, $2, $3, $4, $5)",
                [
                    (TENANT, id, _name(place), rng.choice(KINDS), now - timedelta(days=200))
                    for place, id in enumerate(ids)
                ],
            )
            rows = []
            for place in range(facts):
                about = (
                    place % entities if place < entities else int(rng.paretovariate(0.6)) % entities
                )
                near = (about // AHEAD) * AHEAD + rng.randrange(AHEAD)
                other = near % entities if rng.random() < 0.9 else rng.randrange(entities)
                told = now - timedelta(days=rng.uniform(0, 180))
                rows.append(
                    (TENANT, _name(about), f"knows_{place}", f"Spent the day with {_name(other)}",
                     ids[about], trusts[about], told, rng.choice((0.002, 0.008, 0.03)), version)
                )  # fmt: skip
            # Every text is alike, so that one vector does: what is measured does not look at it.
            vector = [1.0] + [0.0] * 383
            await connection.executemany(
                """
                INSERT INTO facts (tenant_id, subject, predicate, content, entity_id, trust,
                                   created_at, last_referenced_at, last_confirmed_at, valid_from,
                                   decay_rate, embedding_version_id, embedding, search_vector)
                VALUES ($1, $2, $3, $4, $5, $6, $7, $7, $7, $7, $8, $9, $10,
                        to_tsvector('english', $4))
                """,
                [(*row, vector) for row in rows],
            )
        await connection.close()
        await analyze(database.admin_dsn)


def _name(place: int) -> str:
    """A name of two words that no other has."""
    parts = ("Al", "Be", "Cor", "Da", "El", "Fi", "Gra", "Ho", "Is", "Jo", "Ka", "Lu", "Mi")
    first = parts[place % 13] + parts[place // 13 % 13].lower()
    return f"{first} {parts[place // 169 % 13]}{parts[(place + place // 7) % 13].lower()}-{place}"


def _answers(url: str, requests: int) -> None:
    print("| map | median, ms | slowest, ms | KB |")
    print("| --- | --- | --- | --- |")
    then = (datetime.now(UTC) - timedelta(days=90)).isoformat()
    with httpx.Client(base_url=url, timeout=60, trust_env=False) as client:
        queries: dict[str, dict[str, str | int]] = {
            "500": {"limit": 500},
            "2,000": {"limit": 2000},
            "2,000, 90 days ago": {"limit": 2000, "known_at": then},
        }
        for name, query in queries.items():
            taken = []
            for _ in range(requests):
                began = time.perf_counter()
                answer = client.get("/api/memory/map", params=query)
                taken.append((time.perf_counter() - began) * 1000)
                answer.raise_for_status()
            size = len(answer.content) / 1000
            print(f"| {name} | {statistics.median(taken):.0f} | {max(taken):.0f} | {size:.0f} |")


def _frames(browser: Browser, url: str, seconds: float) -> None:
    print("\n| 2,000 entities | frames/s | median, ms | p95, ms | slowest, ms |")
    print("| --- | --- | --- | --- | --- |")
    with window(browser, url) as context:
        page = context.new_page()
        page.emulate_media(reduced_motion="no-preference")
        page.goto("/memory/map?limit=2000")
        page.wait_for_selector("canvas")
        began = time.perf_counter()
        page.evaluate(_RECORD)
        page.wait_for_selector("canvas[data-state=settled]", timeout=120_000)
        settled = time.perf_counter() - began
        _told("while the layout works", page)
        _dragged(page, seconds, "while it is dragged")
        for _ in range(4):
            page.get_by_role("button", name="Zoom in").click()
        _dragged(page, seconds, "while it is dragged, zoomed in")
        page.goto("/memory/map?limit=2000")
        page.wait_for_selector("canvas[data-state=settled]", timeout=120_000)
        page.get_by_role("button", name="Look back").click()
        slider = page.get_by_role("slider", name="Days ago")
        slider.focus()
        page.evaluate(_RECORD)
        for _ in range(12):
            page.keyboard.press("ArrowLeft")
            page.wait_for_timeout(400)
        _told("while one looks back, day by day", page)
        print(f"\nThe layout came to rest after {settled:.1f} s.")


def _dragged(page: Page, seconds: float, name: str) -> None:
    box = page.locator("canvas").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 100, box["y"] + 100)
    page.mouse.down()
    page.evaluate(_RECORD)
    until, step = time.perf_counter() + seconds, 0
    while time.perf_counter() < until:
        step += 1
        page.mouse.move(box["x"] + 100 + step * 3 % 300, box["y"] + 100 + step * 2 % 200)
    page.mouse.up()
    _told(name, page)


def _told(name: str, page: Page) -> None:
    taken: list[float] = page.evaluate(_RECORDED)
    print(
        f"| {name} | {1000 * len(taken) / sum(taken):.1f} | {percentile(taken, 0.5):.1f} "
        f"| {percentile(taken, 0.95):.1f} | {max(taken):.0f} |"
    )


def _pictures(browser: Browser, url: str, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for theme in ("light", "dark"):
        for size, suffix in ((DESKTOP, ""), (PHONE, "-phone")):
            with window(browser, url, theme=theme, size=size) as context:
                page = context.new_page()
                page.goto("/memory/map?limit=2000")
                page.wait_for_selector("canvas[data-state=settled]", timeout=120_000)
                page.screenshot(path=folder / f"map-2000{suffix}-{theme}.png")


if __name__ == "__main__":
    main()
