"""Tokens of the caller's tenant: who may ask."""

from datetime import timedelta
from uuid import UUID

from pydantic import Field

from memory_butler.domain.errors import PermissionDenied
from memory_butler.domain.json_values import Moment
from memory_butler.domain.principals import Principal, Scope
from memory_butler.engine.memory import Memory
from memory_butler.engine.tokens import create_token, list_tokens, revoke_token
from memory_butler.operations.operation import Route, operation
from memory_butler.operations.views import Input, Nothing, Output


class Token(Output):
    """A token without its secret, which nobody can read again."""

    id: UUID
    tenant_id: str
    name: str
    scopes: list[Scope]
    created_at: Moment
    expires_at: Moment | None
    last_used_at: Moment | None
    revoked_at: Moment | None


class TokensOutput(Output):
    """The oldest first, revoked ones too."""

    tokens: list[Token]


@operation("List tokens", Route("GET", "/api/tokens"), needs="admin", read_only=True)
async def tokens_list(memory: Memory, principal: Principal, _given: Nothing) -> TokensOutput:
    """List the tokens of your tenant, and when each was last used."""
    found = await list_tokens(memory, principal.tenant)
    return TokensOutput(tokens=[Token.model_validate(row) for row in found])


class CreateTokenInput(Input):
    """The token to create: for whom, and with which scopes."""

    name: str = Field(description="Who or what it is for; the actor in events.")
    scopes: list[Scope] = Field(["read", "write"], min_length=1, description="What it allows.")
    days: float | None = Field(
        None, gt=0, le=36_500, description="Days until it expires; never when left out."
    )


class CreatedToken(Output):
    """The one time that the secret is shown."""

    id: UUID
    token: str = Field(description="The secret: keep it, it is not shown again.")
    tenant_id: str
    name: str
    scopes: list[str]
    expires_at: Moment | None


@operation("Create a token", Route("POST", "/api/tokens", status=201), needs="admin")
async def token_create(
    memory: Memory, principal: Principal, given: CreateTokenInput
) -> CreatedToken:
    """Create a token for your tenant. Only this answer has the secret."""
    beyond = [scope for scope in given.scopes if not principal.may(scope)]
    if beyond:
        raise PermissionDenied(f"a token cannot grant scopes that it lacks: {', '.join(beyond)}")
    lifetime = None if given.days is None else timedelta(days=given.days)
    made = await create_token(memory, principal.tenant, given.name, given.scopes, lifetime)
    return CreatedToken.copy_of(made, tenant_id=made.tenant)


class TokenReference(Input):
    """Which token."""

    token_id: UUID = Field(description="Its id; at the command line its name will do.")


class RevokedToken(Output):
    """It is refused from now on."""

    token_id: UUID


@operation(
    "Revoke a token", Route("DELETE", "/api/tokens/{token_id}"), needs="admin", destructive=True
)
async def token_revoke(memory: Memory, principal: Principal, given: TokenReference) -> RevokedToken:
    """Revoke a token of your tenant at once. This cannot be undone."""
    await revoke_token(memory, given.token_id, principal.tenant)
    return RevokedToken(token_id=given.token_id)
