"""The caller's trace, continued: what a request does here becomes a part of it."""

from starlette.types import ASGIApp, Receive, Scope, Send

from memory_butler.telemetry.tracing import continued


class TraceContext:
    """Pure ASGI middleware: reads `traceparent` and `tracestate` (W3C Trace Context)."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with continued(scope.get("headers", ())):
            await self._app(scope, receive, send)
