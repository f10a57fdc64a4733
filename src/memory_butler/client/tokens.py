"""The operations of `operations/tokens.py`, as methods. Written by tools/make_docs.py."""

from typing import Literal
from uuid import UUID

from memory_butler.client.sender import Sender
from memory_butler.client.transport import UNSET, Unset, left_in
from memory_butler.operations import tokens as operations
from memory_butler.operations.tokens import CreatedToken, RevokedToken, TokensOutput


class Tokens(Sender):
    """What the client can do about tokens."""

    async def tokens_list(
        self,
    ) -> TokensOutput:
        """List tokens.

        Who may ask in your tenant, and when each token was last used.
        """
        return await self._send(
            operations.LIST,
            {},
        )

    async def token_create(
        self,
        name: str,
        *,
        scopes: list[Literal["read", "write", "admin", "metrics"]] | Unset = UNSET,
        days: float | Unset | None = UNSET,
    ) -> CreatedToken:
        """Create a token.

        Let somebody into your tenant. The answer alone has the secret.

        Args:
            name: For whom or what it is: it appears as actor in events.
            scopes: What it allows.
            days: How long it is good; for ever.
        """
        return await self._send(
            operations.CREATE,
            left_in(name=name, scopes=scopes, days=days),
        )

    async def token_revoke(
        self,
        token_id: UUID,
    ) -> RevokedToken:
        """Revoke a token.

        End a token of your tenant at once; this cannot be undone.
        """
        return await self._send(
            operations.REVOKE,
            left_in(token_id=token_id),
        )
