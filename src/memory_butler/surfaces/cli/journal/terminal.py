"""The terminal of a conversation: a line that is typed or pasted, and what is told beside it."""

import os
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager

# A person does not type the next line within that.
_PASTE_SECONDS = 0.05


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


@contextmanager
def thinking() -> Iterator[None]:
    """A sign that the model is at work, while it is."""
    shown = sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"
    if shown:
        print(styled("thinking …", dim=True), end="", file=sys.stderr, flush=True)
    try:
        yield
    finally:
        if shown:
            # To the beginning of the line, and nothing left of it.
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def note(said: str) -> None:
    """What is none of the conversation: dim, on standard error."""
    from memory_butler.surfaces.cli.answers import clean

    text = clean(said)
    print(styled(text, dim=True) if sys.stderr.isatty() else text, file=sys.stderr, flush=True)


def styled(text: str, **style: bool) -> str:
    import typer

    return typer.style(text, **style) if sys.stdout.isatty() else text
