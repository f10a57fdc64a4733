"""How a client reaches a server: the tools that every server offers over MCP, all else over REST.

The same functions make the requests and read the answers of both clients. Only what waits for the
network is written twice.
"""

import json
import os
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeVar
from urllib.parse import quote, urlsplit

from memory_butler.client.endpoint import UNSET, Endpoint, Output, Route
from memory_butler.client.shape import as_json, read
from memory_butler.domain.errors import (
    InvalidInput,
    MemoryButlerError,
    PermissionDenied,
    StaleRevision,
    Unavailable,
)
from memory_butler.domain.text import whole

if TYPE_CHECKING:
    import ssl

    import httpx2

Carrier = TypeVar("Carrier")

# A proxy knows another machine by these names, and should not read what stays on this one.
_WITHOUT_PROXY: Final = dict.fromkeys(("all://127.0.0.1", "all://localhost", "all://[::1]"))
# A consolidation calls a model, again and again; everything else answers in milliseconds.
DEFAULT_SECONDS: Final = 60.0
# What makes an MCP server answer a program with all of the answer, as JSON.
_STRUCTURED: Final = "memory-butler/structured"
_REVISION: Final = "expected_revision"
# What may follow the address of a server, as in the configuration of an agent's program.
_MCP: Final = re.compile(r"/mcp(/core)?$")
# How a refusal begins what it says of an input, over REST with the place of it.
_INPUT: Final = re.compile(r"(^|; )(?:(?:query|body|path)\.)?(\w+)(?=[.:])")
_IN_PATH: Final = re.compile(r"\{(\w+)(?::path)?\}")


class Transport(Protocol):
    """Over HTTP, or to a memory in the same process."""

    async def send(self, endpoint: Endpoint[Any], given: dict[str, Any]) -> Any:
        """The answer as JSON to what the caller gave; what was left out is left out."""
        ...

    async def aclose(self) -> None:
        """End what the transport opened itself."""
        ...


class Http:
    """A server, for `MemoryClient`."""

    def __init__(self, http: "httpx2.AsyncClient") -> None:
        self._http = http
        self._home: object = None

    async def send(self, endpoint: Endpoint[Any], given: dict[str, Any]) -> Any:
        """Ask the server."""
        import asyncio  # here, as a program without an event loop needs none of it

        import httpx2

        loop = None
        with suppress(RuntimeError):  # under Trio there is none
            loop = asyncio.get_running_loop()
        self._home = _at_home(self._home, (os.getpid(), loop))
        request = _request(endpoint, given)
        try:
            response = await self._http.request(**request._asdict())
        except httpx2.HTTPError as error:
            raise _away(self._http.base_url, error) from error
        return _answer(endpoint, response)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()


class SyncHttp:
    """A server, for `SyncMemoryClient`."""

    def __init__(self, http: "httpx2.Client") -> None:
        self._http = http
        self._home: object = None

    def send(self, endpoint: Endpoint[Any], given: dict[str, Any]) -> Any:
        """Ask the server."""
        import httpx2

        self._home = _at_home(self._home, os.getpid())
        request = _request(endpoint, given)
        try:
            response = self._http.request(**request._asdict())
        except httpx2.HTTPError as error:
            raise _away(self._http.base_url, error) from error
        return _answer(endpoint, response)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()


def _at_home(home: object, here: object) -> object:
    """Where a client is used first, and so has its connections.

    A forked process would read the answers that the first one waits for, and what waits in an
    event loop ends with that.
    """
    if home not in (None, here):
        raise RuntimeError(
            "this client was used in another process or event loop: connect one in each"
        )
    return here


class Sender:
    """What the methods of `MemoryClient` stand on."""

    def __init__(self, transport: Transport) -> None:
        self._transport = _connected(transport)

    async def _send(self, endpoint: Endpoint[Output], arguments: dict[str, Any]) -> Output:
        return read(endpoint.output, await self._ask(endpoint, endpoint.inputs(arguments)))

    async def _ask(self, endpoint: Endpoint[Any], given: dict[str, Any]) -> Any:
        try:
            return await self._transport.send(endpoint, _left_in(given))
        except InvalidInput as error:
            raise _by_argument(endpoint, error) from error


