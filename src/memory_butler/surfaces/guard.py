"""The one door: Host, Origin and token are checked here, before any route, REST and MCP alike.

* Host: a page of another site can make a browser reach a loopback server under a name that it
  controls (DNS rebinding). Only names that this server was told are its own are answered: else 421.
* Origin: a page of another site may send requests, but not from an origin allowed here: else 403.
  The dashboard's files, which hold no one's data, are given to all.
* Token, in the header Authorization or encrypted in the dashboard's cookie: sha256(token) names
  the tenant and the rights. A wrong one in the header is refused everywhere; a missing one is
  refused unless the server is bound to loopback and demands none: else 401. A request that a proxy
  passed on comes from elsewhere, whatever address it is sent from: it always needs a token.
* Tenant: a request may name the one that it means, and is refused where the token is of another:
  409. The dashboard does, for a browser has one cookie for all its tabs; in the address of pictures
  and streams, which a browser asks for without headers of the page's.
"""

import ipaddress
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Final
from urllib.parse import parse_qs, urlsplit

from starlette.types import ASGIApp, Receive, Scope, Send

from memory_butler.domain.errors import Unavailable
from memory_butler.domain.principals import NOBODY, Principal
from memory_butler.logs import get_logger
from memory_butler.surfaces.listening import EVERY_ADDRESS

LOOPBACK_NAMES: Final = frozenset({"127.0.0.1", "localhost", "::1"})


# Where a browser exchanges a token for a cookie, and the cookie: not readable by scripts, and sent
# by pages of this origin alone.
SESSION_PATH: Final = "/api/session"
SESSION_COOKIE: Final = "memory_butler"

TENANT_HEADER: Final = "memory-butler-tenant"

# Answered without a token: whether the server lives, who one is, whether this is a demonstration.
PUBLIC_PATHS: Final = frozenset({"/healthz", "/readyz", SESSION_PATH})

# Of a 503: long enough for a burst to pass, or for a database that was killed to be back.
RETRY_AFTER_SECONDS: Final = 2

# Title and code of the problems (RFC 9457) that are answered before any route.
REFUSALS: Final = {
    400: ("Bad Request", "ambiguous_body"),
    401: ("Unauthorized", "unauthenticated"),
    403: ("Forbidden", "foreign_origin"),
    408: ("Request Timeout", "too_slow"),
    409: ("Conflict", "other_tenant"),
    413: ("Content Too Large", "too_large"),
    421: ("Misdirected Request", "foreign_host"),
    429: ("Too Many Requests", "too_many"),
    503: ("Unavailable", "unavailable"),
}

# What proxies add to what they pass on. nginx adds none of them by itself, and speaks HTTP/1.0 to
# the server behind it, as no client of ours does.
_FORWARDING: Final = frozenset(
    {
        "forwarded",
        "via",
        "x-forwarded-for",
        "x-forwarded-host",
        "x-forwarded-proto",
        "x-forwarded-server",
        "x-real-ip",
    }
)

_FOREIGN_ORIGIN: Final = (
    "That origin may not call this server. A proxy must pass on the Host header with its port; "
    "the operator can list other origins in allowed_origins."
)

log = get_logger()

