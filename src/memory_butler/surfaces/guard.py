"""The one door: Host, Origin and token are checked here, before any route, REST and MCP alike.

* Host: a page of another site can make a browser reach a loopback server under a name that it
  controls (DNS rebinding). Only names that this server was told are its own are answered: else 421.
* Origin: a page of another site may send requests, but not from an origin allowed here: else 403.
* Token: sha256(token) names the tenant and the rights. A wrong one is refused everywhere; a missing
  one is refused unless the server is bound to loopback and demands none: else 401.
"""

import ipaddress
import json
from collections.abc import Awaitable, Callable, Iterable
from typing import Final
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Receive, Scope, Send

from memory_butler.domain.errors import Unavailable
from memory_butler.domain.principals import Principal

LOOPBACK_NAMES: Final = frozenset({"127.0.0.1", "localhost", "::1"})

_EVERY_ADDRESS: Final = frozenset({"0.0.0.0", "::"})  # noqa: S104 -- compared with, not bound to

# Answered without a token: they tell whether the server lives, and nothing else.
PUBLIC_PATHS: Final = frozenset({"/healthz", "/readyz"})

# Title and code of the problems (RFC 9457) that the guard answers with.
_REFUSALS: Final = {
    401: ("Unauthorized", "unauthenticated"),
    403: ("Forbidden", "foreign_origin"),
    421: ("Misdirected Request", "foreign_host"),
    503: ("Unavailable", "unavailable"),
}

Authenticate = Callable[[str], Awaitable[Principal | None]]


def is_loopback(host: str) -> bool:
    """Whether an address to bind is reachable from this machine only."""
    if host in LOOPBACK_NAMES:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Guard:
    """Pure ASGI middleware; puts the `Principal` of a request into its scope's state."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        authenticate: Authenticate,
        bound_to: str,
        token_required: bool,
        hosts: Iterable[str] = (),
        origins: Iterable[str] = (),
        is_public: Callable[[Scope], bool] = lambda _: False,
    ) -> None:
        self._app = app
        self._authenticate = authenticate
        # Bound to every address, the server is reached by many: an address is no name that another
        # site could point at it, and tokens are demanded there anyway.
        self._any_address = bound_to in _EVERY_ADDRESS
        self._hosts = LOOPBACK_NAMES | {bound_to.lower()} | {host.lower() for host in hosts}
        self._origins = frozenset(origin.lower() for origin in origins)
        # Whatever the setting says: an address that others reach is never open.
        self._token_required = token_required or not is_loopback(bound_to)
        # Requests for what holds no one's data, the dashboard's own files.
        self._is_public = is_public

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        headers = _headers(scope)
        hosts, origins = headers.get("host", []), headers.get("origin", [])
        if len(hosts) != 1 or not self._is_ours(_host_name(hosts[0])):
            await _deny(
                scope,
                send,
                421,
                "Not a name of this server; its operator can list it in allowed_hosts.",
            )
        elif origins and not self._origin_allowed(origins, hosts[0]):
            await _deny(scope, send, 403, "That origin may not call this server.")
        else:
            await self._admit(scope, receive, send, headers.get("authorization", []))

    async def _admit(
        self, scope: Scope, receive: Receive, send: Send, authorization: list[str]
    ) -> None:
        if authorization:
            try:
                principal = await self._by_token(authorization)
            except Unavailable as error:
                await _deny(scope, send, 503, str(error))
                return
        elif self._token_required and not self._is_open(scope):
            principal = None
        else:
            principal = Principal()
        if principal is None:
            await _deny(scope, send, 401, "A valid token is needed: Authorization: Bearer <token>.")
            return
        scope.setdefault("state", {})["principal"] = principal
        await self._app(scope, receive, send)

    def _is_open(self, scope: Scope) -> bool:
        return scope["path"] in PUBLIC_PATHS or self._is_public(scope)

    async def _by_token(self, authorization: list[str]) -> Principal | None:
        scheme, _, token = authorization[0].partition(" ")
        if len(authorization) != 1 or scheme.lower() != "bearer" or not token.strip():
            return None
        return await self._authenticate(token.strip())

    def _is_ours(self, host: str) -> bool:
        return host in self._hosts or (self._any_address and _is_address(host))

    def _origin_allowed(self, origins: list[str], host: str) -> bool:
        """The server's own pages, and what the operator lists."""
        if len(origins) != 1:
            return False
        origin = origins[0].lower()
        own = urlsplit(origin)
        same_origin = own.scheme in {"http", "https"} and own.netloc == host.lower()
        return same_origin or origin in self._origins


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _headers(scope: Scope) -> dict[str, list[str]]:
    headers: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return headers


def _host_name(host: str) -> str:
    """A Host header without its port: `[::1]:8150` is `::1`."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    name, colon, port = host.rpartition(":")
    return (name if colon and port.isdigit() else host).lower()


async def _deny(scope: Scope, send: Send, status: int, detail: str) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})
        return
    headers = [(b"content-type", b"application/problem+json")]
    if status == 401:
        headers.append((b"www-authenticate", b'Bearer realm="memory-butler"'))
    title, code = _REFUSALS[status]
    body = {
        "type": "about:blank",
        "title": title,
        "status": status,
        "detail": detail,
        "code": code,
    }
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(body).encode()})
