"""`MemoryClient`: every operation as a typed method, over HTTP or in the same process."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from memory_butler.client.methods import Methods
from memory_butler.client.transport import DEFAULT_SECONDS, InProcess, http_transport
from memory_butler.domain.principals import DEFAULT_TENANT, Principal
from memory_butler.engine.memory import Memory

DEFAULT_URL = "http://127.0.0.1:8150"


class MemoryClient(Methods):
    """A memory, asked from a program.

        async with MemoryClient.connect() as memory:
            await memory.store_fact("user", "favorite_color", "Prefers dark green")
            for hit in (await memory.recall("which colour for the poster?")).results:
                print(hit.content)

    A method is named like its operation, without `memory_`; an argument that is left out has the
    default that the server is configured with. Errors are those of `memory_butler.domain.errors`:
    the same codes, whichever way they came. One client may be used by many tasks at once.
    """

    @classmethod
    @asynccontextmanager
    async def connect(
        cls,
        url: str = DEFAULT_URL,
        *,
        token: str | None = None,
        tenant: str = DEFAULT_TENANT,
        seconds: float = DEFAULT_SECONDS,
    ) -> AsyncIterator["MemoryClient"]:
        """A client of a running server; its connections are closed when the block ends.

        Args:
            token: where the server wants one; it decides the tenant too.
            tenant: the name of the token's tenant, which a few operations ask for.
            seconds: how long to wait for one answer.
        """
        async with http_transport(url, token, tenant, seconds) as transport:
            yield cls(transport)

    @classmethod
    def of(cls, memory: Memory, principal: Principal | None = None) -> "MemoryClient":
        """A client of a memory that is open in this process (`engine.opening.open_memory`)."""
        return cls(InProcess(memory, principal or Principal()))
