"""How fast the dashboard comes, in a real browser, over a memory of many facts.

    python bench/dashboard.py [--facts 10000] [--visits 10] [--pages overview facts]

The memory is the demonstration of the tests and made-up facts, all newer. Each visit of a page
has an empty cache and a profile of its own: when the first and the largest content is
painted, and how many bytes came over the wire. The list of facts is asked
over HTTP as the page asks it, by each filter and at random places: how long the server takes.
Server, database and browser share the machine's cores. Prints Markdown.
"""

import argparse
import asyncio
import http.client
import os
import random
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlencode, urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))


from bench.everyday import PEOPLE, TOPICS, stocked
from bench.metrics import percentile
from bench.server import machine, running_server
from dashboard.browser import chromium, window
from dashboard.pages import PAGES, PageShown
from dashboard.serving import seed
from memory_butler.config import Settings

_Query = Callable[[], dict[str, str | int | float]]

_PAINTS = """() => new Promise((resolve) => {
  const first = performance.getEntriesByName("first-contentful-paint")[0].startTime;
  new PerformanceObserver((list) => resolve([first, list.getEntries().at(-1).startTime]))
    .observe({ type: "largest-contentful-paint", buffered: true });
})"""


def main() -> None:
    """Run and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facts", type=int, default=10_000)
    parser.add_argument("--visits", type=int, default=10)
    parser.add_argument("--requests", type=int, default=100, help="of each kind of list")
    parser.add_argument("--pages", nargs="+", default=[one.name for one in PAGES])
    given = parser.parse_args()
    pages = [one for one in PAGES if one.name in given.pages]
    with running_server() as (url, data_dir):
        seed(Settings(data_dir=data_dir))
        asyncio.run(_fill(data_dir, given.facts))
        print(f"{given.facts} facts; {machine()}; {_load()}\n")
        _visits(url, pages, given.visits)
        print(f"\n{_load()}")
        _lists(url, given.facts, given.requests)


def _load() -> str:
    """What others do on the machine meanwhile weighs more than anything here."""
    return f"load of the last minute {os.getloadavg()[0]:.1f}"


async def _fill(data_dir: Path, facts: int) -> None:
    async with stocked(data_dir, facts):
        pass


def _visits(url: str, pages: list[PageShown], visits: int) -> None:
    print("| page | first paint, ms | largest paint, ms | slowest, ms | KB over the wire |")
    print("| --- | --- | --- | --- | --- |")
    with chromium() as browser:
        for shown in pages:
            first, largest, sizes = [], [], []
            for _ in range(visits):
                with window(browser, url) as context:
                    page = context.new_page()
                    network = context.new_cdp_session(page)
                    network.send("Network.enable")
                    received: list[float] = []
                    network.on(
                        "Network.loadingFinished",
                        lambda told, received=received: received.append(told["encodedDataLength"]),
                    )
                    page.goto(shown.path)
                    page.get_by_role("heading", level=1, name=shown.heading).wait_for()
                    page.wait_for_timeout(1_500)
                    paints = page.evaluate(_PAINTS)
                    first.append(paints[0])
                    largest.append(paints[1])
                    sizes.append(sum(received) / 1000)
            print(
                f"| {shown.path} | {percentile(first, 0.5):.0f} | {percentile(largest, 0.5):.0f} "
                f"| {max(largest):.0f} | {max(sizes):.0f} |"
            )


def _lists(url: str, facts: int, requests: int) -> None:
    print("\n| list of facts | median, ms | p95, ms |")
    print("| --- | --- | --- |")
    rng = random.Random(3)
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
    for name, query in _queries(rng, facts):
        taken = []
        for turn in range(requests + 5):
            path = f"/api/memory/facts?{urlencode(query())}"
            began = time.perf_counter()
            connection.request("GET", path)
            answer = connection.getresponse()
            body = answer.read()
            if answer.status != 200:
                raise RuntimeError(f"{path}: {body[:300]!r}")
            if turn >= 5:
                taken.append((time.perf_counter() - began) * 1000)
        print(f"| {name} | {percentile(taken, 0.5):.1f} | {percentile(taken, 0.95):.1f} |")


def _queries(rng: random.Random, facts: int) -> Iterator[tuple[str, _Query]]:
    yield "newest 50", lambda: {"limit": 50}
    yield "newest 200", lambda: {"limit": 200}
    yield "200 at a random place", lambda: {"limit": 200, "offset": rng.randrange(facts)}
    yield "by words", lambda: {"q": f"{rng.choice(PEOPLE)} {rng.choice(TOPICS)}"}
    yield "by permanence and confidence", lambda: {"permanence": "standard", "min_confidence": 0.5}
    yield "most certain first", lambda: {"sort": "confidence"}
    yield "fading", lambda: {"validity": "fading"}
    yield "archive", lambda: {"validity": "archive"}


if __name__ == "__main__":
    main()
