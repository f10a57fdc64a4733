"""The command `memory-butler`."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from memory_butler.host.commands import add_butler_commands
from memory_butler.surfaces.cli import run

if TYPE_CHECKING:
    from memory_butler.config import Settings

# The commands of the rooms above the surfaces.
ADDITIONS: Final = (add_butler_commands,)


async def _serve(settings: "Settings", announce: Callable[[str], None]) -> None:
    # Imported here: it takes longer than most commands.
    from memory_butler import app

    await app.serve(settings, announce)


def main() -> None:
    """Run the command line."""
    run(_serve, *ADDITIONS)


if __name__ == "__main__":
    main()
