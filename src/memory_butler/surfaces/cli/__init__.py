"""The command line. What a command needs is imported by the command: `--help` must come at once."""

import io
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from memory_butler.surfaces.cli.problems import reporting, written_out
from memory_butler.surfaces.cli.program import Addition, build

if TYPE_CHECKING:
    from memory_butler.surfaces.cli.serving import Serve


def run(serve: "Serve", *additions: Addition) -> None:
    """Run the command line with this process's arguments, and exit.

    `serve` runs the server; `additions` bring the commands of the rooms above this one.
    """
    _prepare_streams()
    with written_out(), reporting(debug="--debug" in sys.argv):
        build(serve, *additions).main(prog_name="memory-butler")


def _prepare_streams() -> None:
    """Standard streams that anything may be written to; those that are closed lead nowhere."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 -- kept
    if isinstance(sys.stdout, io.TextIOWrapper):
        # What its encoding cannot say, as of another locale, is written by its number.
        with suppress(OSError):  # something else was put beneath it
            sys.stdout.reconfigure(errors="backslashreplace")
