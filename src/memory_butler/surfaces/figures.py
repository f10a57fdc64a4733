"""`/metrics`: the figures of this process and the backlog of all tenants, for Prometheus.

They are sums over everybody, so no tenant's token shows them: the guard asks for one with the scope
`metrics`, which the operator makes; an open server on loopback shows them to whoever is there.
"""

import asyncio
import time
from typing import Final

from fastapi import FastAPI, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from memory_butler.domain.errors import PermissionDenied, Unavailable
from memory_butler.engine.backlog import backlog
from memory_butler.engine.memory import Memory
from memory_butler.telemetry import metrics

# Counting asks the database once a tenant: not at the pace of whoever asks for the figures.
_SAMPLE_SECONDS: Final = 15.0


def add_route(app: FastAPI, memory: Memory) -> None:
    """Add `/metrics` to the application. It is no part of the API, so OpenAPI leaves it out."""
    sampler = _Sampler(memory)

    @app.get("/metrics", include_in_schema=False)
    async def figures(request: Request) -> Response:
        if not request.state.principal.may("metrics"):
            raise PermissionDenied(
                "/metrics needs a token with the scope 'metrics': "
                "memory-butler token create --name prometheus --scope metrics"
            )
        await sampler.sample()
        return Response(generate_latest(metrics.REGISTRY), media_type=CONTENT_TYPE_LATEST)


class _Sampler:
    """Brings the gauges up to date."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._counting = asyncio.Lock()
        self._due = 0.0

    async def sample(self) -> None:
        """Look at pool and embedder, and at the backlog where that was long ago."""
        pool = self._memory.pool
        for state, size in (
            ("open", pool.get_size()),
            ("idle", pool.get_idle_size()),
            ("max", pool.get_max_size()),
        ):
            metrics.POOL_CONNECTIONS.labels(state).set(size)
        for kind, texts in zip(("single", "bulk"), self._memory.embedder.waiting, strict=True):
            metrics.EMBEDDING_QUEUE.labels(kind).set(texts)
        async with self._counting:
            if time.monotonic() >= self._due:
                await self._count()
                self._due = time.monotonic() + _SAMPLE_SECONDS

    async def _count(self) -> None:
        try:
            found = await backlog(self._memory)
        except Unavailable:
            metrics.DATABASE_UP.set(0)
            return
        metrics.DATABASE_UP.set(1)
        for state in ("pending", "failed", "dead_letter"):
            metrics.BACKLOG.labels(state).set(getattr(found, state))
        metrics.BACKLOG_AGE.set(found.age_seconds)
        metrics.BACKLOG_TENANTS.labels("counted").set(found.counted)
        metrics.BACKLOG_TENANTS.labels("uncounted").set(found.uncounted)
