"""How many decisions a minute the inbox of the dashboard takes, in a real browser.

    python bench/inbox.py [--decisions 60] [--reading 1.0]

The memory is the demonstration of the tests, and facts that fade. The script reads the current
decision for `--reading` seconds, presses its key, and goes on when the next one is there; each
tenth decision is undone. It counts the changes that the server stored. Server, database
and browser share the machine's cores. Prints the figures.
"""

import argparse
import asyncio
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from playwright.sync_api import Page

from bench.server import machine, running_server
from dashboard.browser import chromium, window
from dashboard.serving import seed
from memory_butler.config import Settings
from memory_butler.domain.principals import Principal
from memory_butler.engine.lifecycle import sweep
from memory_butler.engine.opening import open_memory
from memory_butler.engine.remember import store_fact

_OLD = timedelta(days=60)  # an ephemeral fact has faded by then, and not expired
_UNDONE = 10  # of so many decisions, one is taken back


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--decisions", type=int, default=60)
    parser.add_argument("--reading", type=float, default=1.0, help="seconds before each decision")
    given = parser.parse_args()
    with running_server() as (url, data_dir):
        settings = Settings(data_dir=data_dir)
        seed(settings)
        asyncio.run(_fade(settings, given.decisions))
        with chromium() as browser, window(browser, url) as context:
            page = context.new_page()
            answers: list[bool] = []
            page.on(
                "response",
                lambda one: None if one.request.method == "GET" else answers.append(one.ok),
            )
            page.goto("/memory/inbox")
            taken = _decide(page, given.decisions, given.reading)
            page.get_by_role("listitem").filter(has_text="certain").first.wait_for(state="detached")
    rate = given.decisions / taken * 60
    print(f"{machine()}; {given.reading:g} s of reading each")
    print(f"{given.decisions} decisions in {taken:.1f} s: {rate:.0f} a minute")
    print(f"{sum(answers)} of {given.decisions + given.decisions // _UNDONE} changes were stored")


async def _fade(settings: Settings, number: int) -> None:
    """Facts of two months ago that nobody has confirmed since."""
    by = Principal(actor="home")
    then = datetime.now(UTC) - _OLD
    async with open_memory(settings) as memory:
        past = replace(memory, clock=lambda: then)
        for place in range(number):
            await store_fact(
                past,
                by,
                f"shelf {place}",
                "content",
                f"Shelf {place} of the cellar holds jar number {place * 7}",
                permanence="volatile",
            )
        await sweep.run(memory, by)


def _decide(page: Page, number: int, reading: float) -> float:
    """Decide by the keyboard; seconds from the first card to the last decision."""
    current = page.locator("article[aria-current]")
    current.wait_for()
    began = time.perf_counter()
    for place in range(1, number + 1):
        said = current.inner_text()
        page.wait_for_timeout(reading * 1_000)
        page.keyboard.press("l" if "contradiction" in said else "r" if "Retry" in said else "k")
        if place % _UNDONE == 0:
            page.wait_for_function("() => document.body.innerText.includes('Undo')")
            page.keyboard.press("u")
        page.wait_for_function(
            "said => document.querySelector('article[aria-current]')?.innerText !== said", arg=said
        )
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
