"""The command line. What a command needs is imported by the command: `--help` must come at once."""

import sys
from typing import TYPE_CHECKING

from memory_butler.surfaces.cli.problems import reporting
from memory_butler.surfaces.cli.program import Addition, build

if TYPE_CHECKING:
    from memory_butler.surfaces.cli.serving import Serve


def run(serve: "Serve", *additions: Addition) -> None:
    """Run the command line with this process's arguments, and exit.

    `serve` runs the server; `additions` bring the commands of the rooms above this one.
    """
    with reporting(debug="--debug" in sys.argv):
        build(serve, *additions).main(prog_name="memory-butler")
