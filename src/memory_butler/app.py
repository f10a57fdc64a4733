"""The composition root: settings in, a running server out."""

import asyncio
from collections.abc import Callable

from memory_butler.companions import schedule as companions
from memory_butler.config import Settings
from memory_butler.engine.jobs import schedule
from memory_butler.engine.nearest_index import index_kept
from memory_butler.engine.opening import open_memory, warm_up
from memory_butler.engine.reembed import embedding_imported
from memory_butler.engine.sealing import sealing
from memory_butler.surfaces.http import served
from memory_butler.surfaces.listening import listen, url_of
from memory_butler.surfaces.running import Stop, run
from memory_butler.telemetry import tracing


async def serve(settings: Settings, announce: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM; `announce` is told the base URL once requests are answered.

    A signal at any moment, also while the database is still being made, ends in an orderly close.

    Raises:
        ConfigurationError: the port is taken, or the installation is incomplete.
        Unavailable: the database cannot be reached or started.
    """
    with Stop() as stop, tracing.exporting(settings.trace_endpoint):
        try:
            await _serve(settings, announce, stop)
        except asyncio.CancelledError:
            if not stop.requested:
                raise


async def _serve(settings: Settings, announce: Callable[[str], None], stop: Stop) -> None:
    listening = listen(settings.host, settings.port)
    url = url_of(listening, settings.host)
    try:
        async with open_memory(settings) as memory:
            await warm_up(memory)
            async with (
                schedule.running(memory),
                companions.running(memory),
                embedding_imported(memory),
                index_kept(memory),
                sealing(memory),
            ):
                surfaces = served(memory, settings)
                await run(
                    surfaces.app,
                    listening,
                    lambda: announce(url),
                    stop,
                    before_stopping=surfaces.before_stopping,
                )
    finally:
        listening.close()
