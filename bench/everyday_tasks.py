"""Clicks, keys and seconds of ten everyday tasks in the dashboard, in a real browser.

    python bench/everyday_tasks.py [--rounds 3]

The memory is the demonstration. Each task begins at the overview, in a window with nothing in its
cache, and ends when what it is for can be seen. A text that is typed counts as one entry, whatever
its length. Nobody reads or thinks in between, so the seconds are the program's. Server,
database and browser share the machine's cores. Prints Markdown.
"""

import argparse
import asyncio
import re
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from playwright.sync_api import Locator, Page

from bench.server import Client, machine, running_server
from dashboard.browser import chromium, window
from dashboard.serving import seed
from memory_butler.config import Settings
from memory_butler.domain.principals import DEFAULT_TENANT
from memory_butler.engine.opening import open_memory
from memory_butler.engine.tokens import create_token

# What an agent with a token of its own stores, for a person to undo.
_AGENT = "scribe"
_STORED = "Parks on the roof"


@dataclass(slots=True)
class _Hand:
    """Does what a person does, and counts it."""

    page: Page
    clicks: int = 0
    keys: int = 0
    entries: int = 0

    def click(self, what: Locator, at: float | None = None) -> None:
        """Where `at` says, as a share of its width, else in the middle."""
        if at is None:
            what.click()
        else:
            box = what.bounding_box()
            assert box is not None
            what.click(position={"x": at * box["width"], "y": box["height"] / 2})
        self.clicks += 1

    def press(self, keys: str) -> None:
        self.page.keyboard.press(keys)
        self.keys += 1

    def enter(self, text: str, into: Locator | None = None) -> None:
        """Type into a field that was clicked, or into what has the focus."""
        if into is None:
            self.page.keyboard.type(text)
        else:
            self.click(into)
            into.fill(text)
        self.entries += 1

    def go(self, page: str) -> None:
        """By the sidebar."""
        bar = self.page.get_by_role("navigation", name="Pages")
        self.click(bar.get_by_role("link", name=page, exact=True))

    def button(self, name: str, inside: Locator | None = None) -> Locator:
        return (inside or self.page).get_by_role("button", name=name, exact=True).first

    def row(self, said: str) -> Locator:
        return self.page.get_by_role("table").get_by_role("row").filter(has_text=said).first

    @property
    def drawer(self) -> Locator:
        return self.page.get_by_role("dialog")

    def sees(self, text: str | re.Pattern[str]) -> None:
        self.page.get_by_text(text).first.wait_for()


def _find(hand: _Hand) -> None:
    hand.press("Control+k")
    hand.enter("where do they live")
    hand.sees(re.compile("Moved to Porto"))


def _ask(hand: _Hand) -> None:
    hand.go("Ask")
    hand.enter("How does Rui want a review?", hand.page.get_by_label("Question"))
    hand.page.get_by_role("link", name="Its episode").first.wait_for()


def _add(hand: _Hand) -> None:
    hand.go("Facts")
    hand.click(hand.button("Add a fact"))
    form = hand.page.get_by_role("dialog", name="Add a fact")
    hand.enter("Parks in the yard", form.get_by_label("Fact"))
    hand.enter("car", form.get_by_label("Subject"))
    hand.enter("parking", form.get_by_label("Predicate"))
    hand.click(hand.button("Add", form))
    hand.sees(re.compile("^Added"))


def _correct(hand: _Hand) -> None:
    hand.go("Facts")
    hand.enter("espresso", hand.page.get_by_placeholder("Words of a fact"))
    hand.click(hand.row("Drinks espresso"))
    hand.click(hand.button("Edit", hand.drawer))
    hand.enter("Drinks espresso, with milk", hand.drawer.get_by_label("Fact", exact=True))
    hand.click(hand.button("Save", hand.drawer))
    hand.drawer.get_by_role("heading", name="with milk").wait_for()
    hand.click(hand.button("Undo"))
    hand.drawer.get_by_role("heading", name="no sugar").wait_for()


def _forget(hand: _Hand) -> None:
    hand.go("Facts")
    for place in (1, 2, 3):
        box = hand.page.get_by_role("table").get_by_role("row").nth(place)
        hand.click(box.get_by_role("checkbox"))
    bar = hand.page.get_by_role("group", name="With those selected")
    hand.click(hand.button("Forget", bar))
    hand.sees("3 facts forgotten.")
    hand.click(hand.button("Undo"))
    hand.sees("3 taken back.")