class SyncSender:
    """What the methods of `SyncMemoryClient` stand on."""

    def __init__(self, transport: SyncHttp) -> None:
        self._transport = _connected(transport)

    def _send(self, endpoint: Endpoint[Output], arguments: dict[str, Any]) -> Output:
        return read(endpoint.output, self._ask(endpoint, endpoint.inputs(arguments)))

    def _ask(self, endpoint: Endpoint[Any], given: dict[str, Any]) -> Any:
        try:
            return self._transport.send(endpoint, _left_in(given))
        except InvalidInput as error:
            raise _by_argument(endpoint, error) from error


def _by_argument(endpoint: Endpoint[Any], error: InvalidInput) -> InvalidInput:
    """The refusal with the names of the method's arguments: `since`, not `query.from`."""
    here = {there: name for name, there in endpoint.renamed.items()}
    said = _INPUT.sub(lambda found: found[1] + here.get(found[2], found[2]), str(error))
    return InvalidInput(said)


def _connected(transport: Carrier) -> Carrier:
    if isinstance(transport, str):
        raise TypeError(f"write .connect({transport!r}) to reach a server")
    return transport


def connection(url: str, token: str | None, seconds: float) -> dict[str, Any]:
    """The settings of a connection to the server at `url`; see `base_of`.

    Raises:
        InvalidInput: that is no address of a server, the token cannot be one, or there is no time
            to wait.
    """
    if not url.startswith(("http://", "https://")):
        raise InvalidInput(
            f"url: {url!r} must begin with http:// or https://, such as http://127.0.0.1:8150"
        )
    if not _names_a_server(url):
        raise InvalidInput(
            f"url: {url!r} names no server; write it as http://127.0.0.1:8150 or http://[::1]:8150"
        )
    if seconds is not None and not seconds > 0:
        raise InvalidInput(f"seconds: {seconds} is no time to wait; give more than 0")
    return {
        "base_url": base_of(url),
        "headers": {} if token is None else {"authorization": f"Bearer {_sendable(token)}"},
        "timeout": seconds,
        **reaching(url),
    }


