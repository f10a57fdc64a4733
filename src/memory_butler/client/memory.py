"""`MemoryClient` and `SyncMemoryClient`: every operation of a memory as a typed method."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Self

from memory_butler.client.endpoint import Endpoint
from memory_butler.client.generated.endpoints import ENDPOINTS
from memory_butler.client.generated.methods import Methods
from memory_butler.client.generated.sync_methods import SyncMethods
from memory_butler.client.transport import DEFAULT_SECONDS, Http, SyncHttp, connection
from memory_butler.domain.errors import InvalidInput

if TYPE_CHECKING:
    from memory_butler.domain.principals import Principal
    from memory_butler.engine.memory import Memory

DEFAULT_URL = "http://127.0.0.1:8150"


class MemoryClient(Methods):
    """A memory, asked from an asynchronous program.

        async with MemoryClient.connect() as memory:
            await memory.store_fact("user", "favorite_color", "Prefers dark green")
            for hit in (await memory.recall("which colour for the poster?")).results:
                print(hit.content)

    A method is named like its operation, without `memory_`; an argument that is left out has the
    default that the server is configured with. Errors are those of `memory_butler.domain.errors`:
    the same codes, whichever way they came. One client may be used by many tasks of one event
    loop at once.
    """

    @classmethod
    def connect(
        cls, url: str = DEFAULT_URL, *, token: str | None = None, seconds: float = DEFAULT_SECONDS
    ) -> Self:
        """A client of a running server; close it by `async with`, or by `aclose()`.

        Args:
            url: of the server; that of its MCP will do.
            token: where the server wants one; it decides the tenant too.
            seconds: how long to wait for one answer.
        """
        # It takes most of the time that an import would.
        import httpx2

        return cls(Http(httpx2.AsyncClient(**connection(url, token, seconds))))

    @classmethod
    def of(cls, memory: "Memory", principal: "Principal | None" = None) -> "MemoryClient":
        """A client of a memory that is open in this process (`engine.opening.open_memory`)."""
        # The one thing here that needs the server's code; whoever has a memory has loaded it.
        from memory_butler.operations.in_process import caller

        return cls(_InProcess(caller(memory, principal)))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections to the server; a memory in this process stays open."""
        await self._transport.aclose()

    async def run(self, operation: str, given: dict[str, Any]) -> dict[str, Any]:
        """Run an operation by its name with its inputs; the answer as JSON.

        Raises:
            InvalidInput: there is no such operation.
        """
        answer: dict[str, Any] = await self._ask(_named(operation), given)
        return answer


class SyncMemoryClient(SyncMethods):
    """A memory, asked from a program without an event loop.

        with SyncMemoryClient.connect() as memory:
            memory.store_fact("user", "favorite_color", "Prefers dark green")

    All else is as with `MemoryClient`. One client may be used by many threads at once.
    """

    @classmethod
    def connect(
        cls, url: str = DEFAULT_URL, *, token: str | None = None, seconds: float = DEFAULT_SECONDS
    ) -> Self:
        """A client of a running server; close it by `with`, or by `close()`."""
        import httpx2

        return cls(SyncHttp(httpx2.Client(**connection(url, token, seconds))))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections to the server."""
        self._transport.close()

    def run(self, operation: str, given: dict[str, Any]) -> dict[str, Any]:
        """Run an operation by its name, as `MemoryClient.run`."""
        answer: dict[str, Any] = self._ask(_named(operation), given)
        return answer


class _InProcess:
    def __init__(self, run: Callable[[str, dict[str, Any]], Awaitable[Any]]) -> None:
        self._run = run

    async def send(self, endpoint: Endpoint[Any], given: dict[str, Any]) -> Any:
        return await self._run(endpoint.name, given)

    async def aclose(self) -> None:
        """Nothing: whoever opened the memory closes it."""


def _named(operation: str) -> Endpoint[Any]:
    if operation not in ENDPOINTS:
        raise InvalidInput(
            f"there is no operation {operation!r}; try one of {', '.join(ENDPOINTS)}"
        )
    return ENDPOINTS[operation]
