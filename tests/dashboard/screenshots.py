"""Pictures of every page and of what opens over them, in both themes, for `make screenshots`."""

import io
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page

from dashboard.browser import DESKTOP, PHONE, chromium, window
from dashboard.overlays import OVERLAYS, VIEWS
from dashboard.pages import PAGES, PageShown
from dashboard.serving import seed, server
from folders import open_folder
from memory_butler.config import Settings
from memory_butler.demo.folder import mark

IMAGES = Path(__file__).parents[2] / "docs" / "images"
_THEMES = ("light", "dark")
_DEMO = "demo"


def main() -> None:
    """All pages, or those whose names are given."""
    wanted = set(sys.argv[1:])
    IMAGES.mkdir(parents=True, exist_ok=True)
    with open_folder() as folder:
        seed(Settings(data_dir=folder / "data"))
        with server("--data-dir", str(folder / "data")) as url, chromium() as browser:
            for theme in _THEMES:
                for size, suffix in ((DESKTOP, ""), (PHONE, "-phone")):
                    with window(browser, url, theme=theme, size=size) as context:
                        page = context.new_page()
                        for name, show in _shown(on_phone=bool(suffix)):
                            if not wanted or name in wanted:
                                page.goto("about:blank")  # nothing of the last one is left open
                                show(page)
                                _picture(page, IMAGES / f"{name}{suffix}-{theme}.webp")
        if not wanted or _DEMO in wanted:
            _picture_tour(folder / "data")


def _picture_tour(data_dir: Path) -> None:
    """The overview of a server that knows that it shows a demonstration."""
    mark(data_dir)
    with server("--data-dir", str(data_dir)) as url, chromium() as browser:
        for theme in _THEMES:
            with window(browser, url, theme=theme) as context:
                page = context.new_page()
                page.goto("/memory")
                page.get_by_role("region", name="Guided tour").wait_for()
                _picture(page, IMAGES / f"{_DEMO}-{theme}.webp")


def _shown(*, on_phone: bool) -> Iterator[tuple[str, Callable[[Page], None]]]:
    """The names of the pictures, and how a browser comes to show what is on them."""
    for one in PAGES:
        if one.phone or not on_phone:
            yield one.name, partial(_open, one)
    for overlay in (*OVERLAYS, *VIEWS):
        if overlay.pictured and not on_phone:
            yield overlay.name, overlay.open


def _open(shown: PageShown, page: Page) -> None:
    page.goto(shown.path)
    page.get_by_role("heading", level=1, name=shown.heading).wait_for()


def _picture(page: Page, file: Path) -> None:
    page.wait_for_load_state("networkidle")
    png = page.screenshot()
    Image.open(io.BytesIO(png)).save(file, "WEBP", quality=85, method=6)
    print(file)


if __name__ == "__main__":
    main()
