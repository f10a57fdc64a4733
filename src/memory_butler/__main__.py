"""The command `memory-butler`."""

# ruff: noqa: E402 -- the collector and numpy's threads are set before anything is imported
import atexit
import gc
import os
import sys
from types import TracebackType


def _complain(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """As Python does; but without a word on Ctrl-C while it still imports what is below."""
    if not issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, trace)


sys.excepthook = _complain

# What a command imports stays, some 300,000 objects of a server. Looking for what might go each 700
# of them took a fifth of its time, each 50,000 still 6 % of a start. Servers look sooner:
# `running.run` and `mcp.serve_stdio`.
gc.set_threshold(500_000)
# Nor is there anything to find at the end, where Python looks through all of it once more: a sixth.
atexit.register(gc.freeze)
# numpy multiplies little here, and the threads that its library starts for it wait by spinning.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# pydantic would read what every installed package says of itself, to find plugins of its own.
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from memory_butler.host.commands import add_butler_commands
from memory_butler.surfaces.cli import run

if TYPE_CHECKING:
    from memory_butler.config import Settings
    from memory_butler.store import embedded

# The commands of the rooms above the surfaces.
ADDITIONS: Final = (add_butler_commands,)


async def _serve(settings: "Settings", announce: Callable[[str], None]) -> None:
    from memory_butler.surfaces.cli.serving import schemas_when_used

    with _beside_the_imports(settings):
        # Imported here: it takes longer than most commands.
        with schemas_when_used():
            from memory_butler import app

        await app.serve(settings, announce)


@contextmanager
def _beside_the_imports(settings: "Settings") -> Iterator[None]:
    """Start the embedded database and load the model beside what the block does first.

    The server takes a lease of its own and warms up by itself; it tells what is wrong with either.
    """
    with ThreadPoolExecutor(2, thread_name_prefix="beside-imports") as threads:
        lease = threads.submit(_database, settings)
        threads.submit(_model, settings)
        try:
            yield
        finally:
            if lease.exception() is None and (held := lease.result()) is not None:
                held.release()


def _database(settings: "Settings") -> "embedded.Lease | None":
    if settings.dsn is not None:
        return None
    from memory_butler.store import embedded

    return embedded.acquire(settings.data_dir, cluster_root=settings.cluster_root)


def _model(settings: "Settings") -> None:
    from memory_butler.engine.opening import load_model

    load_model(settings.memory)


def main() -> None:
    """Run the command line."""
    run(_serve, *ADDITIONS)


if __name__ == "__main__":
    main()