def _names_a_server(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return bool(parts.hostname) and parts.port != 0
    except ValueError:  # of brackets without an end, or a port beyond the last
        return False


def base_of(url: str) -> str:
    """The address of a server, given that of its MCP, `/mcp` or `/mcp/core`, or its own."""
    return _MCP.sub("", url.rstrip("/"))


def _sendable(token: str) -> str:
    """The token without the line end that it has in a file; no error repeats it."""
    bare = token.strip()
    if not bare:
        raise InvalidInput("token: is empty; leave it out where the server wants none")
    if not (bare.isascii() and bare.isprintable()) or " " in bare:
        raise InvalidInput("token: is no token; give what `memory-butler token create` printed")
    return bare


def reaching(url: str) -> dict[str, Any]:
    """What any HTTP client takes to reach a server at this address."""
    return {"verify": certificates(url), "mounts": _WITHOUT_PROXY}


def certificates(url: str) -> "ssl.SSLContext | bool":
    """What a connection to `url` trusts: over plain HTTP no certificate, so that none is read.

    To read them all takes longer than a call over loopback.
    """
    if url.startswith("https:"):
        return True
    import ssl  # here, as a client in the process needs none of it

    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


class _Request(NamedTuple):
    method: str
    url: str
    params: dict[str, Any] | None
    content: str | None
    headers: dict[str, str]


def _left_in(given: Mapping[str, Any]) -> dict[str, Any]:
    left_in = {}
    for name, value in given.items():
        if value is not UNSET:
            try:
                left_in[name] = as_json(value)
            except InvalidInput as error:
                raise InvalidInput(f"{name}: {error}") from None
    return left_in


def _request(endpoint: Endpoint[Any], given: dict[str, Any]) -> _Request:
    if not endpoint.routes:
        call = {"name": endpoint.name, "arguments": given, "_meta": {_STRUCTURED: True}}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        headers = {
            "accept": "application/json, text/event-stream",
            "content-type": "application/json",
            **_trace(),
        }
        return _Request("POST", "/mcp", None, json.dumps(body), headers)
    route = _fitting(endpoint, given)
    asked = {**route.defaults, **given}
    values = {name: value for name, value in asked.items() if name not in route.fixed}
    revision = values.pop(_REVISION, None)
    headers = _trace() if revision is None else {**_trace(), "if-match": f'"{revision}"'}
    path = _IN_PATH.sub(lambda found: _segment(str(values.pop(found[1]))), route.path)
    if route.method in ("POST", "PUT", "PATCH"):
        headers["content-type"] = "application/json"
        return _Request(route.method, path, None, json.dumps(values), headers)
    # A query knows no null: what is null is left out.
    query = {name: _sent(value) for name, value in values.items() if value is not None}
    return _Request(route.method, path, query, None, headers)


def _segment(value: str) -> str:
    """A value as one part of a path; one of dots alone would lead elsewhere."""
    return quote(_sent(value), safe="").replace(".", "%2E")


def _sent(value: Any) -> Any:
    """A text as an address can hold it: an unpaired surrogate is U+FFFD, as in what is stored."""
    return whole(value) if isinstance(value, str) else value


def _trace() -> dict[str, str]:
    """The caller's trace for the server to continue; nothing in a program without OpenTelemetry."""
    carrier: dict[str, str] = {}
    if "opentelemetry.trace" in sys.modules:
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        TraceContextTextMapPropagator().inject(carrier)
    return carrier


def _fitting(endpoint: Endpoint[Any], given: Mapping[str, Any]) -> Route:
    """The route for what was given: `/facts/{id}/restore` for a fact."""
    lacking = None
    for route in endpoint.routes:
        if all(given.get(name) == value for name, value in route.fixed.items()):
            there = {**route.defaults, **given}
            empty = (n for n in _IN_PATH.findall(route.path) if there.get(n) in (None, ""))
            if (lacking := next(empty, None)) is None:
                return route
    if lacking is not None:
        raise InvalidInput(f"{lacking}: is empty; give a value")
    fixed = sorted({str(value) for route in endpoint.routes for value in route.fixed.values()})
    raise InvalidInput(f"{endpoint.name} is offered for {', '.join(fixed)} only")


def _answer(endpoint: Endpoint[Any], response: "httpx2.Response") -> Any:
    try:
        answer = response.json()
    except ValueError:
        raise Unavailable(f"the server answered {response.status_code}, and no JSON") from None
    if response.is_error:
        if isinstance(answer, dict) and "code" in answer:
            if answer.get("current") is not None:
                current = answer["current"]
                raise StaleRevision(
                    answer["detail"], current["memory_type"], current, answer["current_revision"]
                )
            raise error_of(answer["code"], answer.get("detail", ""))
        raise Unavailable(f"the server answered {response.status_code}")
    if endpoint.routes:
        return answer
    try:
        if "error" in answer:
            said = answer["error"].get("message", "")
            raise InvalidInput(f"the server does not offer {endpoint.name}: {said}")
        result = answer["result"]
        if result.get("isError"):
            code, _, said = result["content"][0]["text"].partition(": ")
            raise error_of(code, said)
        answer = result["structuredContent"]
        if answer.get("error"):
            # What lets a model go on without memory: nothing was stored.
            raise Unavailable(answer["error"])
        return answer
    except (LookupError, TypeError, AttributeError):
        raise Unavailable(
            f"the server's answer is no result of {endpoint.name}: is the address right?"
        ) from None


def _away(where: object, error: Exception) -> Unavailable:
    import httpx2

    # Their text is empty.
    if isinstance(error, httpx2.ConnectTimeout | httpx2.PoolTimeout):
        return Unavailable(f"{where} does not answer in time; try again")
    if isinstance(error, httpx2.TimeoutException):
        return Unavailable(
            f"{where} did not answer in time: connect with more `seconds`; "
            "it may have done what was asked all the same"
        )
    said = str(error) or type(error).__name__
    if isinstance(error, httpx2.ReadError | httpx2.RemoteProtocolError):
        return Unavailable(
            f"{where} broke off: {said}; it may have done what was asked all the same"
        )
    return Unavailable(f"{where} does not answer: {said}")


def error_of(code: str, said: str) -> MemoryButlerError:
    """The error with this code; for a code of the guard, the error that it stands for."""
    return (_OF_THE_GUARD.get(code) or _KINDS.get(code, MemoryButlerError))(said)


_OF_THE_GUARD: Final[Mapping[str, type[MemoryButlerError]]] = {
    "foreign_host": PermissionDenied,
    "foreign_origin": PermissionDenied,
    "ambiguous_body": InvalidInput,
    "too_large": InvalidInput,
    "too_slow": Unavailable,
    "too_many": Unavailable,
}


def _kinds(root: type[MemoryButlerError]) -> dict[str, type[MemoryButlerError]]:
    found = {root.code: root}
    for kind in root.__subclasses__():
        # One whose code is inherited carries more than its message.
        found |= {code: one for code, one in _kinds(kind).items() if code not in found}
    return found


_KINDS: Final = _kinds(MemoryButlerError)
