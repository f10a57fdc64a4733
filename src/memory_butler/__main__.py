"""The command `memory-butler`."""

from memory_butler import app
from memory_butler.surfaces.cli import run


def main() -> None:
    """Run the command line."""
    run(app.serve)


if __name__ == "__main__":
    main()
