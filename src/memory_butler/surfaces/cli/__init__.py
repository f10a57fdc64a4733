"""The command line. What a command needs is imported by the command: `--help` must come at once."""

import sys

from memory_butler.surfaces.cli.problems import reporting
from memory_butler.surfaces.cli.program import Addition, Serve, build


def run(serve: Serve, *additions: Addition) -> None:
    """Run the command line with this process's arguments, and exit.

    `serve` runs the server; `additions` bring the commands of the rooms above this one.
    """
    with reporting(debug="--debug" in sys.argv):
        build(serve, *additions).main(prog_name="memory-butler")