def _why(hand: _Hand) -> None:
    hand.go("Contexts")
    hand.click(hand.page.get_by_role("link", name="weighed").first)
    hand.page.get_by_role("region", name="Why each line is there").wait_for()


def _decide(hand: _Hand) -> None:
    hand.go("Inbox")
    current = hand.page.locator("article[aria-current]")
    current.wait_for()
    said = current.inner_text()
    hand.press("l" if "contradiction" in said else "r" if "Retry" in said else "k")
    hand.page.wait_for_function(
        "said => document.querySelector('article[aria-current]')?.innerText !== said", arg=said
    )


def _look_back(hand: _Hand) -> None:
    hand.go("Facts")
    hand.click(hand.button("Look back"))
    banner = hand.page.get_by_role("region", name="The past")
    slider = banner.get_by_role("slider")
    hand.click(slider, at=0.25)
    hand.sees("Lives in Lisbon, near Graça")


def _merge(hand: _Hand) -> None:
    hand.go("Entities")
    hand.click(hand.row("R. Tavares"))
    hand.click(hand.button("Merge…", hand.drawer))
    dialog = hand.page.get_by_role("dialog", name="Merge R. Tavares")
    hand.click(dialog.get_by_role("button", name="Rui Tavares").first)
    hand.click(dialog.get_by_role("button", name=re.compile("^Merge")).last)
    hand.click(hand.button("Undo"))
    hand.sees("Merge undone.")


def _undo(hand: _Hand) -> None:
    hand.go("Timeline")
    told = hand.page.get_by_role("listitem").filter(has_text=_AGENT).filter(has_text=_STORED)
    hand.click(told.get_by_role("button", name=re.compile("^Undo: fact created")).first)
    dialog = hand.page.get_by_role("dialog", name="Undo this change?")
    hand.click(hand.button("Undo it", dialog))
    hand.sees(re.compile("^Undone"))


# Those that change memory last, so that each round begins like the one before where it can.
_TASKS: dict[str, Callable[[_Hand], None]] = {
    "find a fact": _find,
    "ask a question, with the source of the answer": _ask,
    "see why a session was told what it was told": _why,
    "look back to what was known two months ago": _look_back,
    "correct a fact, and take it back": _correct,
    "forget three facts at once, and take it back": _forget,
    "merge two entities, and take it back": _merge,
    "add a fact": _add,
    "undo what an agent stored, from the timeline": _undo,
    "decide what waits in the inbox": _decide,
}


async def _token(settings: Settings) -> str:
    async with open_memory(settings, with_model=False) as memory:
        return (await create_token(memory, DEFAULT_TENANT, _AGENT, ["write"])).token


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    hands: dict[str, list[_Hand]] = {name: [] for name in _TASKS}
    seconds: dict[str, list[float]] = {name: [] for name in _TASKS}
    with running_server() as (url, data_dir):
        settings = Settings(data_dir=data_dir)
        seed(settings)
        agent = Client(url, asyncio.run(_token(settings)))
        with chromium() as browser:
            for _ in range(given.rounds):
                for name, task in _TASKS.items():
                    if task is _undo:
                        said = {"subject": "guest", "predicate": "parking", "content": _STORED}
                        agent.call("memory_store_fact", **said)
                    with window(browser, url) as context:
                        page = context.new_page()
                        page.goto("/memory")
                        page.get_by_role("heading", level=1, name="Overview").wait_for()
                        page.wait_for_load_state("networkidle")
                        hand = _Hand(page)
                        began = time.perf_counter()
                        task(hand)
                        seconds[name].append(time.perf_counter() - began)
                        hands[name].append(hand)
    print(f"{machine()}; median of {given.rounds} rounds\n")
    print("| task | clicks | keys | entries | seconds |")
    print("| --- | --- | --- | --- | --- |")
    for name, did in hands.items():
        counts = " | ".join(
            str(max(getattr(one, part) for one in did)) for part in ("clicks", "keys", "entries")
        )
        print(f"| {name} | {counts} | {statistics.median(seconds[name]):.1f} |")


if __name__ == "__main__":
    main()
