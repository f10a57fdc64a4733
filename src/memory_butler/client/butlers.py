"""The operations of `operations/butlers.py`, as methods. Written by tools/make_docs.py."""

from memory_butler.client.sender import Sender
from memory_butler.client.transport import left_in
from memory_butler.operations import butlers as operations
from memory_butler.operations.butlers import ButlerDetail, ButlersOutput


class Butlers(Sender):
    """What the client can do about butlers."""

    async def butlers_list(
        self,
    ) -> ButlersOutput:
        """List butlers.

        Every butler that told memory something, or has a scope of its own.
        """
        return await self._send(
            operations.LIST,
            {},
        )

    async def butler_look(
        self,
        butler: str,
    ) -> ButlerDetail:
        """Look at a butler.

        How the memory of one butler fares, and what it learned last.
        """
        return await self._send(
            operations.LOOK,
            left_in(butler=butler),
        )
