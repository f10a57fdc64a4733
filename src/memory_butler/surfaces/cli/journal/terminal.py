"""The terminal of a conversation: a line that is typed or pasted, and what is told beside it."""

import os
import re
import select
import shutil
import sys
from typing import TYPE_CHECKING, Final, Self, TextIO

from memory_butler.surfaces.cli.cleaning import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from memory_butler.journal.tags import ShownPiece

# A person does not type the next line within that.
_PASTE_SECONDS = 0.05
_ITALIC: Final = "\x1b[3m"
_UPRIGHT: Final = "\x1b[0m"
_STYLE: Final = re.compile(r"\x1b\[\dm")


def asked(prompt: str = "> ", given: str = "") -> str | None:
    """The next line; None where there is no more: Ctrl-D, Ctrl-C or the end of the input.

    At a terminal `given` stands there to be changed.
    """
    if not sys.stdin.isatty():
        line = sys.stdin.readline()
        return line if line else None
    import readline  # makes `input` a line that can be edited

    readline.parse_and_bind("set enable-bracketed-paste on")
    # A call without a hook removes the one before.
    readline.set_startup_hook(*([lambda: readline.insert_text(given)] if given else []))
    lines: list[str] = []
    try:
        lines = [input(prompt)]
        # What is pasted arrives at once: a poem is one message, not one for each of its lines. A
        # command is one line, and what was typed ahead after it the next.
        while (
            not lines[0].startswith("/") and select.select([sys.stdin], [], [], _PASTE_SECONDS)[0]
        ):
            lines.append(input())
        return "\n".join(lines)
    except EOFError:
        print()
        return "\n".join(lines) if lines else None
    except KeyboardInterrupt:
        print()
        return None


class Writing:
    """A reply at a terminal while it is written: first a sign that the model is at work.

    What was shown is added to. Where a draft is taken back, for a look-up, it goes from the screen.
    """

    def __init__(
        self, lines: "Callable[[Sequence[ShownPiece]], Iterable[tuple[str, bool]]]"
    ) -> None:
        """`lines`: those of pieces, and whether each is in italics."""
        self._lines = lines
        self._shown = ""
        self._sign = False
        # What was shown can be taken away again there.
        self.streams = _obeys(sys.stdout) and _obeys(sys.stderr)

    def __enter__(self) -> Self:
        self._think()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop_thinking()
        if self._shown:
            print(_UPRIGHT, flush=True)
            self._shown = ""

    def show(self, pieces: "Sequence[ShownPiece]") -> None:
        """All that may be shown by now."""
        text = _text(self._lines(pieces))
        self._stop_thinking()
        if not text.startswith(self._shown):
            self._take_away()
        print(text[len(self._shown) :], end="", flush=True)
        self._shown = text
        if not text:
            self._think()

    def end(self, pieces: "Sequence[ShownPiece]") -> None:
        """The whole reply, as it is in the log."""
        self.show(pieces)
        self.__exit__()

    def _take_away(self) -> None:
        from rich.cells import cell_len

        columns, height = shutil.get_terminal_size()
        lines = _STYLE.sub("", self._shown).split("\n")
        rows = sum(max(1, -(-cell_len(line) // columns)) for line in lines)
        up = f"\x1b[{rows - 1}A" if rows > 1 else ""
        if rows > height:
            # The beginning has left the window, and stays.
            print(f"{_UPRIGHT}\n{styled('(draft taken back)', dim=True)}", flush=True)
        else:
            print(f"{_UPRIGHT}\r{up}\x1b[J", end="", flush=True)
        self._shown = ""

    def _think(self) -> None:
        if _obeys(sys.stderr):
            self._sign = True
            print(styled("thinking …", dim=True), end="", file=sys.stderr, flush=True)

    def _stop_thinking(self) -> None:
        if self._sign:
            self._sign = False
            # To the beginning of the line, and nothing left of it.
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _text(lines: "Iterable[tuple[str, bool]]") -> str:
    """Lines as one text: of more of them, or a longer last one, it is the beginning."""
    text = ""
    for line, italic in lines:
        text += f"{_UPRIGHT}\n" if text else ""
        text += f"{_ITALIC if italic else ''}{line}"
    return text


def note(said: str) -> None:
    """What is none of the conversation: dim, on standard error."""

    text = clean(said)
    print(styled(text, dim=True) if _obeys(sys.stderr) else text, file=sys.stderr, flush=True)


def styled(text: str, **style: bool) -> str:
    import typer

    return typer.style(text, **style) if _obeys(sys.stdout) else text


def _obeys(stream: TextIO) -> bool:
    """Whether escape codes style and clear what it shows."""
    return stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"
