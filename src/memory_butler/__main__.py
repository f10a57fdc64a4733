"""The command `memory-butler`."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from memory_butler.host.commands import add_butler_commands
from memory_butler.surfaces.cli import run

if TYPE_CHECKING:
    from memory_butler.config import Settings

# The commands of the rooms above the surfaces.
ADDITIONS: Final = (add_butler_commands,)


async def _serve(settings: "Settings", announce: Callable[[str], None]) -> None:
    with _database_meanwhile(settings):
        # Imported here: it takes longer than most commands.
        from memory_butler import app

        await app.serve(settings, announce)


@contextmanager
def _database_meanwhile(settings: "Settings") -> Iterator[None]:
    """Start the embedded database beside what the block does first: each takes a good second.

    The server takes a lease of its own, and tells what is wrong if none can be had.
    """
    if settings.dsn is not None:
        yield
        return
    from memory_butler.store import embedded

    with ThreadPoolExecutor(1, thread_name_prefix="database") as thread:
        lease = thread.submit(
            embedded.acquire, settings.data_dir, cluster_root=settings.cluster_root
        )
        try:
            yield
        finally:
            if lease.exception() is None:
                lease.result().release()


def main() -> None:
    """Run the command line."""
    run(_serve, *ADDITIONS)


if __name__ == "__main__":
    main()