Authenticate = Callable[[str], Awaitable[Principal | None]]
# From the value of the dashboard's cookie to its token; None: it stands for none.
TokenInCookie = Callable[[str], str | None]


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
        local: Principal = Principal(),  # noqa: B008 -- it never changes
        hosts: Iterable[str] = (),
        origins: Iterable[str] = (),
        is_public: Callable[[Scope], bool] = lambda _: False,
        token_in_cookie: TokenInCookie = lambda _: None,
    ) -> None:
        self._app = app
        self._authenticate = authenticate
        self._token_in_cookie = token_in_cookie
        # Bound to every address, the server is reached by many: an address is no name that another
        # site could point at it, and tokens are demanded there anyway.
        self._any_address = bound_to in EVERY_ADDRESS
        self._hosts = LOOPBACK_NAMES | {bound_to.lower()} | {host.lower() for host in hosts}
        self._origins = frozenset(origin.lower() for origin in origins)
        self._token_required = demands_token(token_required, bound_to)
        self._local = local  # who needs no token
        # Requests for what holds no one's data, the dashboard's own files.
        self._is_public = is_public
        self._warned_of_proxy = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        headers = _headers(scope)
        hosts, origins = headers.get("host", []), headers.get("origin", [])
        if "content-length" in headers and "transfer-encoding" in headers:
            # Two programs may read two bodies out of it, and the second request of one's choice.
            await refuse(scope, send, 400, "Send Content-Length or Transfer-Encoding, not both.")
        elif len(hosts) != 1 or not self._is_ours(_host_name(hosts[0])):
            await refuse(
                scope,
                send,
                421,
                "Not a name of this server; its operator can list it in allowed_hosts.",
            )
        elif origins and not self._may_ask(scope, origins, hosts[0]):
            await refuse(scope, send, 403, _FOREIGN_ORIGIN)
        else:
            await self._admit(scope, receive, send, headers)

    async def _admit(
        self, scope: Scope, receive: Receive, send: Send, headers: Mapping[str, list[str]]
    ) -> None:
        if "authorization" not in headers and self._is_public(scope):
            # No cookie is looked at: the page comes while the database is away, and says so.
            scope.setdefault("state", {})["principal"] = NOBODY
            await self._app(scope, receive, send)
            return
        try:
            principal = await self._principal(headers)
        except Unavailable as error:
            await refuse(scope, send, 503, str(error))
            return
        # A cookie that stands for nobody any more is none; a wrong token is an error everywhere.
        forwarded = _is_forwarded(scope, headers)
        if forwarded and not self._token_required and not self._warned_of_proxy:
            self._warned_of_proxy = True
            log.warning(
                "a proxy passes requests on; each needs a token",
                advice="serve with --require-token, and with --trusted-proxy its address",
            )
        needed = "authorization" in headers or self._token_required or forwarded
        by_token = principal is not None
        if principal is None and not needed:
            principal = self._local
        if principal is None and ("authorization" in headers or scope["path"] not in PUBLIC_PATHS):
            await refuse(
                scope, send, 401, "A valid token is needed: Authorization: Bearer <token>."
            )
            return
        meant = {*headers.get(TENANT_HEADER, ()), *_in_address(scope)}
        if principal is not None and meant - {principal.tenant}:
            await refuse(scope, send, 409, f"You are signed in to the tenant {principal.tenant}.")
            return
        state = scope.setdefault("state", {})
        state["principal"] = principal or NOBODY
        state["still"] = lambda: self._still(headers, by_token)
        await self._app(scope, receive, send)

    async def _principal(self, headers: Mapping[str, list[str]]) -> Principal | None:
        """Whom the token of a request stands for; that of the header counts before the cookie's."""
        if "authorization" in headers:
            return await self._by_token(headers["authorization"])
        value = _cookie(headers.get("cookie", []))
        token = None if value is None else self._token_in_cookie(value)
        return None if token is None else await self._authenticate(token)

    async def _still(self, headers: Mapping[str, list[str]], by_token: bool) -> bool:
        """Whether the token that let a request in still would; one that needed none stays in."""
        return not by_token or await self._principal(headers) is not None

    async def _by_token(self, authorization: list[str]) -> Principal | None:
        scheme, _, token = authorization[0].partition(" ")
        if len(authorization) != 1 or scheme.lower() != "bearer" or not token.strip():
            return None
        return await self._authenticate(token.strip())

    def _is_ours(self, host: str) -> bool:
        return host in self._hosts or (self._any_address and _is_address(host))

    def _may_ask(self, scope: Scope, origins: list[str], host: str) -> bool:
        """The dashboard's own files come to any page: it can say then why the rest is refused."""
        return self._is_public(scope) or self._origin_allowed(origins, host)

    def _origin_allowed(self, origins: list[str], host: str) -> bool:
        """The server's own pages, and what the operator lists."""
        if len(origins) != 1:
            return False
        origin = origins[0].lower()
        own = urlsplit(origin)
        same_origin = own.scheme in {"http", "https"} and own.netloc == host.lower()
        return same_origin or origin in self._origins


def demands_token(setting: bool, bound_to: str) -> bool:
    """Whether a token is demanded: whatever the setting says, where others reach the address."""
    return setting or not is_loopback(bound_to)


def _is_forwarded(scope: Scope, headers: Mapping[str, list[str]]) -> bool:
    return not _FORWARDING.isdisjoint(headers) or scope.get("http_version") == "1.0"


def _in_address(scope: Scope) -> list[str]:
    query = parse_qs(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True)
    return query.get(TENANT_HEADER, [])


def _cookie(headers: list[str]) -> str | None:
    """The value of the dashboard's cookie."""
    for header in headers:
        for part in header.split(";"):
            name, _, value = part.strip().partition("=")
            if name == SESSION_COOKIE and value:
                return value
    return None


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
    """A Host header without its port: `[::1]:8150` is `::1`; "" where it is no name."""
    if host.startswith("["):
        address, _, rest = host[1:].partition("]")
        has_port = rest.startswith(":") and rest[1:].isdigit()
        return address.lower() if not rest or has_port else ""
    name, colon, port = host.rpartition(":")
    return (name if colon and port.isdigit() else host).lower()


async def refuse(scope: Scope, send: Send, status: int, detail: str) -> None:
    """Answer with a problem, in place of the application."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})
        return
    headers = [(b"content-type", b"application/problem+json")]
    if status == 401:
        headers.append((b"www-authenticate", b'Bearer realm="memory-butler"'))
    if status in (429, 503):
        headers.append((b"retry-after", b"%d" % RETRY_AFTER_SECONDS))
    title, code = REFUSALS[status]
    body = {
        "type": "about:blank",
        "title": title,
        "status": status,
        "detail": detail,
        "code": code,
    }
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(body).encode()})
