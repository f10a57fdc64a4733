"""Short recordings of the terminal and of the dashboard into docs/images, for `make recordings`.

What is shown is real: commands in a terminal of their own, and a browser at a server with the
demonstration. Each is a picture that moves (WebP), made of still ones: no codec, and a click waits
as long as a reader needs, not as long as the machine.
"""

import io
import os
import pty
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from PIL import Image
from playwright.sync_api import Page, expect
from rich.console import Console
from rich.text import Text

from dashboard.browser import DESKTOP, chromium, window
from dashboard.screenshots import IMAGES
from dashboard.serving import seed, server
from folders import open_folder
from memory_butler.config import Settings
from memory_butler.demo.folder import mark

_COLUMNS: Final = 112
_WIDTH: Final = 960  # of the pictures
_READ, _LOOK, _TYPE = 3_200, 1_800, 110  # milliseconds
_SETTLE: Final = 800  # until what a click leads to is asked for, and until it has moved into place

# What somebody types in the first minutes; `{receipt}` is that of the context before.
_COMMANDS: Final = (
    'memory-butler store-fact user tea "Prefers green tea"',
    'memory-butler store-fact user city "Lives in Lisbon"',
    'memory-butler store-fact user city "Lives in Porto"',
    'memory-butler recall "which city does the user live in" --limit 1',
    'memory-butler context "Plan a quiet evening at home" assistant',
    "memory-butler explain {receipt}",
)
_PAGE: Final = """<!doctype html><meta charset="utf-8"><style>
body {{ margin: 0; background: #16161d; color: #e4e4ea; padding: 22px 26px;
  font: 13px/1.45 "DejaVu Sans Mono", monospace }}
pre {{ margin: 0; font: inherit; white-space: pre-wrap }}
::-webkit-scrollbar {{ display: none }}
</style><pre>{shown}</pre>"""


@dataclass(slots=True)
class _Film:
    """Still pictures, and how long each is seen."""

    pictures: list[Image.Image] = field(default_factory=list)
    durations: list[int] = field(default_factory=list)

    def add(self, page: Page, milliseconds: int) -> None:
        """What the page shows now."""
        picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
        height = round(picture.height * _WIDTH / picture.width)
        self.pictures.append(picture.resize((_WIDTH, height), Image.Resampling.LANCZOS))
        self.durations.append(milliseconds)

    def save(self, file: Path) -> None:
        first, *others = self.pictures
        first.save(
            file,
            "WEBP",
            save_all=True,
            append_images=others,
            duration=self.durations,
            loop=0,
            quality=70,
            method=6,
        )
        print(file, f"{file.stat().st_size / 1000:.0f} KB")


def main() -> None:
    """Both, or the one that is named: `terminal` or `tour`."""
    wanted = sys.argv[1:] or ["terminal", "tour"]
    for name, record in {"terminal": _terminal, "tour": _tour}.items():
        if name in wanted:
            with open_folder() as folder:
                record(folder).save(IMAGES / f"{name}.webp")


def _terminal(folder: Path) -> _Film:
    film, shown, receipt = _Film(), Text(), ""
    with chromium() as browser, window(browser, "http://localhost", size=(_WIDTH, 540)) as context:
        page = context.new_page()

        def picture(text: Text, milliseconds: int) -> None:
            made = Console(record=True, file=io.StringIO(), width=_COLUMNS)
            made.print(text, end="")
            page.set_content(
                _PAGE.format(shown=made.export_html(inline_styles=True, code_format="{code}"))
            )
            page.evaluate("scrollTo(0, document.body.scrollHeight)")
            film.add(page, milliseconds)

        for command in _COMMANDS:
            typed = command.format(receipt=receipt)
            for end in (0, *range(14, len(typed), 14)):
                picture(shown + Text(f"$ {typed[:end]}▌"), _TYPE)
            said = _run(folder, typed)
            shown += Text(f"$ {typed}\n") + Text.from_ansi(said) + Text("\n")
            picture(shown, _READ)
            receipt = _newest_receipt(folder) if " context " in typed else receipt
    return film


def _run(folder: Path, command: str) -> str:
    """What a command writes to a terminal of its own."""
    master, slave = pty.openpty()
    program = Path(sys.executable).with_name("memory-butler")
    process = subprocess.Popen(
        [str(program), *shlex.split(command)[1:]],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "TERM": "xterm-256color",
            "COLUMNS": str(_COLUMNS),
            "MEMORY_BUTLER_DATA_DIR": str(folder / "data"),
        },
    )
    os.close(slave)
    said = b""
    try:
        while part := os.read(master, 65_536):
            said += part
    except OSError:  # how Linux says that nobody writes any more
        pass
    os.close(master)
    text = said.decode().replace("\r\n", "\n")
    if process.wait() != 0:
        raise RuntimeError(f"{command}: {text}")
    return re.sub(r"\x1b\[\?25[lh]|.*\r", "", text)


def _newest_receipt(folder: Path) -> str:
    found = re.search(r"[0-9a-f-]{36}", _run(folder, "memory-butler contexts --json"))
    assert found is not None
    return found[0]


def _tour(folder: Path) -> _Film:
    """What the guided tour of the demonstration leads to."""
    film = _Film()
    seed(Settings(data_dir=folder / "data"))
    mark(folder / "data")
    with (
        server("--data-dir", str(folder / "data")) as url,
        chromium() as browser,
        window(browser, url, size=DESKTOP) as context,
    ):
        page = context.new_page()
        for step, milliseconds in _steps():
            step(page)
            page.wait_for_timeout(_SETTLE)
            expect(page.get_by_role("status", name="Loading")).to_have_count(0)
            page.wait_for_timeout(_SETTLE)
            film.add(page, milliseconds)
    return film


def _steps() -> Iterator[tuple[Callable[[Page], object], int]]:
    """What one does, and how long what it leads to is seen."""

    def button(name: str) -> Callable[[Page], None]:
        return lambda page: page.get_by_role("button", name=name, exact=True).first.click()

    def link(name: str) -> Callable[[Page], None]:
        return lambda page: page.get_by_role("link", name=name).first.click()

    def row(page: Page) -> None:
        page.get_by_role("table").get_by_role("row").nth(1).click()

    def correct(page: Page) -> None:
        page.get_by_label("Fact", exact=True).fill("Has piano lessons with Teresa on Thursdays")

    yield lambda page: page.goto("/memory"), _READ
    yield link("Go to the fact"), _LOOK
    yield row, _READ
    yield button("Edit"), _LOOK
    yield correct, _LOOK
    yield button("Save"), _READ
    yield button("Close"), _LOOK
    yield link("Next: See why"), _LOOK
    yield link("weighed"), _READ
    yield link("Next: Undo a merge"), _LOOK
    yield row, _LOOK
    yield button("Undo the merge"), _READ
    yield button("Close"), _LOOK
    yield link("Next: Look back"), _READ
    yield lambda page: page.goto("/memory/map"), _READ


if __name__ == "__main__":
    main()
