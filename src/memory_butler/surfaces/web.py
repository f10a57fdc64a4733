"""The dashboard: the built page, served from memory, under a policy that lets nothing else run.

The page is made of static files that hold no one's data, so they are answered without a token; what
they show, they ask `/api` for. A path of the page (`/memory/facts`) is known to the browser's
router alone: every GET that asks for HTML, and is none of the other surfaces' business, gets
`index.html`.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

# Where frontend/build.py puts it.
BUILT: Final = Path(__file__).parents[1] / "dashboard"

_NOT_BUILT: Final = "The dashboard is not built; in the source folder, run: make frontend"
# Where the build notes why it built nothing.
_REASON: Final = "not-built.txt"

# Paths of the other surfaces: a mistyped one is an error, not a page.
_NOT_OURS: Final = ("/api", "/mcp", "/healthz", "/readyz", "/metrics", "/assets")

_WHERE: Final = """\
Memory Butler is running.

Dashboard  /         in a browser
MCP        /mcp
REST       /api      described in /api/openapi.json
Health     /healthz and /readyz
"""

# Of every file; the others are of what a browser shows as a page.
_FILE_HEADERS: Final[Mapping[str, str]] = {
    "x-content-type-options": "nosniff",
    "cross-origin-resource-policy": "same-origin",
}
SECURITY_HEADERS: Final[Mapping[str, str]] = {
    **_FILE_HEADERS,
    "content-security-policy": "; ".join(
        (
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "connect-src 'self'",
            "img-src 'self' data:",
            "font-src 'self'",
            "base-uri 'none'",
            "form-action 'self'",
            "frame-ancestors 'none'",
            # Browsers that know it refuse every way from a text to markup or script.
            "require-trusted-types-for 'script'",
            # The one that makes the address of the map's layout, a worker (laying.ts).
            "trusted-types map-layout",
        )
    ),
    "referrer-policy": "no-referrer",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "cross-origin-opener-policy": "same-origin",
}

# What a built page consists of; no other file is served.
_MEDIA_TYPES: Final = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
}

_SHOWN_AS_PAGES: Final = ("text/html", "image/svg+xml")

# In the order of preference; the file of each lies beside the plain one.
_ENCODINGS: Final = {"br": ".br", "gzip": ".gz"}


@dataclass(frozen=True, slots=True)
class _File:
    """A file of the page in each encoding that it was built in; "" is the plain one."""

    bodies: Mapping[str, bytes]
    media_type: str
    etag: str
    # Its name holds a hash of its content: it never changes.
    immutable: bool

    def response(self, request: Headers) -> Response:
        """The file in an encoding that the client takes; 304 where the client has it."""
        encoding = _chosen_encoding(request.get("accept-encoding", ""), self.bodies)
        headers = {
            **(SECURITY_HEADERS if self.media_type in _SHOWN_AS_PAGES else _FILE_HEADERS),
            "cache-control": "public, max-age=31536000, immutable"
            if self.immutable
            else "no-cache",
            "etag": self.etag,
            "vary": "accept-encoding",
        }
        if self.etag in request.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        if encoding:
            headers["content-encoding"] = encoding
        return Response(self.bodies[encoding], media_type=self.media_type, headers=headers)


class Dashboard:
    """Pure ASGI middleware: answers for the page, and passes everything else on."""

    def __init__(self, app: ASGIApp, folder: Path) -> None:
        self._app = app
        self._files = dict(_read(folder))
        self._index = self._files.get("/index.html")
        reason = folder / _REASON
        self._reason = reason.read_text(encoding="utf-8") if reason.is_file() else ""

    def serves(self, scope: Scope) -> bool:
        """Whether a request is for the page, which holds no one's data."""
        if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD"):
            return False
        return scope["path"] in ("/", *self._files) or _asks_for_a_page(scope)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self.serves(scope):
            await self._app(scope, receive, send)
            return
        await self._response(scope)(scope, receive, send)

    def _response(self, scope: Scope) -> Response:
        if scope["path"] == "/" and not _asks_for_a_page(scope):
            return PlainTextResponse(_WHERE)  # curl, or a probe: no browser
        file = self._files.get(scope["path"], self._index)
        if file is None:
            said = "\n\n".join(part for part in (_NOT_BUILT, self._reason) if part)
            return PlainTextResponse(f"{said}\n", status_code=503, headers=SECURITY_HEADERS)
        return file.response(Headers(scope=scope))


def _asks_for_a_page(scope: Scope) -> bool:
    path: str = scope["path"]
    if any(path == one or path.startswith(f"{one}/") for one in _NOT_OURS):
        return False
    return "text/html" in Headers(scope=scope).get("accept", "")


def _read(folder: Path) -> Iterator[tuple[str, _File]]:
    """The files of a built page by their paths in a URL; none where nothing is built."""
    if not (folder / "index.html").is_file():
        return
    for file in sorted(folder.rglob("*")):
        media_type = _MEDIA_TYPES.get(file.suffix)
        if media_type is None:
            continue
        plain = file.read_bytes()
        bodies = {"": plain}
        for encoding, suffix in _ENCODINGS.items():
            beside = file.with_name(file.name + suffix)
            if beside.is_file():
                bodies[encoding] = beside.read_bytes()
        path = f"/{file.relative_to(folder).as_posix()}"
        etag = f'"{hashlib.sha256(plain).hexdigest()[:32]}"'
        yield path, _File(bodies, media_type, etag, immutable=path.startswith("/assets/"))


def _chosen_encoding(accepted: str, bodies: Mapping[str, bytes]) -> str:
    """The best encoding that the client takes, "" for none."""
    taken = {
        name.strip().lower()
        for name, _, weight in (part.partition(";") for part in accepted.split(","))
        if weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    }
    return next((one for one in _ENCODINGS if one in taken and one in bodies), "")
