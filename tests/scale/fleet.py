"""Servers as processes of their own on one database, and a client that goes round them."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path

import httpx
import httpx2
from mcp.client.session import ClientSession
from mcp.client.streamable_http import streamable_http_client

from cli.installation import Installation
from forking import Forked
from surfaces.serving import Client


@dataclass(frozen=True, slots=True)
class Fleet:
    """Running servers, and a token of each tenant."""

    processes: Sequence[Forked]
    urls: tuple[str, ...]
    tokens: Mapping[str, str]

    @asynccontextmanager
    async def rest(self, number: int, tenant: str = "ours") -> AsyncIterator[httpx.AsyncClient]:
        """An HTTP client of one server."""
        async with httpx.AsyncClient(
            base_url=self.urls[number], headers=self._headers(tenant), timeout=60, trust_env=False
        ) as client:
            yield client

    @asynccontextmanager
    async def roaming(self, tenant: str = "ours") -> "AsyncIterator[tuple[Client, Roaming]]":
        """One MCP session, each request of which goes to the next server."""
        roaming = Roaming(self.urls)
        async with AsyncExitStack() as stack:
            http = await stack.enter_async_context(
                httpx2.AsyncClient(headers=self._headers(tenant), timeout=60, transport=roaming)
            )
            streams = streamable_http_client(f"{self.urls[0]}/mcp", http_client=http)
            read, write = await stack.enter_async_context(streams)
            session = await stack.enter_async_context(ClientSession(read, write))
            await session.initialize()
            listed = (await session.list_tools()).tools
            yield Client(session, {tool.name: tool for tool in listed}), roaming

    def _headers(self, tenant: str) -> dict[str, str]:
        return {"authorization": f"Bearer {self.tokens[tenant]}"}


class Roaming(httpx2.AsyncBaseTransport):
    """Sends each request to another server than the last; `asked` are their ports."""

    def __init__(self, urls: Sequence[str]) -> None:
        self._turns = cycle([httpx2.URL(url) for url in urls])
        self._wire = httpx2.AsyncHTTPTransport(trust_env=False)
        self.asked: list[int | None] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        server = next(self._turns)
        self.asked.append(server.port)
        request.url = request.url.copy_with(port=server.port)
        request.headers["host"] = f"{server.host}:{server.port}"
        return await self._wire.handle_async_request(request)

    async def aclose(self) -> None:
        await self._wire.aclose()


@contextmanager
def started(
    folder: Path, servers: Sequence[Mapping[str, str]], *flags: str
) -> "Iterator[tuple[list[Forked], tuple[str, ...]]]":
    """A `memory-butler serve` for each of these environments, all answering; stopped at the end."""
    processes: list[Forked] = []
    logs = [folder / f"server-{number}.log" for number in range(len(servers))]
    try:
        for log, extra in zip(logs, servers, strict=True):
            # A folder each: nothing that a server keeps on its own disk is another's.
            place = folder / log.stem
            place.mkdir()
            own = Installation(place, extra=dict(extra))
            processes.append(own.fork("serve", "--port", "0", *flags, log=log))
        urls = []
        for process, log in zip(processes, logs, strict=True):
            first = process.stdout.readline()
            assert first, log.read_text()
            urls.append(first.split()[-1])
        yield processes, tuple(urls)
    finally:
        for process in processes:
            process.process.terminate()
        for process in processes:
            process.close()
