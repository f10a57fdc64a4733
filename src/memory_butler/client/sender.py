"""What every topic of the client stands on."""

from typing import Any, TypeVar

from pydantic import BaseModel

from memory_butler.client.transport import Transport
from memory_butler.operations.operation import Operation

Output = TypeVar("Output", bound=BaseModel)


class Sender:
    """Holds the transport; the topics add methods to it."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def run(self, operation: Operation[Any, Output], given: dict[str, Any]) -> Output:
        """Run any operation with what is given by name; the methods are this, with types."""
        return await self._send(operation, given)

    async def _send(self, operation: Operation[Any, Output], given: dict[str, Any]) -> Output:
        return await self._transport.send(operation, given)
